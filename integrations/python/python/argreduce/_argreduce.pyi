from collections.abc import Sequence
from typing import Any, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ._interop import Function, Nan, Partial, ValuesAndIndices

_Axis: TypeAlias = SupportsIndex | tuple[SupportsIndex, ...] | list[SupportsIndex] | list[int] | None
_Pair: TypeAlias = tuple[Any, Any]

__all__ = ["argmax", "argmin", "max_argmax", "merge", "min_argmin", "nanargmax", "nanargmin", "partial"]

# What comes back is an array, or a number if all axes are reduced, of NumPy or of the library that the input is from.
def argmax(
    x: ArrayLike | Any,
    /,
    axis: _Axis = None,
    *,
    keepdims: bool = False,
    out: NDArray[np.integer[Any]] | None = None,
    dtype: DTypeLike | None = None,
    select_last: bool = False,
    nan: Nan = "propagate",
    threads: int | None = None,
) -> Any: ...
def argmin(
    x: ArrayLike | Any,
    /,
    axis: _Axis = None,
    *,
    keepdims: bool = False,
    out: NDArray[np.integer[Any]] | None = None,
    dtype: DTypeLike | None = None,
    select_last: bool = False,
    nan: Nan = "propagate",
    threads: int | None = None,
) -> Any: ...
def max_argmax(
    x: ArrayLike | Any,
    /,
    axis: _Axis = None,
    *,
    keepdims: bool = False,
    out: NDArray[np.integer[Any]] | None = None,
    dtype: DTypeLike | None = None,
    select_last: bool = False,
    nan: Nan = "propagate",
    threads: int | None = None,
) -> ValuesAndIndices: ...
def min_argmin(
    x: ArrayLike | Any,
    /,
    axis: _Axis = None,
    *,
    keepdims: bool = False,
    out: NDArray[np.integer[Any]] | None = None,
    dtype: DTypeLike | None = None,
    select_last: bool = False,
    nan: Nan = "propagate",
    threads: int | None = None,
) -> ValuesAndIndices: ...
def nanargmax(
    x: ArrayLike | Any,
    /,
    axis: _Axis = None,
    *,
    keepdims: bool = False,
    out: NDArray[np.integer[Any]] | None = None,
    dtype: DTypeLike | None = None,
    select_last: bool = False,
    threads: int | None = None,
) -> Any: ...
def nanargmin(
    x: ArrayLike | Any,
    /,
    axis: _Axis = None,
    *,
    keepdims: bool = False,
    out: NDArray[np.integer[Any]] | None = None,
    dtype: DTypeLike | None = None,
    select_last: bool = False,
    threads: int | None = None,
) -> Any: ...
def partial(
    x: ArrayLike | Any,
    axis: _Axis = None,
    *,
    start: Sequence[int],
    whole: Sequence[int],
    function: Function = "argmax",
    select_last: bool = False,
    nan: Nan = "propagate",
) -> Partial: ...
def merge(
    acc: _Pair,
    other: _Pair,
    *,
    function: Function = "argmax",
    select_last: bool = False,
    nan: Nan = "propagate",
) -> Partial: ...
