"""where=, fill=, masked arrays and columns: what is not there is left out, and counted."""

import itertools
import sys

import numpy as np
import pytest

import argreduce

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

FUNCTIONS = ["argmax", "argmin", "nanargmax", "nanargmin"]


def expected(name, x, there, axis, select_last=False):
    """By plain loops: the index, or -1, for each row along the last of the axes moved there."""
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(sorted(n % x.ndim for n in axes))
    kept = [n for n in range(x.ndim) if n not in axes]
    rows = x.transpose(kept + list(axes)).reshape([x.shape[n] for n in kept] + [-1])
    masks = np.broadcast_to(there, x.shape).transpose(kept + list(axes)).reshape(rows.shape)
    found = np.full(rows.shape[:-1], -1, np.int64)
    for at in np.ndindex(rows.shape[:-1]):
        best = None
        for n, (value, is_there) in enumerate(zip(rows[at], masks[at])):
            is_nan = value != value
            if not is_there or (name.startswith("nan") and is_nan):
                continue
            # NaN first, then by value.
            key = (bool(is_nan), 0 if is_nan else value if name.endswith("max") else -float(value))
            if best is None or key > best or (key == best and select_last):
                best, found[at] = key, n
    return found


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i4", "u1", "?", "i8"])
def test_where_is_what_loops_find(name, dtype):
    rng = np.random.default_rng(1)
    for shape, axis in [((7,), None), ((5, 9), 1), ((5, 9), 0), ((3, 4, 5), (0, 2)), ((3, 4, 5), None), ((600, 3), 1)]:
        x = rng.integers(0, 4, shape).astype(dtype)
        if np.dtype(dtype).kind == "f":
            x[rng.random(shape) < 0.2] = np.nan
        for where in [
            rng.random(shape) < 0.5,
            rng.random(shape) < 0.05,
            np.True_,
            rng.random(shape[-1:]) < 0.5,
            (rng.random(shape[:1] + (1,) * (len(shape) - 1)) < 0.5),
        ]:
            for array, select_last in itertools.product([x, np.asfortranarray(x), x[::-1]], [False, True]):
                found = getattr(argreduce, name)(array, axis, where=where, fill=-1, select_last=select_last)
                wanted = expected(name, array, where, axis, select_last)
                np.testing.assert_array_equal(found, wanted)
                if (wanted == -1).any():
                    with pytest.raises(ValueError, match="no element is there|All-NaN"):
                        getattr(argreduce, name)(array, axis, where=where)


def test_values_and_out():
    x = np.array([[1.0, 9.0, 2.0], [7.0, 0.0, 7.0]])
    where = np.array([[True, False, True], [False, False, False]])
    values, indices = argreduce.max_argmax(x, 1, where=where, fill=-7)
    np.testing.assert_array_equal(values, [2.0, np.nan])
    assert indices.tolist() == [2, -7]
    out = np.zeros((2, 1), np.int32)
    assert argreduce.argmin(x, 1, where=where, fill=5, keepdims=True, out=out) is out
    assert out.tolist() == [[0], [5]]
    # Where `out` is the mask's own memory, the mask is read first.
    there = np.ones((8, 8), bool)
    out = there.reshape(-1)[:64].view(np.int64)
    assert argreduce.argmax(np.eye(8)[:, ::-1], 1, where=there, out=out).tolist() == list(range(7, -1, -1))
    assert argreduce.nanargmax(np.array([[np.nan, np.nan], [1.0, np.nan]]), 1, fill=-1).tolist() == [-1, 0]
    assert argreduce.nanargmin([np.nan], fill=3, dtype="u1") == 3


