"""Objects of xarray, whose axes have names: what they hold is reduced, and what comes back is an object of that kind.

What they hold may be an array of dask, which stays lazy.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np


def is_labelled(x: Any) -> bool:
    """Whether it is an array of xarray."""
    xarray = sys.modules.get("xarray")
    return xarray is not None and isinstance(x, (xarray.DataArray, xarray.Variable))


def elements(x: Any) -> Any:
    """What it holds, without names."""
    return x.data if is_labelled(x) else np.asarray(x)


def reduce(
    name: str, function: Callable[..., Any], x: Any, axis: Any, *, keepdims: bool, where: Any, out: Any = None
) -> Any:
    """What a function finds in the elements of ``x``, with the dimensions and the coordinates that are left.

    It is called with the elements, their axes, and the arguments of these names; and gives an array, or a named tuple
    of arrays. ``name`` is its own.
    """
    if hasattr(x, "data_vars"):
        raise TypeError(
            f"{name} takes no Dataset, whose arrays have dimensions of their own: give it one of them, or to "
            f"x.map(argreduce.{name})"
        )
    options = {} if out is None else {"out": out}
    if not is_labelled(x):
        return function(np.asarray(x), axis, keepdims=keepdims, where=where, **options)
    axis = _positions(name, x, axis)
    found = function(x.data, axis, keepdims=keepdims, where=placed(name, where, x), **options)
    reduced: Any = range(x.ndim) if axis is None or x.ndim == 0 else axis
    axes = np.lib.array_utils.normalize_axis_tuple(reduced, x.ndim)

    def labelled(part: Any) -> Any:
        if part is out:
            return part
        dropped = np.squeeze(part, axes) if keepdims else part
        # It knows which coordinates are left.
        return x.reduce(lambda elements, axis: dropped, axis=axes, keepdims=keepdims)

    return type(found)(*map(labelled, found)) if isinstance(found, tuple) else labelled(found)


def so_far(name: str, function: Callable[..., Any], x: Any, axis: Any, *, where: Any, out: Any) -> Any:
    """What a function finds so far along one axis of ``x``: of its dimensions and coordinates."""
    if hasattr(x, "data_vars"):
        raise TypeError(f"{name} takes no Dataset, whose arrays have dimensions of their own: give it one of them")
    options = {} if out is None else {"out": out}
    if axis is None and x.ndim != 1:
        raise ValueError(f"{name}: axis is None, and the dimensions of x are {tuple(x.dims)}: it goes along one of them")
    axis = 0 if axis is None else _positions(name, x, axis)
    found = function(x.data, axis, where=placed(name, where, x), **options)

    def labelled(part: Any) -> Any:
        return part if part is out else x.copy(data=part)

    return type(found)(*map(labelled, found)) if isinstance(found, tuple) else labelled(found)


def _positions(name: str, x: Any, axis: Any) -> Any:
    """Axes by number. A string is the name of one; what else there is, the function looks at."""

    def position(axis: Any) -> Any:
        if not isinstance(axis, str):
            return axis
        if axis not in x.dims:
            raise ValueError(f"{name}: axis is '{axis}', and the dimensions of x are {tuple(x.dims)}")
        return x.dims.index(axis)

    return type(axis)(map(position, axis)) if type(axis) in (tuple, list) else position(axis)


def placed(name: str, where: Any, x: Any) -> Any:
    """``where`` in the order of the dimensions of ``x``, if it has names: of the same coordinates, then."""
    if not is_labelled(where):
        return where
    import xarray

    others = [dim for dim in where.dims if dim not in x.dims]
    if others:
        raise ValueError(f"{name}: where has the dimensions {others}, and x has {tuple(x.dims)}")
    if isinstance(x, xarray.DataArray) and isinstance(where, xarray.DataArray):
        try:
            xarray.align(x, where, join="exact", copy=False)
        except ValueError as error:
            raise ValueError(f"{name}: where has other coordinates than x: {error}") from error
    variable = where.variable if isinstance(where, xarray.DataArray) else where
    # Those that it does not have become 1, which broadcasts.
    missing = [dim for dim in x.dims if dim not in where.dims]
    return variable.set_dims([*missing, *where.dims]).transpose(*x.dims).data
