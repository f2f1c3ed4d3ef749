"""argminmax: the answers of both functions by one call, whatever it is given."""

from __future__ import annotations

import itertools
import pickle

import argreduce
import ml_dtypes
import numpy as np
import pytest
from argreduce import _argreduce
from conftest import DTYPES, expected, is_float, nothing_of, random_array
from test_semantics import views

FIELDS = {"argminmax": ("argmin", "argmax"), "argminmax_values": ("min", "argmin", "max", "argmax")}


def subsets_of_axes(rank):
    return itertools.chain.from_iterable(itertools.combinations(range(rank), n) for n in range(rank + 1))


def rows_of(x, axes):
    """A row for each output, in their order: the elements that it is chosen from."""
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    shape = [x.shape[axis] for axis in kept]
    return x.transpose(kept + sorted(axes)).reshape(int(np.prod(shape)), -1)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_all_rules(rng, dtype):
    for shape in ((), (1,), (7,), (300,), (3, 5), (2, 3, 1, 4)):
        for x in views(random_array(rng, shape, dtype)):
            for axes in subsets_of_axes(x.ndim):
                for last, ignore in itertools.product((False, True), repeat=2):
                    options = {"select_last": last, "nan": "ignore" if ignore else "propagate"}
                    min_at, max_at = (expected(x, axes, argmax=n, last=last, ignore=ignore) for n in (False, True))
                    found = argreduce.argminmax(x, axes, **options)
                    np.testing.assert_array_equal(found.argmin, min_at)
                    np.testing.assert_array_equal(found.argmax, max_at)
                    kept = tuple(1 if axis in axes else size for axis, size in enumerate(x.shape))
                    found = argreduce.argminmax_values(x, axes, keepdims=True, **options)
                    assert [np.shape(part) for part in found] == [kept] * 4
                    assert [part.dtype for part in found] == [dtype, np.int64] * 2
                    np.testing.assert_array_equal(found.argmin, min_at.reshape(kept))
                    np.testing.assert_array_equal(found.argmax, max_at.reshape(kept))
                    rows = rows_of(x, axes)
                    for values, at in ((found.min, min_at), (found.max, max_at)):
                        # Bit for bit: the sign of zero and the payload of NaN, too.
                        picked = rows[np.arange(at.size), at.ravel()]
                        assert np.ascontiguousarray(values).tobytes() == np.ascontiguousarray(picked).tobytes()


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d != ml_dtypes.bfloat16], ids=str)
def test_as_numpy_has_it(rng, dtype):
    for _ in range(100):
        shape = tuple(rng.integers(1, 40, rng.integers(1, 4)))
        for x in views(random_array(rng, shape, dtype)):
            axis = int(rng.integers(-x.ndim, x.ndim))
            for keepdims in (False, True):
                min_at, max_at = argreduce.argminmax(x, axis, keepdims=keepdims)
                np.testing.assert_array_equal(min_at, np.argmin(x, axis, keepdims=keepdims), strict=True)
                np.testing.assert_array_equal(max_at, np.argmax(x, axis, keepdims=keepdims), strict=True)
            found, wanted = argreduce.argminmax(x), (np.argmin(x), np.argmax(x))
            assert found == wanted and [type(part) for part in found] == [type(part) for part in wanted]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_without_nan_as_numpy_has_it(rng, dtype):
    for shape in ((50,), (9, 30), (4, 5, 6)):
        x = random_array(rng, shape, np.dtype(dtype))
        x[..., 0] = 1
        for axis in (None, -1):
            min_at, max_at = argreduce.argminmax(x, axis, nan="ignore")
            np.testing.assert_array_equal(min_at, np.nanargmin(x, axis))
            np.testing.assert_array_equal(max_at, np.nanargmax(x, axis))


def test_a_nan_is_both():
    x = np.array([[1.0, np.nan, 5.0, np.nan], [4.0, 3.0, 2.0, 9.0]])
    assert [part.tolist() for part in argreduce.argminmax(x, 1)] == [[1, 2], [1, 3]]
    assert [part.tolist() for part in argreduce.argminmax(x, 1, select_last=True)] == [[3, 2], [3, 3]]
    assert [part.tolist() for part in argreduce.argminmax(x, 1, nan="ignore")] == [[0, 2], [2, 3]]
    found = argreduce.argminmax_values(x, nan="propagate")
    assert np.isnan(found.min) and np.isnan(found.max) and found.argmin == found.argmax == 1


