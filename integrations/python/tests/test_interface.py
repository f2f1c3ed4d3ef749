"""What goes in and out: arguments, results, errors. Each row of the contract's tables."""

from __future__ import annotations

import importlib.metadata
import pickle
import threading
import time

import argreduce
import numpy as np
import pytest

X = np.array([[1.0, 5.0, 2.0], [7.0, 0.0, 7.0]])
FUNCTIONS = [argreduce.argmax, argreduce.argmin, argreduce.nanargmax, argreduce.nanargmin]


def test_axis():
    assert argreduce.argmax(X) == 3
    np.testing.assert_array_equal(argreduce.argmax(X, axis=-1), [1, 0])
    np.testing.assert_array_equal(argreduce.argmax(X, np.int8(1)), [1, 0])
    assert argreduce.argmax(X, (1, 0)) == argreduce.argmax(X, (0, 1)) == argreduce.argmax(X, [0, 1]) == 3
    np.testing.assert_array_equal(argreduce.argmax(X, ()), np.zeros((2, 3)))
    for axis in (None, (), 0, -1):
        assert argreduce.argmax(np.float32(3), axis) == 0
    with pytest.raises(np.exceptions.AxisError, match="axis 2 is out of bounds for array of dimension 2"):
        argreduce.argmax(X, 2)
    with pytest.raises(np.exceptions.AxisError):
        argreduce.argmax(np.array(1.0), 1)
    with pytest.raises(ValueError, match="duplicate"):
        argreduce.argmax(X, (1, -1))
    with pytest.raises(TypeError):
        argreduce.argmax(X, 1.0)
    with pytest.raises(TypeError):
        argreduce.argmax(X, "x")


# Of few axes, and of more than the library takes.
@pytest.mark.parametrize("x", [X, np.zeros((1,) * 10)])
def test_what_is_no_axis(x):
    for axis in (True, False, np.True_, 1.0, "1", {0}, np.array([0.0]), np.array([[0]]), (0, None), (0, True), [1.0]):
        with pytest.raises(TypeError, match="axis is of type .*: None, an integer or a tuple of integers is needed"):
            argreduce.argmax(x, axis)
    for axis in (10**30, -(10**30), (0, 10**30)):
        with pytest.raises(OverflowError, match="axis is -?10000.*: too large to convert to C long"):
            argreduce.argmax(x, axis)
    with pytest.raises(ValueError, match="duplicate value in 'axis': -1 is axis"):
        argreduce.argmax(x, (x.ndim - 1, -1))
    with pytest.raises(np.exceptions.AxisError):
        argreduce.argmax(x, [x.ndim])
    with pytest.raises(TypeError, match="out is of type list: argmax writes to arrays of NumPy"):
        argreduce.argmax(x, out=[0])
    assert argreduce.argmax(x[..., :1], (), out=np.ones(x[..., :1].shape, int)).max() == 0
    out = np.ones(x.shape[1:], int)
    found = argreduce.max_argmax(x, 0, out=out)
    assert found.indices is out and out.max() <= 1 and found.values.shape == out.shape
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        argreduce.argmax(x, 0, out=out)


def test_lists_of_axes():
    x = np.arange(24).reshape(2, 3, 4) % 7
    for axes in (range(1, 3), np.array([2, 1]), np.array([1, -1], np.int8), np.array([2, 1], np.uint64), [1, np.int64(2)]):
        np.testing.assert_array_equal(argreduce.argmax(x, axes), argreduce.argmax(x, (1, 2)))
        assert argreduce.partial(x, axes, start=(0, 0, 0), whole=x.shape).values.shape == (2,)
    np.testing.assert_array_equal(argreduce.argmax(x, np.array([], int)), np.zeros((2, 3, 4)))
    # No array has so many: not all of them are looked at.
    for axes in (range(10**12), [0] * 100, tuple(range(100))):
        with pytest.raises(ValueError):
            argreduce.argmax(x, axes)


