"""dask arrays: bit for bit the answer of one array, whatever the chunks, the scheduler and the tree of merging."""

from __future__ import annotations

import subprocess
import sys

import argreduce
import ml_dtypes
import numpy as np
import pytest
from conftest import DTYPES, EMULATOR, is_float, random_array

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
    wanted = argreduce.argminmax_values(x, axis, **options)
    lazy = argreduce_dask.argminmax_values(y, axis, split_every=split_every, **options)
    assert [part.dtype for part in lazy] == [dtype, np.int64] * 2
    assert [part.shape for part in lazy] == [np.shape(part) for part in wanted]
    for part, wanted_part in zip(dask.compute(*lazy, **SYNC), wanted):
        assert np.ascontiguousarray(part).tobytes() == np.ascontiguousarray(wanted_part).tobytes()
    lazy = argreduce_dask.argminmax(y, axis, split_every=split_every, **options)
    for part, wanted_part in zip(dask.compute(*lazy, **SYNC), (wanted.argmin, wanted.argmax)):
        np.testing.assert_array_equal(part, wanted_part)


def test_both_read_each_chunk_once():
    read = []

    def seen(block, block_info=None):
        # Not when dask asks what comes back.
        if block_info:
            read.append(block_info[None]["chunk-location"])
        return block

    x = da.from_array(np.arange(12.0).reshape(3, 4), chunks=2).map_blocks(seen, dtype=float)
    assert dask.compute(*argreduce_dask.argminmax(x), **SYNC) == (0, 11)
    assert sorted(read) == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_is_lazy():
    def fails(block):
        raise AssertionError("it was computed")

    x = da.zeros((4, 4), chunks=2).map_blocks(fails, dtype=float, meta=np.empty((0, 0)))
    argreduce_dask.argmax(x, 1)


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_schedulers(rng, scheduler):
    if scheduler == "processes" and EMULATOR:
        pytest.skip("multiprocessing does not start an emulator")
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
    assert argreduce_dask.argmax(da.from_array(x, chunks=2, asarray=False)).compute(**SYNC) == 3
    # Where dask does not know.
    y = da.arange(6, chunks=2).map_blocks(lambda block: np.ma.masked_greater(block, 3), meta=np.empty(0, int))
    assert argreduce_dask.argmax(y).compute(**SYNC) == 3


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


def array_of_chunks(chunks, declared):
    """A dask array of one axis whose chunks are these, whatever their types."""
    sizes = (tuple(len(chunk) for chunk in chunks),)
    return da.map_blocks(
        lambda block_info=None: chunks[block_info[None]["chunk-location"][0]],
        chunks=sizes,
        dtype=declared,
        meta=np.empty(0, declared),
    )


@pytest.mark.parametrize("declared", ["f4", "f8", ">f8", "i8", ml_dtypes.bfloat16])
@pytest.mark.parametrize("types", ["f8 i8", "i8 f8", "i8 i8", "f4 f8", "? u1 f2", "f8 >f8", ">i2 i4"])
def test_chunks_of_other_types(types, declared):
    # The largest is in the last chunk, and the smallest in the first; the last of each chunk is the first of the next.
    declared, chunks = np.dtype(declared), []
    for n, dtype in enumerate(types.split()):
        chunks.append(np.array([n, n + 1]).astype(dtype))
    together = np.concatenate([chunk.astype(declared) for chunk in chunks])
    x = array_of_chunks(chunks, declared)
    for select_last in (False, True):
        for name in ("max_argmax", "min_argmin"):
            wanted = getattr(argreduce, name)(together, select_last=select_last)
            lazy = getattr(argreduce_dask, name)(x, select_last=select_last, split_every=2)
            values, index = dask.compute(*lazy, **SYNC)
            assert index == wanted.indices and values == wanted.values
            assert values.dtype == lazy.values.dtype == wanted.values.dtype
        assert argreduce_dask.nanargmax(x).compute(**SYNC) == argreduce.nanargmax(together)
    # What dask's own finds, which merges the chunks by NumPy's rules for several types.
    assert argreduce_dask.argmax(x).compute(**SYNC) == x.argmax().compute(**SYNC)


def test_chunks_are_rounded_to_the_declared_type():
    # As one array of float32 has them: equal.
    x = array_of_chunks([np.array([1.0, 1.0 + 1e-12]), np.array([np.nan, 0.5], "f4")], np.float32)
    assert argreduce_dask.nanargmax(x).compute(**SYNC) == 0
    assert argreduce_dask.argmax(x).compute(**SYNC) == 2
    # 2**53 + 1 has no float64.
    x = array_of_chunks([np.array([2**53]), np.array([2**53 + 1])], np.float64)
    assert argreduce_dask.argmax(x).compute(**SYNC) == 0


@pytest.mark.parametrize(
    ("chunk", "declared"),
    [
        (np.array([0.5, 0.9]), "i8"),
        (np.array([np.nan, 1.0]), "i8"),
        (np.array([1e300, 1.0]), "i8"),
        (np.array([300, 1]), "i1"),
        (np.array([2**63, 1], "u8"), "i8"),
        (np.array([-1, 1]), "u8"),
        (np.array([1, 2]), "?"),
    ],
)
def test_chunks_that_the_declared_type_does_not_hold(chunk, declared):
    x = array_of_chunks([chunk, np.zeros(2, declared)], declared)
    with pytest.raises(TypeError, match=rf"^argreduce\.dask\.argmin: a chunk is of type {chunk.dtype}\. .* declare"):
        argreduce_dask.argmin(x).compute(**SYNC)


