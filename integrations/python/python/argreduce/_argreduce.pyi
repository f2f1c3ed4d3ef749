from collections.abc import Iterable, Sequence
from typing import Any, Literal, SupportsIndex, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ._interop import ArgMinMax, ArgMinMaxValues, Function, Nan, Partial, ValuesAndIndices

# Of these, results are NumPy's. Of arrays of other libraries they are those libraries', which have no types here.
_OfNumPy: TypeAlias = NDArray[Any] | np.generic | float | Sequence[Any]
_Integers: TypeAlias = NDArray[np.integer[Any]]
_Out = TypeVar("_Out", bound=_Integers)
_Axis: TypeAlias = SupportsIndex | Sequence[SupportsIndex] | _Integers | None
_Threads: TypeAlias = SupportsIndex | Literal["all"] | None
# Whatever has a truth value.
_Truth: TypeAlias = object
_Pair: TypeAlias = tuple[Any, Any]
# Booleans that broadcast.
_Where: TypeAlias = NDArray[np.bool] | np.bool | bool | Sequence[Any] | Any

__all__ = [
    "argmax", "argmin", "argminmax", "argminmax_values", "max_argmax", "merge", "min_argmin", "nanargmax", "nanargmin",
    "partial",
]
__version__: str

# For the package's own tests.
def _set_cpus(count: int) -> None: ...

@overload
def argmax(
    x: _OfNumPy, /, axis: None = None, *, keepdims: Literal[False] | None = False, out: None = None,
    dtype: None = None, select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None,
) -> np.int64: ...
@overload
def argmax(
    x: _OfNumPy, /, axis: None = None, *, keepdims: Literal[False] | None = False, out: None = None,
    dtype: DTypeLike | None = None, select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None,
) -> np.integer[Any]: ...
@overload
def argmax(
    x: _OfNumPy, /, axis: _Axis = None, *, keepdims: Literal[True], out: None = None,
    dtype: DTypeLike | None = None, select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None,
) -> _Integers: ...
@overload
def argmax(
    x: Any, /, axis: _Axis = None, *, keepdims: _Truth = False, out: _Out,
    dtype: DTypeLike | None = None, select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None,
) -> _Out: ...
@overload
def argmax(
    x: Any, /, axis: _Axis = None, *, keepdims: _Truth = False, out: None = None,
    dtype: DTypeLike | None = None, select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None,
) -> Any: ...
@overload
def argmin(
    x: _OfNumPy, /, axis: None = None, *, keepdims: Literal[False] | None = False, out: None = None,
    dtype: None = None, select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None,
) -> np.int64: ...
@overload
def argmin(
    x: _OfNumPy, /, axis: None = None, *, keepdims: Literal[False] | None = False, out: None = None,
    dtype: DTypeLike | None = None, select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None,
) -> np.integer[Any]: ...
@overload
def argmin(
    x: _OfNumPy, /, axis: _Axis = None, *, keepdims: Literal[True], out: None = None,
    dtype: DTypeLike | None = None, select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None,
) -> _Integers: ...
@overload
def argmin(
    x: Any, /, axis: _Axis = None, *, keepdims: _Truth = False, out: _Out,
    dtype: DTypeLike | None = None, select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None,
) -> _Out: ...
@overload
def argmin(
    x: Any, /, axis: _Axis = None, *, keepdims: _Truth = False, out: None = None,
    dtype: DTypeLike | None = None, select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None,
) -> Any: ...
@overload
def nanargmax(
    x: _OfNumPy, /, axis: None = None, *, keepdims: Literal[False] | None = False, out: None = None,
    dtype: None = None, select_last: _Truth = False, threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None,
) -> np.int64: ...
@overload
def nanargmax(
    x: _OfNumPy, /, axis: None = None, *, keepdims: Literal[False] | None = False, out: None = None,
    dtype: DTypeLike | None = None, select_last: _Truth = False, threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None,
) -> np.integer[Any]: ...
@overload
def nanargmax(
    x: _OfNumPy, /, axis: _Axis = None, *, keepdims: Literal[True], out: None = None,
    dtype: DTypeLike | None = None, select_last: _Truth = False, threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None,
) -> _Integers: ...
@overload
def nanargmax(
    x: Any, /, axis: _Axis = None, *, keepdims: _Truth = False, out: _Out,
    dtype: DTypeLike | None = None, select_last: _Truth = False, threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None,
) -> _Out: ...
@overload
def nanargmax(
    x: Any, /, axis: _Axis = None, *, keepdims: _Truth = False, out: None = None,
    dtype: DTypeLike | None = None, select_last: _Truth = False, threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None,
) -> Any: ...
@overload
def nanargmin(
    x: _OfNumPy, /, axis: None = None, *, keepdims: Literal[False] | None = False, out: None = None,
    dtype: None = None, select_last: _Truth = False, threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None,
) -> np.int64: ...
@overload
def nanargmin(
    x: _OfNumPy, /, axis: None = None, *, keepdims: Literal[False] | None = False, out: None = None,
    dtype: DTypeLike | None = None, select_last: _Truth = False, threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None,
) -> np.integer[Any]: ...
@overload
def nanargmin(
    x: _OfNumPy, /, axis: _Axis = None, *, keepdims: Literal[True], out: None = None,
    dtype: DTypeLike | None = None, select_last: _Truth = False, threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None,
) -> _Integers: ...
@overload
def nanargmin(
    x: Any, /, axis: _Axis = None, *, keepdims: _Truth = False, out: _Out,
    dtype: DTypeLike | None = None, select_last: _Truth = False, threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None,
) -> _Out: ...
@overload
def nanargmin(
    x: Any, /, axis: _Axis = None, *, keepdims: _Truth = False, out: None = None,
    dtype: DTypeLike | None = None, select_last: _Truth = False, threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None,
) -> Any: ...
def max_argmax(
    x: Any, /, axis: _Axis = None, *, keepdims: _Truth = False, out: _Out | None = None,
    dtype: DTypeLike | None = None, select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None,
) -> ValuesAndIndices: ...
def min_argmin(
    x: Any, /, axis: _Axis = None, *, keepdims: _Truth = False, out: _Out | None = None,
    dtype: DTypeLike | None = None, select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None,
) -> ValuesAndIndices: ...
def argminmax(
    x: Any, /, axis: _Axis = None, *, keepdims: _Truth = False, dtype: DTypeLike | None = None,
    select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None, where: _Where = None,
    fill: SupportsIndex | None = None,
) -> ArgMinMax: ...
def argminmax_values(
    x: Any, /, axis: _Axis = None, *, keepdims: _Truth = False, dtype: DTypeLike | None = None,
    select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None, where: _Where = None,
    fill: SupportsIndex | None = None,
) -> ArgMinMaxValues: ...
def partial(
    x: Any, axis: _Axis = None, *, start: Iterable[SupportsIndex], whole: Iterable[SupportsIndex],
    function: Function = "argmax", select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None,
) -> Partial: ...
def merge(
    acc: _Pair, other: _Pair, *, function: Function = "argmax", select_last: _Truth = False, nan: Nan = "propagate"
) -> Partial: ...
