"""argmax and its sisters for each segment of an array: lists of Arrow, awkward and polars, rows of a sparse matrix.

Segments are values and offsets: segment ``n`` is ``x[offsets[n]:offsets[n + 1]]``. They are answered where they are, by
vectors, on as many threads as you say, however long each of them is.

>>> import numpy as np
>>> import argreduce.segments
>>> x = np.array([3.0, 1.0, 2.0, 8.0, 9.0])
>>> argreduce.segments.argmax(x, [0, 3, 3, 5], fill=-1)
array([ 0, -1,  1])
>>> argreduce.segments.argmax(x, [0, 3, 5], absolute=True)
array([0, 4])

Whatever has lists of Arrow is taken as it is, by its own offsets, with its nulls: arrays of pyarrow (``ListArray``,
``LargeListArray``, ``FixedSizeListArray``, sliced or not, in chunks or not), columns of polars; and arrays of awkward.

>>> import pyarrow as pa
>>> argreduce.segments.max_argmax(pa.array([[1.0, None, 3.0], None, [5.0]]), fill=-1)
ValuesAndIndices(values=array([ 3., nan,  5.]), indices=array([ 2, -1,  0]))

Sorted labels become offsets by :func:`offsets_of`. Those that are not sorted have to be, stably:

>>> labels, x = np.array([1, 0, 1, 0]), np.array([5.0, 7.0, 6.0, 8.0])
>>> order = np.argsort(labels, kind="stable")
>>> offsets = argreduce.segments.offsets_of(labels[order])
>>> order[argreduce.segments.argmax(x[order], offsets, absolute=True)]
array([3, 2])

If there are only a few labels, ``argreduce.argmax(x, where=labels == label)`` for each of them does not sort.
"""

from __future__ import annotations

import inspect
import operator
import sys
from typing import Any

import numpy as np

from . import _argreduce, _interop
from ._interop import ArgMinMax, ArgMinMaxValues, ValuesAndIndices

__all__ = [
    "argmax", "argmin", "argminmax", "argminmax_values", "max_argmax", "min_argmin", "nanargmax", "nanargmin",
    "offsets_of",
]  # fmt: skip

_DOC = """{summary}, in each segment.

Parameters
----------
x : array of one axis, or lists
    What ``numpy.asarray`` takes, of the elements that :func:`argreduce.argmax` takes; masked arrays and columns with
    nulls, too. Or, without ``offsets``, lists: of Arrow, by ``__arrow_c_array__`` or ``__arrow_c_stream__``, or of
    awkward. Neither is copied, but for arrays that are not contiguous, bools of Arrow, and awkward arrays without
    offsets or of option type.
offsets : array of int32, int64, uint32 or uint64
    Where segments begin and end: one more than there are segments, ascending, and none beyond ``x``.
absolute : bool, or whatever has a truth value
    Indices in ``x``, or in what all lists are in; not in the segment.
dtype : None, or the type of the indices
    As in :func:`argreduce.argmax`.
select_last : bool, or whatever has a truth value
    Of equals, the last one wins, and not the first one.
{nan}threads : None, int or "all"
    As in :func:`argreduce.argmax`.
where : None or array of bool
    True where an element of ``x`` is there; others are left out, and counted.
fill : None or int
    The index of a segment that is empty, or of which nothing is there, or that is null; or nothing but NaN, where
    that is ignored. Its value is NaN or NaT, or 0 of a type without. None: such a segment is a ValueError.
key : None or "abs"
near : None or a number
    As in :func:`argreduce.argmax`: by magnitude, or by the distance to a number. Not both; not of dates.

Returns
-------
{result}

Raises
------
ValueError
    Offsets that are negative, or do not ascend, or lead beyond ``x``; an index or ``fill`` that does not fit the type
    that is written; a segment of which nothing is there.
TypeError
    Elements or offsets of other types, or lists of lists.

Examples
--------
>>> import argreduce.segments
>>> argreduce.segments.{name}([3.0, 1.0, 2.0, 8.0, 9.0], [0, 3, 5])
{example}
"""

_NAN = """nan : "propagate" or "ignore"
    A NaN beats every number; or every number beats a NaN.
"""

_OFFSET_TYPES = frozenset(np.dtype(t) for t in ("i4", "i8", "u4", "u8"))


