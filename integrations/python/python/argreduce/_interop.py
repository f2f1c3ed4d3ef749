"""What the extension module leaves to Python: result types, arrays of other libraries, arrays of many axes."""

from __future__ import annotations

import functools
import importlib
import inspect
import math
import sys
from collections.abc import Iterator
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import numpy as np

from . import _labelled

Nan = Literal["propagate", "ignore"]
Function = Literal["argmax", "argmin"]

# What elements are, and what indices are.
_V = TypeVar("_V")
_I = TypeVar("_I")


class ValuesAndIndices(NamedTuple, Generic[_V, _I]):
    """The best elements, and where they are."""

    values: _V
    indices: _I


class Rule(NamedTuple):
    """By what partial answers were found, and merge: see :func:`argreduce.partial`."""

    function: Function
    select_last: bool
    nan: Nan
    key: Literal["abs"] | None = None
    near: float | None = None


class Partial(NamedTuple, Generic[_V, _I]):
    """The best elements of a part of a larger array, and where they are in the whole: -1 where nothing was seen.

    That is all which it unpacks to. It knows by what rule that was found, too: :func:`argreduce.merge` goes by it. One
    that is made of two arrays by ``Partial(values, indices)`` is a plain pair, and its rule is None.
    """

    values: _V
    indices: _I

    @property
    def rule(self) -> Rule | None:
        """The five below, or None."""
        return getattr(type(self), "_rule", None)

    @property
    def function(self) -> Function | None:
        """ "argmax" or "argmin"."""
        return None if self.rule is None else self.rule.function

    @property
    def select_last(self) -> bool | None:
        """Whether of equals the last one was taken."""
        return None if self.rule is None else self.rule.select_last

    @property
    def nan(self) -> Nan | None:
        """ "propagate" or "ignore"."""
        return None if self.rule is None else self.rule.nan

    @property
    def key(self) -> Literal["abs"] | None:
        """ "abs" where elements were compared by their magnitude."""
        return None if self.rule is None else self.rule.key

    @property
    def near(self) -> float | None:
        """The number to which elements were compared by their distance."""
        return None if self.rule is None else self.rule.near


def _partial_class(rule: Rule) -> Any:
    """The class of partial answers by one rule.

    The class knows it, not the object: so it stays, whatever makes another object of two fields, as dask does of any
    named tuple, and ``_replace``. It has a name in this module, by which it is pickled.
    """
    name = f"_Partial_{rule.function}_{'last' if rule.select_last else 'first'}_{rule.nan}"
    names = {"__slots__": (), "__module__": __name__, "__doc__": Partial.__doc__, "_rule": rule}
    made = type(Partial.__name__, (Partial,), names)
    made.__qualname__ = name
    globals()[name] = made
    return made


_RULES = [Rule(f, last, nan) for f in ("argmax", "argmin") for last in (False, True) for nan in ("propagate", "ignore")]
_PARTIALS = {rule: _partial_class(rule) for rule in _RULES}


def _new_keyed_class(rule: Rule) -> Any:
    """The same of a rule with a key. Those are without number: so it has no name, and is made again from its rule."""

    def reduce(self: Any) -> Any:
        return partial_by, (*rule, *self)

    names = {"__slots__": (), "__module__": __name__, "__doc__": Partial.__doc__, "_rule": rule, "__reduce__": reduce}
    return type(Partial.__name__, (Partial,), names)


_keyed_class = functools.lru_cache(maxsize=64)(_new_keyed_class)


def partial_by(
    function: Function,
    select_last: bool,
    nan: Nan,
    key: Literal["abs"] | None,
    near: float | None,
    values: Any,
    indices: Any,
) -> Any:
    """A partial answer that knows its rule."""
    rule = Rule(function, select_last, nan, key, near)
    return (_PARTIALS.get(rule) or _keyed_class(rule))(values, indices)


def near_number(near: Any) -> bool | int | float:
    """A number as one of Python."""
    array = np.asarray(near)
    if array.ndim:
        raise ValueError(f"near has the shape {array.shape}: one number is needed")
    if array.dtype.kind in "Mm":
        raise TypeError(f"near is of type {array.dtype}: there are no keys of dates and durations")
    if array.dtype.kind in "biu" or isinstance(near, int):
        return near if isinstance(near, int) else array.item()
    if array.dtype.kind == "f" or array.dtype.name == "bfloat16":
        return float(array.astype(np.float64).item())
    raise TypeError(f"near is of type {type(near).__name__}: a number is needed")