def test_64_axes():
    x = np.zeros((1,) * 63 + (3,))
    x[..., 1] = 1
    assert argreduce.argmax(x) == 1
    assert argreduce.argmax(x, 0).shape == x.shape[1:]
    assert argreduce.argmax(x, -1, keepdims=True).shape == (1,) * 64


@pytest.mark.parametrize("function", FUNCTIONS)
def test_empty(function):
    for shape in ((0,), (0, 3), (3, 0)):
        with pytest.raises(ValueError, match="empty sequence"):
            function(np.zeros(shape))
    # As NumPy has it, even where there are no outputs.
    with pytest.raises(ValueError) as theirs:
        getattr(np, function.__name__)(np.zeros((0, 0)), 1)
    with pytest.raises(ValueError) as ours:
        function(np.zeros((0, 0)), 1)
    assert str(ours.value) == str(theirs.value)
    assert function(np.zeros((0, 3)), 1).shape == (0,)


@pytest.mark.parametrize("function", [argreduce.argminmax, argreduce.argminmax_values])
def test_empty_of_both(function):
    for shape, axis in (((0,), None), ((0, 3), 0), ((3, 0), None), ((0, 0), 1)):
        with pytest.raises(ValueError, match="^attempt to get argminmax of an empty sequence$"):
            function(np.zeros(shape), axis)
    assert [part.shape for part in function(np.zeros((0, 3)), 1)] == [(0,)] * len(function([1])._fields)


@pytest.mark.parametrize(
    "x",
    [
        np.zeros(3, complex),
        np.zeros(3, object),
        np.zeros(3, "S8"),
        np.array(["a", "b"]),
        ["a", "b"],
        np.zeros(3, np.longdouble),
        np.zeros(3, [("a", "f4")]),
        np.zeros(3, "V2"),
    ],
)
def test_other_types_are_named(x):
    with pytest.raises(TypeError) as error:
        argreduce.argmax(x)
    assert str(error.value).startswith("argmax takes bool, ")
    assert str(error.value).endswith(f", not {np.asarray(x).dtype}")