def test_more_than_eight_axes():
    rng = np.random.default_rng(2)
    x = rng.random((2, 1, 2, 1, 2, 1, 2, 1, 2, 3))
    where = rng.random(x.shape) < 0.3
    np.testing.assert_array_equal(
        argreduce.argmax(x, (0, 9), where=where, fill=-1), expected("argmax", x, where, (0, 9))
    )
    part = argreduce.partial(x, (0, 9), start=(0,) * 10, whole=x.shape, where=where)
    np.testing.assert_array_equal(part.indices, expected("argmax", x, where, (0, 9)))


def test_what_is_wrong():
    x = np.zeros((2, 3))
    with pytest.raises(TypeError, match="argmax: where is of type int64: booleans are needed"):
        argreduce.argmax(x, where=np.ones((2, 3), int))
    with pytest.raises(ValueError, match=r"where of shape \(2,\) does not broadcast to that of x, \(2, 3\)"):
        argreduce.argmax(x, where=np.ones(2, bool))
    with pytest.raises(ValueError, match="does not broadcast"):
        argreduce.argmax(x, where=np.ones((1, 2, 3), bool))
    with pytest.raises(ValueError, match="no element is there at all"):
        argreduce.argmax(x, where=False)
    with pytest.raises(ValueError, match=r"no element is there for output \[1"):
        argreduce.argmax(x, 1, where=[[True], [False]])
    with pytest.raises(ValueError, match="fill is -1: uint8 does not hold it"):
        argreduce.argmax(x, 1, fill=-1, dtype=np.uint8)
    with pytest.raises(ValueError, match=f"fill is {1 << 70}: {-(1 << 63)} to {(1 << 63) - 1} are allowed"):
        argreduce.argmax(x, fill=1 << 70)
    with pytest.raises(TypeError, match="fill is of type str: None or an integer is needed"):
        argreduce.argmax(x, fill="1")
    with pytest.raises(ValueError, match="attempt to get argmax of an empty sequence"):
        argreduce.argmax(np.zeros((2, 0)), 1, where=True)
    with pytest.raises(TypeError, match="takes no masked array as where"):
        argreduce.argmax(x, where=np.ma.masked_array([True] * 3, [True] * 3))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_masked_arrays(name):
    rng = np.random.default_rng(3)
    function = getattr(argreduce, name)
    x = np.ma.masked_array(rng.integers(0, 5, (4, 30)), rng.random((4, 30)) < 0.5)
    np.testing.assert_array_equal(function(x, 1), expected(name, x.data, ~x.mask, 1))
    where = rng.random((4, 30)) < 0.5
    np.testing.assert_array_equal(
        function(x, 1, where=where, fill=-1), expected(name, x.data, ~x.mask & where, 1)
    )
    # Nothing is masked; and all is.
    assert function(np.ma.masked_array([3, 1, 2])) == function(np.array([3, 1, 2]))
    with pytest.raises(ValueError, match="no element is there"):
        function(np.ma.masked_all(3))
    assert function(np.ma.masked_all(3), fill=9) == 9


def test_partial_answers_of_nothing_merge():
    x = np.array([3.0, 9.0, 4.0, 9.0])
    a = argreduce.partial(x[:2], start=(0,), whole=(4,), where=[False, False])
    b = argreduce.partial(x[2:], start=(2,), whole=(4,), where=[True, False])
    assert (a.values, a.indices) == (0, -1)
    assert argreduce.merge(a, b).indices == 2


def test_dates():
    x = np.array(["2020-01-01", "NaT", "2021-01-01", "1999-01-01"], "datetime64[D]")
    there = np.array([True, False, False, True])
    assert [getattr(argreduce, name)(x, where=there) for name in FUNCTIONS] == [0, 3, 0, 3]
    # NaT that is there propagates, and is left out.
    there = np.array([True, True, False, True])
    assert [getattr(argreduce, name)(x, where=there) for name in FUNCTIONS] == [1, 1, 0, 3]
    for name in FUNCTIONS:
        assert getattr(argreduce, name)(x, where=False, fill=-1) == -1
        only = np.array([False, True, False, False])
        if name.startswith("nan"):
            assert getattr(argreduce, name)(x, where=only, fill=-1) == -1
        else:
            assert getattr(argreduce, name)(x, where=only, fill=-1) == 1
    values, index = argreduce.min_argmin(x, where=there, nan="ignore")
    assert (values, index) == (np.datetime64("1999-01-01"), 3)


NUMBERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]


def columns(values, missing, dtype):
    """The same column in several ways: (name, column)."""
    listed = [None if is_missing else value for value, is_missing in zip(values.tolist(), missing)]
    arrow = pa.array(listed, getattr(pa, dtype)())
    yield "pyarrow", arrow
    yield "slice", pa.concat_arrays([arrow[:3], arrow])[3:]
    cut = len(values) // 3
    yield "chunks", pa.chunked_array([arrow[:cut], arrow[cut:cut], arrow[cut:]])
    series = pl.Series(listed, dtype=getattr(pl, dtype.replace("i", "I", 1).replace("uI", "UI").replace("f", "F", 1)))
    yield "polars", series
    yield "polars chunks", pl.concat([series[:cut], series[cut:]], rechunk=False)
    yield "pandas arrow", pd.Series(pd.arrays.ArrowExtensionArray(arrow))
    if not dtype.startswith("float"):
        yield "pandas nullable", pd.Series(listed, dtype=dtype.replace("i", "I", 1).replace("uI", "UI"))


@pytest.mark.parametrize("dtype", NUMBERS)
def test_columns(dtype):
    """The position is that of pandas and polars, which leave out what is missing, and NaN."""
    rng = np.random.default_rng(4)
    for n in range(40):
        length = int(rng.integers(1, 200))
        values = rng.integers(0, 100 if n % 2 else 4, length).astype(dtype)
        if dtype.startswith("float") and n % 3:
            values[rng.random(length) < 0.2] = np.nan
        missing = rng.random(length) < rng.choice([0.0, 0.1, 0.9, 1.0])
        for name in FUNCTIONS:
            wanted = expected(name, values, ~missing, 0)
            for kind, column in columns(values, missing, dtype):
                found = getattr(argreduce, name)(column, fill=-1)
                assert found == wanted and isinstance(found, np.int64), (kind, name, values, missing)
                if wanted == -1:
                    with pytest.raises(ValueError, match="no element is there|All-NaN"):
                        getattr(argreduce, name)(column)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_positions_are_those_of_other_libraries(library):
    rng = np.random.default_rng(5)
    for n in range(2000):
        length = int(rng.integers(1, 60))
        dtype = NUMBERS[n % len(NUMBERS)]
        values = rng.integers(0, 9, length).astype(dtype)
        missing = rng.random(length) < 0.4
        if dtype.startswith("float"):
            values[rng.random(length) < 0.2] = np.nan
        if (missing | (values != values)).all():
            continue
        cut = int(rng.integers(0, length + 1))
        listed = [None if is_missing else value for value, is_missing in zip(values.tolist(), missing)]
        if library == "pandas":
            # pandas takes NaN for missing there.
            column = pd.Series(pd.array(listed, dtype=pd.ArrowDtype(getattr(pa, dtype)())))
            wanted = [column.argmax(), column.argmin()] if not np.isnan(values.astype(float)).any() else None
            if wanted is None:
                column_of_numbers = column.where(~pd.Series(np.isnan(values)), None)
                wanted = [column_of_numbers.argmax(), column_of_numbers.argmin()]
        else:
            column = pl.Series(listed, dtype=getattr(pl, dtype.replace("i", "I", 1).replace("uI", "UI").replace("f", "F", 1)))
            column = pl.concat([column[:cut], column[cut:]], rechunk=False)
            numbers = column.fill_nan(None) if dtype.startswith("float") else column
            wanted = [numbers.arg_max(), numbers.arg_min()]
        found = [argreduce.argmax(column, nan="ignore"), argreduce.argmin(column, nan="ignore")]
        assert found == wanted, (listed, cut)


