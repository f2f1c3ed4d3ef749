"""fill=: what an output gets that has no element, and the value beside it."""

from __future__ import annotations

import itertools

import argreduce
import numpy as np
import pytest
from conftest import DTYPES, nothing_of

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

FUNCTIONS = ["argmax", "argmin", "nanargmax", "nanargmin"]


@pytest.mark.parametrize("out", [*(o + t for o in "<>" for t in ("i2", "i4", "i8", "u2", "u4", "u8")), "i1", "u1"])
def test_fill_fits_what_is_written(out):
    limits = np.iinfo(np.dtype(out).newbyteorder("="))
    least, most = int(limits.min), min(int(limits.max), 2**63 - 1)
    where, nan = np.array([[True, False], [False, False]]), np.array([[1.0, np.nan], [np.nan, np.nan]])
    many = (2, 2) + (1,) * 8
    calls = [
        lambda **options: argreduce.argmax(np.zeros((2, 2)), 1, where=where, **options),
        lambda **options: argreduce.max_argmax(np.zeros((2, 2)), 1, where=where, **options)[1],
        lambda **options: argreduce.argmin(nan, 1, where=where, **options),
        lambda **options: argreduce.nanargmax(nan, 1, **options),
        lambda **options: argreduce.argmin(nan, 1, nan="ignore", **options),
        # Of more axes than the library takes.
        lambda **options: argreduce.argmax(np.zeros(many), tuple(range(1, 10)), where=where.reshape(many), **options),
    ]
    for call in calls:
        for fill in (least, most):
            array = np.full(2, 9, out)
            assert call(fill=fill, out=array) is array and array.tolist() == [0, fill]
        for fill in (least - 1, most + 1):
            array = np.full(2, 9, out)
            with pytest.raises(ValueError, match=f"fill is {fill}: .*(does not hold it|are allowed)"):
                call(fill=fill, out=array)
            assert array.tolist() == [9, 9]
    column = pl.Series([None, 5], dtype=pl.Int32).head(1)
    array = np.zeros((), out)
    with pytest.raises(ValueError, match=f"fill is {least - 1}:"):
        argreduce.argmax(pl.concat([column, column], rechunk=False), fill=least - 1, out=array)


@pytest.mark.parametrize("dtype", [*DTYPES, *map(np.dtype, ("M8[D]", "m8[us]"))], ids=str)
def test_a_fill_for_nothing_at_all(dtype):
    nothing = np.array([nothing_of(dtype)] * 3)
    for shape, axis in (((3, 0), 1), ((3, 0, 5), (1, 2)), ((0, 3), 0), ((3,) + (0,) * 9, tuple(range(1, 10)))):
        x = np.zeros(shape, dtype)
        for name in FUNCTIONS:
            function = getattr(argreduce, name)
            assert function(x, axis, fill=-1).tolist() == [-1] * 3
            assert function(x, axis, fill=7, dtype="u1", where=False).dtype == np.uint8
            out = np.zeros(3, ">i2")
            assert function(x, axis, fill=-5, out=out) is out and out.tolist() == [-5] * 3
            with pytest.raises(ValueError, match="fill is -1: uint8 does not hold it"):
                function(x, axis, fill=-1, dtype="u1")
            with pytest.raises(ValueError, match="attempt to get arg(max|min) of an empty sequence"):
                function(x, axis)
        for found in (argreduce.max_argmax(x, axis, fill=-1), argreduce.min_argmin(x, axis, fill=-1)):
            assert found.indices.tolist() == [-1] * 3 and found.values.dtype == dtype
            assert found.values.tobytes() == nothing.tobytes()
        both = argreduce.argminmax_values(x, axis, fill=-1)
        assert both.argmin.tolist() == both.argmax.tolist() == [-1] * 3
        assert both.min.tobytes() == both.max.tobytes() == nothing.tobytes()
        assert [part.tolist() for part in argreduce.argminmax(x, axis, fill=-1)] == [[-1] * 3] * 2
    assert argreduce.argmax(np.zeros(0, dtype), fill=9) == 9
    assert type(argreduce.argmax(np.zeros(0, dtype), fill=9, dtype="u2")) is np.uint16
    assert argreduce.argmax(np.zeros((0, 0), dtype), 1, fill=9).shape == (0,)


@pytest.mark.parametrize("dtype", [*DTYPES, *map(np.dtype, ("M8[D]", "m8[us]"))], ids=str)
def test_the_value_beside_a_fill(rng, dtype):
    # Not told by the fill, which may be an index, and whatever the type of that.
    for fill, index_type in itertools.product((0, 3, 200), ("u1", "i4", "i8")):
        for shape, axis in (((5, 9), 1), ((9, 5), 0), ((4, 3, 2), (0, 2)), ((200, 3), 0), ((6,), None)):
            x = rng.integers(0, 4, shape).astype(dtype.str if dtype.kind in "mM" else dtype)
            where = rng.random(shape) < 0.2
            is_there = np.ravel(where.any(axis))
            options = {"where": where, "fill": fill, "dtype": index_type}
            both = argreduce.argminmax_values(x, axis, **options)
            found = argreduce.max_argmax(x, axis, **options), argreduce.min_argmin(x, axis, **options)
            for values, indices in (*found, both[:2], both[2:]):
                assert indices.dtype == index_type and values.dtype == dtype
                values, indices = np.ravel(values), np.ravel(indices)
                assert (indices[~is_there] == fill).all()
                assert values[~is_there].tobytes() == np.array([nothing_of(dtype)] * (~is_there).sum()).tobytes()
                assert not is_there.any() or (values[is_there] == values[is_there]).all()


