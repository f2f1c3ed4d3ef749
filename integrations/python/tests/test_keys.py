"""Keys: the largest magnitude, and what is nearest to a number, against NumPy's copies of the array."""

from __future__ import annotations

import pickle

import argreduce
import numpy as np
import pytest
from conftest import DTYPES, is_float


def keys_of(x, near=None):
    """In float64 or Python's integers, rounded to the type of ``x`` where that is a float."""
    if is_float(x.dtype):
        with np.errstate(invalid="ignore", over="ignore"):
            return np.abs(x) if near is None else np.abs(x - np.asarray(near).astype(x.dtype))
    wide = x.astype(object)
    return np.abs(wide if near is None else wide - int(near))


def sample(rng, dtype, shape):
    """Ties, both zeros, infinities and NaN; extremes of integers."""
    if is_float(dtype):
        x = rng.integers(-40, 40, shape) / 4
        for value in (np.nan, np.inf, -np.inf, -0.0):
            x[rng.random(shape) < 0.02] = value
        return x.astype(dtype)
    if dtype == bool:
        return rng.random(shape) < 0.5
    info = np.iinfo(dtype)
    ends = np.array([info.min, info.min + 1, info.max, info.max - 1, 0, 1, 7], object)
    return ends[rng.integers(0, len(ends), shape)].astype(dtype)


