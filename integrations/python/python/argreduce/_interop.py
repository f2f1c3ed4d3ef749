"""What the extension module leaves to Python: result types, arrays of other libraries, arrays of many axes."""

from __future__ import annotations

import importlib
import math
from typing import Any, Literal, NamedTuple

import numpy as np

Nan = Literal["propagate", "ignore"]
Function = Literal["argmax", "argmin"]


class ValuesAndIndices(NamedTuple):
    """The best elements, and where they are."""

    values: Any
    indices: Any


class Partial(NamedTuple):
    """The best elements of a part of a larger array, and where they are in the whole: -1 where nothing was seen."""

    values: Any
    indices: Any


def give_back(result: Any, x: Any, out: Any, is_bfloat16: bool) -> Any:
    """The result as arrays of the library that ``x`` is from, if that takes them; as they are otherwise.

    Indices that were written to ``out`` stay that. ``is_bfloat16`` is about the values, which are its bits.
    """
    if isinstance(result, (ValuesAndIndices, Partial)):
        values = _given_back(result.values, x, None, is_bfloat16)
        # Partial answers are to be merged: their indices stay int64.
        indices = _given_back(result.indices, x, out, keeps_type=isinstance(result, Partial))
        return type(result)(values, indices)
    return _given_back(result, x, out)


def _given_back(result: Any, x: Any, out: Any, is_bfloat16: bool = False, keeps_type: bool = False) -> Any:
    if out is not None:
        return result
    from_dlpack = _from_dlpack(x)
    if from_dlpack is not None:
        try:
            if is_bfloat16:
                # All libraries that have bfloat16 have `view`.
                return from_dlpack(np.asarray(result).view(np.uint16)).view(x.dtype)
            array = from_dlpack(np.asarray(result))
        except (TypeError, ValueError, BufferError, RuntimeError):
            # A library need not have every type of indices.
            pass
        else:
            if not _is_narrowed(array, result, keeps_type):
                return array
    return bfloat16(result) if is_bfloat16 else result


def _is_narrowed(array: Any, result: Any, keeps_type: bool) -> bool:
    """Whether a library, as JAX, made indices of fewer bits, and they need those, or have to keep their type."""
    size = getattr(array.dtype, "itemsize", result.dtype.itemsize)
    return size < result.dtype.itemsize and (keeps_type or np.max(result, initial=0) >= 1 << (8 * size - 1))


def bfloat16(bits: Any) -> Any:
    """The bits of bfloat16 as numbers of that type, which NumPy has by ``ml_dtypes`` alone."""
    return bits.view(importlib.import_module("ml_dtypes").bfloat16)


def _from_dlpack(x: Any) -> Any:
    """The function of a library that makes one of its arrays."""
    if hasattr(x, "__array_namespace__"):
        return getattr(x.__array_namespace__(), "from_dlpack", None)
    library = type(x).__module__.partition(".")[0]
    return getattr(importlib.import_module(library), "from_dlpack", None)


def many_axes(
    name: str, x: np.ndarray[Any, Any], reduced: tuple[int, ...], keepdims: bool, out: Any, **options: Any
) -> Any:
    """A function of the package for an array of more axes than it takes: they are merged to two first.

    ``reduced`` are the axes, from 0, in ascending order.
    """
    from . import _argreduce

    rank = x.ndim
    merged, sizes = _merged(x, reduced)
    shape = [1 if axis in reduced else x.shape[axis] for axis in range(rank)] if keepdims else sizes
    if out is not None:
        if out.shape != tuple(shape):
            raise ValueError(f"output array does not match result of {name}: its shape is {out.shape}")
        # Of any strides: written at the end.
        flat = np.empty(merged.shape[0], out.dtype)
        getattr(_argreduce, name)(merged, 1, out=flat, **options)
        out[...] = flat.reshape(shape)
        return out
    result = getattr(_argreduce, name)(merged, 1, **options)
    if isinstance(result, ValuesAndIndices):
        return ValuesAndIndices(*(_shaped(part, shape) for part in result))
    return _shaped(result, shape)


def partial_of_many_axes(
    x: np.ndarray[Any, Any], reduced: tuple[int, ...], start: list[int], whole: list[int], **options: Any
) -> Partial:
    """:func:`argreduce.partial` for an array of more axes than it takes.

    Elements of a part come in the order that they have in the whole. So the part is reduced as an array of two axes,
    and what is found there becomes an index in the whole. ``reduced`` are the axes, from 0, in ascending order.
    """
    from . import _argreduce

    for name, numbers in (("whole", whole), ("start", start)):
        if len(numbers) != x.ndim:
            raise ValueError(
                f"the window's {name} has {len(numbers)} numbers: it has to have one for each axis, {x.ndim}"
            )
    for axis, (size, first, end) in enumerate(zip(x.shape, start, whole)):
        if first + size > end:
            raise ValueError(
                f"the window does not fit axis {axis}: size {size} from {first} on ends beyond the whole's {end}"
            )
    merged, sizes = _merged(x, reduced)
    count = math.prod(whole[axis] for axis in reduced)
    for axis in reduced:
        if whole[axis] == 0 and merged.shape[0]:
            raise ValueError(
                f"axis {axis} has size 0 in the whole: a reduced axis needs at least one element, unless the output is "
                "empty"
            )
    if math.prod(whole) >> 64:
        raise ValueError(f"the whole of sizes {tuple(whole)} has more elements than can be counted")
    # That the indices of the whole fit is checked there, too.
    values, found = _argreduce.partial(merged, 1, start=(0, 0), whole=(len(merged), count), **options)
    if merged.shape[1]:
        rest, indices, stride = found, np.zeros_like(found), 1
        for axis in reversed(reduced):
            rest, coordinates = np.divmod(rest, x.shape[axis])
            indices += (coordinates + start[axis]) * stride
            stride *= whole[axis]
        found = indices
    return Partial(values.reshape(sizes), found.reshape(sizes))


def _merged(x: np.ndarray[Any, Any], reduced: tuple[int, ...]) -> tuple[np.ndarray[Any, Any], list[int]]:
    """Kept axes merged to one, and reduced ones to another; and the sizes of those that are kept."""
    kept = [axis for axis in range(x.ndim) if axis not in reduced]
    sizes = [x.shape[axis] for axis in kept]
    count = math.prod(x.shape[axis] for axis in reduced)
    return x.transpose(kept + list(reduced)).reshape(math.prod(sizes), count), sizes


def _shaped(flat: np.ndarray[Any, Any], shape: list[int]) -> Any:
    return flat.reshape(shape) if shape else flat[0]