def test_a_fill_for_nothing_but_nan():
    for dtype in ("f2", "f4", "f8", "M8[s]"):
        x = np.array([["NaT", "NaT"], [5, "NaT"]], "M8[s]")
        x = x if dtype == "M8[s]" else np.array([[np.nan, np.nan], [5, np.nan]], dtype)
        for y, axis in ((x, 1), (x.reshape((2, 1, 2) + (1,) * 7), (2, 4))):
            options = {"nan": "ignore", "fill": -1}
            for name in ("argmax", "argmin"):
                assert np.ravel(getattr(argreduce, name)(y, axis, **options)).tolist() == [-1, 0]
                assert np.ravel(getattr(argreduce, "nan" + name)(y, axis, fill=-1)).tolist() == [-1, 0]
                values, indices = getattr(argreduce, f"{name[3:]}_{name}")(y, axis, **options)
                assert np.ravel(indices).tolist() == [-1, 0] and np.isnan(values.ravel()).tolist() == [True, False]
                # Without a fill, NaN is there.
                assert np.ravel(getattr(argreduce, name)(y, axis, nan="ignore")).tolist() == [0, 0]
                assert np.ravel(getattr(argreduce, name)(y, axis, fill=-1)).tolist() == [0, 1]
            assert [np.ravel(part).tolist() for part in argreduce.argminmax(y, axis, **options)] == [[-1, 0]] * 2
            assert np.ravel(argreduce.argminmax_values(y, axis, **options).argmin).tolist() == [-1, 0]
    assert argreduce.max_argmax([np.nan, np.nan], nan="ignore", fill=-1).indices == -1
    chunks = pa.chunked_array([[np.nan], [np.nan]])
    assert argreduce.argmax(chunks, nan="ignore", fill=-1) == argreduce.nanargmax(chunks, fill=-1) == -1
    values, index = argreduce.max_argmax(pa.chunked_array([[None], [None]], pa.float64()), fill=-1)
    assert np.isnan(values) and index == -1


def test_columns_of_no_elements():
    pieces = pa.chunked_array([[], []], pa.float32())
    for column in (pl.Series([], dtype=pl.Float32), pieces, pd.Series([], dtype="Float32")):
        values, index = argreduce.max_argmax(column, fill=-1)
        assert np.isnan(values) and index == -1
        assert argreduce.argminmax(column, fill=-1) == (-1, -1)
        with pytest.raises(ValueError, match="attempt to get argmax of an empty sequence"):
            argreduce.argmax(column)
    for dtype, name in ((pl.Int32, "int32"), (pl.Boolean, "bool"), (pl.Date, "datetime64[D]")):
        values, index = argreduce.max_argmax(pl.Series([], dtype=dtype), fill=-1)
        assert (values.dtype, index) == (np.dtype(name), -1)


def test_dask_fills():
    da = pytest.importorskip("dask.array")
    import argreduce.dask

    for dtype in ("f4", "i2", "?", "M8[s]", "f8"):
        x = np.array([[1, 2, 3], [4, 5, 6]]).astype(dtype)
        where = np.array([[True, False, True], [False, False, False]])
        for values, indices in (
            argreduce.dask.max_argmax(da.from_array(x, 2), 1, where=where, fill=7),
            argreduce.dask.argminmax_values(da.from_array(x, 2), 1, where=where, fill=7)[2:],
        ):
            wanted = argreduce.max_argmax(x, 1, where=where, fill=7)
            assert values.dtype == dtype and values.compute().tobytes() == wanted.values.tobytes()
            assert indices.compute().tolist() == wanted.indices.tolist()
        for chunks in ((3, 1), (1, 1)):
            empty = argreduce.dask.max_argmax(da.zeros((3, 0), dtype=dtype, chunks=chunks), 1, fill=7)
            wanted = argreduce.max_argmax(np.zeros((3, 0), dtype), 1, fill=7)
            assert empty.indices.compute().tolist() == [7] * 3
            assert empty.values.compute().tobytes() == wanted.values.tobytes()
        assert argreduce.dask.argmax(da.zeros(0, dtype=dtype), fill=7).compute() == 7
        with pytest.raises(ValueError, match="attempt to get argmax of an empty sequence"):
            argreduce.dask.argmax(da.zeros((3, 0), dtype=dtype), 1)
    nan = da.from_array(np.array([[np.nan, np.nan], [np.nan, 1]]), 1)
    for name in ("argmax", "argmin"):
        assert getattr(argreduce.dask, name)(nan, 1, nan="ignore", fill=-1).compute().tolist() == [-1, 1]
        assert getattr(argreduce.dask, name)(nan, 1, nan="ignore").compute().tolist() == [0, 1]


def test_dask_takes_no_masked_where():
    da = pytest.importorskip("dask.array")
    import argreduce.dask

    x = da.from_array([1, 9, 3], 2)
    masked = np.ma.masked_array([True] * 3, [False, True, False])
    for where in (masked, da.from_array(masked, 2)):
        for call in (argreduce.dask.argmax, argreduce.argmax):
            with pytest.raises(TypeError, match="takes no masked array as where: its mask would be ignored"):
                call(x, where=where)

    def chunks_of(what):
        return da.from_array(np.ones(3, bool), 2).map_blocks(lambda block: what, dtype=bool, meta=np.empty(0, bool))

    # Which only show when they are computed.
    with pytest.raises(TypeError, match="argreduce.dask.argmax takes no masked array as where"):
        argreduce.dask.argmax(x, where=chunks_of(masked[:1])).compute(scheduler="synchronous")
    with pytest.raises(TypeError, match="argreduce.dask.argmax: where is of type object: booleans are needed"):
        argreduce.dask.argmax(x, where=chunks_of(None)).compute(scheduler="synchronous")
