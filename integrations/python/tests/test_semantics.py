"""The answers: each rule, each type, any axes and strides, beside the rules as plain NumPy."""

from __future__ import annotations

import itertools

import argreduce
import ml_dtypes
import numpy as np
import pytest
from conftest import DTYPES, expected, is_float, random_array


def views(x):
    """The same elements by other strides, and other elements."""
    yield x
    yield np.asfortranarray(x)
    if x.ndim:
        yield x[..., ::-1]
        yield x[::2]
    yield x.T
    yield np.broadcast_to(x, (3, *x.shape))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_all_rules(rng, dtype):
    for shape in ((), (1,), (7,), (3, 5), (2, 3, 4), (2, 3, 1, 4)):
        for x in views(random_array(rng, shape, dtype)):
            subsets = itertools.chain.from_iterable(
                itertools.combinations(range(x.ndim), n) for n in range(x.ndim + 1)
            )
            for axes in subsets:
                for argmax, last, ignore in itertools.product((False, True), repeat=3):
                    function = argreduce.argmax if argmax else argreduce.argmin
                    options = {"select_last": last, "nan": "ignore" if ignore else "propagate"}
                    found = function(x, axes, **options)
                    wanted = expected(x, axes, argmax=argmax, last=last, ignore=ignore)
                    np.testing.assert_array_equal(found, wanted)
                    assert found.dtype == np.int64
                    with_values = argreduce.max_argmax if argmax else argreduce.min_argmin
                    values, indices = with_values(x, axes, keepdims=True, **options)
                    kept = tuple(1 if axis in axes else size for axis, size in enumerate(x.shape))
                    np.testing.assert_array_equal(indices, wanted.reshape(kept))
                    assert values.dtype == x.dtype and np.shape(values) == kept
                    flat = x.transpose([a for a in range(x.ndim) if a not in axes] + sorted(axes))
                    flat = flat.reshape(wanted.size, -1)
                    picked = flat[np.arange(wanted.size), wanted.ravel()]
                    # Bit for bit: the sign of zero and the payload of NaN, too.
                    assert np.ascontiguousarray(values).tobytes() == np.ascontiguousarray(picked).tobytes()


@pytest.mark.parametrize("dtype", [d for d in DTYPES if is_float(d)], ids=str)
def test_nan_functions(rng, dtype):
    x = random_array(rng, (5, 6, 7), dtype)
    x[:, 0] = 1
    for axes in (0, 1, (0, 2), None):
        tuple_of_axes = tuple(range(3)) if axes is None else axes if isinstance(axes, tuple) else (axes,)
        moved = np.moveaxis(x, tuple_of_axes, range(-len(tuple_of_axes), 0))
        some = np.isnan(moved.astype(np.float32)).all(tuple(range(-len(tuple_of_axes), 0))).any()
        for argmax in (False, True):
            function = argreduce.nanargmax if argmax else argreduce.nanargmin
            if some:
                with pytest.raises(ValueError, match="All-NaN slice encountered"):
                    function(x, axes)
            else:
                wanted = expected(x, tuple_of_axes, argmax=argmax, ignore=True)
                np.testing.assert_array_equal(function(x, axes), wanted)


def test_nanarg_of_all_nan_writes_nothing():
    x = np.array([[1.0, np.nan], [np.nan, np.nan]])
    out = np.array([7, 7])
    with pytest.raises(ValueError, match="All-NaN"):
        argreduce.nanargmax(x, 1, out=out)
    np.testing.assert_array_equal(out, 7)


def test_nanarg_of_integers():
    assert argreduce.nanargmax(np.array([1, 5, 2])) == 1


def test_as_numpy_has_it(rng):
    for _ in range(200):
        shape = tuple(rng.integers(1, 6, rng.integers(1, 5)))
        x = random_array(rng, shape, np.dtype("f4"))
        axis = int(rng.integers(-len(shape), len(shape)))
        for ours, theirs in ((argreduce.argmax, np.argmax), (argreduce.argmin, np.argmin)):
            for keepdims in (False, True):
                np.testing.assert_array_equal(ours(x, axis, keepdims=keepdims), theirs(x, axis, keepdims=keepdims))
            found, wanted = ours(x), theirs(x)
            assert found == wanted and type(found) is type(wanted)


def test_bfloat16_values():
    x = np.array([[1, 5], [7, 0]], ml_dtypes.bfloat16)
    values, indices = argreduce.max_argmax(x, 1)
    assert values.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(values.astype(np.float32), [5, 7])
    np.testing.assert_array_equal(indices, [1, 0])


def test_many_axes(rng):
    x = random_array(rng, (2,) * 11, np.dtype("f8"))
    for axes in ((0,), (3, 7), tuple(range(11)), ()):
        np.testing.assert_array_equal(argreduce.argmax(x, axes), expected(x, axes, argmax=True))
        kept = argreduce.argmax(x, axes, keepdims=True)
        assert kept.shape == tuple(1 if axis in axes else 2 for axis in range(11))
    out = np.zeros((2,) * 10, np.int32).T
    assert argreduce.argmax(x, 0, out=out) is out
    np.testing.assert_array_equal(out, expected(x, (0,), argmax=True))
    values, indices = argreduce.max_argmax(x)
    np.testing.assert_array_equal(values, x.ravel()[indices])


def test_byte_swapped_and_misaligned():
    x = np.array([1.0, 9.0, 4.0], ">f4")
    assert argreduce.argmax(x) == 1
    values, _ = argreduce.max_argmax(x, keepdims=True)
    assert values == 9
    record = np.zeros(3, np.dtype([("a", "u1"), ("b", "f4")]))
    record["b"] = [1, 9, 4]
    assert not record["b"].flags.aligned
    assert argreduce.argmax(record["b"]) == 1


def test_any_byte_but_zero_is_true():
    x = np.array([0, 0, 2, 255, 1], np.uint8).view(np.bool_)
    values, index = argreduce.max_argmax(x, keepdims=True)
    # The first of them, as NumPy has it, and a True of NumPy's own.
    assert index == x.argmax() == 2 and values.view(np.uint8) == 1
