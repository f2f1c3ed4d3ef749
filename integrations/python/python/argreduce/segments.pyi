from typing import Any, Literal, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ._interop import ArgMinMax, ArgMinMaxValues, Nan, ValuesAndIndices

__all__ = [
    "argmax", "argmin", "argminmax", "argminmax_values", "max_argmax", "min_argmin", "nanargmax", "nanargmin",
    "offsets_of",
]

_Indices: TypeAlias = NDArray[np.integer[Any]]
_Key: TypeAlias = Literal["abs"] | None
_Near: TypeAlias = float | np.generic | NDArray[Any] | None

def __dir__() -> list[str]: ...
def argmax(
    x: Any, offsets: ArrayLike | None = None, *, absolute: bool = False, dtype: DTypeLike | None = None,
    select_last: bool = False, nan: Nan = "propagate", threads: Any = None, where: ArrayLike | None = None,
    fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> _Indices: ...
def argmin(
    x: Any, offsets: ArrayLike | None = None, *, absolute: bool = False, dtype: DTypeLike | None = None,
    select_last: bool = False, nan: Nan = "propagate", threads: Any = None, where: ArrayLike | None = None,
    fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> _Indices: ...
def nanargmax(
    x: Any, offsets: ArrayLike | None = None, *, absolute: bool = False, dtype: DTypeLike | None = None,
    select_last: bool = False, threads: Any = None, where: ArrayLike | None = None,
    fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> _Indices: ...
def nanargmin(
    x: Any, offsets: ArrayLike | None = None, *, absolute: bool = False, dtype: DTypeLike | None = None,
    select_last: bool = False, threads: Any = None, where: ArrayLike | None = None,
    fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> _Indices: ...
def max_argmax(
    x: Any, offsets: ArrayLike | None = None, *, absolute: bool = False, dtype: DTypeLike | None = None,
    select_last: bool = False, nan: Nan = "propagate", threads: Any = None, where: ArrayLike | None = None,
    fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> ValuesAndIndices[NDArray[Any], _Indices]: ...
def min_argmin(
    x: Any, offsets: ArrayLike | None = None, *, absolute: bool = False, dtype: DTypeLike | None = None,
    select_last: bool = False, nan: Nan = "propagate", threads: Any = None, where: ArrayLike | None = None,
    fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> ValuesAndIndices[NDArray[Any], _Indices]: ...
def argminmax(
    x: Any, offsets: ArrayLike | None = None, *, absolute: bool = False, dtype: DTypeLike | None = None,
    select_last: bool = False, nan: Nan = "propagate", threads: Any = None, where: ArrayLike | None = None,
    fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> ArgMinMax[_Indices]: ...
def argminmax_values(
    x: Any, offsets: ArrayLike | None = None, *, absolute: bool = False, dtype: DTypeLike | None = None,
    select_last: bool = False, nan: Nan = "propagate", threads: Any = None, where: ArrayLike | None = None,
    fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> ArgMinMaxValues[NDArray[Any], _Indices]: ...
def offsets_of(labels: ArrayLike, count: SupportsIndex | None = None) -> NDArray[np.int64]: ...
