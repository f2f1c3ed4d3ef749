"""What :mod:`argreduce.dask` does, whichever of its functions was called."""

from __future__ import annotations

import operator
import re
from functools import partial as bind
from typing import Any

import numpy as np

from . import _argreduce, _labelled
from ._interop import ArgMinMax, ArgMinMaxValues, Function, Nan, ValuesAndIndices

try:
    import dask.array
except ImportError as _error:
    raise ImportError(
        "argreduce.dask needs dask, which is the extra [dask] of argreduce: "
        "pip install 'argreduce[dask]', or pip install 'dask[array]'"
    ) from _error

# dask's own types are incomplete.
da: Any = dask.array


def reduce(
    name: str,
    x: Any,
    axis: Any,
    *,
    keepdims: bool,
    split_every: int | dict[int, int] | None,
    select_last: bool,
    where: Any,
    fill: int | None,
    key: Any,
    near: Any,
    nan: Nan = "ignore",
) -> Any:
    """What the function of that name gives. Of those without a choice, NaN is ignored."""
    functions, answer = _argreduce._FUNCTIONS[name]
    full_name = f"argreduce.dask.{name}"
    with_values = answer == "ValuesAndIndices"

    def of_elements(elements: Any, axis: Any, *, keepdims: bool, where: Any) -> Any:
        options = {"select_last": select_last, "nan": nan, "key": key, "near": near}
        best = _best(full_name, elements, axis, keepdims, split_every, where, fill, functions, options)

        def of_best(part: Any, dtype: Any, **options: Any) -> Any:
            return best.map_blocks(bind(part, **options), dtype=dtype, meta=np.empty((0,) * best.ndim, dtype))

        found = []
        leaves_nan_out = answer == "IndicesOfNumbers" or nan == "ignore" and fill is not None
        for function in functions:
            if with_values:
                found.append(of_best(_values, best.dtype[function]["value"], function=function))
            more = {"caller": full_name, "leaves_nan_out": leaves_nan_out, "fill": fill}
            found.append(of_best(_indices, np.int64, function=function, **more))
        if len(found) == 1:
            return found[0]
        pair: Any = ValuesAndIndices if with_values else ArgMinMax
        return pair(*found) if len(found) == 2 else ArgMinMaxValues(*found)

    if fill is not None:
        fill = operator.index(fill)
        np.array(fill, np.int64)
    if _labelled.is_labelled(x) or hasattr(x, "data_vars"):
        return _labelled.reduce(full_name, of_elements, x, axis, keepdims=keepdims, where=where)
    return of_elements(x, axis, keepdims=keepdims, where=where)


def _best(
    name: str,
    x: Any,
    axis: Any,
    keepdims: bool,
    split_every: int | dict[int, int] | None,
    where: Any,
    fill: int | None,
    functions: tuple[Function, ...],
    options: dict[str, Any],
) -> Any:
    """For each function the best elements and where they are, of all chunks: an array of pairs."""
    x = da.asanyarray(x)
    axes = _checked_axes(name, x, axis, functions, options, fill)
    dtype = x.dtype.newbyteorder("=")
    pairs = _dtype_of_pairs(functions, dtype)
    there = () if where is None else (_there(name, where, x),)
    best = da.map_blocks(
        _partial,
        x,
        *there,
        caller=name,
        declared=dtype,
        axes=axes,
        functions=functions,
        options=options,
        has_fill=fill is not None,
        dtype=pairs,
        chunks=tuple((1,) * len(chunks) if n in axes else chunks for n, chunks in enumerate(x.chunks)),
        meta=np.empty((0,) * x.ndim, pairs),
    )
    if not axes:
        return best
    merge = bind(_merge, functions=functions, options=options)
    return da.reduction(
        best,
        chunk=_as_it_is,
        combine=merge,
        aggregate=bind(_squeezed, merge=merge),
        axis=axes,
        keepdims=keepdims,
        split_every=split_every,
        dtype=pairs,
        concatenate=False,
        meta=np.empty((0,) * (x.ndim if keepdims else x.ndim - len(axes)), pairs),
    )


