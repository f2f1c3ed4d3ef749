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
    if isinstance(result, ValuesAndIndices):
        values = _given_back(result.values, x, None, is_bfloat16)
        return ValuesAndIndices(values, _given_back(result.indices, x, out))
    return _given_back(result, x, out)


def _given_back(result: Any, x: Any, out: Any, is_bfloat16: bool = False) -> Any:
    if out is not None:
        return result
    from_dlpack = _from_dlpack(x)
    if from_dlpack is not None:
        try:
            array = from_dlpack(np.asarray(result))
            # All libraries that have bfloat16 have `view`.
            return array.view(x.dtype) if is_bfloat16 else array
        except (TypeError, ValueError, BufferError, RuntimeError):
            # A library need not have every type of indices.
            pass
    return bfloat16(result) if is_bfloat16 else result


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
    kept = [axis for axis in range(rank) if axis not in reduced]
    sizes = [x.shape[axis] for axis in kept]
    count = math.prod(x.shape[axis] for axis in reduced)
    merged = x.transpose(kept + list(reduced)).reshape(math.prod(sizes), count)
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


def _shaped(flat: np.ndarray[Any, Any], shape: list[int]) -> Any:
    return flat.reshape(shape) if shape else flat[0]