def test_numbers_and_types():
    x = np.array([[1.0, 5.0, 2.0], [7.0, 0.0, 7.0]], np.float32)
    for name, fields in FIELDS.items():
        found = getattr(argreduce, name)(x)
        assert found._fields == fields
        assert found._asdict() == {n: {"min": 0, "argmin": 4, "max": 7, "argmax": 3}[n] for n in fields}
        types = {"min": np.float32, "argmin": np.int64, "max": np.float32, "argmax": np.int64}
        assert [type(part) for part in found] == [types[field] for field in fields]
        again = pickle.loads(pickle.dumps(found))
        assert type(again) is type(found) and again == found
        for axis in (None, (), 0, -1):
            assert getattr(argreduce, name)(np.float32(3), axis)[-1] == 0
    for dtype in ("i4", "i8", "u1", "u2", "u4", "u8"):
        for axis in (None, 1):
            found = argreduce.argminmax(x, axis, dtype=dtype)
            assert found.argmin.dtype == found.argmax.dtype == np.dtype(dtype)
            np.testing.assert_array_equal(found.argmin, np.argmin(x, axis))
            np.testing.assert_array_equal(found.argmax, np.argmax(x, axis))
    # One object each, and not one array twice.
    found = argreduce.argminmax_values(x, ())
    found.argmin[0, 0] = 9
    assert found.argmax[0, 0] == 0


@pytest.mark.parametrize("name", FIELDS)
def test_what_is_wrong(name):
    function, x = getattr(argreduce, name), np.zeros((2, 300))
    with pytest.raises(np.exceptions.AxisError):
        function(x, 2)
    with pytest.raises(ValueError, match="duplicate"):
        function(x, (1, -1))
    with pytest.raises(ValueError, match="uint8"):
        function(x, 1, dtype=np.uint8)
    with pytest.raises(TypeError, match="dtype is float32"):
        function(x, dtype=np.float32)
    with pytest.raises(TypeError, match=f"^{name} takes bool, .*, not complex128$"):
        function(x.astype(complex))
    with pytest.raises(TypeError, match="out"):
        function(x, 1, out=np.zeros(2, int))
    with pytest.raises(TypeError):
        function(x=x)
    with pytest.raises(ValueError, match="^nan is 'omit'"):
        function(x, nan="omit")
    with pytest.raises(ValueError, match="fill is -1: uint8 does not hold it"):
        function(x, 0, dtype=np.uint8, where=False, fill=-1)
    with pytest.raises(ValueError, match="no element is there"):
        function(x, where=False)
    with pytest.raises(TypeError, match=f"{name}: where is of type int64"):
        function(x, where=np.ones(300, int))


def test_what_is_an_array_elsewhere(rng):
    """Byte-swapped, misaligned, of more axes than the library takes; and whatever NumPy makes an array of."""
    x = random_array(rng, (5, 40), np.dtype("f4"))
    wanted = [part.tobytes() for part in argreduce.argminmax_values(x, 1)]
    record = np.zeros(x.shape, np.dtype([("a", "u1"), ("b", "f4")]))
    record["b"] = x
    many = x.reshape((1,) * 8 + x.shape)
    for y in (x.astype(">f4"), record["b"], np.asfortranarray(x), many):
        found = argreduce.argminmax_values(y, -1)
        assert [part.tobytes() for part in found] == wanted
    found = argreduce.argminmax(many)
    assert found == argreduce.argminmax(x) and type(found.argmin) is np.int64
    assert [part.shape for part in argreduce.argminmax(many, 0, keepdims=True)] == [many.shape] * 2
    assert argreduce.argminmax([[3, 1], [2, 7]]) == argreduce.argminmax(((3, 1), (2, 7))) == (1, 3)


