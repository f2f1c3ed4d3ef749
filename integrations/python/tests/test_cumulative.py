"""The best so far: an answer for each element, against plain loops and NumPy's own accumulated values."""

from __future__ import annotations

import itertools

import argreduce
import numpy as np
import pytest

FUNCTIONS = ["cumargmax", "cumargmin"]
TYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "M8[s]", "m8[ms]"]


def so_far(name, line, reverse, select_last, nan, there):
    """One line: indices, -1 where nothing is there yet."""
    best, found = None, np.full(len(line), -1)
    for n in range(len(line))[:: -1 if reverse else 1]:
        if there[n] and (best is None or wins(name, line[n], line[best], nan, (n > best) == select_last)):
            best = n
        found[n] = -1 if best is None else best
    return found


def wins(name, new, old, nan, ties):
    lost = [bool(np.isnat(x) if x.dtype.kind in "mM" else x != x) for x in (new, old)]
    if lost[0] or lost[1]:
        return ties if all(lost) else lost[0] == (nan == "propagate")
    return ties if new == old else bool(new > old) == (name == "cumargmax")


def expected(name, x, axis, reverse=False, select_last=False, nan="propagate", there=None):
    there = np.ones(x.shape, bool) if there is None else there
    lines, theres = np.moveaxis(x, axis, -1), np.moveaxis(there, axis, -1)
    found = np.empty(lines.shape, np.int64)
    for place in np.ndindex(lines.shape[:-1]):
        found[place] = so_far(name, lines[place], reverse, select_last, nan, theres[place])
    return np.moveaxis(found, -1, axis)


def sample(rng, dtype, shape):
    x = rng.integers(-5, 6, shape)
    x = np.abs(x) if np.dtype(dtype).kind in "u?" else x
    x = x.astype(dtype) if np.dtype(dtype).kind not in "mM" else x.astype("i8").view(dtype)
    if x.dtype.kind in "fmM":
        x[rng.random(shape) < 0.1] = "NaT" if x.dtype.kind in "mM" else np.nan
    return x


@pytest.mark.parametrize("dtype", TYPES)
def test_every_type(dtype):
    rng = np.random.default_rng(7)
    for name, reverse, select_last, nan in itertools.product(FUNCTIONS, (0, 1), (0, 1), ("propagate", "ignore")):
        options = {"reverse": reverse, "select_last": select_last, "nan": nan}
        for shape, axis in (((40,), 0), ((7, 70), 1), ((70, 7), 0), ((3, 20, 5), -2), ((2, 1, 2, 1, 2, 1, 2, 1, 9, 2), 8)):
            x = sample(rng, dtype, shape)
            there = rng.random(shape) < 0.7
            found = getattr(argreduce, name)(x, axis, **options)
            assert found.dtype == np.int64 and found.shape == x.shape
            np.testing.assert_array_equal(found, expected(name, x, axis, reverse, select_last, nan))
            if nan == "propagate":
                wanted = expected(name, x, axis, reverse, select_last, nan, there)
                found = getattr(argreduce, name)(x, axis, where=there, fill=-1, **options)
                np.testing.assert_array_equal(found, wanted)
                values, indices = getattr(argreduce, name.replace("cumarg", "{}_cumarg").format(name[-3:]))(
                    x, axis, where=there, fill=-1, **options
                )
                np.testing.assert_array_equal(indices, wanted)
                taken = np.take_along_axis(x, np.maximum(wanted, 0), axis)
                np.testing.assert_array_equal(values[wanted >= 0], taken[wanted >= 0])


def test_values_are_those_of_numpy():
    rng = np.random.default_rng(8)
    x = rng.normal(size=(300, 40)).cumsum(0)
    for axis in (0, 1, -1):
        values, indices = argreduce.max_cumargmax(x, axis)
        np.testing.assert_array_equal(values, np.maximum.accumulate(x, axis))
        np.testing.assert_array_equal(np.take_along_axis(x, indices, axis), values)
        values, _ = argreduce.min_cumargmin(x, axis, reverse=True, threads=2)
        np.testing.assert_array_equal(values, np.flip(np.minimum.accumulate(np.flip(x, axis), axis), axis))


def test_the_flattened_array():
    x = np.array([[3, 1, 4], [1, 5, 9]])
    np.testing.assert_array_equal(argreduce.cumargmax(x), [0, 0, 2, 2, 4, 5])
    np.testing.assert_array_equal(argreduce.cumargmax(x.T), [0, 0, 0, 3, 4, 5])
    np.testing.assert_array_equal(argreduce.cumargmax(x.tolist(), reverse=True), [5] * 6)
    np.testing.assert_array_equal(argreduce.cumargmin([3, 1, 2]), [0, 1, 1])
    np.testing.assert_array_equal(argreduce.cumargmax(np.float32(3)), [0])
    np.testing.assert_array_equal(argreduce.cumargmax(x, where=[True, False, False], fill=-1), [0, 0, 0, 0, 0, 0])
    masked = np.ma.array(x, mask=[[1, 0, 0], [0, 0, 1]])
    np.testing.assert_array_equal(argreduce.cumargmax(masked, fill=-1), [-1, 1, 2, 2, 4, 4])
    np.testing.assert_array_equal(argreduce.cumargmax(masked, 1, fill=-1), [[-1, 1, 2], [0, 1, 1]])