def expected(keys, axis, argmax, select_last=False, nan="propagate"):
    rows = np.moveaxis(keys, axis, -1)
    found = np.empty(rows.shape[:-1], np.int64)
    for place in np.ndindex(found.shape):
        row = list(rows[place])
        numbers = [key for key in row if key == key]
        if len(numbers) < len(row) and (nan == "propagate" or not numbers):
            best = [key != key for key in row]
        else:
            one = max(numbers) if argmax else min(numbers)
            best = [key == one for key in row]
        found[place] = np.flatnonzero(best)[-1 if select_last else 0]
    return found


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("near", [None, 0, 1, 7, 100, 2.75, -0.5, np.inf])
def test_every_type(dtype, near):
    if near is not None and not is_float(dtype) and (near != near // 1 or near in (np.inf,) or dtype == bool and near > 1):
        with pytest.raises(ValueError, match="^near is "):
            argreduce.argmin(np.zeros(3, dtype), near=near)
        return
    rng = np.random.default_rng(5)
    said = {"key": "abs"} if near is None else {"near": near}
    for shape, axis in (((300,), 0), ((9, 70), 1), ((70, 9), 0), ((70, 200), 0), ((5000,), 0), ((3, 20, 5), 1)):
        x = sample(rng, dtype, shape)
        keys = keys_of(x, near)
        for nan, select_last in (("propagate", False), ("ignore", True)):
            options = {**said, "nan": nan, "select_last": select_last}
            of_max, of_min = (expected(keys, axis, argmax, select_last, nan) for argmax in (True, False))
            np.testing.assert_array_equal(argreduce.argmax(x, axis, **options), of_max)
            np.testing.assert_array_equal(argreduce.argmin(x, axis, **options), of_min)
            np.testing.assert_array_equal(argreduce.argminmax(x, axis, **options), (of_min, of_max))
            values, indices = argreduce.max_argmax(x, axis, **options)
            np.testing.assert_array_equal(indices, of_max)
            at = np.take_along_axis(x, np.expand_dims(of_max, axis), axis).squeeze(axis)
            assert values.dtype == x.dtype and values.tobytes() == np.ascontiguousarray(at).tobytes()
        cumulative = argreduce.cumargmax(x, axis, **said)
        lines, found = np.moveaxis(keys, axis, -1), np.moveaxis(cumulative, axis, -1)
        for end in (1, 2, lines.shape[-1]):
            np.testing.assert_array_equal(found[..., end - 1], expected(lines[..., :end], -1, True))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_as_numpy(dtype):
    """What people write in its place."""
    rng = np.random.default_rng(6)
    x = sample(rng, dtype, 1000)
    if is_float(dtype):
        with np.errstate(invalid="ignore"):
            assert argreduce.argmax(x, key="abs") == np.abs(x).argmax()
            q = dtype.type(0.3)
            assert argreduce.nearest(x, q) == np.abs(x - q).argmin()
    # What wraps in NumPy.
    assert np.abs(np.array([-128, 100], np.int8)).argmax() == 1
    assert argreduce.argmax(np.array([-128, 100], np.int8), key="abs") == 0
    assert argreduce.nearest(np.array([250, 5], np.uint8), 7) == 1


def test_nearest():
    x = np.array([[1.0, 5.5, 9.0], [7.0, 4.0, 5.0]])
    assert argreduce.nearest(x, 5.2) == 5
    np.testing.assert_array_equal(argreduce.nearest(x, 5.2, axis=1), [1, 2])
    np.testing.assert_array_equal(argreduce.nearest(x, np.float32(8), 0, keepdims=True), [[1, 0, 0]])
    assert argreduce.nearest(x, 5.2, where=x != 5.0) == 1
    assert argreduce.nearest(x, 5.2, where=False, fill=-1) == -1
    assert argreduce.nearest([3, 9], 5, threads=2) == 0


@pytest.mark.parametrize("said", [{"key": "abs"}, {"near": 3}, {"near": -0.5}])
def test_parts_merge_by_key(said):
    rng = np.random.default_rng(8)
    x = rng.integers(-9, 10, (4, 60)).astype(np.float32)
    for function in ("argmax", "argmin"):
        parts = [
            argreduce.partial(x[:, n : n + 20], 1, start=(0, n), whole=x.shape, function=function, **said)
            for n in (0, 20, 40)
        ]
        assert (parts[0].key, parts[0].near) == (said.get("key"), said.get("near"))
        copies = pickle.loads(pickle.dumps(parts))
        assert copies[1].rule == parts[1].rule and copies[1]._replace().rule == parts[1].rule
        whole = getattr(argreduce, function)(x, 1, **said)
        for merged in (argreduce.merge(parts), argreduce.merge(*reversed(copies))):
            np.testing.assert_array_equal(merged.indices, whole)
            np.testing.assert_array_equal(merged.values, x[np.arange(4), whole])
            assert merged.rule == parts[0].rule
        pairs = [tuple(part) for part in parts]
        np.testing.assert_array_equal(argreduce.merge(pairs, function=function, **said).indices, whole)
    other = argreduce.partial(x, 1, start=(0, 0), whole=x.shape, function="argmin")
    with pytest.raises(ValueError, match="parts of different rules do not merge"):
        argreduce.merge(parts[0], other)


def test_masks_columns_and_many_axes():
    x = np.arange(-50.0, 50.0)
    there = np.arange(100) % 3 == 1
    assert argreduce.argmax(x, key="abs", where=there) == 1
    assert argreduce.argmax(np.ma.masked_array(x, ~there), key="abs") == 1
    many = x.reshape((1,) * 9 + (10, 10))
    assert argreduce.nearest(many, 20.4) == 70
    np.testing.assert_array_equal(argreduce.argmax(many, -1, key="abs").reshape(-1), [0] * 5 + [9] * 5)
    pa = pytest.importorskip("pyarrow")
    column = pa.chunked_array([[1, -9, None], [8, 9, None]])
    assert argreduce.argmax(column, key="abs") == 1
    assert argreduce.nearest(column, 7) == 3
    truths = pa.chunked_array([[False, False], [True, None, False]])
    assert [argreduce.nearest(truths, q) for q in (True, False)] == [2, 0]
    assert [argreduce.argmax(truths, near=q) for q in (True, False)] == [0, 2]


def test_dask():
    da = pytest.importorskip("dask.array")
    import argreduce.dask

    rng = np.random.default_rng(9)
    x = rng.integers(-99, 99, (40, 30))
    lazy = da.from_array(x, chunks=(7, 11))
    for said in ({"key": "abs"}, {"near": 12}):
        for axis in (None, 0, 1):
            for name in ("argmax", "argmin"):
                found = getattr(argreduce.dask, name)(lazy, axis, **said).compute()
                np.testing.assert_array_equal(found, getattr(argreduce, name)(x, axis, **said))
    assert argreduce.nearest(lazy, 12).compute() == argreduce.nearest(x, 12)
    with pytest.raises(ValueError, match=r"near is 0\.5"):
        argreduce.dask.argmin(lazy, near=0.5)


def test_labelled():
    xr = pytest.importorskip("xarray")
    x = xr.DataArray([[1.0, -5.0], [4.0, 2.0]], dims=("a", "b"))
    assert argreduce.argmax(x, "b", key="abs").values.tolist() == [1, 0]
    assert argreduce.nearest(x, 1.5, "a").values.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("dtype", "near", "message"),
    [
        ("u1", 300, "near is 300: uint8 does not hold it"),
        ("u8", -1, "near is -1: uint64 does not hold it"),
        ("i4", 0.5, "near is 0.5: int32 does not hold it"),
        ("i8", 2**200, "near is an integer beyond all types: int64 does not hold it"),
        ("f8", np.nan, "near is NaN: float64 does not hold it"),
        ("f2", 1e6, "near is 1000000: float16 does not hold it"),
        ("?", 2, "near is 2: bool does not hold it"),
    ],
)
def test_what_does_not_fit(dtype, near, message):
    for function in (argreduce.argmin, argreduce.argmax, argreduce.cumargmin):
        with pytest.raises(ValueError, match=f"^{message}$"):
            function(np.zeros(3, dtype), near=near)
    with pytest.raises(ValueError, match=f"^{message}$"):
        argreduce.partial(np.zeros(3, dtype), start=(0,), whole=(3,), near=near)


def test_errors():
    x = np.zeros(3)
    with pytest.raises(ValueError, match=r"^key and near are both given: one of them is needed$"):
        argreduce.argmin(x, key="abs", near=3)
    with pytest.raises(ValueError, match=r"^key is 'squared': None or 'abs' is needed$"):
        argreduce.argmin(x, key="squared")
    with pytest.raises(ValueError, match=r"^near has the shape \(2,\): one number is needed$"):
        argreduce.argmin(x, near=[1, 2])
    with pytest.raises(TypeError, match=r"^near is of type str: a number is needed$"):
        argreduce.argmin(x, near="3")
    with pytest.raises(TypeError, match=r"^near is of type datetime64\[D\]"):
        argreduce.argmin(x, near=np.datetime64("2026-01-01"))
    with pytest.raises(TypeError, match=r"^argmax takes no key and no near for dates and durations$"):
        argreduce.argmax(np.zeros(3, "m8[s]"), key="abs")
