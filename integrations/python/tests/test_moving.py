"""Moving windows: the rules of bottleneck, beside bottleneck itself and plain loops."""

from __future__ import annotations

import itertools
import pathlib
import runpy

import argreduce
import numpy as np
import pytest

NAMES = ["move_argmax", "move_argmin"]
TYPES = ["bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]


def by_loops(name, x, window, min_count=None, axis=-1, *, absolute=False):
    """One window after another."""
    min_count = window if min_count is None else min_count
    found = np.empty(np.moveaxis(x, axis, -1).shape, np.int64 if absolute else np.float64)
    for series in np.ndindex(found.shape[:-1]):
        elements = np.moveaxis(x, axis, -1)[series]
        for i in range(len(elements)):
            first = max(i + 1 - window, 0)
            numbers = [n for n in range(first, i + 1) if elements[n] == elements[n]]
            found[(*series, i)] = -1 if absolute else np.nan
            if len(numbers) >= min_count:
                best = (max if name == "move_argmax" else min)(elements[n] for n in numbers)
                place = max(n for n in numbers if elements[n] == best)
                found[(*series, i)] = place if absolute else i - place
    return np.moveaxis(found, -1, axis)


def drawn(rng, shape, dtype, nan=0.0):
    dtype = np.dtype(dtype)
    x = rng.integers(0, 7, shape).astype(dtype)
    if dtype.kind == "f" and nan:
        x[rng.random(shape) < nan] = np.nan
    return x


def check(name, x, window, min_count=None, axis=-1):
    for absolute in (False, True):
        found = getattr(argreduce, name)(x, window, min_count, axis, absolute=absolute)
        expected = by_loops(name, x, window, min_count, axis, absolute=absolute)
        assert found.dtype == expected.dtype and type(found) is np.ndarray
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", NAMES)
def test_types(name, dtype):
    rng = np.random.default_rng(1)
    for len_, nan in itertools.product([1, 2, 40, 150], [0, 0.3, 0.9]):
        x = drawn(rng, len_, dtype, nan)
        for window in {1, min(3, len_), len_ // 2 + 1, len_}:
            for min_count in {None, 1, window // 2 + 1}:
                check(name, x, window, min_count)


@pytest.mark.parametrize("name", NAMES)
def test_axes_and_strides(name):
    rng = np.random.default_rng(2)
    for dtype in ("f8", "i2"):
        for shape in [(5, 70), (70, 5), (3, 40, 4), (2, 2, 2, 30)]:
            x = drawn(rng, shape, dtype, 0.1)
            for axis in range(-x.ndim, x.ndim):
                for window in {1, 2, shape[axis]}:
                    check(name, x, window, 1, axis)
            for view in (x[::-1], x.T, x[..., ::2], np.broadcast_to(x[:1], shape), np.asfortranarray(x)):
                check(name, view, min(2, view.shape[0]), None, 0)
                check(name, view, min(3, view.shape[-1]), 2 if view.shape[-1] > 1 else 1)


@pytest.mark.parametrize("name", NAMES)
def test_long_windows(name):
    """As a deque has them: those that the library answers by blocks."""
    rng = np.random.default_rng(3)
    for dtype, nan in [("f4", 0), ("f8", 0.01), ("i2", 0), ("u1", 0), ("f2", 0.5)]:
        for x in (drawn(rng, 5000, dtype, nan), np.sort(drawn(rng, 5000, dtype)), np.sort(drawn(rng, 5000, dtype))[::-1]):
            for window in (64, 333, 1000, 4999):
                found = getattr(argreduce, name)(x, window, 1, absolute=True)
                # Of each place that is found, its element is the best, and it is the last of its equals.
                sign = 1 if name == "move_argmax" else -1
                for i in (0, 1, 63, 64, 65, 332, 333, 1000, 2048, 2049, 4000, 4998, 4999):
                    part = x[max(i + 1 - window, 0) : i + 1].astype(np.float64) * sign
                    expected = -1 if np.isnan(part).all() else i - int(np.nanargmax(part[::-1]))
                    assert found[i] == expected


@pytest.mark.parametrize("name", NAMES)
def test_beside_bottleneck(name):
    bottleneck = pytest.importorskip("bottleneck")
    rng = np.random.default_rng(4)
    ours, theirs = getattr(argreduce, name), getattr(bottleneck, name)
    for dtype, nan in itertools.product(["i4", "i8", "f4", "f8"], [0, 0.2]):
        for shape, axis in [((300,), 0), ((20, 50), 1), ((50, 20), 0)]:
            x = drawn(rng, shape, dtype, nan)
            for window in (1, 2, 7, shape[axis]):
                for min_count in (None, 1, window):
                    expected = theirs(x, window, min_count, axis)
                    np.testing.assert_array_equal(ours(x, window, min_count, axis), expected)


def test_infinities_and_nan():
    """To bottleneck, as to NumPy, NaN is the worst infinity."""
    x = np.array([np.inf, np.nan, -np.inf, np.nan, 1.0])
    np.testing.assert_array_equal(argreduce.move_argmin(x[:2], 2, 1), [0, 0])
    np.testing.assert_array_equal(argreduce.move_argmax(x[2:], 2, 1), [0, 0, 0])
    np.testing.assert_array_equal(argreduce.move_argmax(x, 3, 1), [0, 1, 2, 0, 0])
    bottleneck = pytest.importorskip("bottleneck")
    rng = np.random.default_rng(5)
    for _ in range(100):
        x = rng.choice([np.inf, -np.inf, np.nan, 1.0], 30)
        for name in NAMES:
            ours, theirs = getattr(argreduce, name), getattr(bottleneck, name)
            np.testing.assert_array_equal(ours(x, 3, 1), theirs(x, 3, 1))


def test_what_else_has_elements():
    np.testing.assert_array_equal(argreduce.move_argmax([3, 1, 2], 2), [np.nan, 1, 0])
    np.testing.assert_array_equal(argreduce.move_argmin(memoryview(b"cab"), 2), [np.nan, 0, 1])
    swapped = np.array([3.0, 1.0, 2.0], ">f8")
    np.testing.assert_array_equal(argreduce.move_argmax(swapped, 2), [np.nan, 1, 0])
    bools = np.array([0, 1, 2, 0], np.uint8).view(bool)
    np.testing.assert_array_equal(argreduce.move_argmax(bools, 3, 1, absolute=True), [0, 1, 2, 2])
    many = np.arange(24.0).reshape((2, 3, 1, 1, 1, 1, 1, 1, 4))
    for axis in (0, 1, -1):
        check("move_argmax", many, 2, axis=axis)
    eight = np.arange(24.0).reshape((2, 3, 1, 1, 1, 1, 1, 4))
    check("move_argmin", eight, 2, axis=1)
    assert argreduce.move_argmax(np.zeros((0, 3)), 2).shape == (0, 3)


@pytest.mark.parametrize("name", NAMES)
def test_errors(name):
    function, x = getattr(argreduce, name), np.zeros((3, 4))
    for window in (0, -1, 5, 10**30):
        with pytest.raises(ValueError, match=rf"^window is {min(window, 2**63 - 1)}: 1 to 4 are allowed, the extent of axis 1$"):
            function(x, window)
    for min_count in (0, 4, -(10**30)):
        with pytest.raises(ValueError, match=r"^min_count is .*: 1 to 3 are allowed, the elements of a window$"):
            function(x, 3, min_count)
    with pytest.raises(ValueError, match="^window is 1: 1 to 0 are allowed, the extent of axis 0$"):
        function([], 1)
    with pytest.raises(ValueError, match=f"^x has no axes: {name} needs one$"):
        function(1.0, 1)
    with pytest.raises(np.exceptions.AxisError):
        function(x, 2, axis=2)
    for wrong in (1.5, "a", None):
        with pytest.raises(TypeError):
            function(x, wrong)
        with pytest.raises(TypeError):
            function(x, 2, axis=wrong)
    for wrong in (np.zeros(3, complex), np.array(["a"]), np.zeros(3, "M8[s]"), np.ma.masked_array([1, 2], [True, False])):
        with pytest.raises(TypeError, match=f"^{name} takes "):
            function(wrong, 1)
    dask = pytest.importorskip("dask.array")
    with pytest.raises(TypeError, match=f"^{name} takes no dask arrays"):
        function(dask.zeros(3), 1)


def test_views_of_windows():
    """Those of NumPy: of one axis and of two, by steps, turned round and transposed; with values, and on threads."""
    from numpy.lib.stride_tricks import sliding_window_view

    rng = np.random.default_rng(6)
    for dtype in ("f4", "f8", "i2", "u1"):
        series, image = drawn(rng, 1500, dtype), drawn(rng, (60, 170), dtype)
        views = [
            (sliding_window_view(series, 100), -1),
            (sliding_window_view(series[::-1], 600)[::7], -1),
            (sliding_window_view(series[::3], 90), -1),
            (sliding_window_view(image, 40, axis=0), -1),
            (sliding_window_view(image, (7, 9)), (2, 3)),
            (sliding_window_view(image[::-1, ::-1], (20, 3)), (2, 3)),
            (sliding_window_view(image.T, (9, 30)), (2, 3)),
            (sliding_window_view(image, (5, 33)).transpose(1, 0, 3, 2), (2, 3)),
        ]
        for view, axis in views:
            windows = np.ascontiguousarray(view)
            flat = windows.reshape((*windows.shape[: view.ndim - np.size(axis)], -1))
            for name in ("argmax", "argmin"):
                expected = getattr(np, name)(flat, -1)
                for threads in (1, 3):
                    np.testing.assert_array_equal(getattr(argreduce, name)(view, axis, threads=threads), expected)
            last = flat.shape[-1] - 1 - np.argmax(flat[..., ::-1], -1)
            np.testing.assert_array_equal(argreduce.argmax(view, axis, select_last=True), last)
            values = argreduce.max_argmax(view, axis).values
            np.testing.assert_array_equal(values, flat.max(-1))


def test_rolling_of_xarray():
    """As in README.md: xarray calls what reduces each window."""
    xarray = pytest.importorskip("xarray")
    prices = xarray.DataArray([3.0, 1.0, 4.0, 1.0, 5.0], dims="day", coords={"day": range(5)})
    found = prices.rolling(day=3).reduce(argreduce.argmax)
    np.testing.assert_array_equal(found[2:], [2, 1, 2])
    found = xarray.apply_ufunc(argreduce.move_argmax, prices, kwargs={"window": 3})
    np.testing.assert_array_equal(found, [np.nan, np.nan, 0, 1, 0])
    assert found.dims == ("day",) and list(found.day) == list(prices.day)
    np.testing.assert_array_equal(argreduce.move_argmax(prices, 3), found)


def test_example_of_prices():
    path = pathlib.Path(__file__).parents[3] / "examples" / "prices.py"
    runpy.run_path(str(path), run_name="__main__")
