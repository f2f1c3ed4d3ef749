#!/usr/bin/env python3
"""Draws a series of a hundred million points, and times MinMax and M4 beside those of tsdownsample.

    pip install ./integrations/python pillow tsdownsample
    python examples/minmax/draw.py                      prints the table, and writes series.png beside this file
    python examples/minmax/draw.py --write              writes the table into README.md, too
    python examples/minmax/draw.py --series FILE.npy --output FILE.png    of a series of yours

Where tsdownsample is missing, its column says so.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import os
import platform
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import argreduce
import numpy as np
from minmax import Array, columns, m4, minmax
from PIL import Image, ImageDraw

README = Path(__file__).with_name("README.md")
MARKS = "<!-- by draw.py -->\n", "<!-- end -->\n"
PAPER, INK = 255, 0


def random_walk(count: int) -> Array:
    """A random walk with a few spikes, each of one point: made in blocks, so that it needs little more memory."""
    rng = np.random.default_rng(54)
    series, block, level = np.empty(count, np.float32), 1 << 20, 0.0
    for start in range(0, count, block):
        part = series[start : start + block]
        steps = np.cumsum(rng.standard_normal(len(part), np.float32), dtype=np.float64)
        part[:] = level + steps
        level += float(steps[-1])
    height = float(series.max() - series.min())
    series[rng.integers(0, count, 12)] += (rng.random(12, np.float32) - 0.5) * height
    return series


def series_of(file: Path) -> Array:
    """A series of a file, of which only what is read comes into memory."""
    try:
        series = np.load(file, mmap_mode="r")
    except (OSError, ValueError, EOFError) as error:
        raise SystemExit(f"{file}: {error}") from error
    if not isinstance(series, np.ndarray):
        raise SystemExit(f"{file}: several arrays, where one is needed")
    if series.ndim != 1 or series.dtype.kind not in "iuf" or not len(series):
        what = f"{file}: an array of {series.dtype} and of shape {series.shape}"
        raise SystemExit(f"{what}: one axis of integers or floats is needed, and at least one point")
    smallest, largest = series[list(argreduce.argminmax(series))]
    if not (np.isfinite(smallest) and np.isfinite(largest)):
        raise SystemExit(f"{file}: NaN or infinity is in it: no line goes there")
    return series


def line_chart(series: Array, points: Array, width: int, height: int, draw: ImageDraw.ImageDraw, top: int = 0) -> None:
    """Draws lines from point to point. The pixel of a point does not depend on which others are drawn."""
    low, high = float(series.min()), float(series.max())
    column = columns(points, len(series), width)
    row = np.rint((high - series[points].astype(np.float64)) * ((height - 1) / ((high - low) or 1)))
    pixels = list(zip(column.tolist(), (top + row).astype(int).tolist()))
    # A line of one point is none to Pillow.
    draw.line(pixels if len(pixels) > 1 else 2 * pixels, fill=INK)


def picture(series: Array, width: int, height: int) -> Image.Image:
    """As many points at equal distances, and M4: one above the other."""
    equally_spaced = np.linspace(0, len(series) - 1, 4 * width).astype(int)
    charts = {
        f"{4 * width:,} points, equally spaced": equally_spaced,
        f"{4 * width:,} points by M4: pixel for pixel the chart of all {len(series):,}": m4(series, width),
    }
    image = Image.new("L", (width, len(charts) * (height + 24)), PAPER)
    draw = ImageDraw.Draw(image)
    for n, (title, points) in enumerate(charts.items()):
        top = n * (height + 24)
        draw.text((2, top + 5), title, fill=INK)
        line_chart(series, points, width, height, draw, top + 22)
    # A few greys are enough for the letters.
    return image.quantize(8, dither=Image.Dither.NONE)


def best_of(calls: dict[str, Callable[[], Any]], seconds: float) -> dict[str, float]:
    """The least of many times, in turn, so that all see the same disturbances."""
    best = dict.fromkeys(calls, float("inf"))
    end, turns = time.perf_counter() + seconds, 0
    while turns < 3 or time.perf_counter() < end:
        turns += 1
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def table(series: Array, width: int, seconds: float) -> str:
    lines = ["| points to draw | threads | argreduce, ms | tsdownsample, ms | ratio |", "|---|---|---|---|---|"]
    for name, ours, per_column in (("MinMax", minmax, 2), ("M4", m4, 4)):
        for threads in (1, 2):
            calls = {"ours": lambda: ours(series, width, threads)}
            theirs = theirs_of(name, series, per_column * width, threads)
            if theirs is not None:
                calls["theirs"] = theirs
                check_extremes(series, ours(series, width, threads), theirs())
            times = best_of(calls, seconds)
            cells = [f"{times['ours'] * 1e3:.1f}", "not run", ""]
            if theirs is not None:
                cells[1:] = [f"{times['theirs'] * 1e3:.1f}", f"{times['theirs'] / times['ours']:.2f}"]
            lines.append(f"| {name} | {threads} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", about(series, width), ""])


def theirs_of(name: str, series: Array, count: int, threads: int) -> Callable[[], Any] | None:
    """The same by tsdownsample, if it is there."""
    # Read when its threads start.
    os.environ.setdefault("TSDOWNSAMPLE_MAX_THREADS", "2")
    try:
        import tsdownsample
    except ImportError:
        return None
    downsampler = getattr(tsdownsample, f"{name}Downsampler")()
    return lambda: downsampler.downsample(series, n_out=count, parallel=threads > 1)


def check_extremes(series: Array, ours: Array, theirs: Array) -> None:
    """Columns may end a point earlier or later; the smallest and the largest of all are the same."""
    for best in (np.min, np.max):
        if best(series[ours]) != best(series[theirs]):
            raise SystemExit("two libraries found different points: nothing is timed")


def about(series: Array, width: int) -> str:
    """What was measured, where, when, of which commit."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        models = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    git = ["git", "-C", str(README.parent), "describe", "--always", "--dirty", "--exclude=*"]
    commit = subprocess.run(git, capture_output=True, check=False, text=True).stdout.strip() or "unknown"
    versions = [f"Python {platform.python_version()}", f"numpy {np.__version__}"]
    try:
        versions.append(f"tsdownsample {importlib.metadata.version('tsdownsample')}")
    except importlib.metadata.PackageNotFoundError:
        pass
    cpus = f"{len(os.sched_getaffinity(0))} cores of: {models[0] if models else platform.machine()}"
    what = f"{len(series):,} points of {series.dtype} to {width:,} columns"
    return f"{what}. {datetime.date.today()}, commit {commit}, {cpus}. {', '.join(versions)}."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--series", type=Path, help="a .npy file of one axis, in place of a random walk")
    parser.add_argument("--points", type=int, default=100_000_000, help="of the random walk (default: 100000000)")
    parser.add_argument("--width", type=int, default=1200)
    parser.add_argument("--height", type=int, default=160, help="of each of the two charts")
    parser.add_argument("--seconds", type=float, default=4, help="for each row of the table (default: 4)")
    parser.add_argument("--output", type=Path, help="the picture (default: series.png beside this file)")
    parser.add_argument("--write", action="store_true", help="write the table into README.md")
    options = parser.parse_args()
    for name in ("points", "width", "height"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} is {getattr(options, name)}: at least 1 is needed")
    if options.series and not options.output:
        parser.error("--series needs --output: series.png is the picture of the random walk")
    series = series_of(options.series) if options.series else random_walk(options.points)
    output = options.output or Path(__file__).with_name("series.png")
    picture(series, options.width, options.height).save(output, optimize=True)
    print(f"{output}: {output.stat().st_size} bytes")
    text = table(series, options.width, options.seconds)
    print(text)
    if options.write:
        before, _, rest = README.read_text(encoding="utf-8").partition(MARKS[0])
        after = rest.partition(MARKS[1])[2]
        README.write_text(before + MARKS[0] + "\n" + text + "\n" + MARKS[1] + after, encoding="utf-8")


if __name__ == "__main__":
    main()
