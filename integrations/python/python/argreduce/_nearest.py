"""What is nearest to a value, by the name that people look for."""

from __future__ import annotations

from typing import Any, Literal, SupportsIndex

from . import _argreduce


def nearest(
    x: Any,
    q: Any,
    /,
    axis: Any = None,
    *,
    keepdims: bool = False,
    out: Any = None,
    dtype: Any = None,
    select_last: bool = False,
    nan: Literal["propagate", "ignore"] = "propagate",
    threads: Any = None,
    where: Any = None,
    fill: SupportsIndex | None = None,
) -> Any:
    """Where the elements nearest to ``q`` are along any axes: ``argmin(x, axis, near=q)``.

    As ``numpy.abs(x - q).argmin(axis)``, but that nothing is copied, and distances of integers never wrap.

    Parameters
    ----------
    x : array
        As in :func:`argreduce.argmin`, but for dates.
    q : a number
        As ``near`` there.
    axis, keepdims, out, dtype, select_last, nan, threads, where, fill
        As there.

    Returns
    -------
    array of int64 (or of ``dtype``), or a number if all axes are reduced
        The indices.

    Raises
    ------
    ValueError, TypeError
        As there.

    Examples
    --------
    >>> import numpy as np, argreduce
    >>> argreduce.nearest(np.array([[1.0, 5.5], [7.0, 4.0]]), 5.0, axis=1)
    array([1, 1])
    """
    return _argreduce.argmin(
        x, axis, keepdims=keepdims, out=out, dtype=dtype, select_last=select_last, nan=nan, threads=threads, where=where,
        fill=fill, near=q,
    )  # fmt: skip
