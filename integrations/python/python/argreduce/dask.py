"""argmax and its sisters for dask arrays: lazy, over any axes and any chunks, and bit for bit the answer of one array.

Each chunk gives a partial answer: its best elements, and where they are in the whole array. Partial answers merge in any
order and grouping, so that the tree of merging is dask's own (:func:`dask.array.reduction`, ``split_every``), and so are
schedulers.

>>> import dask.array as da
>>> import argreduce.dask
>>> x = da.from_array([[1.0, 5.0, 2.0], [7.0, 0.0, 7.0]], chunks=(1, 2))
>>> argreduce.dask.argmax(x, axis=1).compute()
array([1, 0])
"""

from __future__ import annotations

import operator
from functools import partial as bind
from typing import Any

import dask.array
import numpy as np

from . import _argreduce
from ._interop import Function, Nan, ValuesAndIndices

# dask's own types are incomplete.
da: Any = dask.array

__all__ = ["argmax", "argmin", "max_argmax", "min_argmin", "nanargmax", "nanargmin"]


def argmax(
    x: Any,
    axis: int | tuple[int, ...] | list[int] | None = None,
    *,
    keepdims: bool = False,
    split_every: int | dict[int, int] | None = None,
    select_last: bool = False,
    nan: Nan = "propagate",
) -> Any:
    """Where the largest elements are along any axes: see :func:`argreduce.argmax`.

    Parameters
    ----------
    x : dask array
        Of any chunks. Their sizes have to be known along the reduced axes that have more than one.
    axis : None, int or tuple of int
        The axes to reduce.
    keepdims : bool
        Reduced axes keep size 1.
    split_every : None, int or dict
        How many partial answers are merged at a time, as in :func:`dask.array.reduction`.
    select_last, nan
        As in :func:`argreduce.argmax`.

    Returns
    -------
    dask array of int64

    Raises
    ------
    ValueError
        A reduced axis is empty, or cut into chunks of unknown sizes: now, and not when it is computed.
    TypeError
        Elements of a type that :func:`argreduce.argmax` does not take; masked arrays.

    Examples
    --------
    >>> import dask.array as da, argreduce.dask
    >>> argreduce.dask.argmax(da.arange(10, chunks=3)).compute()
    np.int64(9)
    """
    return _reduce(x, axis, "indices", "argmax", keepdims, split_every, select_last, nan)


def argmin(
    x: Any,
    axis: int | tuple[int, ...] | list[int] | None = None,
    *,
    keepdims: bool = False,
    split_every: int | dict[int, int] | None = None,
    select_last: bool = False,
    nan: Nan = "propagate",
) -> Any:
    """Where the smallest elements are along any axes: see :func:`argmax`.

    >>> import dask.array as da, argreduce.dask
    >>> argreduce.dask.argmin(da.arange(10, chunks=3), select_last=True).compute()
    np.int64(0)
    """
    return _reduce(x, axis, "indices", "argmin", keepdims, split_every, select_last, nan)


def nanargmax(
    x: Any,
    axis: int | tuple[int, ...] | list[int] | None = None,
    *,
    keepdims: bool = False,
    split_every: int | dict[int, int] | None = None,
    select_last: bool = False,
) -> Any:
    """Where the largest numbers are: NaN is ignored. Of nothing but NaN, a ValueError when it is computed.

    >>> import dask.array as da, argreduce.dask
    >>> argreduce.dask.nanargmax(da.from_array([1.0, float("nan"), 5.0], chunks=1)).compute()
    np.int64(2)
    """
    return _reduce(x, axis, "numbers", "argmax", keepdims, split_every, select_last, "ignore")


def nanargmin(
    x: Any,
    axis: int | tuple[int, ...] | list[int] | None = None,
    *,
    keepdims: bool = False,
    split_every: int | dict[int, int] | None = None,
    select_last: bool = False,
) -> Any:
    """Where the smallest numbers are: NaN is ignored. See :func:`nanargmax`.

    >>> import dask.array as da, argreduce.dask
    >>> argreduce.dask.nanargmin(da.from_array([1.0, float("nan"), 5.0], chunks=1)).compute()
    np.int64(0)
    """
    return _reduce(x, axis, "numbers", "argmin", keepdims, split_every, select_last, "ignore")


def max_argmax(
    x: Any,
    axis: int | tuple[int, ...] | list[int] | None = None,
    *,
    keepdims: bool = False,
    split_every: int | dict[int, int] | None = None,
    select_last: bool = False,
    nan: Nan = "propagate",
) -> ValuesAndIndices:
    """The largest elements and where they are, as two dask arrays that share their work: see :func:`argmax`.

    >>> import dask, dask.array as da, argreduce.dask
    >>> best = argreduce.dask.max_argmax(da.arange(10, chunks=3))
    >>> dask.compute(*best)
    (np.int64(9), np.int64(9))
    """
    values, indices = _reduce(x, axis, "both", "argmax", keepdims, split_every, select_last, nan)
    return ValuesAndIndices(values, indices)


def min_argmin(
    x: Any,
    axis: int | tuple[int, ...] | list[int] | None = None,
    *,
    keepdims: bool = False,
    split_every: int | dict[int, int] | None = None,
    select_last: bool = False,
    nan: Nan = "propagate",
) -> ValuesAndIndices:
    """The smallest elements and where they are, as two dask arrays that share their work: see :func:`argmax`.

    >>> import dask, dask.array as da, argreduce.dask
    >>> dask.compute(*argreduce.dask.min_argmin(da.arange(10, chunks=3)))
    (np.int64(0), np.int64(0))
    """
    values, indices = _reduce(x, axis, "both", "argmin", keepdims, split_every, select_last, nan)
    return ValuesAndIndices(values, indices)


