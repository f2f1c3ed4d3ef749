"""What is drawn is what a chart of all points shows, pixel for pixel; whether points divide into columns or not."""

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