def test_ties_and_nan_of_others():
    # torch.cummax takes the last of equals; pandas' cummax leaves NaN out, as nan="ignore" does.
    np.testing.assert_array_equal(argreduce.cumargmax([1, 1, 0, 1], select_last=True), [0, 1, 1, 3])
    x = np.array([1.0, np.nan, 3.0, np.nan, 2.0])
    np.testing.assert_array_equal(argreduce.cumargmax(x), [0, 1, 1, 1, 1])
    np.testing.assert_array_equal(argreduce.cumargmax(x, nan="ignore"), [0, 0, 2, 2, 2])
    np.testing.assert_array_equal(argreduce.cumargmax([np.nan, 1.0], nan="ignore", fill=-7), [-7, 1])


def test_out_and_types():
    x = np.arange(6.0).reshape(2, 3)
    for dtype in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"):
        out = np.full((2, 6), 99, dtype)[:, ::2]
        assert argreduce.cumargmax(x, 1, out=out) is out
        np.testing.assert_array_equal(out, [[0, 1, 2]] * 2)
    assert argreduce.cumargmax(x, 0, dtype="u1").dtype == np.uint8
    with pytest.raises(ValueError, match="index|fit"):
        argreduce.cumargmax(np.zeros(300), dtype="u1")
    with pytest.raises(ValueError):
        argreduce.cumargmax(x, 1, out=np.zeros(2, int))
    assert argreduce.cumargmax(np.zeros((3, 0)), 1).shape == (3, 0)
    assert argreduce.cumargmax(np.zeros((0, 3)), 1).shape == (0, 3)
    assert argreduce.cumargmax([]).shape == (0,)


def test_errors():
    x = np.zeros((2, 3))
    with pytest.raises(TypeError, match="cumargmax goes along one axis: 2 were given, of 2"):
        argreduce.cumargmax(x, (0, 1))
    with pytest.raises(TypeError, match="one axis: 0 were given"):
        argreduce.cumargmax(x, ())
    with pytest.raises(np.exceptions.AxisError):
        argreduce.cumargmax(x, 2)
    with pytest.raises(ValueError, match="no element is there"):
        argreduce.cumargmax(x, 1, where=[False, True, True])
    with pytest.raises(TypeError, match="keepdims"):
        argreduce.cumargmax(x, 1, keepdims=True)
    dask = pytest.importorskip("dask.array")
    with pytest.raises(TypeError, match="cumargmax takes no dask arrays"):
        argreduce.cumargmax(dask.zeros((2, 3)), 1)


def test_columns():
    pd = pytest.importorskip("pandas")
    np.testing.assert_array_equal(argreduce.cumargmax(pd.Series([3.0, 1.0, 4.0])), [0, 0, 2])
    column = pd.Series([None, 1, 0, 2], dtype="Int64")
    np.testing.assert_array_equal(argreduce.cumargmax(column, fill=-1), [-1, 1, 1, 3])
    np.testing.assert_array_equal(argreduce.cumargmax(pd.DataFrame({"a": [1, 3], "b": [2, 0]}), 0), [[0, 0], [1, 0]])
    pa = pytest.importorskip("pyarrow")
    chunked = pa.chunked_array([[2, None, 5], [1, 7]])
    np.testing.assert_array_equal(argreduce.cumargmax(chunked), [0, 0, 2, 2, 4])
    np.testing.assert_array_equal(argreduce.cumargmin(pa.array([True, None, False])), [0, 0, 2])


def test_labelled():
    xr = pytest.importorskip("xarray")
    x = xr.DataArray([[1.0, 5.0, 2.0], [7.0, 0.0, 7.0]], dims=("day", "hour"), coords={"hour": [6, 12, 18]})
    found = argreduce.cumargmax(x, "hour")
    assert found.dims == x.dims and list(found.hour) == [6, 12, 18]
    np.testing.assert_array_equal(found, [[0, 1, 1], [0, 0, 0]])
    assert argreduce.max_cumargmax(x, "day").values.dims == x.dims
    with pytest.raises(ValueError, match="goes along one of them"):
        argreduce.cumargmax(x)


def test_threads():
    rng = np.random.default_rng(9)
    for shape, axis in (((3_000_000,), 0), ((2, 1_500_000), 1), ((20_000, 130), 0), ((700_000, 3), 0)):
        x = rng.normal(size=shape).cumsum(axis).astype("f4")
        for reverse in (False, True):
            one = argreduce.cumargmax(x, axis, reverse=reverse)
            np.testing.assert_array_equal(argreduce.cumargmax(x, axis, reverse=reverse, threads=2), one)