def _checked_axes(
    name: str, x: Any, axis: Any, functions: tuple[Function, ...], options: dict[str, Any], fill: Any
) -> tuple[int, ...]:
    """The reduced axes, from 0. Says what is wrong with the arguments, before anything is computed."""
    # The code for one array does, asked about a single element: an array of the declared shape may fit no memory.
    element = np.zeros((1,) * x.ndim, x.dtype)

    def check(whole: list[int]) -> None:
        _partial_for(name, element, axis, start=(0,) * x.ndim, whole=whole, function=functions[0], **options)

    check([1] * x.ndim)
    axes = tuple(range(x.ndim)) if axis is None or x.ndim == 0 else tuple(n % x.ndim for n in _integers(axis))
    for n in axes:
        if x.shape[n] == 0 and fill is None:
            what = functions[0] if len(functions) == 1 else "argminmax"
            raise ValueError(f"{name}: attempt to get {what} of an empty sequence")
        if np.isnan(x.shape[n]) and x.numblocks[n] > 1:
            raise ValueError(
                f"{name} over axis {n} of unknown chunksize: the sizes of its chunks are not known, "
                f"shape {x.shape}. See dask's compute_chunk_sizes()"
            )
    # That an index counts the reduced elements. It does not depend on the other axes.
    check([x.shape[n] if n in axes and x.shape[n] > 0 else 1 for n in range(x.ndim)])
    return axes


def _there(name: str, where: Any, x: Any) -> Any:
    """What is there, of the chunks of ``x``."""
    if not isinstance(where, da.Array):
        trues = _argreduce._trues(name, where)
        where = where if trues is None else trues
    where = da.asanyarray(where)
    if isinstance(where._meta, np.ma.MaskedArray):
        raise TypeError(f"{name} takes no masked array as where: its mask would be ignored")
    if where.dtype != bool:
        raise TypeError(f"{name}: where is of type {where.dtype}: booleans are needed")
    if any(np.isnan(size) for size in x.shape):
        if where.ndim != x.ndim or where.numblocks != x.numblocks:
            raise ValueError(f"{name}: where has other chunks than x, of which some have unknown sizes")
        return where
    try:
        there = da.broadcast_to(where, x.shape)
    except ValueError as error:
        raise ValueError(f"{name}: where of shape {where.shape} does not broadcast to that of x, {x.shape}") from error
    return there.rechunk(x.chunks)


def _integers(axis: Any) -> list[int]:
    try:
        return [operator.index(axis)]
    except TypeError:
        return [operator.index(n) for n in axis]


def _partial_for(caller: str, *args: Any, **options: Any) -> Any:
    """:func:`argreduce.partial`. Its errors name the function that the user has called."""
    try:
        return _argreduce.partial(*args, **options)
    except np.exceptions.AxisError:
        raise
    except (TypeError, ValueError) as error:
        said = re.sub(r"^partial(?=:? )", caller, str(error))
        said = said if said.startswith(caller) else f"{caller}: {said}"
        raise (TypeError if isinstance(error, TypeError) else ValueError)(said) from None


def _dtype_of_pairs(functions: Any, dtype: Any) -> np.dtype[Any]:
    """Of each function, a value and an index."""
    return np.dtype([(function, [("value", dtype), ("index", np.int64)]) for function in functions])


def _pairs(parts: dict[Function, tuple[Any, Any]], shape: tuple[int, ...]) -> Any:
    """Values and indices of all functions in one array: dask's reductions know one array for each chunk."""
    values, _ = next(iter(parts.values()))
    pairs = np.empty(shape, _dtype_of_pairs(parts, values.dtype))
    for function, (values, indices) in parts.items():
        pairs[function]["value"], pairs[function]["index"] = np.reshape(values, shape), np.reshape(indices, shape)
    return pairs


