from collections.abc import Iterable, Sequence
from typing import Any, Literal, Protocol, SupportsIndex, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ._interop import ArgMinMax, ArgMinMaxValues, Function, Nan, Partial, ValuesAndIndices

# Of these, results are NumPy's. Of arrays of other libraries they are those libraries', which have no types here.
_OfNumPy: TypeAlias = NDArray[Any] | np.generic | float | Sequence[Any]
_Integers: TypeAlias = NDArray[np.integer[Any]]
_Out = TypeVar("_Out", bound=_Integers)
_S = TypeVar("_S", bound=np.generic)
_V = TypeVar("_V")
_I = TypeVar("_I")
_Axis: TypeAlias = SupportsIndex | Sequence[SupportsIndex] | _Integers | None
_Threads: TypeAlias = SupportsIndex | Literal["all"] | None
# Whatever has a truth value.
_Truth: TypeAlias = object
# Of what has names for its axes.
_Name: TypeAlias = str | Sequence[SupportsIndex | str] | _Axis
# Booleans that broadcast.
_Where: TypeAlias = NDArray[np.bool] | np.bool | bool | Sequence[Any] | Any

# What elements are compared by.
_Key: TypeAlias = Literal["abs"] | None
_Near: TypeAlias = float | np.generic | NDArray[Any] | None

class _Labelled(Protocol):
    @property
    def dims(self) -> Any: ...

__version__: str

# What each function looks for, and what it gives back.
_FUNCTIONS: dict[str, tuple[tuple[Function, ...], Literal["Indices", "IndicesOfNumbers", "ValuesAndIndices"]]]

# The same of the best so far.
_CUMULATIVE: dict[str, tuple[tuple[Function, ...], Literal["Indices", "ValuesAndIndices"]]]

# For argreduce.dask, and for the package's own tests.
def _trues(name: str, there: Any) -> Any: ...
def _set_cpus(count: int) -> None: ...

