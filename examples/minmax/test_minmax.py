"""What is drawn is what a chart of all points shows, pixel for pixel; whether points divide into columns or not.

And a NaN hides nothing."""

from __future__ import annotations

import draw
import minmax
import numpy as np
import pytest
from PIL import Image, ImageDraw

# Points and columns: some divide, some leave one point, or all but one; as many points as columns, and fewer.
SHAPES = [(1000, 100), (1001, 100), (1099, 100), (100_003, 640), (700, 699), (64, 64), (50, 64), (1, 5), (9, 1)]


def series_of(kind: str, count: int) -> np.ndarray:
    rng = np.random.default_rng(count)
    if kind == "walk":
        return draw.random_walk(count)
    if kind == "noise":
        return rng.standard_normal(count)
    if kind == "integers with ties":
        return rng.integers(-3, 4, count).astype(np.int16)
    if kind == "sorted":
        return np.arange(count, dtype=np.uint32)
    # Every third of an array: a view.
    return rng.standard_normal((count, 3))[:, 1]


KINDS = ["walk", "noise", "integers with ties", "sorted", "a column of a table"]


def chart(series, points, width, height=60):
    image = Image.new("L", (width, height), draw.PAPER)
    draw.line_chart(series, points, width, height, ImageDraw.Draw(image))
    return np.asarray(image)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count, width", SHAPES)
def test_m4_is_the_chart_of_all_points(kind, count, width):
    series = series_of(kind, count)
    whole = chart(series, np.arange(count), width)
    assert (whole == draw.INK).any(axis=0).sum() == min(count, width)
    np.testing.assert_array_equal(chart(series, minmax.m4(series, width), width), whole)


def test_fewer_points_are_not():
    """So that the test above can fail."""
    series = series_of("noise", 2000)
    whole = chart(series, np.arange(2000), 100)
    four = minmax.m4(series, 100).reshape(-1, 4)
    others = [four[:, 1:].ravel(), four[:, :3].ravel(), four[:, [0, 3]].ravel(), np.arange(0, 2000, 5)]
    for points in (minmax.minmax(series, 100), *others):
        assert (chart(series, points, 100) != whole).any()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count, width", SHAPES)
def test_points_are_those_that_loops_find(kind, count, width):
    series = series_of(kind, count)
    extremes, ends = [], []
    for numbers in np.array_split(np.arange(count), min(width, count)):
        part = series[numbers]
        extremes.append(sorted([numbers[part.argmin()], numbers[part.argmax()]]))
        ends.append([numbers[0], numbers[-1]])
    for threads in (1, 2):
        np.testing.assert_array_equal(minmax.minmax(series, width, threads).reshape(-1, 2), extremes)
        four = minmax.m4(series, width, threads).reshape(-1, 4)
        np.testing.assert_array_equal(four[:, 1:3], extremes)
        np.testing.assert_array_equal(four[:, [0, 3]], ends)
    assert all(np.shares_memory(rows, series) for _, rows in minmax.bins(series, width))


@pytest.mark.parametrize("count, width", SHAPES)
def test_columns(count, width):
    parts = np.array_split(np.arange(count), min(width, count))
    wanted = np.concatenate([np.full(len(part), n) for n, part in enumerate(parts)])
    np.testing.assert_array_equal(minmax.columns(np.arange(count), count, width), wanted)


def test_a_nan_hides_no_spike():
    series = np.array([1, np.nan, 9, 2, 3, 0, 5, 7])
    assert minmax.minmax(series, 2).tolist() == [0, 2, 5, 7]
    assert minmax.m4(series, 2).tolist() == [0, 0, 2, 3, 4, 5, 7, 7]


@pytest.mark.parametrize("type", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("count, width", SHAPES)
def test_points_beside_nan_are_those_that_loops_find(count, width, type):
    rng = np.random.default_rng(count)
    series = rng.standard_normal(count).astype(type)
    series[rng.random(count) < 0.3] = np.nan
    parts = np.array_split(np.arange(count), min(width, count))
    # A column of nothing else, too.
    series[parts[len(parts) // 2]] = np.nan
    extremes = []
    for numbers in parts:
        there = numbers[~np.isnan(series[numbers])]
        found = [there[series[there].argmin()], there[series[there].argmax()]] if len(there) else [numbers[0]] * 2
        extremes.append(sorted(found))
    np.testing.assert_array_equal(minmax.minmax(series, width).reshape(-1, 2), extremes)
    np.testing.assert_array_equal(minmax.m4(series, width).reshape(-1, 4)[:, 1:3], extremes)


@pytest.mark.parametrize("type", [np.float64, np.int16, bool])
def test_no_points(type):
    empty = np.empty(0, type)
    for points in (minmax.minmax(empty, 5), minmax.m4(empty, 5), minmax.minmax(empty, 5, threads=2)):
        assert points.shape == (0,) and points.dtype == np.intp
        assert minmax.columns(points, 0, 5).shape == (0,)
    assert list(minmax.bins(empty, 5)) == []


def test_what_has_no_columns():
    for function in (minmax.minmax, minmax.m4):
        for width in (0, -1):
            with pytest.raises(ValueError, match=f"width is {width}: at least one column is needed"):
                function(np.arange(5), width)
        with pytest.raises(ValueError, match=r"the series has shape \(2, 3\): one axis is needed"):
            function(np.zeros((2, 3)), 5)


def test_the_picture():
    image = draw.picture(draw.random_walk(10_007), 300, 40)
    assert image.size == (300, 2 * 64)
    # The walk is the same, whatever the number of points of a block.
    walk = draw.random_walk((1 << 20) + 10)
    assert np.abs(np.diff(walk[-20:])).max() < 10


def test_what_is_no_series(tmp_path):
    for array in (np.zeros((2, 3)), np.zeros(0), np.zeros(3, complex), np.array([1, np.nan, 2]), np.array([1, np.inf])):
        np.save(tmp_path / "x.npy", array)
        with pytest.raises(SystemExit, match="x.npy: "):
            draw.series_of(tmp_path / "x.npy")
    (tmp_path / "x.npy").write_text("no array")
    np.savez(tmp_path / "x.npz", np.arange(5))
    for name in ("x.npy", "x.npz", "is not there.npy"):
        with pytest.raises(SystemExit, match=f"{name}: "):
            draw.series_of(tmp_path / name)
    np.save(tmp_path / "x.npy", np.arange(5))
    assert draw.series_of(tmp_path / "x.npy").tolist() == [0, 1, 2, 3, 4]
