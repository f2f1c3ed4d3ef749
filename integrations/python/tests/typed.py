"""What a type checker says of calls: not run, but checked by mypy. Each `type: ignore` is an error that it has to find."""

from typing import Any, assert_type

import argreduce
import numpy as np
from numpy.typing import NDArray

x = np.zeros((3, 3))
out = np.zeros(3, np.int32)

assert_type(argreduce.argmax(x), np.int64)
assert_type(argreduce.argmax([1.0, 2.0]), np.int64)
assert_type(argreduce.nanargmin(x, keepdims=None, threads="all"), np.int64)
assert_type(argreduce.argmin(x, dtype=np.uint8), "np.integer[Any]")
assert_type(argreduce.argmax(x, 0, keepdims=True), NDArray[np.int64])
assert_type(argreduce.argmax(x, 0, keepdims=True, dtype="u1"), NDArray["np.integer[Any]"])
assert_type(argreduce.argmax(x, 0, out=out), np.ndarray[tuple[int], np.dtype[np.int32]])
# A number or an array, as with NumPy; and arrays of other libraries.
assert_type(argreduce.argmax(x, 0), Any)
assert_type(argreduce.argmax(object()), Any)
assert_type(argreduce.max_argmax(x, threads=-1), argreduce.ValuesAndIndices[np.float64, np.int64])
assert_type(argreduce.max_argmax(x).values, np.float64)
assert_type(argreduce.min_argmin(x, 0, keepdims=True).indices, NDArray[np.int64])
assert_type(argreduce.min_argmin(x, 0, keepdims=True).values, NDArray[np.float64])
assert_type(argreduce.max_argmax(x, 0), argreduce.ValuesAndIndices[Any, Any])
assert_type(argreduce.max_argmax(x, 0, out=out).indices, np.ndarray[tuple[int], np.dtype[np.int32]])
assert_type(argreduce.argminmax(x, 0, dtype="u4"), argreduce.ArgMinMax[Any])
assert_type(argreduce.argminmax(x).argmin, np.int64)
assert_type(argreduce.argminmax(x, 1, keepdims=True).argmax, NDArray[np.int64])
assert_type(argreduce.argminmax_values(x, where=True, fill=-1), argreduce.ArgMinMaxValues[np.float64, np.int64])
assert_type(argreduce.argminmax_values(x, 0, keepdims=True).max, NDArray[np.float64])
part = argreduce.partial(x, start=(0, 0), whole=[3, 3], threads=2)
assert_type(part, argreduce.Partial[NDArray[np.float64], NDArray[np.int64]])
assert_type(argreduce.merge(part, part), argreduce.Partial[NDArray[np.float64], NDArray[np.int64]])
assert_type(argreduce.merge([part, part, part]), argreduce.Partial[NDArray[np.float64], NDArray[np.int64]])
argreduce.merge((1, 2), (3, 4), function="argmin", select_last=True, nan="ignore")
assert_type(argreduce.partial([1, 2], start=(0,), whole=(2,)).values, Any)
argreduce.argmax(x, range(2))
argreduce.argmax(x, np.array([0, 1]), select_last=1)
argreduce.nanargmax(x, [0, np.int64(1)])
places: NDArray[np.intp] = argreduce.argmax(x, 1, keepdims=True)
argreduce.unravel(places, x.shape, 1, fill=-1)
assert_type(argreduce.move_argmax(x, 3), NDArray[np.float64])
assert_type(argreduce.move_argmin([1, 2], 2, 1, 0, absolute=True), NDArray[np.int64])
assert_type(argreduce.move_argmin(object(), 2, None, 0), Any)


class Labelled:
    dims = "a", "b"


assert_type(argreduce.argmax(Labelled(), "a"), Any)
assert_type(argreduce.argminmax(Labelled(), ("a", -1)), argreduce.ArgMinMax[Any])

number: int = argreduce.argmax(x)  # type: ignore[assignment]
argreduce.argmax(x, 0, out=np.zeros(3, np.float32))  # type: ignore[type-var]
argreduce.max_argmax(x, 0, out=np.zeros(3, np.float32))  # type: ignore[type-var]
argreduce.argminmax(x, 0, out=out)  # type: ignore[call-overload]
argreduce.argmax(x, "a")  # type: ignore[arg-type]
argreduce.argmax(x, threads="some")  # type: ignore[call-overload]
argreduce.argmax(x, nan="omit")  # type: ignore[call-overload]
argreduce.merge(part, function="sum")  # type: ignore[call-overload]
argreduce.move_argmax(x, 1.5)  # type: ignore[call-overload]
argreduce.merge(part, 3)  # type: ignore[call-overload]