class ArgMinMax(NamedTuple, Generic[_I]):
    """Where the smallest elements are, and where the largest."""

    argmin: _I
    argmax: _I


class ArgMinMaxValues(NamedTuple, Generic[_V, _I]):
    """The smallest elements and where they are, and the largest and where they are."""

    min: _V
    argmin: _I
    max: _V
    argmax: _I


# The fields of these tuples that have elements. The others have indices.
_OF_ELEMENTS = frozenset({"values", "min", "max"})

# What has nothing in it that could be lost.
_NUMBERS = frozenset({bool, int, float, *np.sctypeDict.values()})


def array_of(name: str, x: Any) -> np.ndarray[Any, Any]:
    """What NumPy makes of ``x``, unless something of it would be lost without a word. ``name`` is the function."""
    array: np.ndarray[Any, Any] = np.asanyarray(x)
    dtype = getattr(x, "dtype", None) if hasattr(type(x), "dtype") else None
    if array.dtype.kind == "O" and dtype is not None and not isinstance(dtype, np.dtype):
        raise TypeError(f"{name} takes no {dtype}, which is an array of objects to NumPy")
    if array.dtype.kind == "O" or (type(x) is list and _NUMBERS.issuperset(map(type, x))):
        # Refused for that; or nothing but numbers.
        return array
    if any(isinstance(part, np.ma.MaskedArray) for part in (array, *_parts(x))):
        raise TypeError(f"{name} takes no masked arrays: their mask would be ignored")
    if array.dtype.kind == "f" and any(map(_lacks_integers, _parts(x))):
        raise TypeError(
            f"{name} takes no 64-bit integers with missing values: NumPy has float64 in their place, which is not "
            "exact above 2**53. Fill the missing ones, or leave them out, before"
        )
    return array


def masked_parts(x: Any) -> tuple[np.ndarray[Any, Any], Any]:
    """The elements of a masked array, and its mask, in which True is not there: None if nothing is masked."""
    data, mask = np.ma.getdata(x, subok=False), np.ma.getmask(x)
    # Elements of several fields are refused by their type; their mask has fields, too.
    return data, None if mask is np.ma.nomask or mask.dtype != bool else mask


def there_of(name: str, where: Any, mask: Any, shape: list[int]) -> np.ndarray[Any, Any]:
    """Where ``where`` is True and ``mask`` is not, each if it is given: of that shape."""
    there: np.ndarray[Any, Any] | None = None
    if where is not None:
        there = np.asanyarray(where)
        if isinstance(there, np.ma.MaskedArray):
            raise TypeError(f"{name} takes no masked array as where: its mask would be ignored")
        if there.dtype != bool:
            raise TypeError(f"{name}: where is of type {there.dtype}: booleans are needed")
        try:
            there = np.broadcast_to(there, shape)
        except ValueError as error:
            raise ValueError(
                f"{name}: where of shape {np.shape(where)} does not broadcast to that of x, {tuple(shape)}"
            ) from error
    if mask is None:
        assert there is not None
        return there
    unmasked = np.logical_not(np.asarray(mask))
    # Without axes, NumPy makes numbers of both.
    return np.asarray(unmasked if there is None else there & unmasked)


def trues(array: np.ndarray[Any, Any], mask: Any, is_missing: bool) -> np.ndarray[Any, Any]:
    """What is True in an array of bools, and known: where the mask is not ``is_missing``."""
    return array if array.dtype != bool else np.asarray(array & (np.asarray(mask) != is_missing))


def column_of(name: str, x: Any) -> Any:
    """What has the elements of a column: by Arrow's interface, or an array, or that and what is missing of it. None, if
    nothing says of single elements that they are missing; and for frames and tables, which are more than a column.
    ``name`` is the function."""
    cls: Any = type(x)
    is_of_pandas = bool(_names_in_pandas(cls))
    # Labels of a Series are attributes of it, too; and where a class tells, it takes less time to ask.
    holder = cls if is_of_pandas or hasattr(cls, "__arrow_c_stream__") else x
    if hasattr(holder, "columns") or hasattr(holder, "column_names"):
        return None
    return column_of_pandas(name, x) if is_of_pandas else x


def _names_of(cls: type) -> frozenset[str]:
    """The names of the classes of pandas that it is of, or of subclasses of which it is."""
    return frozenset(base.__name__ for base in cls.__mro__ if base.__module__.partition(".")[0] == "pandas")


