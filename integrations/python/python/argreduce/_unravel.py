"""Coordinates from indices."""

from __future__ import annotations

import sys
from typing import Any, SupportsIndex

import numpy as np

from . import _labelled


def unravel(indices: Any, shape: Any, axis: Any = None, *, fill: SupportsIndex | None = None) -> tuple[Any, ...]:
    """The coordinates of the elements at ``indices``: an array for each reduced axis, in ascending order of axes.

    Parameters
    ----------
    indices : array_like of integers
        What ``argmax(x, axis)`` gave, of any shape. An array of dask stays lazy, and an object of xarray keeps its
        dimensions and coordinates.
    shape : tuple of int, or int
        The shape of ``x``.
    axis : None, int or tuple of int
        The axes that were reduced.
    fill : None or int
        The index of what has no element, as ``argmax`` was given it: its coordinates are that, too.

    Returns
    -------
    tuple of arrays, or of numbers where ``indices`` is one
        Each of the shape of ``indices``.

    Raises
    ------
    numpy.exceptions.AxisError
        An axis that ``shape`` does not have.
    ValueError
        An axis given twice, or an index that is neither ``fill`` nor below the product of the reduced sizes: of an
        array of dask, when it is computed.

    Examples
    --------
    Peaks of heat maps:

    >>> import numpy as np, argreduce
    >>> maps = np.zeros((2, 4, 5))
    >>> maps[0, 1, 2] = maps[1, 3, 4] = 1
    >>> peaks = argreduce.argmax(maps, axis=(1, 2))
    >>> argreduce.unravel(peaks, maps.shape, axis=(1, 2))
    (array([1, 3]), array([2, 4]))

    Where nothing is there:

    >>> argreduce.unravel([5, -1], (2, 4), fill=-1)
    (array([ 1, -1]), array([ 1, -1]))
    """
    shape = (shape,) if hasattr(shape, "__index__") else tuple(shape)
    rank = len(shape)
    if axis is None:
        axis = range(rank)
    axes = sorted(np.lib.array_utils.normalize_axis_tuple(axis, rank)) if rank or axis not in (0, -1) else []
    if not axes:
        # Nothing was reduced: each index is 0, and there is no coordinate.
        return ()
    sizes = [shape[axis] for axis in axes]
    if _labelled.is_labelled(indices):
        parts = _coordinates(indices.data, sizes, fill)
        return tuple(indices.copy(data=part) for part in parts)
    return _coordinates(indices, sizes, fill)


def _coordinates(indices: Any, sizes: list[int], fill: Any) -> tuple[Any, ...]:
    dask = sys.modules.get("dask.array")
    if dask is not None and isinstance(indices, dask.Array):
        # All of a chunk by one task, which each of them is a part of.
        chunks, meta = (len(sizes), *indices.chunks), np.empty((0,) * (indices.ndim + 1), np.int64)
        parts = indices.map_blocks(_stacked, sizes, fill, dtype=np.int64, chunks=chunks, new_axis=0, meta=meta)
        return tuple(parts[n] for n in range(len(sizes)))
    indices = np.asarray(indices)
    if fill is None:
        return tuple(np.unravel_index(indices, sizes))
    missing = indices == fill
    found = np.unravel_index(np.where(missing, 0, indices), sizes)
    return tuple(np.where(missing, fill, part)[()] for part in found)


def _stacked(indices: Any, sizes: list[int], fill: Any) -> Any:
    return np.stack(_coordinates(indices, sizes, fill))
