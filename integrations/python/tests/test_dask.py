"""dask arrays: bit for bit the answer of one array, whatever the chunks, the scheduler and the tree of merging."""

from __future__ import annotations

import argreduce
import numpy as np
import pytest
from conftest import DTYPES, is_float, random_array

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
argreduce_dask = pytest.importorskip("argreduce.dask")

SYNC = {"scheduler": "synchronous"}


def random_chunks(rng, shape):
    def cut(size):
        cuts = sorted(set(rng.integers(1, max(size, 2), rng.integers(0, 4)).tolist()) - {size})
        edges = [0, *[c for c in cuts if c < size], size]
        return tuple(b - a for a, b in zip(edges, edges[1:]))

    return tuple(cut(size) for size in shape)


@pytest.mark.parametrize("seed", range(400))
def test_random_chunks(seed):
    rng = np.random.default_rng(seed)
    dtype = DTYPES[seed % len(DTYPES)]
    shape = tuple(int(n) for n in rng.integers(1, 9, rng.integers(1, 4)))
    x = random_array(rng, shape, dtype)
    y = da.from_array(x, chunks=random_chunks(rng, shape))
    axes = tuple(int(a) for a in np.flatnonzero(rng.random(len(shape)) < 0.6))
    axis = None if len(axes) == len(shape) else axes[0] - len(shape) if len(axes) == 1 else axes
    options = {
        "keepdims": bool(rng.integers(2)),
        "select_last": bool(rng.integers(2)),
        "nan": ("propagate", "ignore")[rng.integers(2)],
    }
    split_every = (None, 2, 3)[rng.integers(3)]
    for name in ("max_argmax", "min_argmin"):
        wanted = getattr(argreduce, name)(x, axis, **options)
        lazy = getattr(argreduce_dask, name)(y, axis, split_every=split_every, **options)
        assert lazy.indices.shape == np.shape(wanted.indices) and lazy.values.dtype == dtype
        values, indices = dask.compute(*lazy, **SYNC)
        np.testing.assert_array_equal(indices, wanted.indices)
        assert np.asarray(indices).dtype == np.int64
        assert np.ascontiguousarray(values).tobytes() == np.ascontiguousarray(wanted.values).tobytes()
        arg = name[4:]
        lazy = getattr(argreduce_dask, arg)(y, axis, split_every=split_every, **options)
        np.testing.assert_array_equal(lazy.compute(**SYNC), wanted.indices)


def test_is_lazy():
    def fails(block):
        raise AssertionError("it was computed")

    x = da.zeros((4, 4), chunks=2).map_blocks(fails, dtype=float, meta=np.empty((0, 0)))
    argreduce_dask.argmax(x, 1)


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_schedulers(rng, scheduler):
    x = random_array(rng, (40, 50), np.dtype("f4"))
    y = da.from_array(x, chunks=(7, 11))
    found = argreduce_dask.argmax(y, (0, 1)).compute(scheduler=scheduler, num_workers=2)
    assert found == argreduce.argmax(x)


def test_distributed(rng):
    distributed = pytest.importorskip("distributed")
    x = random_array(rng, (40, 50), np.dtype("f8"))
    y = da.from_array(x, chunks=(9, 13))
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster, distributed.Client(cluster):
        np.testing.assert_array_equal(argreduce_dask.argmax(y, 1).compute(), argreduce.argmax(x, 1))
        assert argreduce_dask.nanargmin(y).compute() == argreduce.nanargmin(x)


def test_ties_over_two_dimensional_chunks():
    # dask's own argmax takes the first chunk that has the largest element, and not the first index.
    x = np.zeros((4, 4))
    x[0, 3] = x[2, 0] = 1
    y = da.from_array(x, chunks=2)
    assert argreduce_dask.argmax(y).compute(**SYNC) == 3
    assert argreduce_dask.argmax(y, select_last=True).compute(**SYNC) == 8
    x[0, 3] = x[2, 0] = np.nan
    assert argreduce_dask.argmax(da.from_array(x, chunks=2)).compute(**SYNC) == 3


def test_a_chunk_of_nothing_but_nan():
    # dask's own nanargmax fails if one chunk has no number.
    x = np.array([np.nan, np.nan, 3.0, 5.0])
    y = da.from_array(x, chunks=2)
    assert argreduce_dask.nanargmax(y).compute(**SYNC) == 3
    assert argreduce_dask.nanargmin(y).compute(**SYNC) == 2
    with pytest.raises(ValueError, match="All-NaN"):
        argreduce_dask.nanargmax(da.from_array(x[:2], chunks=1)).compute(**SYNC)


