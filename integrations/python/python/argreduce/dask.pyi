from typing import Any, TypeAlias

from ._interop import ArgMinMax, ArgMinMaxValues, Nan, ValuesAndIndices

# By number, or by the name that an object of xarray has for it.
_Axis: TypeAlias = int | str | tuple[int | str, ...] | list[int | str] | None

def __dir__() -> list[str]: ...

# By stubs.py: what follows, to the end mark.
__all__ = [
    "argmax", "argmin", "argminmax", "argminmax_values", "max_argmax", "min_argmin", "nanargmax", "nanargmin",
]

def argmax(
    x: Any, axis: _Axis = None, *, keepdims: bool = False, select_last: bool = False, nan: Nan = "propagate",
    where: Any = None, fill: int | None = None, key: Any = None, near: Any = None,
    split_every: int | dict[int, int] | None = None,
) -> Any:
    """Where the largest elements are along any axes. Lazily."""

def argmin(
    x: Any, axis: _Axis = None, *, keepdims: bool = False, select_last: bool = False, nan: Nan = "propagate",
    where: Any = None, fill: int | None = None, key: Any = None, near: Any = None,
    split_every: int | dict[int, int] | None = None,
) -> Any:
    """Where the smallest elements are along any axes. Lazily."""

def argminmax(
    x: Any, axis: _Axis = None, *, keepdims: bool = False, select_last: bool = False, nan: Nan = "propagate",
    where: Any = None, fill: int | None = None, key: Any = None, near: Any = None,
    split_every: int | dict[int, int] | None = None,
) -> ArgMinMax[Any]:
    """Where the smallest and the largest elements are along any axes: both by one call. Lazily."""

def argminmax_values(
    x: Any, axis: _Axis = None, *, keepdims: bool = False, select_last: bool = False, nan: Nan = "propagate",
    where: Any = None, fill: int | None = None, key: Any = None, near: Any = None,
    split_every: int | dict[int, int] | None = None,
) -> ArgMinMaxValues[Any, Any]:
    """The smallest and the largest elements along any axes, and where they are: all by one call. Lazily."""

def max_argmax(
    x: Any, axis: _Axis = None, *, keepdims: bool = False, select_last: bool = False, nan: Nan = "propagate",
    where: Any = None, fill: int | None = None, key: Any = None, near: Any = None,
    split_every: int | dict[int, int] | None = None,
) -> ValuesAndIndices[Any, Any]:
    """The largest elements along any axes, and where they are. Lazily."""

def min_argmin(
    x: Any, axis: _Axis = None, *, keepdims: bool = False, select_last: bool = False, nan: Nan = "propagate",
    where: Any = None, fill: int | None = None, key: Any = None, near: Any = None,
    split_every: int | dict[int, int] | None = None,
) -> ValuesAndIndices[Any, Any]:
    """The smallest elements along any axes, and where they are. Lazily."""

def nanargmax(
    x: Any, axis: _Axis = None, *, keepdims: bool = False, select_last: bool = False, where: Any = None,
    fill: int | None = None, key: Any = None, near: Any = None, split_every: int | dict[int, int] | None = None,
) -> Any:
    """Where the largest numbers are along any axes: NaN is ignored. Lazily."""

def nanargmin(
    x: Any, axis: _Axis = None, *, keepdims: bool = False, select_last: bool = False, where: Any = None,
    fill: int | None = None, key: Any = None, near: Any = None, split_every: int | dict[int, int] | None = None,
) -> Any:
    """Where the smallest numbers are along any axes: NaN is ignored. Lazily."""
# end
