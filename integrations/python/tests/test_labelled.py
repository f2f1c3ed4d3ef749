"""Objects of xarray come back as such: with their dimensions and coordinates, lazy where they were."""

from __future__ import annotations

import itertools

import argreduce
import numpy as np
import pytest

xarray = pytest.importorskip("xarray")
dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
argreduce_dask = pytest.importorskip("argreduce.dask")

INDICES = ["argmax", "argmin", "nanargmax", "nanargmin"]
TUPLES = ["max_argmax", "min_argmin", "argminmax", "argminmax_values"]
AXES = [None, "y", "x", ("z", "x"), ["x", "y"], 0, -1, (1, "z"), (), np.array([0, 2])]


def array(rng: np.random.Generator) -> xarray.DataArray:
    x = rng.integers(0, 9, (3, 4, 5)).astype("f8")
    x[rng.random(x.shape) < 0.1] = np.nan
    x[:, :, 0] = 1
    coordinates = {"x": [10, 20, 30], "z": list("abcde"), "both": (("x", "y"), np.arange(12).reshape(3, 4)), "one": 7}
    return xarray.DataArray(x, coordinates, ("x", "y", "z"), name="n", attrs={"units": "K"})


def numbers(axis):
    """Axes without names."""
    if axis is None or isinstance(axis, (int, np.ndarray)):
        return axis
    one = {"x": 0, "y": 1, "z": 2}
    return one[axis] if isinstance(axis, str) else tuple(one.get(n, n) for n in axis)


def names(axis):
    if axis is None:
        return ["x", "y", "z"]
    return [("x", "y", "z")[n] for n in np.atleast_1d(np.array(numbers(axis), int))]


@pytest.mark.parametrize("axis", AXES, ids=str)
def test_dimensions_and_coordinates(rng, axis):
    x = array(rng)
    if isinstance(axis, tuple) and not axis:
        # Else there is nothing but NaN somewhere.
        x = x.fillna(0)
    for name, keepdims, chunks in itertools.product(INDICES + TUPLES, (False, True), (None, 2)):
        y = x if chunks is None else x.chunk(chunks)
        found = getattr(argreduce, name)(y, axis, keepdims=keepdims)
        wanted = getattr(argreduce, name)(x.data, numbers(axis), keepdims=keepdims)
        if name in INDICES:
            found, wanted = (found,), (wanted,)
        else:
            assert type(found) is type(wanted)
        like = x.any(names(axis), keepdims=keepdims)
        for part, data in zip(found, wanted):
            assert type(part) is xarray.DataArray and part.name == x.name
            assert isinstance(part.data, np.ndarray if chunks is None else da.Array)
            assert part.dims == like.dims and part.coords.identical(like.coords)
            np.testing.assert_array_equal(part.compute().data, data)
            assert part.dtype == np.asarray(data).dtype


def test_nothing_is_computed():
    def fails(block):
        raise AssertionError("it was computed")

    lazy = da.zeros((4, 4), chunks=2).map_blocks(fails, dtype=float, meta=np.empty((0, 0)))
    x = xarray.DataArray(lazy, dims=("x", "y"))
    for call in (argreduce.argmax, argreduce_dask.argmax):
        found = call(x, "y", where=x.notnull(), fill=-1)
        assert found.dims == ("x",)
        with pytest.raises(AssertionError, match="it was computed"):
            found.compute()
    assert isinstance(argreduce.argminmax_values(xarray.Variable(("x", "y"), lazy), "x").min.data, da.Array)
    with pytest.raises(TypeError, match="partial takes no dask arrays"):
        argreduce.partial(x, 1, start=(0, 0), whole=(4, 4))


def test_as_xarray_has_it(rng):
    x = array(rng).fillna(0)
    for dim in ("x", "y", "z"):
        xarray.testing.assert_identical(argreduce.argmax(x, dim), x.argmax(dim))
        xarray.testing.assert_identical(argreduce.argmin(x.chunk(2), dim).compute(), x.argmin(dim))
        xarray.testing.assert_identical(argreduce.argmin(x.variable, dim), x.variable.argmin(dim))


