"""What the tests share."""

from __future__ import annotations

import os

import numpy as np
import pytest

DTYPES = [np.dtype(t) for t in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")]
# It has no wheels for musl: there, ci/wheel says so.
if "ARGREDUCE_TESTS_WITHOUT_ML_DTYPES" not in os.environ:
    import ml_dtypes

    DTYPES.append(np.dtype(ml_dtypes.bfloat16))

# What runs Python, where the kernel does not know that it is an emulator: ci/wheel says so.
EMULATOR = os.environ.get("ARGREDUCE_TESTS_EMULATOR", "").split()


def is_float(dtype: np.dtype) -> bool:
    return dtype.kind not in "?biu"


def nothing_of(dtype: np.dtype) -> np.generic:
    """The value of an output without an element."""
    if dtype.kind in "mM":
        return dtype.type("NaT")
    return np.array(np.nan if is_float(dtype) else 0).astype(dtype)[()]


def random_array(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Few different elements, so that there are ties; some NaN, infinities and both zeros."""
    x = rng.integers(0, 5, shape).astype(np.float64)
    if is_float(dtype):
        for value in (np.nan, np.inf, -np.inf, -0.0):
            x[rng.random(shape) < 0.04] = value
    return x.astype(dtype)


def expected(x: np.ndarray, axes: tuple[int, ...], *, argmax: bool, last: bool = False, ignore: bool = False):
    """The rules as plain NumPy, with the reduced axes dropped."""
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    shape = [x.shape[axis] for axis in kept]
    rows = x.transpose(kept + sorted(axes)).reshape(int(np.prod(shape)), -1)
    numbers = rows.astype(np.float64) if is_float(x.dtype) else rows.astype(object)
    result = []
    for row in numbers:
        nan = np.array([v != v for v in row])
        if nan.any() and not (ignore and not nan.all()):
            best = nan
        else:
            some = [v for v in row if v == v]
            best = np.array([v == (max(some) if argmax else min(some)) for v in row])
        places = np.flatnonzero(best)
        result.append(places[-1 if last else 0])
    return np.array(result, np.int64).reshape(shape)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(17)