def test_columns_beyond_float64():
    big = (1 << 53) + 1
    for column in [
        pa.array([1 << 53, None, big]),
        pl.Series([1 << 53, None, big]),
        pd.Series([1 << 53, None, big], dtype="Int64"),
        pd.Series([1 << 53, None, big], dtype="Int64").array,
        pd.Series([1 << 53, None, big], dtype="int64[pyarrow]"),
    ]:
        value, index = argreduce.max_argmax(column)
        assert (value, index) == (big, 2) and value.dtype == np.int64
        assert argreduce.argmax(column, where=[True, True, False]) == 0
        assert argreduce.argmax(column, 0, keepdims=True).tolist() == [2]
        assert argreduce.argmax(column, (), fill=-1).tolist() == [0, -1, 0]
        out = np.zeros((), np.int32)
        assert argreduce.argmin(column, out=out) is out and out == 0


def test_columns_of_other_types():
    bools = [True, None, False, True, False] * 5
    for column in [pa.array(bools), pa.array(bools)[2:], pl.Series(bools), pd.Series(bools, dtype="boolean")]:
        listed = list(column.to_pylist() if hasattr(column, "to_pylist") else column)
        listed = [None if one is pd.NA else one for one in listed]
        assert argreduce.argmax(column) == listed.index(True)
        assert argreduce.argmin(column) == listed.index(False)
    days = np.array(["2020-01-01", "1999-01-01", "2021-01-01"], "datetime64[D]")
    for column in [pa.array(days), pl.Series(days), pa.array(days.astype("datetime64[us]"))]:
        value, index = argreduce.max_argmax(column)
        assert (index, value) == (2, days[2])
    durations = pa.array([3, None, 5], pa.duration("ms"))
    assert argreduce.max_argmax(durations) == (np.timedelta64(5, "ms"), 2)
    chunks = pa.chunked_array([pa.array(days[:1]), pa.array(days[1:])])
    assert [argreduce.argmin(chunks), argreduce.nanargmin(chunks), argreduce.argmax(chunks)] == [1, 1, 2]
    halves = pa.array(np.array([1, 3, 2], np.float16))
    assert argreduce.argmax(halves) == 1
    # NaN of NumPy's in pandas is a number's.
    assert argreduce.argmax(pd.Series([1.0, np.nan, 5.0])) == 1
    for refused in [pa.array(["a"]), pl.Series(["a"]), pa.array([[1]]), pa.array([{"a": 1}])]:
        with pytest.raises(TypeError):
            argreduce.argmax(refused)
    with pytest.raises(ValueError, match="attempt to get argmax of an empty sequence"):
        argreduce.argmax(pa.chunked_array([], pa.int64()))
    with pytest.raises(ValueError, match="attempt to get argmax of an empty sequence"):
        argreduce.argmax(pl.Series([], dtype=pl.Int64))
    with pytest.raises(np.exceptions.AxisError):
        argreduce.argmax(pa.array([1, 2]), 1)


def test_frames_are_tables():
    frame = pl.DataFrame({"a": [1, 2], "b": [3, 0]})
    for table in [frame, frame.to_arrow(), frame.to_pandas()]:
        assert argreduce.argmax(table, 1).tolist() == [1, 0]


def test_values_of_columns_are_not_copied():
    column = pa.array(np.arange(1 << 20))
    before = pa.total_allocated_bytes()
    assert argreduce.argmax(column) == (1 << 20) - 1
    assert pa.total_allocated_bytes() == before
    # Given back as it was.
    references = sys.getrefcount(column)
    for _ in range(10):
        argreduce.max_argmax(column)
    assert sys.getrefcount(column) == references