def test_options(rng):
    x = array(rng)
    assert argreduce.argmax(x, "y", dtype="u1", select_last=True, threads=2).dtype == np.uint8
    with pytest.raises(TypeError, match="takes no dtype= for a dask array"):
        argreduce.argmax(x.chunk(2), "y", dtype="u1")
    assert argreduce_dask.argmax(x.chunk(2), "y", split_every=2).dims == ("x", "z")
    assert isinstance(argreduce_dask.argmax(x, "y").data, da.Array)
    out = np.zeros((3, 5), np.int16)
    assert argreduce.argmax(x, "y", out=out) is out
    np.testing.assert_array_equal(out, argreduce.argmax(x.data, 1))
    values, indices = argreduce.max_argmax(x, "y", out=out)
    assert indices is out and values.dims == ("x", "z")
    with pytest.raises(ValueError, match="attempt to get argmax of an empty sequence"):
        argreduce.argmax(x[:0], "x")
    nothing = argreduce.max_argmax(x[:0], "x", fill=-1)
    assert nothing.indices.dims == ("y", "z") and (nothing.indices == -1).all() and nothing.values.isnull().all()
    assert argreduce.argmax(xarray.DataArray(5.0)).item() == 0
    assert argreduce.argmax(xarray.DataArray(5.0), 0).shape == ()


def test_where(rng):
    x = array(rng)
    where = x.notnull() & (x > 3)
    wanted = argreduce.argmax(x.data, 1, where=where.data, fill=-1)
    for there in (where, where.transpose("z", "x", "y"), where.data, where.variable, where.chunk(2)):
        found = argreduce.argmax(x, "y", where=there, fill=-1)
        np.testing.assert_array_equal(found, wanted)
        assert found.dims == ("x", "z")
    # By name, and not by position.
    there = xarray.DataArray([True, False, False, True], dims="y")
    found = argreduce.argmax(x, "y", where=there, fill=-1)
    np.testing.assert_array_equal(found, argreduce.argmax(x.data, 1, where=there.data[:, None], fill=-1))
    np.testing.assert_array_equal(argreduce.argmax(x.chunk(2), "y", where=there, fill=-1).compute(), found)
    with pytest.raises(ValueError, match=r"argmax: where has the dimensions \['w'\], and x has \('x', 'y', 'z'\)"):
        argreduce.argmax(x, where=there.rename(y="w"))
    with pytest.raises(ValueError, match="argmax: where has other coordinates than x"):
        argreduce.argmax(x, where=where.assign_coords(x=[10, 20, 31]))


def test_what_is_wrong(rng):
    x = array(rng)
    for call in (argreduce.argmax, argreduce_dask.argmax):
        with pytest.raises(ValueError, match=r"argmax: axis is 'w', and the dimensions of x are \('x', 'y', 'z'\)"):
            call(x, "w")
        with pytest.raises(np.exceptions.AxisError):
            call(x, 3)
        with pytest.raises(ValueError, match="duplicate value in 'axis'"):
            call(x, ("x", 0))
        with pytest.raises(TypeError, match="argmax takes no Dataset"):
            call(x.to_dataset())
    with pytest.raises(TypeError, match="axis is of type str"):
        argreduce.argmax(x.data, "x")
    with pytest.raises(TypeError, match="complex128"):
        argreduce.argmax(x.astype(complex))


def test_datasets_by_map(rng):
    x = array(rng)
    found = x.to_dataset().map(argreduce.argmax, axis="y")
    xarray.testing.assert_identical(found.n, argreduce.argmax(x, "y"))


def test_partial_answers_are_plain(rng):
    x = array(rng)
    part = argreduce.partial(x, 1, start=(0, 0, 0), whole=x.shape)
    assert type(part.values) is np.ndarray
    pair = (xarray.DataArray(part.values), xarray.DataArray(part.indices))
    np.testing.assert_array_equal(argreduce.merge(part, pair).indices, part.indices)


def test_partial_answers_take_masks_by_names(rng):
    x = array(rng)
    where = xarray.DataArray(rng.random(x.shape) < 0.5, dims=x.dims)
    found = argreduce.partial(x, start=(0, 0, 0), whole=x.shape, where=where.transpose("z", "y", "x"))
    wanted = argreduce.partial(x.data, start=(0, 0, 0), whole=x.shape, where=where.data)
    np.testing.assert_array_equal(tuple(found), tuple(wanted))


def test_unravel(rng):
    x = array(rng)
    for y in (x, x.chunk(2)):
        rows, columns = argreduce.unravel(argreduce.argmax(y, ("x", "z")), x.shape, (0, 2))
        assert rows.dims == columns.dims == ("y",) and isinstance(rows.data, type(y.data))
        wanted = argreduce.unravel(argreduce.argmax(x.data, (0, 2)), x.shape, (0, 2))
        np.testing.assert_array_equal((rows, columns), wanted)