class _Elements:
    """Elements of one axis, packed, and which of them are there: by bits of Arrow, or by bools, or all."""

    def __init__(self, name: str, x: Any, bits: tuple[Any, int] | None = None) -> None:
        self.array, self.bits, self.there = x, bits, None
        if isinstance(x, np.ma.MaskedArray):
            self.array, self.there = x.data, ~np.ma.getmaskarray(x)
        self.array = np.ascontiguousarray(self.array)
        if np.ndim(x) != 1:
            raise TypeError(f"{name} takes elements of one axis: x has {np.ndim(x)}")

    def leave_out(self, there: Any) -> None:
        """All but those, and what was left out before."""
        if self.bits is not None:
            there = there & _unpacked(*self.bits, len(self.array))
        self.bits = None
        self.there = np.ascontiguousarray(there if self.there is None else self.there & there)


def _unpacked(bits: Any, first: int, count: int) -> Any:
    return np.unpackbits(bits, count=first + count, bitorder="little")[first:].astype(bool)


def _of_awkward(name: str, x: Any) -> Any:
    """Elements and offsets of an awkward array; or, of what may be missing, the same as lists of Arrow."""
    ak = sys.modules.get("awkward")
    if ak is None or not isinstance(x, ak.Array):
        return None
    layout = ak.to_packed(x).layout if x.layout.is_indexed else x.layout
    if layout.is_list:
        lists = layout if isinstance(layout, ak.contents.ListOffsetArray) else layout.to_ListOffsetArray64(False)
        content = lists.content
        if content.is_numpy and content.purelist_depth == 1:
            return np.asarray(content.data), np.asarray(lists.offsets.data)
    if x.ndim != 2:
        raise TypeError(f"{name} takes lists of elements: this awkward array is of {x.type}")
    return ak.to_arrow(x, extensionarray=False)


def _pieces(name: str, x: Any, offsets: Any) -> Any:
    """Elements, offsets and the lists that are there, or None, of each piece."""
    if offsets is not None:
        return [(_elements(name, x), _offsets(name, offsets), None)]
    of_awkward = _of_awkward(name, x)
    if isinstance(of_awkward, tuple):
        return [(_Elements(name, of_awkward[0]), _offsets(name, of_awkward[1]), None)]
    lists = _argreduce._lists_of(name, x if of_awkward is None else of_awkward)
    if lists is None:
        raise TypeError(f"{name} takes an array and offsets, or lists of Arrow or awkward: not a {type(x).__name__}")
    return [
        (_Elements(name, elements, bits), _offsets(name, offsets), _lists_there(lists_bits, len(offsets) - 1))
        for elements, offsets, bits, lists_bits in lists
    ]


def _elements(name: str, x: Any) -> _Elements:
    """Of what is not in lists."""
    pieces = None if isinstance(x, np.ndarray) else _argreduce._elements_of(name, x)
    if pieces is None:
        return _Elements(name, x if isinstance(x, np.ndarray) else np.asanyarray(x))
    if len(pieces) == 1:
        return _Elements(name, *pieces[0])
    elements = _Elements(name, np.concatenate([array for array, _ in pieces]))
    if any(bits is not None for _, bits in pieces):
        there = [np.ones(len(array), bool) if bits is None else _unpacked(*bits, len(array)) for array, bits in pieces]
        elements.leave_out(np.concatenate(there))
    return elements


def _lists_there(bits: tuple[Any, int] | None, count: int) -> Any:
    return None if bits is None else _unpacked(*bits, count)


def _offsets(name: str, offsets: Any) -> Any:
    offsets = np.asarray(offsets)
    if offsets.ndim != 1:
        raise ValueError(f"{name}: offsets have {offsets.ndim} axes, and need one")
    if offsets.dtype not in _OFFSET_TYPES and offsets.dtype.kind in "iu" or not offsets.size:
        offsets = offsets.astype(np.int64)
    if offsets.dtype not in _OFFSET_TYPES:
        raise TypeError(f"{name}: offsets are of type {offsets.dtype}: int32, int64, uint32 or uint64 is needed")
    return np.require(offsets, offsets.dtype.newbyteorder("="), ["C", "A"])