_names_in_pandas = functools.lru_cache(maxsize=16)(_names_of)


# Arrays of pandas that have one of NumPy in them.
_OF_NUMPY = frozenset({"NumpyExtensionArray", "DatetimeArray", "TimedeltaArray"})


def column_of_pandas(name: str, x: Any) -> Any:
    """As :func:`column_of`, for what is no frame.

    The interface of pandas itself is not asked, as it makes nulls of the NaN of NumPy's arrays, which are a number's.
    """
    array = getattr(x, "array", x)
    cls: Any = type(array)
    names = _names_in_pandas(cls)
    if "BaseMaskedArray" in names:
        return array._data, array._mask
    if "ArrowExtensionArray" in names:
        return array.__arrow_array__()
    if "DatetimeArray" in names and array.tz is not None:
        # In UTC, as Arrow has them: by NumPy they would be objects.
        return np.asarray(array.tz_convert(None))
    if cls.__name__ in _OF_NUMPY and type(x).__module__.partition(".")[0] == "pandas":
        return np.asarray(array)
    if "Categorical" in names and array.ordered:
        raise TypeError(
            f"{name} takes no ordered categories, whose order is not that of their values: give their codes, as "
            "x.cat.codes of a Series, which are -1 where one is missing"
        )
    # An array of another library in a column of pandas.
    has_arrow = hasattr(cls, "__arrow_c_array__") or hasattr(cls, "__arrow_c_stream__")
    return array if has_arrow and names.isdisjoint({"Series", "Index"}) else None


