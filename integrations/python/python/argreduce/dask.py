"""argmax and its sisters for dask arrays: lazy, over any axes and any chunks, bit for bit the answer of one array.

Each chunk gives a partial answer: its best elements, and where they are in the whole array. Partial answers merge in
any order and grouping, so that the tree of merging is dask's own (:func:`dask.array.reduction`, ``split_every``), and
so are schedulers.

>>> import dask.array as da
>>> import argreduce.dask
>>> x = da.from_array([[1.0, 5.0, 2.0], [7.0, 0.0, 7.0]], chunks=(1, 2))
>>> argreduce.dask.argmax(x, axis=1).compute()
array([1, 0])

The functions are those of :mod:`argreduce`, and so are their options, with ``split_every`` beside them. Three are not
taken. ``dtype``: indices are int64, and ``astype`` of the result makes others. ``out``: nothing is written until it is
computed. ``threads``: dask has its own, and chunks are what runs at the same time.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from . import _argreduce, _dask

_NOT_TAKEN = frozenset({"dtype", "out", "threads"})

_DOC = """{summary}

Lazily, of a dask array: as :func:`argreduce.{name}`, chunk by chunk.

Parameters
----------
x : dask array, or an object of xarray
    Of any chunks. Their sizes have to be known along the reduced axes that have more than one. A chunk whose
    elements are of another type than ``x.dtype`` is cast to that: floats are rounded to it; integers, bool and
    floats that are cast to integers or to bool have to keep their values, and so have dates of another unit.
axis : None, int or tuple of int
    The axes to reduce; of an object of xarray, names too.
split_every : None, int or dict
    How many partial answers are merged at a time, as in :func:`dask.array.reduction`.
where : None or array of bool, of dask or not
    True where an element is there; it broadcasts to ``x``, and may have other chunks.
{others}
    As in :func:`argreduce.{name}`.

Returns
-------
dask array, or a named tuple of several that share their work; or the same of xarray
    What :func:`argreduce.{name}` gives. Indices are int64.

Raises
------
ValueError
    A reduced axis is empty, and there is no ``fill``, or it is cut into chunks of unknown sizes: now, and not when
    it is computed. When it is computed, a chunk of another rank than ``x``, or of another size along a reduced axis
    than ``x.chunks`` says; and without ``fill``, an output of which no element is there.
TypeError
    Elements of a type that :func:`argreduce.{name}` does not take. When it is computed, a chunk of such a type, or
    whose elements would not keep their values.

Examples
--------
>>> import dask, dask.array as da, argreduce.dask
>>> dask.compute(argreduce.dask.{name}(da.arange(10.0, chunks=3)))[0]
{example}
"""


def _lazy(name: str) -> Any:
    """The function of that name, made of the one for arrays."""
    eager = getattr(_argreduce, name)
    x, axis, *options = inspect.signature(eager).parameters.values()
    options = [option for option in options if option.name not in _NOT_TAKEN]
    options.append(inspect.Parameter("split_every", inspect.Parameter.KEYWORD_ONLY, default=None))
    defaults = {option.name: option.default for option in options}

    def lazy(x: Any, axis: Any = None, **said: Any) -> Any:
        for option in said:
            if option not in defaults:
                raise TypeError(f"{name}() got an unexpected keyword argument '{option}'")
        return _dask.reduce(name, x, axis, **{**defaults, **said})

    lazy.__name__ = lazy.__qualname__ = name
    x = x.replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD)
    lazy.__signature__ = inspect.Signature([x, axis, *options])
    others = ", ".join(option for option in defaults if option not in ("split_every", "where"))
    summary = eager.__doc__.partition("\n\nParameters")[0]
    lazy.__doc__ = _DOC.format(name=name, summary=summary, others=others, example=repr(eager(np.arange(10.0))))
    return lazy


__all__ = sorted(_argreduce._FUNCTIONS)
globals().update({name: _lazy(name) for name in __all__})


def __dir__() -> list[str]:
    return list(__all__)