class _Asked:
    """A call."""

    def __init__(self, name: str, function: str, has_values: bool, leaves_nan_out: bool, said: dict[str, Any]) -> None:
        self.name, self.function, self.has_values = f"segments.{name}", function, has_values
        self.leaves_nan_out, self.said = leaves_nan_out, said
        self.nan = said.get("nan", "ignore")
        fill = said["fill"]
        self.fill = None if fill is None else operator.index(fill)

    def run(self, x: Any, offsets: Any) -> list[tuple[Any, Any]]:
        """The indices and the values of each function."""
        said, where = self.said, self.said["where"]
        pieces = _pieces(self.name, x, offsets)
        if len(pieces) > 1 and (said["absolute"] or where is not None):
            option = "absolute" if said["absolute"] else "where"
            raise ValueError(f"{self.name}: {option} is for lists in one piece, as combine_chunks() makes them")
        if where is not None:
            there = _interop.there_of(self.name, where, None, [len(pieces[0][0].array)])
            pieces[0][0].leave_out(there)
        found = [self.run_piece(*piece) for piece in pieces]
        return [
            tuple(None if part[0] is None else np.concatenate(part) if len(part) > 1 else part[0] for part in zip(*of))
            for of in zip(*found)
        ]

    def run_piece(self, elements: _Elements, offsets: Any, lists: Any) -> list[tuple[Any, Any]]:
        """Of one piece."""
        x, functions = elements.array, [self.function] if self.function != "argminmax" else ["argmin", "argmax"]
        is_date = x.dtype.kind in "mM"
        if is_date and (self.said["key"] is not None or self.said["near"] is not None):
            raise TypeError(f"{self.name} takes no key and no near for dates and durations")
        if is_date and (is_nat := np.isnat(x)).any():
            if self.nan == "ignore":
                elements.leave_out(~is_nat)
            elif "argmax" in functions:
                return [self.found_of_dates(elements, offsets, lists, function) for function in functions]
        return self.found(elements, x.view(np.int64) if is_date else x, offsets, lists, self.function)

    def found_of_dates(self, elements: _Elements, offsets: Any, lists: Any, function: str) -> Any:
        """NaT is the smallest of all; one less, and it is the largest."""
        x = elements.array.view(np.int64)
        return self.found(elements, x - 1 if function == "argmax" else x, offsets, lists, function)[0]

    def found(self, elements: _Elements, x: Any, offsets: Any, lists: Any, function: str) -> list[tuple[Any, Any]]:
        """The indices and the values of each function, by the order of some elements."""
        said, there, bit = self.said, elements.there, None
        if elements.bits is not None:
            there, bit = elements.bits
        # What is nothing is found out by the index, for values and for nulls: no element has this one.
        is_told = self.fill is not None and (self.has_values or self.leaves_nan_out or lists is not None)
        results = _argreduce._segments(
            self.name, function, x, offsets, there, bit, np.int64 if is_told else said["dtype"], said["select_last"],
            self.nan, said["threads"], -1 if is_told else self.fill, said["absolute"], False, said["key"], said["near"],
        )  # fmt: skip
        return [self.finish(elements.array, offsets, lists, indices, is_told) for indices, _ in results]

    def finish(self, x: Any, offsets: Any, lists: Any, indices: Any, is_told: bool) -> tuple[Any, Any]:
        """What becomes of nothing: in nulls, and of NaN where that is ignored."""
        nothing = indices == -1 if is_told else np.zeros(len(indices), bool)
        if lists is not None and not lists.all():
            nothing |= ~lists
            if not is_told:
                raise ValueError(f"{self.name}: list {np.argmin(lists)} is null, and there is no fill")
        values = None
        if self.has_values or self.leaves_nan_out:
            first = 0 if self.said["absolute"] else offsets[:-1].astype(np.int64)
            places = np.where(nothing, 0, indices.astype(np.int64) + first)
            values = x[places] if len(x) else np.zeros(len(places), x.dtype)
            if self.leaves_nan_out and x.dtype.kind not in "?biumM":
                is_nan = (values != values) & ~nothing
                if is_nan.any() and not is_told:
                    raise ValueError("All-NaN slice encountered")
                nothing |= is_nan
            values[nothing] = _nothing_of(x.dtype)
        if is_told:
            _check_longest(offsets, self.said)
            dtype = np.dtype(np.int64 if self.said["dtype"] is None else self.said["dtype"])
            indices[nothing] = self.fill
            if nothing.any():
                _check_fill(self.fill, dtype)
            indices = indices.astype(dtype, copy=False)
        return indices, values if self.has_values else None


def _nothing_of(dtype: Any) -> Any:
    if dtype.kind in "mM":
        return np.array("NaT", dtype)
    return 0 if dtype.kind in "?biu" else np.nan


def _check_longest(offsets: Any, said: dict[str, Any]) -> None:
    """That the type holds any index."""
    most = np.iinfo(np.int64 if said["dtype"] is None else said["dtype"]).max
    ends = offsets.astype(np.int64)
    largest = (ends[-1] if said["absolute"] else np.diff(ends).max(initial=0)) - 1
    if largest > most:
        raise ValueError(f"the largest possible index is {largest}: {np.dtype(said['dtype'])} holds at most {most}")


def _check_fill(fill: Any, dtype: Any) -> None:
    limits = np.iinfo(dtype)
    if not limits.min <= fill <= limits.max:
        raise ValueError(f"fill is {fill}: {dtype} does not hold it, which holds {limits.min} to {limits.max}")