def test_tuples_of_axes():
    x = np.arange(24.0).reshape(2, 3, 4) % 7
    found = argreduce_dask.argmax(da.from_array(x, chunks=(1, 2, 3)), (0, 2)).compute(**SYNC)
    np.testing.assert_array_equal(found, argreduce.argmax(x, (0, 2)))


def test_errors_are_early():
    x = da.zeros((4, 4), chunks=2)
    with pytest.raises(np.exceptions.AxisError):
        argreduce_dask.argmax(x, 2)
    with pytest.raises(ValueError, match="duplicate"):
        argreduce_dask.argmax(x, (0, -2))
    with pytest.raises(ValueError, match="nan"):
        argreduce_dask.argmax(x, nan="omit")
    with pytest.raises(ValueError, match="empty"):
        argreduce_dask.argmax(da.zeros((0, 3)), 0)
    with pytest.raises(TypeError, match="complex"):
        argreduce_dask.argmax(x.astype(complex))
    with pytest.raises(ValueError, match="chunks are not known"):
        argreduce_dask.argmax(x[x > 0])
    assert argreduce_dask.argmax(da.zeros((0, 3)), 1).compute(**SYNC).shape == (0,)


def test_unknown_sizes_of_chunks():
    x = np.array([[1.0, 9.0, 2.0], [5.0, 5.0, 8.0], [0.0, 4.0, 3.0]])
    for chunks in ((2, 2), (3, 3), (3, 1)):
        y = da.from_array(x, chunks=chunks)
        y = y[y[:, 0] > 0]
        np.testing.assert_array_equal(argreduce_dask.argmax(y, 1).compute(**SYNC), [1, 2])
        if y.numblocks[0] == 1:
            np.testing.assert_array_equal(argreduce_dask.argmin(y, 0).compute(**SYNC), [0, 1, 0])
            assert argreduce_dask.argmax(y, (0, 1)).compute(**SYNC) == 1
            # As it turns out.
            with pytest.raises(ValueError, match="axis 0 has size 0"):
                argreduce_dask.argmax(y[y[:, 0] > 7], 0).compute(**SYNC)
        else:
            with pytest.raises(ValueError, match="argmax over axis 0 of unknown chunksize"):
                argreduce_dask.argmax(y, 0)


def test_masked_arrays():
    x = np.ma.masked_greater(np.arange(6.0), 3)
    with pytest.raises(TypeError, match="masked"):
        argreduce_dask.argmax(da.from_array(x, chunks=2, asarray=False))
    # Where dask does not know.
    y = da.zeros(6, chunks=2).map_blocks(lambda block: np.ma.masked_greater(block, 3), meta=np.empty(0))
    with pytest.raises(TypeError, match="masked"):
        argreduce_dask.argmax(y).compute(**SYNC)


def test_lists_of_axes():
    x = np.arange(24.0).reshape(2, 3, 4) % 7
    found = argreduce_dask.argmax(da.from_array(x, chunks=2), [0, np.int64(-1)]).compute(**SYNC)
    np.testing.assert_array_equal(found, argreduce.argmax(x, (0, 2)))


def test_many_axes(rng):
    x = random_array(rng, (2, 1, 3, 2, 1, 2, 2, 1, 3), np.dtype("f4"))
    y = da.from_array(x, chunks=(1, 1, 2, 1, 1, 1, 2, 1, 2))
    for axis in (2, (0, 3, 8), None):
        lazy = argreduce_dask.max_argmax(y, axis)
        values, indices = dask.compute(*lazy, **SYNC)
        wanted = argreduce.max_argmax(x, axis)
        np.testing.assert_array_equal(indices, wanted.indices)
        assert np.ascontiguousarray(values).tobytes() == np.ascontiguousarray(wanted.values).tobytes()
    with pytest.raises(ValueError, match="empty"):
        argreduce_dask.argmax(y[:0], 0)


def test_rank_0():
    assert argreduce_dask.argmax(da.from_array(np.array(3.0))).compute(**SYNC) == 0


def test_values_of_floats_are_bit_for_bit():
    for dtype in filter(is_float, DTYPES):
        x = np.array([-0.0, 0.0, -1.0], dtype)
        values = argreduce_dask.max_argmax(da.from_array(x, chunks=1)).values.compute(**SYNC)
        assert np.signbit(values)