class HasArray:
    """What is known by ``__array__`` alone."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


def test_masked_arrays():
    masked = np.ma.masked_array([1, 2], [False, True])
    assert argreduce.argmax(masked) == 0
    # What is made of these has no mask.
    for x in ([masked, [3, 4]], ([[5, 6]], [masked]), HasArray(masked), [HasArray(np.array([9, 9])), masked]):
        with pytest.raises(TypeError, match="argmax takes no masked arrays"):
            argreduce.argmax(x)
        with pytest.raises(TypeError, match="partial takes no masked arrays"):
            argreduce.partial(x, start=(0, 0), whole=(2, 2))
    assert argreduce.argmax([[1, 2], (5, np.float64(4))]) == 2


# What each library makes of 64-bit integers of which the third is missing.
MISSING = [2**53, 2**53 + 1, None]


def missing_of_pandas(pandas):
    for dtype in ("Int64", "UInt64", "int64[pyarrow]", "uint64[pyarrow]"):
        if "pyarrow" in dtype:
            try:
                import pyarrow  # noqa: F401
            except ImportError:
                continue
        series = pandas.Series(MISSING, dtype=dtype)
        yield from (series, series.array, pandas.Index(series), pandas.DataFrame({"type": series}))
    yield pandas.Series(pandas.Categorical.from_codes([0, 1, -1], categories=MISSING[:2]))


def missing_of_pyarrow(pyarrow):
    for dtype in (pyarrow.int64(), pyarrow.uint64()):
        array = pyarrow.array(MISSING, dtype)
        yield from (array, pyarrow.chunked_array([array]), pyarrow.table({"a": array, "type": array}))
        yield pyarrow.record_batch({"a": array})


def missing_of_polars(polars):
    for dtype in (polars.Int64, polars.UInt64):
        series = polars.Series("type", MISSING, dtype)
        yield from (series, polars.DataFrame([series]), [series, series])


def is_column(x):
    """One axis, and no type in which numbers are something else."""
    type_of = str(getattr(x, "dtype", getattr(x, "type", None))).lower()
    if hasattr(x, "columns") or hasattr(x, "column_names") or np.ndim(x) != 1:
        return False
    return not isinstance(x, list) and "int64" in type_of and not any(word in type_of for word in ("array", "list"))


@pytest.mark.parametrize("library", [missing_of_pandas, missing_of_pyarrow, missing_of_polars])
def test_missing_integers(library):
    name = library.__name__.rpartition("_")[2]
    module = pytest.importorskip(name)
    for x in library(module):
        # Otherwise NumPy's own conversion refuses, and this package has nothing to say.
        assert np.asarray(x).dtype == np.float64
        if is_column(x):
            assert [function(x) for function in FUNCTIONS] == [1, 0, 1, 0]
            assert argreduce.max_argmax(x) == (2**53 + 1, 1)
            assert argreduce.partial(x, start=(0,), whole=(3,)).values == 2**53 + 1
            with pytest.raises(TypeError, match="merge takes no masked arrays, and no columns with nulls"):
                argreduce.merge((x, np.zeros(3, int)), (np.zeros(3), np.zeros(3, int)))
            continue
        for function in (*FUNCTIONS, argreduce.max_argmax):
            with pytest.raises(TypeError, match="takes no 64-bit integers with missing values.*float64.*exact"):
                function(x)
        with pytest.raises(TypeError, match="partial takes no 64-bit integers"):
            argreduce.partial(x, start=(0,), whole=(3,))
        with pytest.raises(TypeError, match="merge takes no 64-bit integers"):
            argreduce.merge((x, np.zeros(3, int)), (np.zeros(3), np.zeros(3, int)))


def test_columns():
    """Nothing is missing, or nothing is lost by it."""
    found = []
    if (pandas := pytest.importorskip("pandas")) is not None:
        found += [pandas.Series(MISSING[:2], dtype="UInt64"), pandas.DataFrame({"a": [1, 2], "b": [0.5, 3.0]})]
        found += [pandas.Series([1, None, 3], dtype="Int32"), pandas.Series([0.5, None, 1], dtype="Float64")]
        assert argreduce.nanargmax(found[0]) == argreduce.argmax(found[0]) == 1
    for x in found[1:]:
        assert argreduce.nanargmax(x) == np.nanargmax(np.asarray(x))
    polars = pytest.importorskip("polars")
    for x in (polars.Series(MISSING[:2]), polars.Series([1, None, 3], dtype=polars.Int32), polars.DataFrame({"a": [2, 3]})):
        assert argreduce.nanargmax(x) == np.nanargmax(np.asarray(x))


def test_subclasses():
    class Subclass(np.ndarray):
        pass

    assert type(argreduce.argmax(X.view(Subclass), 0)) is np.ndarray
    out = np.zeros(3, int, order="F").view(Subclass)
    assert argreduce.argmax(X, 0, out=out) is out and out.tolist() == [1, 0, 1]


def test_what_asarray_takes():
    assert argreduce.argmax([1, 5, 2]) == 1
    assert argreduce.argmax(memoryview(np.array([1.0, 5.0]))) == 1
    found = argreduce.argmax(np.matrix(X), 1)
    assert type(found) is np.ndarray and found.tolist() == [1, 0]
    assert argreduce.argmax(3.0) == 0


def test_pandas_and_xarray():
    pandas = pytest.importorskip("pandas")
    xarray = pytest.importorskip("xarray")
    assert argreduce.argmax(pandas.Series([1.0, 5.0])) == 1
    np.testing.assert_array_equal(argreduce.argmax(pandas.DataFrame(X), 1), [1, 0])
    np.testing.assert_array_equal(argreduce.argmax(xarray.DataArray(X), 1), [1, 0])


def test_result_types():
    found = argreduce.argmax(X)
    assert type(found) is np.int64
    for dtype in ("i4", "i8", "u1", "u2", "u4", "u8"):
        assert type(argreduce.argmax(X, dtype=dtype)) is np.dtype(dtype).type
        assert argreduce.argmax(X, 0, dtype=np.dtype(dtype)).dtype == dtype
    for dtype in ("f4", "i1", "i2", "?", ">i4"):
        with pytest.raises(TypeError, match="indices are int32"):
            argreduce.argmax(X, dtype=dtype)
    with pytest.raises(ValueError, match="the largest possible index is 256: uint8 holds at most 255"):
        argreduce.argmax(np.zeros(257), dtype="u1")
    assert argreduce.argmax(np.zeros(256), dtype="u1") == 0


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4"])
def test_out(dtype):
    for out in (np.zeros(3, dtype), np.zeros(6, dtype)[::2], np.zeros(3, dtype)[::-1]):
        assert argreduce.argmax(X, 0, out=out) is out
        np.testing.assert_array_equal(out, [1, 0, 1])
    assert argreduce.nanargmax(X, 0, out=np.zeros(3, dtype)).tolist() == [1, 0, 1]
    number = np.zeros((), dtype)
    assert argreduce.argmax(X, out=number) is number and number == 3


def test_wrong_out():
    with pytest.raises(ValueError, match=r"does not match .*: its shape is \(4,\), and that of the result is \(3,\)"):
        argreduce.argmax(X, 0, out=np.zeros(4, int))
    with pytest.raises(ValueError, match="does not match"):
        argreduce.argmax(X, 0, out=np.zeros((1, 3), int))
    assert argreduce.argmax(X, 0, out=np.zeros((1, 3), int), keepdims=True).shape == (1, 3)
    with pytest.raises(TypeError, match="float"):
        argreduce.argmax(X, 0, out=np.zeros(3))
    with pytest.raises(TypeError, match="list"):
        argreduce.argmax(X, 0, out=[0, 0, 0])
    out = np.zeros(3, int)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        argreduce.argmax(X, 0, out=out)
    with pytest.raises(ValueError, match="does not fit"):
        argreduce.argmax(np.zeros(200), out=np.zeros((), "i1"))
    with pytest.raises(ValueError):
        argreduce.argmax(np.zeros(300), out=np.zeros((), "u1"))
    # Of the other byte order, too, all that fits.
    for dtype, largest in ((">u2", 65_535), (">i2", 32_767)):
        assert argreduce.argmax(np.zeros(largest + 1), select_last=True, out=np.zeros((), dtype)) == largest
        with pytest.raises(ValueError, match=f"the largest index, {largest + 1}, does not fit it"):
            argreduce.argmax(np.zeros(largest + 2), out=np.zeros((), dtype))
    for dtype in (">u4", ">i8", ">u8"):
        assert argreduce.argmax(np.zeros(70_000), select_last=True, out=np.zeros((), dtype)) == 69_999
    with pytest.raises(TypeError, match="dtype"):
        argreduce.argmax(X, 0, out=np.zeros(3, "i4"), dtype="i8")


def test_out_may_be_the_input():
    x = np.array([[3, 1, 2], [9, 8, 7]])
    assert argreduce.argmin(x, 1, out=x[:, 0]).tolist() == [1, 2]
    assert x.tolist() == [[1, 1, 2], [2, 8, 7]]
    y = np.array([4, 9, 1, 2])
    assert argreduce.argmax(y[:, None], 1, out=y).tolist() == [0, 0, 0, 0]


def test_keywords():
    for name, value in (("nan", "omit"), ("threads", 0), ("threads", -3), ("threads", "4")):
        for function in (argreduce.argmax, argreduce.min_argmin):
            with pytest.raises(ValueError, match=f"^{name} is '?{value}"):
                function(X, **{name: value})
    with pytest.raises(ValueError, match="^threads is -9.*: at least 1 is needed"):
        argreduce.argmax(X, threads=-(10**30))
    for name, value in (("nan", 5), ("nan", None), ("threads", 2.5), ("threads", [1])):
        with pytest.raises(TypeError, match=f"^{name} is of type {type(value).__name__}: "):
            argreduce.argmax(X, **{name: value})
    for name, value in (("function", 1), ("nan", 1), ("start", 3), ("whole", 3), ("start", (0, 1.5)), ("whole", "ab")):
        arguments = {"start": (0, 0), "whole": X.shape, name: value}
        with pytest.raises(TypeError, match=f"^{name} is of type "):
            argreduce.partial(X, **arguments)
    with pytest.raises(TypeError):
        argreduce.argmax(x=X)
    with pytest.raises(TypeError):
        argreduce.argmax(X, 0, True)
    assert argreduce.argmax(X, threads=2) == 3


def test_truth_values():
    for value in (None, 0, 1, "no", "", [], [0], np.True_, np.False_, 2.5):
        assert argreduce.argmax(X, 0, keepdims=value).shape == np.argmax(X, 0, keepdims=value).shape
        assert argreduce.nanargmin(X, keepdims=value).shape == ((1, 1) if value else ())
        for function in (argreduce.argmax, argreduce.nanargmax):
            assert function([3, 3], select_last=value) == (1 if value else 0)
        assert argreduce.partial([3, 3], start=(0,), whole=(2,), select_last=value).indices == (1 if value else 0)
    for name in ("keepdims", "select_last"):
        with pytest.raises(ValueError, match="truth value") as error:
            argreduce.argmax(X, **{name: np.array([1, 2])})
        assert any(name in note for note in error.value.__notes__)


def test_names():
    assert argreduce.__version__ == importlib.metadata.version("argreduce")
    assert {name for name in dir(argreduce) if not name.startswith("_")} - {"dask", "segments"} == set(argreduce.__all__)


def test_dask_arrays_stay_lazy():
    da = pytest.importorskip("dask.array")
    computed = []

    def seen(block, block_info=None):
        # Not when dask asks what comes back.
        if block_info:
            computed.append(block.shape)
        return block

    class Subclass(da.Array):
        pass

    x = np.arange(12.0).reshape(3, 4) % 5
    lazy = da.from_array(x, chunks=2).map_blocks(seen, dtype=x.dtype)
    subclass = Subclass(lazy.dask, lazy.name, lazy.chunks, lazy.dtype)
    names = ["argmax", "argmin", "nanargmax", "nanargmin", "max_argmax", "min_argmin", "argminmax", "argminmax_values"]
    for name in names:
        function = getattr(argreduce, name)
        for y in (lazy, subclass):
            computed.clear()
            options = {"select_last": True} if name.startswith("nan") else {"nan": "ignore", "keepdims": 1}
            found, wanted = function(y, 1, **options), function(x, 1, **options)
            assert not computed
            assert type(found) is (type(wanted) if isinstance(wanted, tuple) else da.Array)
            pairs = zip(found, wanted) if isinstance(wanted, tuple) else [(found, wanted)]
            for part, wanted_part in pairs:
                assert isinstance(part, da.Array)
                np.testing.assert_array_equal(part.compute(), wanted_part)
            assert computed
        computed.clear()
        refused = {"dtype": np.int32} if "minmax" in name else {"out": np.zeros(3, int)}
        refusal = f"{name} takes no {next(iter(refused))}= for a dask array.*argreduce.dask.{name}"
        with pytest.raises(TypeError, match=refusal):
            function(lazy, 1, **refused)
    for axes in (range(2), np.array([1, 0])):
        assert argreduce.argmax(lazy, axes).compute() == argreduce.argmax(x, axes)
    computed.clear()
    indices = da.zeros((3, 4), int)
    with pytest.raises(TypeError, match="partial takes no dask arrays"):
        argreduce.partial(lazy, start=(0, 0), whole=x.shape)
    for acc, other in (((lazy, indices), (x, x.astype(int))), ((x, indices), (x, x.astype(int)))):
        with pytest.raises(TypeError, match="merge takes no dask arrays"):
            argreduce.merge(acc, other)
    assert not computed


def test_named_tuples():
    found = argreduce.max_argmax(X, 1)
    assert found._fields == ("values", "indices")
    again = pickle.loads(pickle.dumps(found))
    assert type(again) is type(found)
    np.testing.assert_array_equal(again.values, [5, 7])
    number = argreduce.min_argmin(X)
    assert type(number.values) is np.float64 and type(number.indices) is np.int64
    part = argreduce.partial(X, 1, start=(0, 0), whole=X.shape)
    assert isinstance(pickle.loads(pickle.dumps(part)), argreduce.Partial)


def test_unravel():
    x = np.zeros((2, 3, 4, 5))
    x[0, 1, 2, 3] = x[1, 2, 3, 4] = 1
    coordinates = argreduce.unravel(argreduce.argmax(x, (3, 1)), x.shape, (1, 3))
    assert [c.shape for c in coordinates] == [(2, 4)] * 2
    assert (coordinates[0][0, 2], coordinates[1][0, 2]) == (1, 3)
    assert argreduce.unravel(argreduce.argmax(x), x.shape) == (0, 1, 2, 3)
    assert argreduce.unravel(np.zeros((2, 3)), (2, 3), ()) == ()
    assert argreduce.unravel(2, 3) == (2,)
    with pytest.raises(ValueError):
        argreduce.unravel(60, x.shape, (1, 2, 3))
    with pytest.raises(np.exceptions.AxisError):
        argreduce.unravel(0, (2, 3), 2)


def test_unravel_leaves_a_fill():
    indices = argreduce.argmax(np.zeros((2, 3, 4)), (1, 2), where=np.array([True, False])[:, None, None], fill=-1)
    assert [part.tolist() for part in argreduce.unravel(indices, (2, 3, 4), (1, 2), fill=-1)] == [[0, -1], [0, -1]]
    # One that is an index, too.
    assert [part.tolist() for part in argreduce.unravel([5, 7], (2, 4), fill=5)] == [[5, 1], [5, 3]]
    assert argreduce.unravel(-1, (2, 3), fill=-1) == (-1, -1)
    with pytest.raises(ValueError):
        argreduce.unravel([-1], (2, 3))
    with pytest.raises(ValueError):
        argreduce.unravel([-2], (2, 3), fill=-1)


def test_unravel_is_lazy():
    da = pytest.importorskip("dask.array")

    def fails(block):
        raise AssertionError("it was computed")

    lazy = da.zeros(4, dtype=np.int64, chunks=2)
    argreduce.unravel(lazy.map_blocks(fails, dtype=np.int64, meta=np.empty(0, np.int64)), (2, 3))
    x = np.random.default_rng(1).random((6, 3, 4))
    found = argreduce.unravel(argreduce.argmax(da.from_array(x, 2), (1, 2)), x.shape, (1, 2))
    assert all(isinstance(part, da.Array) and part.dtype == np.int64 and part.chunks == ((2, 2, 2),) for part in found)
    wanted = argreduce.unravel(argreduce.argmax(x, (1, 2)), x.shape, (1, 2))
    np.testing.assert_array_equal(da.compute(*found), wanted)
    assert da.compute(*argreduce.unravel(da.from_array([5, -1], 1), (2, 4), fill=-1))[1].tolist() == [1, -1]
    # Of each chunk once, however many coordinates there are.
    computed = []
    meta = np.empty(0, np.int64)
    counted = lazy.map_blocks(lambda block: computed.append(len(block)) or block, dtype=np.int64, meta=meta)
    da.compute(*argreduce.unravel(counted, (2, 3, 4)), scheduler="synchronous")
    assert computed == [2, 2]
    assert argreduce.unravel(da.from_array(np.array(5)), (2, 4))[1].compute() == 1
    with pytest.raises(ValueError, match="index 6 is out of bounds"):
        argreduce.unravel(lazy + 6, (2, 3))[0].compute(scheduler="synchronous")


def test_other_threads_run_meanwhile():
    x = np.zeros(1 << 26, np.int8)
    ran = []
    go = threading.Event()

    def other():
        go.wait()
        while not done:
            ran.append(time.perf_counter())
            time.sleep(0)

    done = False
    thread = threading.Thread(target=other)
    thread.start()
    go.set()
    inside = []
    for _ in range(30):
        start = time.perf_counter()
        argreduce.argmax(x)
        inside.append((start, time.perf_counter()))
    done = True
    thread.join()
    # Some moment of the other thread lies well inside of a call.
    assert any(start + 0.1 * (end - start) < t < end - 0.1 * (end - start) for start, end in inside for t in ran)


def test_many_threads_at_once(rng):
    xs = [rng.random((50, 70)) for _ in range(8)]
    wrong = []

    def work(x):
        for n in range(300):
            y = x[: 1 + n % 50]
            if not np.array_equal(argreduce.argmax(y, 0), np.argmax(y, 0)):
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(x,)) for x in xs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("name", ["argmax", "nanargmin", "max_argmax", "argminmax", "argminmax_values"])
def test_the_array_has_no_name(name):
    function = getattr(argreduce, name)
    with pytest.raises(TypeError, match=rf"{name}\(\) got an unexpected keyword argument 'a'"):
        function(a=X)
    with pytest.raises(TypeError, match=rf"{name}\(\) got some positional-only .* as keyword arguments: 'x'"):
        function(x=X)
    with pytest.raises(TypeError, match=rf"{name}\(\) missing 1 required positional argument: 'x'"):
        function(axis=1)


def test_lists_and_tuples_of_numbers():
    for x in ([3, 1.5, 4], (3, 1.5, 4), [True, 2, 5.0], [0, True], [1, 2, 2**62], [[1, 2], [5, 3]], ((1,), (2,))):
        assert argreduce.argmax(x) == np.argmax(x)
    assert argreduce.argmax([np.nan, 1.0]) == 0
    assert argreduce.argmax([2**63, 1]) == 0
    with pytest.raises(TypeError, match="argmax takes bool, integers, .* not object"):
        argreduce.argmax([2**64, 1])
    with pytest.raises(ValueError, match="attempt to get argmax of an empty sequence"):
        argreduce.argmax([])
    with pytest.raises(ValueError, match="inhomogeneous"):
        argreduce.argmax([[1, 2], [3]])

    class Int(int):
        """Not Python's own: NumPy may ask it for anything."""

    assert argreduce.argmax([Int(1), Int(5)]) == 1