def offsets_of(labels: Any, count: int | None = None) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Where each label begins in labels that are sorted, and where the last one ends: offsets.

    Parameters
    ----------
    labels : array of one axis
        In ascending order. Segment ``n`` is of the ``n``-th of those that differ: ``labels[offsets[:-1]]``.
    count : None or int
        Labels are integers from 0 to ``count - 1``: segment ``n`` is of label ``n``, and empty if there is none.

    Returns
    -------
    array of int64

    Raises
    ------
    ValueError
        Labels that are not sorted, or of which one is NaN, or not below ``count``.

    Examples
    --------
    >>> import argreduce.segments
    >>> argreduce.segments.offsets_of(["a", "a", "c"])
    array([0, 2, 3])
    >>> argreduce.segments.offsets_of([0, 0, 2], count=3)
    array([0, 2, 2, 3])
    """
    labels = np.asarray(labels)
    if labels.ndim != 1:
        raise ValueError(f"labels have {labels.ndim} axes, and need one")
    is_sorted = labels[:-1] <= labels[1:]
    if not is_sorted.all():
        place = int(np.argmin(is_sorted)) + 1
        raise ValueError(f"labels are not sorted: {labels[place]!r} at {place} comes after {labels[place - 1]!r}")
    if count is None:
        changes = np.flatnonzero(labels[1:] != labels[:-1]) + 1
        return np.concatenate([[0], changes, [len(labels)]] if len(labels) else [[0]]).astype(np.int64)
    count = operator.index(count)
    if len(labels) and not (labels.dtype.kind in "iu" and labels[0] >= 0 and labels[-1] < count):
        raise ValueError(f"labels are {labels[0]!r} to {labels[-1]!r}: integers from 0 to {count - 1} are needed")
    return np.searchsorted(labels, np.arange(count + 1)).astype(np.int64)


_NAMES = {
    "argmax": ("argmax", False),
    "argmin": ("argmin", False),
    "nanargmax": ("argmax", False),
    "nanargmin": ("argmin", False),
    "max_argmax": ("argmax", True),
    "min_argmin": ("argmin", True),
    "argminmax": ("argminmax", False),
    "argminmax_values": ("argminmax", True),
}


def _of_segments(name: str) -> Any:
    """The function of that name."""
    function, has_values = _NAMES[name]
    is_of_numbers = name.startswith("nan")
    defaults: dict[str, Any] = {"absolute": False, "dtype": None, "select_last": False, "nan": "propagate"}
    defaults |= {"threads": None, "where": None, "fill": None, "key": None, "near": None}
    if is_of_numbers:
        del defaults["nan"]

    def of_segments(x: Any, offsets: Any = None, **said: Any) -> Any:
        for option in said:
            if option not in defaults:
                raise TypeError(f"{name}() got an unexpected keyword argument '{option}'")
        said = {**defaults, **said}
        leaves_nan_out = is_of_numbers or said["nan"] == "ignore" and said["fill"] is not None
        found = _Asked(name, function, has_values, leaves_nan_out, said).run(x, offsets)
        if function != "argminmax":
            (indices, values), = found
            return ValuesAndIndices(values, indices) if has_values else indices
        (argmin, min), (argmax, max) = found
        return ArgMinMaxValues(min, argmin, max, argmax) if has_values else ArgMinMax(argmin, argmax)

    of_segments.__name__ = of_segments.__qualname__ = name
    parameters = [inspect.Parameter(word, inspect.Parameter.POSITIONAL_OR_KEYWORD) for word in ("x", "offsets")]
    parameters[1] = parameters[1].replace(default=None)
    parameters += [inspect.Parameter(word, inspect.Parameter.KEYWORD_ONLY, default=of) for word, of in defaults.items()]
    of_segments.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    eager = getattr(_argreduce, name).__doc__
    result = eager.partition("Returns\n-------\n")[2].partition("\nRaises")[0].strip()
    result = result.replace(", or a number if all axes are reduced", "")
    summary = eager.partition("\n\n")[0].replace(" along any axes", "").rstrip(".").replace(": ", ", ")
    example = repr(of_segments([3.0, 1.0, 2.0, 8.0, 9.0], [0, 3, 5]))
    nan = "" if is_of_numbers else _NAN
    of_segments.__doc__ = _DOC.format(name=name, summary=summary, result=result, nan=nan, example=example)
    return of_segments


globals().update({name: _of_segments(name) for name in _NAMES})


def __dir__() -> list[str]:
    return list(__all__)