@pytest.mark.parametrize("name", FIELDS)
def test_results_are_of_the_library(rng, name):
    from test_dlpack import Array, Bfloat16

    function = getattr(argreduce, name)
    x = random_array(rng, (3, 50), np.dtype("f8"))
    for axis, y in ((1, x), (-1, x.reshape((1,) * 8 + x.shape)), (None, x)):
        found, wanted = function(Array(y), axis), function(y, axis)
        assert type(found) is type(wanted) and {type(part) for part in found} == {Array}
        for part, wanted_part in zip(found, wanted):
            np.testing.assert_array_equal(part.array, wanted_part)
    x = random_array(rng, (3, 50), np.dtype(ml_dtypes.bfloat16))
    found, wanted = function(Bfloat16(x), 1), function(x, 1)
    for part, wanted_part in zip(found, wanted):
        assert part.dtype == wanted_part.dtype and part.tobytes() == wanted_part.tobytes()


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i4", "u1", "?", "i8"])
def test_masks(rng, dtype):
    masks = pytest.importorskip("test_masks")
    for shape, axis in [((7,), None), ((5, 9), 1), ((5, 9), 0), ((3, 4, 5), (0, 2)), ((600, 3), 1), ((2, 3000), 1)]:
        x = rng.integers(0, 4, shape).astype(dtype)
        if is_float(np.dtype(dtype)):
            x[rng.random(shape) < 0.2] = np.nan
        for where in (rng.random(shape) < 0.5, rng.random(shape) < 0.05, np.True_, rng.random(shape[-1:]) < 0.5):
            for y in (x, np.asfortranarray(x), x[::-1]):
                for last in (False, True):
                    min_at, max_at = (masks.expected(f"arg{n}", y, where, axis, last) for n in ("min", "max"))
                    options = {"where": where, "fill": -1, "select_last": last}
                    found = argreduce.argminmax(y, axis, **options)
                    np.testing.assert_array_equal(found.argmin, min_at)
                    np.testing.assert_array_equal(found.argmax, max_at)
                    found = argreduce.argminmax_values(y, axis, **options)
                    axes = tuple(range(y.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
                    rows = rows_of(y, axes)
                    for values, at in ((found.min, min_at), (found.max, max_at)):
                        picked = rows[np.arange(at.size), at.ravel()]
                        # Where nothing is there, the value is NaN, or 0.
                        picked = np.where(at.ravel() == -1, nothing_of(y.dtype), picked)
                        np.testing.assert_array_equal(np.ravel(values), picked)
                    np.testing.assert_array_equal(found.argmin, min_at)
    masked = np.ma.masked_array([[3, 1, 2], [5, 4, 9]], [[0, 1, 0], [0, 0, 1]])
    assert [part.tolist() for part in argreduce.argminmax(masked, 1)] == [[2, 1], [0, 0]]
    assert argreduce.argminmax(np.ma.masked_all(3), fill=7) == (7, 7)


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint16", "float32", "float64"])
def test_columns(rng, dtype):
    masks = pytest.importorskip("test_masks")
    for n in range(30):
        length = int(rng.integers(3, 200))
        values = rng.integers(0, 100 if n % 2 else 4, length).astype(dtype)
        if dtype.startswith("float") and n % 3:
            values[rng.random(length) < 0.2] = np.nan
        missing = rng.random(length) < rng.choice([0.0, 0.1, 0.9, 1.0])
        wanted = [int(masks.expected(f"arg{n}", values, ~missing, 0)) for n in ("min", "max")]
        picked = [nothing_of(values.dtype) if at == -1 else values[at] for at in wanted]
        for kind, column in masks.columns(values, missing, dtype):
            what = (kind, values, missing)
            assert list(argreduce.argminmax(column, fill=-1)) == wanted, what
            found = argreduce.argminmax_values(column, fill=-1)
            assert [found.argmin, found.argmax] == wanted, what
            np.testing.assert_array_equal([found.min, found.max], picked, str(what))
            assert found.min.dtype == values.dtype
            kept = argreduce.argminmax_values(column, 0, keepdims=True, dtype="i4", fill=-1)
            assert [kept.argmin.tolist(), kept.argmax.tolist()] == [[at] for at in wanted], what
            if -1 in wanted:
                with pytest.raises(ValueError, match="no element is there"):
                    argreduce.argminmax(column)


@pytest.mark.parametrize("dtype", ["datetime64[s]", "timedelta64[us]", ">M8[D]"])
def test_dates(dtype):
    test_dates = pytest.importorskip("test_dates")
    for shape in ((7,), (300,), (5, 4), (3, 40, 2)):
        rng = np.random.default_rng(shape[0])
        for part, nan, last in itertools.product([0, 0.1, 0.6, 1], ["propagate", "ignore"], [False, True]):
            x = test_dates.dates(rng, shape, dtype, part)
            for axis in (None, *range(len(shape))):
                options = {"nan": nan, "select_last": last}
                found = argreduce.argminmax_values(x, axis, keepdims=True, **options)
                for which, values, indices in (("min", *found[:2]), ("max", *found[2:])):
                    wanted = test_dates.expected(x, axis, which == "max", nan, last)
                    np.testing.assert_array_equal(indices, np.reshape(wanted, np.shape(indices)))
                    assert values.dtype == x.dtype.newbyteorder("=")
                    rows = rows_of(x, tuple(range(x.ndim)) if axis is None else (axis,))
                    picked = rows[np.arange(len(rows)), np.ravel(wanted)]
                    np.testing.assert_array_equal(values.ravel(), picked)
                both = argreduce.argminmax(x, axis, **options)
                np.testing.assert_array_equal(both.argmin, np.squeeze(found.argmin, axis))
                np.testing.assert_array_equal(both.argmax, np.squeeze(found.argmax, axis))
    x = np.array(["2020-01-01", "NaT", "2021-01-01", "1999-01-01"], "datetime64[D]")
    assert argreduce.argminmax(x, where=[True, False, True, True]) == (3, 2)
    assert argreduce.argminmax(x, where=[False, True, False, False], nan="ignore", fill=-1) == (-1, -1)
    assert argreduce.argminmax(x, where=[False, True, False, False], nan="ignore") == (1, 1)


def test_dates_of_columns():
    pyarrow = pytest.importorskip("pyarrow")
    days = np.array(["2020-01-01", "1999-01-01", "2021-01-01"], "datetime64[D]")
    assert argreduce.argminmax(pyarrow.chunked_array([pyarrow.array(days[:1]), pyarrow.array(days[1:])])) == (1, 2)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_threads(rng, dtype):
    _argreduce._set_cpus(16)
    try:
        x = random_array(rng, (3, 700_000), dtype)
        where = rng.random(x.shape) < 0.5
        for y, axis in ((x, 1), (x, None), (x.T, 0), (x, 0), (np.asfortranarray(x), 1)):
            for options in ({}, {"nan": "ignore", "select_last": True}):
                wanted = argreduce.argminmax_values(y, axis, threads=1, **options)
                for threads in (2, 5):
                    found = argreduce.argminmax_values(y, axis, threads=threads, **options)
                    assert [part.tobytes() for part in found] == [part.tobytes() for part in wanted]
                    found = argreduce.argminmax(y, axis, threads=threads, **options)
                    np.testing.assert_array_equal(found.argmin, wanted.argmin)
                    np.testing.assert_array_equal(found.argmax, wanted.argmax)
        wanted = argreduce.argminmax_values(x, 1, where=where)
        found = argreduce.argminmax_values(x, 1, where=where, threads=4)
        assert [part.tobytes() for part in found] == [part.tobytes() for part in wanted]
    finally:
        _argreduce._set_cpus(0)


def test_plans_are_kept_apart(rng):
    """The last plans are kept: of one function and of both, for the same array."""
    arrays = [random_array(rng, (n, 7), np.dtype("f4")) for n in range(1, 8)]
    for _ in range(3):
        for x in arrays:
            for last in (False, True):
                wanted = [expected(x, (1,), argmax=n, last=last) for n in (False, True)]
                np.testing.assert_array_equal(argreduce.argmin(x, 1, select_last=last), wanted[0])
                np.testing.assert_array_equal(argreduce.argminmax(x, 1, select_last=last), wanted)
                np.testing.assert_array_equal(argreduce.argmax(x, 1, select_last=last), wanted[1])