def test_numbers_and_named_tuples_are_numpys_and_of_their_classes():
    x = np.array([3.0, 9.0, -1.0])
    found = argreduce.argmax(x)
    assert type(found) is np.int64 and found + 1 == 2 and hash(found) == hash(1)
    assert pickle.loads(pickle.dumps(found)) == 1
    for number in (found, argreduce.argmax(np.arange(2**16))):
        assert number.dtype == np.int64 and repr(number) == f"np.int64({int(number)})"
    for dtype in (np.int32, np.uint8, np.uint16, np.uint32, np.uint64):
        assert type(argreduce.argmax(x, dtype=dtype)) is dtype
        assert type(argreduce.argmax(x, where=[True] * 3, fill=0, dtype=dtype)) is dtype
        best = argreduce.max_argmax(x, where=[False, True, True], fill=7, dtype=dtype)
        assert type(best.indices) is dtype and best == (9.0, 1)
    both = argreduce.argminmax(x)
    assert type(both) is argreduce.ArgMinMax and both == (2, 1) and hash(both) == hash((2, 1))
    assert pickle.loads(pickle.dumps(both)) == both and both._replace(argmin=5) == (5, 1)
    all_four = argreduce.argminmax_values(x)
    assert type(all_four) is argreduce.ArgMinMaxValues and all_four == (-1.0, 2, 9.0, 1)
    assert [type(part) for part in all_four] == [np.float64, np.int64] * 2