# By stubs.py: what follows, to the end mark.
__all__ = [
    "argmax", "argmin", "argminmax", "argminmax_values", "cumargmax", "cumargmin", "max_argmax", "max_cumargmax",
    "merge", "min_argmin", "min_cumargmin", "move_argmax", "move_argmin", "nanargmax", "nanargmin", "partial",
]
@overload
def argmax(
    x: _OfNumPy, /, axis: None = None, *, keepdims: Literal[False] | None = False, out: None = None,
    dtype: None = None, select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> np.int64: ...
@overload
def argmax(
    x: _OfNumPy, /, axis: None = None, *, keepdims: Literal[False] | None = False, out: None = None,
    dtype: DTypeLike | None = None, select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> np.integer[Any]: ...
@overload
def argmax(
    x: _OfNumPy, /, axis: _Axis = None, *, keepdims: Literal[True], out: None = None, dtype: None = None,
    select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None, where: _Where = None,
    fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> NDArray[np.int64]: ...
@overload
def argmax(
    x: _OfNumPy, /, axis: _Axis = None, *, keepdims: Literal[True], out: None = None, dtype: DTypeLike | None = None,
    select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None, where: _Where = None,
    fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> _Integers: ...
@overload
def argmax(
    x: Any, /, axis: _Axis = None, *, keepdims: _Truth = False, out: _Out, dtype: DTypeLike | None = None,
    select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None, where: _Where = None,
    fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> _Out: ...
@overload
def argmax(
    x: _Labelled, /, axis: _Name = None, *, keepdims: _Truth = False, out: None = None, dtype: DTypeLike | None = None,
    select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None, where: _Where = None,
    fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> Any: ...
@overload
def argmax(
    x: Any, /, axis: _Axis = None, *, keepdims: _Truth = False, out: None = None, dtype: DTypeLike | None = None,
    select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None, where: _Where = None,
    fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> Any: ...
@overload
def argmin(
    x: _OfNumPy, /, axis: None = None, *, keepdims: Literal[False] | None = False, out: None = None,
    dtype: None = None, select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> np.int64: ...
@overload
def argmin(
    x: _OfNumPy, /, axis: None = None, *, keepdims: Literal[False] | None = False, out: None = None,
    dtype: DTypeLike | None = None, select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> np.integer[Any]: ...
@overload
def argmin(
    x: _OfNumPy, /, axis: _Axis = None, *, keepdims: Literal[True], out: None = None, dtype: None = None,
    select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None, where: _Where = None,
    fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> NDArray[np.int64]: ...
@overload
def argmin(
    x: _OfNumPy, /, axis: _Axis = None, *, keepdims: Literal[True], out: None = None, dtype: DTypeLike | None = None,
    select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None, where: _Where = None,
    fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> _Integers: ...
@overload
def argmin(
    x: Any, /, axis: _Axis = None, *, keepdims: _Truth = False, out: _Out, dtype: DTypeLike | None = None,
    select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None, where: _Where = None,
    fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> _Out: ...
@overload
def argmin(
    x: _Labelled, /, axis: _Name = None, *, keepdims: _Truth = False, out: None = None, dtype: DTypeLike | None = None,
    select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None, where: _Where = None,
    fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> Any: ...
@overload
def argmin(
    x: Any, /, axis: _Axis = None, *, keepdims: _Truth = False, out: None = None, dtype: DTypeLike | None = None,
    select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None, where: _Where = None,
    fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> Any: ...
@overload
def nanargmax(
    x: _OfNumPy, /, axis: None = None, *, keepdims: Literal[False] | None = False, out: None = None,
    dtype: None = None, select_last: _Truth = False, threads: _Threads = None, where: _Where = None,
    fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> np.int64: ...
@overload
def nanargmax(
    x: _OfNumPy, /, axis: None = None, *, keepdims: Literal[False] | None = False, out: None = None,
    dtype: DTypeLike | None = None, select_last: _Truth = False, threads: _Threads = None, where: _Where = None,
    fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> np.integer[Any]: ...
@overload
def nanargmax(
    x: _OfNumPy, /, axis: _Axis = None, *, keepdims: Literal[True], out: None = None, dtype: None = None,
    select_last: _Truth = False, threads: _Threads = None, where: _Where = None, fill: SupportsIndex | None = None,
    key: _Key = None, near: _Near = None,
) -> NDArray[np.int64]: ...
@overload
def nanargmax(
    x: _OfNumPy, /, axis: _Axis = None, *, keepdims: Literal[True], out: None = None, dtype: DTypeLike | None = None,
    select_last: _Truth = False, threads: _Threads = None, where: _Where = None, fill: SupportsIndex | None = None,
    key: _Key = None, near: _Near = None,
) -> _Integers: ...
@overload
def nanargmax(
    x: Any, /, axis: _Axis = None, *, keepdims: _Truth = False, out: _Out, dtype: DTypeLike | None = None,
    select_last: _Truth = False, threads: _Threads = None, where: _Where = None, fill: SupportsIndex | None = None,
    key: _Key = None, near: _Near = None,
) -> _Out: ...
@overload
def nanargmax(
    x: _Labelled, /, axis: _Name = None, *, keepdims: _Truth = False, out: None = None, dtype: DTypeLike | None = None,
    select_last: _Truth = False, threads: _Threads = None, where: _Where = None, fill: SupportsIndex | None = None,
    key: _Key = None, near: _Near = None,
) -> Any: ...
@overload
def nanargmax(
    x: Any, /, axis: _Axis = None, *, keepdims: _Truth = False, out: None = None, dtype: DTypeLike | None = None,
    select_last: _Truth = False, threads: _Threads = None, where: _Where = None, fill: SupportsIndex | None = None,
    key: _Key = None, near: _Near = None,
) -> Any: ...
@overload
def nanargmin(
    x: _OfNumPy, /, axis: None = None, *, keepdims: Literal[False] | None = False, out: None = None,
    dtype: None = None, select_last: _Truth = False, threads: _Threads = None, where: _Where = None,
    fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> np.int64: ...
@overload
def nanargmin(
    x: _OfNumPy, /, axis: None = None, *, keepdims: Literal[False] | None = False, out: None = None,
    dtype: DTypeLike | None = None, select_last: _Truth = False, threads: _Threads = None, where: _Where = None,
    fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> np.integer[Any]: ...
@overload
def nanargmin(
    x: _OfNumPy, /, axis: _Axis = None, *, keepdims: Literal[True], out: None = None, dtype: None = None,
    select_last: _Truth = False, threads: _Threads = None, where: _Where = None, fill: SupportsIndex | None = None,
    key: _Key = None, near: _Near = None,
) -> NDArray[np.int64]: ...
@overload
def nanargmin(
    x: _OfNumPy, /, axis: _Axis = None, *, keepdims: Literal[True], out: None = None, dtype: DTypeLike | None = None,
    select_last: _Truth = False, threads: _Threads = None, where: _Where = None, fill: SupportsIndex | None = None,
    key: _Key = None, near: _Near = None,
) -> _Integers: ...
@overload
def nanargmin(
    x: Any, /, axis: _Axis = None, *, keepdims: _Truth = False, out: _Out, dtype: DTypeLike | None = None,
    select_last: _Truth = False, threads: _Threads = None, where: _Where = None, fill: SupportsIndex | None = None,
    key: _Key = None, near: _Near = None,
) -> _Out: ...
@overload
def nanargmin(
    x: _Labelled, /, axis: _Name = None, *, keepdims: _Truth = False, out: None = None, dtype: DTypeLike | None = None,
    select_last: _Truth = False, threads: _Threads = None, where: _Where = None, fill: SupportsIndex | None = None,
    key: _Key = None, near: _Near = None,
) -> Any: ...
@overload
def nanargmin(
    x: Any, /, axis: _Axis = None, *, keepdims: _Truth = False, out: None = None, dtype: DTypeLike | None = None,
    select_last: _Truth = False, threads: _Threads = None, where: _Where = None, fill: SupportsIndex | None = None,
    key: _Key = None, near: _Near = None,
) -> Any: ...
@overload
def max_argmax(
    x: NDArray[_S], /, axis: None = None, *, keepdims: Literal[False] | None = False, out: None = None,
    dtype: None = None, select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> ValuesAndIndices[_S, np.int64]: ...
@overload
def max_argmax(
    x: NDArray[_S], /, axis: _Axis = None, *, keepdims: Literal[True], out: None = None, dtype: None = None,
    select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None, where: _Where = None,
    fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> ValuesAndIndices[NDArray[_S], NDArray[np.int64]]: ...
@overload
def max_argmax(
    x: Any, /, axis: _Axis = None, *, keepdims: _Truth = False, out: _Out, dtype: DTypeLike | None = None,
    select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None, where: _Where = None,
    fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> ValuesAndIndices[Any, _Out]: ...
@overload
def max_argmax(
    x: _Labelled, /, axis: _Name = None, *, keepdims: _Truth = False, out: None = None, dtype: DTypeLike | None = None,
    select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None, where: _Where = None,
    fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> ValuesAndIndices[Any, Any]: ...
@overload
def max_argmax(
    x: Any, /, axis: _Axis = None, *, keepdims: _Truth = False, out: None = None, dtype: DTypeLike | None = None,
    select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None, where: _Where = None,
    fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> ValuesAndIndices[Any, Any]: ...
@overload
def min_argmin(
    x: NDArray[_S], /, axis: None = None, *, keepdims: Literal[False] | None = False, out: None = None,
    dtype: None = None, select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> ValuesAndIndices[_S, np.int64]: ...
@overload
def min_argmin(
    x: NDArray[_S], /, axis: _Axis = None, *, keepdims: Literal[True], out: None = None, dtype: None = None,
    select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None, where: _Where = None,
    fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> ValuesAndIndices[NDArray[_S], NDArray[np.int64]]: ...
@overload
def min_argmin(
    x: Any, /, axis: _Axis = None, *, keepdims: _Truth = False, out: _Out, dtype: DTypeLike | None = None,
    select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None, where: _Where = None,
    fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> ValuesAndIndices[Any, _Out]: ...
@overload
def min_argmin(
    x: _Labelled, /, axis: _Name = None, *, keepdims: _Truth = False, out: None = None, dtype: DTypeLike | None = None,
    select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None, where: _Where = None,
    fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> ValuesAndIndices[Any, Any]: ...
@overload
def min_argmin(
    x: Any, /, axis: _Axis = None, *, keepdims: _Truth = False, out: None = None, dtype: DTypeLike | None = None,
    select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None, where: _Where = None,
    fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> ValuesAndIndices[Any, Any]: ...
@overload
def argminmax(
    x: _OfNumPy, /, axis: None = None, *, keepdims: Literal[False] | None = False, dtype: None = None,
    select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None, where: _Where = None,
    fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> ArgMinMax[np.int64]: ...
@overload
def argminmax(
    x: _OfNumPy, /, axis: _Axis = None, *, keepdims: Literal[True], dtype: None = None, select_last: _Truth = False,
    nan: Nan = "propagate", threads: _Threads = None, where: _Where = None, fill: SupportsIndex | None = None,
    key: _Key = None, near: _Near = None,
) -> ArgMinMax[NDArray[np.int64]]: ...
@overload
def argminmax(
    x: _Labelled, /, axis: _Name = None, *, keepdims: _Truth = False, dtype: DTypeLike | None = None,
    select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None, where: _Where = None,
    fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> ArgMinMax[Any]: ...
@overload
def argminmax(
    x: Any, /, axis: _Axis = None, *, keepdims: _Truth = False, dtype: DTypeLike | None = None,
    select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None, where: _Where = None,
    fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> ArgMinMax[Any]: ...
@overload
def argminmax_values(
    x: NDArray[_S], /, axis: None = None, *, keepdims: Literal[False] | None = False, dtype: None = None,
    select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None, where: _Where = None,
    fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> ArgMinMaxValues[_S, np.int64]: ...
@overload
def argminmax_values(
    x: NDArray[_S], /, axis: _Axis = None, *, keepdims: Literal[True], dtype: None = None, select_last: _Truth = False,
    nan: Nan = "propagate", threads: _Threads = None, where: _Where = None, fill: SupportsIndex | None = None,
    key: _Key = None, near: _Near = None,
) -> ArgMinMaxValues[NDArray[_S], NDArray[np.int64]]: ...
@overload
def argminmax_values(
    x: _Labelled, /, axis: _Name = None, *, keepdims: _Truth = False, dtype: DTypeLike | None = None,
    select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None, where: _Where = None,
    fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> ArgMinMaxValues[Any, Any]: ...
@overload
def argminmax_values(
    x: Any, /, axis: _Axis = None, *, keepdims: _Truth = False, dtype: DTypeLike | None = None,
    select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None, where: _Where = None,
    fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> ArgMinMaxValues[Any, Any]: ...
@overload
def cumargmax(
    x: _OfNumPy, /, axis: SupportsIndex | None = None, *, reverse: _Truth = False, out: None = None,
    dtype: None = None, select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> NDArray[np.int64]: ...
@overload
def cumargmax(
    x: _OfNumPy, /, axis: SupportsIndex | None = None, *, reverse: _Truth = False, out: None = None,
    dtype: DTypeLike | None = None, select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> _Integers: ...
@overload
def cumargmax(
    x: Any, /, axis: SupportsIndex | None = None, *, reverse: _Truth = False, out: _Out,
    dtype: DTypeLike | None = None, select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> _Out: ...
@overload
def cumargmax(
    x: _Labelled, /, axis: SupportsIndex | str | None = None, *, reverse: _Truth = False, out: None = None,
    dtype: DTypeLike | None = None, select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> Any: ...
@overload
def cumargmax(
    x: Any, /, axis: SupportsIndex | None = None, *, reverse: _Truth = False, out: None = None,
    dtype: DTypeLike | None = None, select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> Any: ...
@overload
def cumargmin(
    x: _OfNumPy, /, axis: SupportsIndex | None = None, *, reverse: _Truth = False, out: None = None,
    dtype: None = None, select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> NDArray[np.int64]: ...
@overload
def cumargmin(
    x: _OfNumPy, /, axis: SupportsIndex | None = None, *, reverse: _Truth = False, out: None = None,
    dtype: DTypeLike | None = None, select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> _Integers: ...
@overload
def cumargmin(
    x: Any, /, axis: SupportsIndex | None = None, *, reverse: _Truth = False, out: _Out,
    dtype: DTypeLike | None = None, select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> _Out: ...
@overload
def cumargmin(
    x: _Labelled, /, axis: SupportsIndex | str | None = None, *, reverse: _Truth = False, out: None = None,
    dtype: DTypeLike | None = None, select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> Any: ...
@overload
def cumargmin(
    x: Any, /, axis: SupportsIndex | None = None, *, reverse: _Truth = False, out: None = None,
    dtype: DTypeLike | None = None, select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> Any: ...
@overload
def max_cumargmax(
    x: NDArray[_S], /, axis: SupportsIndex | None = None, *, reverse: _Truth = False, out: None = None,
    dtype: None = None, select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> ValuesAndIndices[NDArray[_S], NDArray[np.int64]]: ...
@overload
def max_cumargmax(
    x: Any, /, axis: SupportsIndex | None = None, *, reverse: _Truth = False, out: _Out,
    dtype: DTypeLike | None = None, select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> ValuesAndIndices[Any, _Out]: ...
@overload
def max_cumargmax(
    x: _Labelled, /, axis: SupportsIndex | str | None = None, *, reverse: _Truth = False, out: None = None,
    dtype: DTypeLike | None = None, select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> ValuesAndIndices[Any, Any]: ...
@overload
def max_cumargmax(
    x: Any, /, axis: SupportsIndex | None = None, *, reverse: _Truth = False, out: None = None,
    dtype: DTypeLike | None = None, select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> ValuesAndIndices[Any, Any]: ...
@overload
def min_cumargmin(
    x: NDArray[_S], /, axis: SupportsIndex | None = None, *, reverse: _Truth = False, out: None = None,
    dtype: None = None, select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> ValuesAndIndices[NDArray[_S], NDArray[np.int64]]: ...
@overload
def min_cumargmin(
    x: Any, /, axis: SupportsIndex | None = None, *, reverse: _Truth = False, out: _Out,
    dtype: DTypeLike | None = None, select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> ValuesAndIndices[Any, _Out]: ...
@overload
def min_cumargmin(
    x: _Labelled, /, axis: SupportsIndex | str | None = None, *, reverse: _Truth = False, out: None = None,
    dtype: DTypeLike | None = None, select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> ValuesAndIndices[Any, Any]: ...
@overload
def min_cumargmin(
    x: Any, /, axis: SupportsIndex | None = None, *, reverse: _Truth = False, out: None = None,
    dtype: DTypeLike | None = None, select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, fill: SupportsIndex | None = None, key: _Key = None, near: _Near = None,
) -> ValuesAndIndices[Any, Any]: ...
# end

@overload
def partial(
    x: NDArray[_S], axis: _Axis = None, *, start: Iterable[SupportsIndex], whole: Iterable[SupportsIndex],
    function: Function = "argmax", select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, key: _Key = None, near: _Near = None,
) -> Partial[NDArray[_S], NDArray[np.int64]]: ...
@overload
def partial(
    x: Any, axis: _Axis = None, *, start: Iterable[SupportsIndex], whole: Iterable[SupportsIndex],
    function: Function = "argmax", select_last: _Truth = False, nan: Nan = "propagate", threads: _Threads = None,
    where: _Where = None, key: _Key = None, near: _Near = None,
) -> Partial[Any, Any]: ...
@overload
def merge(
    *parts: tuple[_V, _I], function: Function | None = None, select_last: _Truth = None, nan: Nan | None = None,
    key: _Key = None, near: _Near = None,
) -> Partial[_V, _I]: ...
@overload
def merge(
    parts: list[tuple[_V, _I]] | list[Partial[_V, _I]], /, *, function: Function | None = None,
    select_last: _Truth = None, nan: Nan | None = None, key: _Key = None, near: _Near = None,
) -> Partial[_V, _I]: ...
@overload
def move_argmax(
    x: _OfNumPy, window: SupportsIndex, min_count: SupportsIndex | None = None, axis: SupportsIndex = -1, *,
    absolute: Literal[False] = False,
) -> NDArray[np.float64]: ...
@overload
def move_argmax(
    x: _OfNumPy, window: SupportsIndex, min_count: SupportsIndex | None = None, axis: SupportsIndex = -1, *,
    absolute: Literal[True],
) -> NDArray[np.int64]: ...
@overload
def move_argmax(
    x: Any, window: SupportsIndex, min_count: SupportsIndex | None = None, axis: SupportsIndex = -1, *,
    absolute: _Truth = False,
) -> Any: ...
@overload
def move_argmin(
    x: _OfNumPy, window: SupportsIndex, min_count: SupportsIndex | None = None, axis: SupportsIndex = -1, *,
    absolute: Literal[False] = False,
) -> NDArray[np.float64]: ...
@overload
def move_argmin(
    x: _OfNumPy, window: SupportsIndex, min_count: SupportsIndex | None = None, axis: SupportsIndex = -1, *,
    absolute: Literal[True],
) -> NDArray[np.int64]: ...
@overload
def move_argmin(
    x: Any, window: SupportsIndex, min_count: SupportsIndex | None = None, axis: SupportsIndex = -1, *,
    absolute: _Truth = False,
) -> Any: ...
