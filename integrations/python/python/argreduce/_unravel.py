"""Coordinates from indices."""

from __future__ import annotations

from typing import Any

import numpy as np


def unravel(indices: Any, shape: Any, axis: Any = None) -> tuple[Any, ...]:
    """The coordinates of the elements at ``indices``: an array for each reduced axis, in ascending order of axes.

    Parameters
    ----------
    indices : array_like of integers
        What ``argmax(x, axis)`` gave, of any shape.
    shape : tuple of int, or int
        The shape of ``x``.
    axis : None, int or tuple of int
        The axes that were reduced.

    Returns
    -------
    tuple of arrays, or of numbers where ``indices`` is one
        Each of the shape of ``indices``.

    Raises
    ------
    numpy.exceptions.AxisError
        An axis that ``shape`` does not have.
    ValueError
        An axis given twice, or an index that is not below the product of the reduced sizes.

    Examples
    --------
    Peaks of heat maps:

    >>> import numpy as np, argreduce
    >>> maps = np.zeros((2, 4, 5))
    >>> maps[0, 1, 2] = maps[1, 3, 4] = 1
    >>> peaks = argreduce.argmax(maps, axis=(1, 2))
    >>> argreduce.unravel(peaks, maps.shape, axis=(1, 2))
    (array([1, 3]), array([2, 4]))
    """
    shape = (shape,) if hasattr(shape, "__index__") else tuple(shape)
    rank = len(shape)
    if axis is None:
        axis = range(rank)
    axes = sorted(np.lib.array_utils.normalize_axis_tuple(axis, rank)) if rank or axis not in (0, -1) else []
    if not axes:
        # Nothing was reduced: each index is 0, and there is no coordinate.
        return ()
    return tuple(np.unravel_index(np.asarray(indices), [shape[axis] for axis in axes]))