def _reduce(
    x: Any,
    axis: Any,
    answer: str,
    function: Function,
    keepdims: bool,
    split_every: int | dict[int, int] | None,
    select_last: bool,
    nan: Nan,
) -> Any:
    x = da.asanyarray(x)
    if np.ma.isMaskedArray(x._meta):
        raise TypeError(f"{function} takes no masked arrays: their mask would be ignored")
    is_known = [not np.isnan(size) for size in x.shape]
    whole = tuple(size if known else 1 for size, known in zip(x.shape, is_known))
    # What is wrong with the arguments is said now, by the same code as for one array: for an array of the same shape that
    # takes no memory.
    likeness = np.broadcast_to(np.zeros((), x.dtype), whole)
    first = likeness[(slice(0, 1),) * x.ndim]
    _argreduce.partial(first, axis, start=(0,) * x.ndim, whole=whole, function=function, nan=nan)
    axes = tuple(range(x.ndim)) if axis is None else tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    if x.ndim == 0:
        axes = ()
    axes = tuple(operator.index(axis) % x.ndim for axis in axes)
    for axis in axes:
        if whole[axis] == 0:
            raise ValueError(f"attempt to get {function} of an empty sequence")
        if not is_known[axis] and x.numblocks[axis] > 1:
            raise ValueError(
                f"{function} over axis {axis} of unknown chunksize: the sizes of its chunks are not known, shape {x.shape}. "
                "See dask's compute_chunk_sizes()"
            )
    options = {"function": function, "select_last": select_last, "nan": nan}
    pairs = np.dtype([("value", x.dtype), ("index", np.int64)])
    parts = x.map_blocks(
        _partial,
        axes=axes,
        whole=tuple(size if known else None for size, known in zip(x.shape, is_known)),
        options=options,
        dtype=pairs,
        chunks=tuple((1,) * len(chunks) if n in axes else chunks for n, chunks in enumerate(x.chunks)),
        meta=np.empty((0,) * x.ndim, pairs),
    )
    if axes:
        merge = bind(_merge, options=options)
        best = da.reduction(
            parts,
            chunk=_as_it_is,
            combine=merge,
            aggregate=bind(_squeezed, merge=merge),
            axis=axes,
            keepdims=keepdims,
            split_every=split_every,
            dtype=pairs,
            concatenate=False,
            meta=np.empty((0,) * (x.ndim if keepdims else x.ndim - len(axes)), pairs),
        )
    else:
        best = parts

    def of_best(function: Any, dtype: Any) -> Any:
        return best.map_blocks(function, dtype=dtype, meta=np.empty((0,) * best.ndim, dtype))

    if answer == "both":
        return ValuesAndIndices(of_best(_values, x.dtype), of_best(_indices, np.int64))
    return of_best(_indices_of_numbers if answer == "numbers" else _indices, np.int64)


def _pairs(part: tuple[Any, Any], shape: tuple[int, ...]) -> Any:
    """Values and indices in one array: dask's reductions know one array for each chunk."""
    values, indices = part
    pairs = np.empty(shape, [("value", values.dtype), ("index", np.int64)])
    pairs["value"], pairs["index"] = np.reshape(values, shape), np.reshape(indices, shape)
    return pairs


def _partial(
    block: Any, axes: tuple[int, ...], whole: tuple[int | None, ...], options: dict[str, Any], block_info: Any = None
) -> Any:
    # A number for an array of rank 0; an array of another library for some kinds of chunks. What is masked stays so, and
    # is refused.
    block = np.asanyarray(block)
    start = [first for first, _ in block_info[0]["array-location"]]
    sizes: list[Any] = list(whole)
    for axis, size in enumerate(block.shape):
        # Of a size that was not known, there is one chunk if the axis is reduced. On a kept axis, an index does not depend
        # on where the chunk is.
        if sizes[axis] is None:
            start[axis], sizes[axis] = 0, size
    part = _argreduce.partial(block, axes, start=start, whole=sizes, **options)
    return _pairs(part, tuple(1 if axis in axes else size for axis, size in enumerate(block.shape)))


def _as_it_is(block: Any, axis: Any, keepdims: bool) -> Any:
    return block


def _merge(blocks: Any, axis: Any, keepdims: bool, options: dict[str, Any]) -> Any:
    """Merges a list, or lists of lists, of partial answers."""
    first, *others = _flat(blocks)
    acc = (first["value"], first["index"])
    for block in others:
        acc = _argreduce.merge(acc, (block["value"], block["index"]), **options)
    return _pairs(acc, first.shape)


def _flat(blocks: Any) -> Any:
    if isinstance(blocks, list):
        for block in blocks:
            yield from _flat(block)
    else:
        yield blocks


def _squeezed(blocks: Any, axis: Any, keepdims: bool, merge: Any) -> Any:
    pairs = merge(blocks, axis, keepdims)
    return pairs if keepdims else pairs.squeeze(axis)


def _values(pairs: Any) -> Any:
    return _field(pairs, "value")


def _indices(pairs: Any) -> Any:
    return _field(pairs, "index")


def _field(pairs: Any, name: str) -> Any:
    """An array of its own; a number, where there is one: as NumPy has it."""
    field = pairs[name]
    return field.copy() if np.ndim(field) else field[()]


def _indices_of_numbers(pairs: Any) -> Any:
    values = pairs["value"]
    if values.dtype.kind not in "?biu" and np.isnan(values).any():
        raise ValueError("All-NaN slice encountered")
    return _indices(pairs)