def array_of_lists(
    parts: list[np.ndarray[Any, Any]], masks: list[Any], shape: list[int], dtype: Any
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """A column of lists of fixed sizes as an array of that shape, and a mask, in which True is missing. ``parts`` are
    the elements of its chunks, and ``masks`` which of them are missing, or None."""
    masks = [np.zeros(part.shape, bool) if mask is None else mask for part, mask in zip(parts, masks)]
    arrays = (parts or [np.empty(0, dtype)], masks or [np.empty(0, bool)])
    array, mask = (each[0] if len(each) == 1 else np.concatenate(each) for each in arrays)
    return array.reshape(shape), mask.reshape(shape)


def nulls(count: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """A column of nothing but nulls, as an array and a mask, in which True is missing. They take no memory."""
    return np.broadcast_to(np.float64(np.nan), count), np.broadcast_to(np.True_, count)


def wide_dates(days: np.ndarray[Any, Any], dtype: Any) -> np.ndarray[Any, Any]:
    """Dates of 32 bits as NumPy's."""
    return days.astype(np.int64).view(dtype)


def joined(chunks: list[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """Chunks of a column in one array."""
    return np.concatenate(chunks)


def array_instead_of_tensor(name: str, x: Any, refusal: BaseException) -> np.ndarray[Any, Any]:
    """The same for what has ``__dlpack__``, and refuses to give it: a type that DLPack does not have, or nulls."""
    jax = sys.modules.get("jax")
    if jax is not None and isinstance(x, jax.core.Tracer):
        raise TypeError(
            f"{name} was given a traced array of JAX, which has no elements in memory: call it outside of jax.jit and "
            "other transformations, or by jax.pure_callback"
        ) from refusal
    # A tensor that needs a gradient means its refusal: by way of NumPy, the gradient would be lost.
    if getattr(x, "requires_grad", False) or not hasattr(x, "__array__"):
        raise refusal
    try:
        return array_of(name, x)
    except Exception as error:
        raise error from refusal


def _parts(x: Any) -> Iterator[Any]:
    """``x``, or what lists and tuples have in them, but for numbers."""
    if not isinstance(x, (list, tuple)):
        yield x
    elif not _NUMBERS.issuperset(map(type, x)):
        for part in x:
            yield from _parts(part)


def _lacks_integers(x: Any) -> bool:
    """Whether it is a column of 64-bit integers, of which some are missing, or a table that has one.

    Known by the name that pandas, pyarrow and polars give to its type, and by what NumPy makes of it.
    """
    for name in ("dtype", "type"):
        # Not a column that is called so.
        if hasattr(type(x), name):
            dtype = getattr(x, name)
            # Of a categorical column, what its categories are.
            dtype = getattr(getattr(dtype, "categories", None), "dtype", dtype)
            is_wide = "int64" in str(dtype).lower() and not isinstance(getattr(x, name), np.dtype)
            return is_wide and np.asarray(x).dtype.kind == "f"
    if hasattr(type(x), "iter_columns"):
        return any(map(_lacks_integers, x.iter_columns()))
    if hasattr(type(x), "itercolumns"):
        return any(map(_lacks_integers, x.itercolumns()))
    if hasattr(type(x), "dtypes") and hasattr(type(x), "items"):
        return any(_lacks_integers(column) for _, column in x.items())
    return False


def of_dask(name: str, x: Any, axis: Any, options: dict[str, Any]) -> Any:
    """A function of the package for a dask array: lazily, by the one of the same name in :mod:`argreduce.dask`."""
    function = getattr(importlib.import_module("argreduce.dask"), name, None)
    if function is None:
        raise TypeError(f"{name} takes no dask arrays: an answer for each element takes all that come before it")
    taken = inspect.signature(function).parameters
    for option in options:
        if option not in taken:
            raise TypeError(f"{name} takes no {option}= for a dask array, which argreduce.dask.{name} reduces lazily")
    if isinstance(axis, (range, np.ndarray)) and np.ndim(axis):
        axis = tuple(axis)
    return function(x, axis, **options)


def of_labelled(name: str, x: Any, axis: Any, options: dict[str, Any]) -> Any:
    """A function of the package for an object of xarray, as which the answer comes back."""
    from . import _argreduce

    keepdims, where, out = options.pop("keepdims", None), options.pop("where", None), options.pop("out", None)

    def of_elements(elements: Any, axis: Any, **more: Any) -> Any:
        # An option that is not there is not the same as None to those functions that do not have it.
        more = {option: value for option, value in more.items() if value is not None}
        return getattr(_argreduce, name)(elements, axis, **options, **more)

    if keepdims is None:
        return _labelled.so_far(name, of_elements, x, axis, where=where, out=out)
    return _labelled.reduce(name, of_elements, x, axis, keepdims=keepdims, where=where, out=out)


def flattened(name: str, x: Any, axis: None, options: dict[str, Any]) -> Any:
    """A function of the best so far along all elements of ``x`` in a row."""
    from . import _argreduce

    function = getattr(_argreduce, name)
    cls: Any = type(x)
    is_column = hasattr(x, "__arrow_c_stream__") or hasattr(x, "__arrow_c_array__") or bool(_names_in_pandas(cls))
    if is_column and getattr(x, "ndim", 1) == 1 and not hasattr(x, "columns") and not hasattr(x, "column_names"):
        return function(x, 0, **options)
    if cls.__module__.partition(".")[0] == "dask":
        return of_dask(name, x, axis, options)
    if not (isinstance(x, np.ma.MaskedArray) or (hasattr(x, "__dlpack__") and not isinstance(x, np.ndarray))):
        # Not of a subclass, whose rows may be something else.
        x = np.asarray(array_of(name, x))
    shape = x.shape
    if options.get("where") is not None:
        options["where"] = there_of(name, options["where"], None, list(shape)).reshape(-1)
    return function(x.reshape(-1), 0, **options)


def elements_of_labelled(x: Any) -> Any:
    """What an object of xarray holds."""
    return _labelled.elements(x)


def where_of_labelled(name: str, where: Any, x: Any) -> Any:
    """What says which elements of an object of xarray are there, in the order of its dimensions."""
    return _labelled.placed(name, where, x)


def give_back(result: Any, x: Any, out: Any, is_bfloat16: bool) -> Any:
    """The result as arrays of the library that ``x`` is from, if that takes them; as they are otherwise.

    Indices that were written to ``out`` stay that. ``is_bfloat16`` is about the values, which are its bits.
    """
    if not hasattr(result, "_asdict"):
        return _given_back(result, x, out)
    parts = {}
    for name, part in result._asdict().items():
        if name in _OF_ELEMENTS:
            parts[name] = _given_back(part, x, None, is_bfloat16)
        else:
            # Partial answers are to be merged: their indices stay int64.
            parts[name] = _given_back(part, x, out, keeps_type=isinstance(result, Partial))
    return type(result)(**parts)


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


def move_along_many_axes(name: str, x: np.ndarray[Any, Any], *counts_and_axis: Any, absolute: bool) -> Any:
    """A moving function for an array of as many axes as the package takes, and more: the others are merged to one."""
    from . import _argreduce

    *counts, axis = counts_and_axis
    moved = np.moveaxis(x, axis, -1)
    rows = moved.reshape(math.prod(moved.shape[:-1]), moved.shape[-1])
    found = getattr(_argreduce, name)(rows, *counts, absolute=absolute)
    return np.moveaxis(found.reshape(moved.shape), -1, axis)


def many_axes(
    name: str, x: np.ndarray[Any, Any], reduced: tuple[int, ...], keepdims: bool, out: Any, **options: Any
) -> Any:
    """A function of the package for an array of more axes than it takes: they are merged to two first.

    ``reduced`` are the axes, from 0, in ascending order. ``x`` and ``out`` are plain arrays, so that no method of a
    subclass is called. Nothing is written to ``out``: the indices come back as an array that fits it.
    """
    from . import _argreduce

    rank = x.ndim
    merged, sizes = _merged(x, reduced)
    shape = [1 if axis in reduced else x.shape[axis] for axis in range(rank)] if keepdims else sizes
    flat = None
    if out is not None:
        if out.shape != tuple(shape):
            raise ValueError(
                f"output array does not match result of {name}: its shape is {out.shape}, and that of the result is "
                f"{tuple(shape)}"
            )
        if not out.flags.writeable:
            raise ValueError("output array is read-only")
        flat = options["out"] = np.empty(merged.shape[0], out.dtype)
    if options.get("where") is not None:
        options["where"] = _merged(options["where"], reduced)[0]
    result = getattr(_argreduce, name)(merged, 1, **options)

    def shaped(part: np.ndarray[Any, Any]) -> Any:
        # Without axes it is a number, but for what comes back as an array of the caller's.
        return part.reshape(shape) if shape or part is flat else part[0]

    return type(result)(*map(shaped, result)) if isinstance(result, tuple) else shaped(result)


def so_far_of_many_axes(name: str, x: np.ndarray[Any, Any], axis: int, out: Any, **options: Any) -> Any:
    """A function of the best so far for an array of more axes than it takes: as :func:`many_axes`, but that there is one
    axis, and the result has the shape of ``x``."""
    from . import _argreduce

    def lines(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        moved = np.moveaxis(array, axis, -1)
        return moved.reshape(math.prod(moved.shape[:-1]), moved.shape[-1])

    if out is not None:
        if out.shape != x.shape:
            raise ValueError(
                f"output array does not match result of {name}: its shape is {out.shape}, and that of the result is "
                f"{x.shape}"
            )
        if not out.flags.writeable:
            raise ValueError("output array is read-only")
        options["out"] = np.empty(lines(x).shape, out.dtype)
    if options.get("where") is not None:
        options["where"] = lines(options["where"])
    shape = np.moveaxis(x, axis, -1).shape
    result = getattr(_argreduce, name)(lines(x), 1, **options)

    def shaped(part: np.ndarray[Any, Any]) -> Any:
        return np.moveaxis(part.reshape(shape), -1, axis)

    return type(result)(*map(shaped, result)) if isinstance(result, tuple) else shaped(result)


def partial_of_many_axes(
    x: np.ndarray[Any, Any], reduced: tuple[int, ...], start: list[int], whole: list[int], **options: Any
) -> Any:
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
    if options.get("where") is not None:
        options["where"] = _merged(options["where"], reduced)[0]
    # That the indices of the whole fit is checked there, too.
    part = _argreduce.partial(merged, 1, start=(0, 0), whole=(len(merged), count), **options)
    values, found = part
    if merged.shape[1]:
        rest, indices, stride = found, np.zeros_like(found), 1
        for axis in reversed(reduced):
            rest, coordinates = np.divmod(rest, x.shape[axis])
            indices += (coordinates + start[axis]) * stride
            stride *= whole[axis]
        # Where nothing was seen, that stays.
        found = np.where(found == -1, found, indices)
    return part._replace(values=values.reshape(sizes), indices=found.reshape(sizes))


def _merged(x: np.ndarray[Any, Any], reduced: tuple[int, ...]) -> tuple[np.ndarray[Any, Any], list[int]]:
    """Kept axes merged to one, and reduced ones to another; and the sizes of those that are kept."""
    kept = [axis for axis in range(x.ndim) if axis not in reduced]
    sizes = [x.shape[axis] for axis in kept]
    count = math.prod(x.shape[axis] for axis in reduced)
    return x.transpose(kept + list(reduced)).reshape(math.prod(sizes), count), sizes