def test_hostile_capsules():
    class Twice:
        def __init__(self, array):
            self.capsules = array.__arrow_c_array__()

        def __arrow_c_array__(self, requested_schema=None):
            return self.capsules

    column = Twice(pa.array([1, 3, 2]))
    assert argreduce.argmax(column) == 1
    with pytest.raises(ValueError, match="released already"):
        argreduce.argmax(column)

    class Wrong:
        def __arrow_c_array__(self, requested_schema=None):
            return (1, 2)

    with pytest.raises(TypeError):
        argreduce.argmax(Wrong())

    class Raises:
        def __arrow_c_stream__(self, requested_schema=None):
            raise RuntimeError("no stream")

    with pytest.raises(RuntimeError, match="no stream"):
        argreduce.argmax(Raises())


def test_threads_take_masks():
    x = np.random.default_rng(6).random((4, 400_000))
    where = x < 0.9
    wanted = argreduce.argmax(x, 1, where=where)
    assert (argreduce.argmax(x, 1, where=where, threads=2) == wanted).all()
    np.testing.assert_array_equal(np.where(where, x, -1).argmax(1), wanted)


def test_dask():
    da = pytest.importorskip("dask.array")
    import argreduce.dask

    rng = np.random.default_rng(7)
    x = rng.integers(0, 5, (20, 31)).astype("f8")
    where = rng.random(x.shape) < 0.2
    for name, axis in itertools.product(FUNCTIONS, [None, 0, 1]):
        wanted = expected(name, x, where, axis)
        for chunks in [(7, 9), (20, 4)]:
            lazy = da.from_array(x, (6, 10))
            found = getattr(argreduce.dask, name)(lazy, axis, where=da.from_array(where, chunks), fill=-1)
            np.testing.assert_array_equal(found.compute(), wanted)
            found = getattr(argreduce, name)(lazy, axis, where=where, fill=-1)
            np.testing.assert_array_equal(found.compute(), wanted)
    values, indices = argreduce.dask.max_argmax(lazy, 0, where=where[:, :1], fill=-1)
    np.testing.assert_array_equal(indices.compute(), expected("argmax", x, where[:, :1], 0))
    with pytest.raises(ValueError, match="no element is there"):
        argreduce.dask.argmax(lazy, where=False).compute()
    masked = da.ma.masked_greater(lazy, 2)
    np.testing.assert_array_equal(argreduce.dask.argmax(masked, 1, fill=-1).compute(), expected("argmax", x, x <= 2, 1))
    with pytest.raises(TypeError, match="where is of type int64"):
        argreduce.dask.argmax(lazy, where=da.ones(31, dtype=int, chunks=5))
    with pytest.raises(ValueError, match="does not broadcast"):
        argreduce.dask.argmax(lazy, where=da.ones(30, dtype=bool, chunks=5))


def test_masked_arrays_without_axes():
    for mask in (False, True, np.False_, np.ma.nomask):
        x = np.ma.masked_array(5.0, mask=mask)
        for name in FUNCTIONS:
            run = getattr(argreduce, name)
            for axis in (None, (), 0, -1):
                assert run(x, axis, fill=-1) == (-1 if mask is True else 0)
                assert run(x, axis, fill=-1, where=False) == -1
                assert run(x, axis, fill=-1, where=np.array(True)) == (-1 if mask is True else 0)
        assert argreduce.partial(x, start=(), whole=()).indices == (-1 if mask is True else 0)
    for masked in (np.ma.masked, np.ma.masked_array(5, mask=True), np.ma.masked_array(np.datetime64("2000"), mask=True)):
        with pytest.raises(ValueError, match="no element is there"):
            argreduce.argmax(masked)
        assert argreduce.argminmax(masked, fill=7) == (7, 7)


def test_masked_arrays_of_fields():
    x = np.ma.masked_array(np.zeros(2, "i4,i4"), mask=[(0, 1), (0, 0)])
    for options in ({}, {"where": [True, False]}, {"fill": -1}):
        with pytest.raises(TypeError, match=r"^argmax takes bool, .*, not \[\('f0', '<i4'\)"):
            argreduce.argmax(x, **options)