@pytest.mark.parametrize("function", argreduce_dask.__all__)
def test_errors_name_the_function_that_was_called(function):
    call, name = getattr(argreduce_dask, function), rf"^argreduce\.dask\.{function}\b"

    def fails(error, x, **options):
        with pytest.raises(error, match=name) as caught:
            dask.compute(call(x, **options), **SYNC)
        assert "partial" not in str(caught.value)

    x = da.zeros((4, 4), chunks=2)
    for dtype in ("complex", "O", "U3"):
        fails(TypeError, x.map_blocks(np.ndarray.astype, dtype, dtype=dtype, meta=np.empty((0, 0), dtype)))
        # Where dask does not know.
        fails(TypeError, x.map_blocks(np.ndarray.astype, dtype, dtype=float, meta=np.empty((0, 0))))
    fails(ValueError, x.map_blocks(np.ma.masked_less, 1, dtype=float, meta=np.ma.empty((0, 0))))
    fails(ValueError, x, where=False)
    fails(TypeError, x, where=1)
    fails(ValueError, x, where=[True] * 3)
    fails(ValueError, x, axis=(0, 0))
    fails(TypeError, x, axis=0.5)
    fails(ValueError, da.zeros((0, 3)), axis=0)
    fails(ValueError, x[x > 0])
    y = da.zeros(3, chunks=3)
    fails(ValueError, y[y > 0])
    if function.startswith("nan"):
        fails(ValueError, x * np.nan)
    else:
        fails(ValueError, x, nan="omit")
    # Chunks of other shapes than it is declared.
    fails(ValueError, x.map_blocks(lambda block: block[:1], dtype=float, meta=np.empty((0, 0))))
    fails(ValueError, x.map_blocks(lambda block: block[0], dtype=float, meta=np.empty((0, 0))))


def test_where_of_columns():
    x = da.from_array([9.0, 5.0, 7.0], chunks=2)
    for make in (columns_of_pandas, columns_of_pyarrow, columns_of_polars):
        for where in make([None, True, True]):
            assert argreduce_dask.argmax(x, where=where).compute(**SYNC) == 2
            assert argreduce.argmax(x.compute(), where=where) == 2
        for where in make([None, None, None]):
            assert argreduce_dask.argmax(x, where=where, fill=-1).compute(**SYNC) == -1


def columns_of_pandas(values):
    pandas = pytest.importorskip("pandas")
    yield pandas.Series(values, dtype="boolean")
    yield pandas.array(values, dtype="boolean")


def columns_of_pyarrow(values):
    pyarrow = pytest.importorskip("pyarrow")
    yield pyarrow.array(values, pyarrow.bool_())
    yield pyarrow.chunked_array([values[:1], values[1:]], pyarrow.bool_())


def columns_of_polars(values):
    polars = pytest.importorskip("polars")
    yield polars.Series(values, dtype=polars.Boolean)


def test_options_that_are_not_taken():
    for option in ("dtype", "out", "threads"):
        assert f"``{option}``:" in argreduce_dask.__doc__
        with pytest.raises(TypeError, match=option):
            argreduce_dask.argmax(da.zeros(3), **{option: 1})


def test_arrays_of_any_declared_size():
    for dtype in map(np.dtype, ("u1", "f8", ml_dtypes.bfloat16)):
        for shape, axis in (((2**60,), None), ((2**62, 4), 0), ((2**62, 2**40), 1), ((2**40, 2**20, 8), (0, 1))):
            chunks = tuple(size // 2 for size in shape)
            x = da.zeros(shape, chunks=chunks, dtype=dtype)
            lazy = argreduce_dask.max_argmax(x, axis)
            assert lazy.indices.dtype == np.int64 and lazy.values.dtype == dtype
            axes = range(len(shape)) if axis is None else np.atleast_1d(axis)
            assert lazy.indices.shape == tuple(size for n, size in enumerate(shape) if n not in axes)
    # More than an index counts.
    for count in (3, 4):
        with pytest.raises(ValueError, match=r"^argreduce\.dask\.argmax: "):
            argreduce_dask.argmax(da.zeros((2**62, count), chunks=2**60))
    # The first rows alone are computed.
    x = da.zeros((2**60, 4), chunks=((3, 2**60 - 3), (2, 2)))
    x = x + da.from_array([0.0, 3.0, 3.0, 1.0], chunks=2)
    np.testing.assert_array_equal(argreduce_dask.argmax(x, 1)[:3].compute(**SYNC), [1, 1, 1])


def test_names():
    assert dir(argreduce_dask) == sorted(argreduce_dask.__all__)
    for name in argreduce_dask.__all__:
        assert getattr(argreduce_dask, name).__module__ == "argreduce.dask"


def test_without_dask():
    """In a process of its own, where dask cannot be imported."""
    code = """
import sys
sys.modules["dask"] = None
try:
    import argreduce.dask
except ImportError as error:
    print(error, "|", repr(error.__cause__))
"""
    command = [*EMULATOR, sys.executable, "-c", code]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "argreduce.dask" in said and "pip install 'argreduce[dask]'" in said
    assert "| ModuleNotFoundError" in said
