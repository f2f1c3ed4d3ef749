"""Two ways to draw a long series in a picture of few columns, by the smallest and the largest point of each column.

A line chart of a hundred million points has some ten thousand of them in each column of pixels. There a line covers all
between the smallest and the largest. So these two are enough of a column (MinMax); with the first and the last point of
each as well, the lines from column to column are the same too (M4, by Jugel and others, VLDB 2014): not one pixel is
different from the chart of all points.

A NaN is no extreme: it hides no spike of its column. A column of nothing but NaN is drawn by its first point, and its
last one by M4. Of a series without points, none are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import argreduce
import numpy as np

Array = np.ndarray[Any, Any]


def bins(series: Array, width: int) -> Iterator[tuple[int, Array]]:
    """The points of each column as a row: (the number of the first point, rows), without a copy.

    Where the points do not divide into columns, the first columns have one more, as with `numpy.array_split`. Rows of
    one array are equally long: then there are two.
    """
    if series.ndim != 1:
        raise ValueError(f"the series has shape {series.shape}: one axis is needed")
    if width < 1:
        raise ValueError(f"width is {width}: at least one column is needed")
    if not len(series):
        return
    width = min(width, len(series))
    length, longer = divmod(len(series), width)
    end = longer * (length + 1)
    for start, part, count in ((0, series[:end], longer), (end, series[end:], width - longer)):
        if count:
            yield start, part.reshape(count, -1)


def columns(points: Array, count: int, width: int) -> Array:
    """In which column some points are, of a series of so many."""
    if not count:
        return np.zeros(points.shape, np.intp)
    length, longer = divmod(count, min(width, count))
    end = longer * (length + 1)
    return np.where(points < end, points // (length + 1), longer + (points - end) // length)


def minmax(series: Array, width: int, threads: int | None = None) -> Array:
    """Which points to draw: of each column the smallest and the largest, in their order."""
    return joined(extremes(series, width, threads))


def m4(series: Array, width: int, threads: int | None = None) -> Array:
    """Which points to draw: of each column the first, the smallest, the largest and the last, in their order."""
    found = []
    for (start, rows), points in zip(bins(series, width), extremes(series, width, threads)):
        count, length = rows.shape
        first = start + np.arange(count)[:, np.newaxis] * length
        found.append(np.concatenate([first, points, first + length - 1], axis=1))
    return joined(found)


def joined(found: list[Array]) -> Array:
    """The points of all columns, one after another; none where there are no columns."""
    return np.concatenate([np.empty(0, np.intp), *(points.ravel() for points in found)])


def extremes(series: Array, width: int, threads: int | None) -> list[Array]:
    """Where the smallest and the largest points of each column are in the series, in their order."""
    found = []
    for start, rows in bins(series, width):
        # One call for all columns: a row for each.
        both = argreduce.argminmax(rows, axis=1, nan="ignore", threads=threads)
        points = np.sort(np.stack(both, axis=1), axis=1)
        found.append(start + np.arange(len(rows))[:, np.newaxis] * rows.shape[1] + points)
    return found