def _partial(
    block: Any,
    *there: Any,
    caller: str,
    declared: Any,
    axes: tuple[int, ...],
    functions: tuple[Function, ...],
    options: dict[str, Any],
    has_fill: bool,
    block_info: Any = None,
) -> Any:
    # A number for an array of rank 0; an array of another library for some kinds of chunks. What is masked stays so.
    block = np.asanyarray(block)
    if there:
        # A chunk that is one number for all, too. None is none of booleans, and what is masked is refused.
        options = {**options, "where": np.asanyarray(there[0])}
    shape, location = block_info[0]["shape"], block_info[0]["array-location"]
    # On a kept axis, an index does not depend on where the chunk is. A reduced one of unknown size has one chunk.
    placed = [axis for axis in axes if not np.isnan(shape[axis])]
    expected = tuple(end - first for first, end in location)
    if block.ndim != len(shape) or any(block.shape[axis] != expected[axis] for axis in placed):
        raise ValueError(f"{caller}: a chunk has the shape {block.shape}, where {expected} is declared")
    start, whole = [0] * block.ndim, list(block.shape)
    for axis in placed:
        start[axis], whole[axis] = location[axis][0], shape[axis]
    block = _as_declared(caller, block, declared)
    size = tuple(1 if axis in axes else size for axis, size in enumerate(block.shape))
    if has_fill and any(whole[axis] == 0 for axis in axes):
        nothing = np.zeros(size, block.dtype), np.full(size, -1)
        return _pairs(dict.fromkeys(functions, nothing), size)
    options = {**options, "start": start, "whole": whole}
    parts = {function: _partial_for(caller, block, axes, function=function, **options) for function in functions}
    return _pairs(parts, size)


def _as_declared(caller: str, block: Any, declared: Any) -> Any:
    """The elements of a chunk as those of the declared type, as putting the chunks together makes them that.

    Rounding them keeps their order, but for ties. What wraps or is cut off to an integer does not, and is refused.
    """
    if block.dtype == declared:
        return block
    # Refuses the types that an array may not have either.
    _partial_for(caller, np.empty(0, block.dtype), start=(0,), whole=(1,))
    with np.errstate(invalid="ignore"):
        elements = block.astype(declared)
    if {declared.kind, block.dtype.kind} & {"M", "m"}:
        # There and back: what is compared would be cast first, and wrap as well.
        back = elements.astype(block.dtype)
        is_same = declared.kind == block.dtype.kind and np.array_equal(back, block, equal_nan=True)
    else:
        is_same = declared.kind not in "biu" or np.array_equal(elements, block)
    if not is_same:
        raise TypeError(
            f"{caller}: a chunk is of type {block.dtype}. {declared} is declared, and does not hold its elements: "
            "declare a type that does (dtype= of map_blocks, for example)"
        )
    return elements


def _as_it_is(block: Any, axis: Any, keepdims: bool) -> Any:
    return block


def _merge(
    blocks: Any, axis: Any, keepdims: bool, functions: tuple[Function, ...], options: dict[str, Any]
) -> Any:
    """Merges a list, or lists of lists, of partial answers."""
    merged: dict[Function, tuple[Any, Any]] = {}
    flat = list(_flat(blocks))
    for function in functions:
        pairs = [(block[function]["value"], block[function]["index"]) for block in flat]
        merged[function] = _argreduce.merge(pairs, function=function, **options)
    return _pairs(merged, flat[0].shape)


def _flat(blocks: Any) -> Any:
    if isinstance(blocks, list):
        for block in blocks:
            yield from _flat(block)
    else:
        yield blocks


def _squeezed(blocks: Any, axis: Any, keepdims: bool, merge: Any) -> Any:
    pairs = merge(blocks, axis, keepdims)
    return pairs if keepdims else pairs.squeeze(axis)


def _values(pairs: Any, function: Function) -> Any:
    values = pairs[function]["value"].copy()
    if values.dtype.kind not in "biu":
        nothing = "NaT" if values.dtype.kind in "Mm" else np.nan
        values[pairs[function]["index"] == -1] = nothing
    return _array_or_number(values)


def _indices(pairs: Any, function: Function, caller: str, leaves_nan_out: bool, fill: int | None) -> Any:
    values, indices = pairs[function]["value"], pairs[function]["index"].copy()
    missing = indices == -1
    if leaves_nan_out and values.dtype.kind not in "biu":
        is_nan = np.isnan(values)
        if fill is None and np.any(is_nan & ~missing):
            raise ValueError(f"{caller}: All-NaN slice encountered")
        missing = missing | is_nan
    if np.any(missing):
        if fill is None:
            raise ValueError(
                f"{caller}: no element is there for an output: without a fill, an index needs at least one"
            )
        indices[missing] = fill
    return _array_or_number(indices)


def _array_or_number(array: Any) -> Any:
    """An array of its own; a number, where there is one: as NumPy has it."""
    return array if np.ndim(array) else array[()]
