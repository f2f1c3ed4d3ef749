"""Moving windows from Python, beside NumPy, bottleneck and SciPy: by turns, the least time of some, on one core.

    python benches/moving.py         nanoseconds an output, or "-" where a library is missing
"""

from __future__ import annotations

import os

os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import importlib
import time
from collections.abc import Callable
from typing import Any

import argreduce
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

LEN = 100_000
Call = Callable[[], Any]


def of(library: str, name: str) -> Any:
    try:
        return getattr(importlib.import_module(library), name)
    except ImportError:
        return None


def least(calls: list[Call | None], outputs: int, rounds: int) -> list[str]:
    shortest = [float("inf")] * len(calls)
    for _ in range(rounds):
        for n, call in enumerate(calls):
            if call is not None and (n == 0 or shortest[n] > 1 or _ == 0):
                before = time.perf_counter()
                call()
                shortest[n] = min(shortest[n], time.perf_counter() - before)
    return ["-" if time_ == float("inf") else f"{time_ * 1e9 / outputs:.2f}" for time_ in shortest]


def line(name: str, *columns: str) -> None:
    print(f"{name:<26}" + "".join(f"{column:>14}" for column in columns))


def main() -> None:
    rng = np.random.default_rng(17)
    move_argmax, maximum_filter = of("bottleneck", "move_argmax"), of("scipy.ndimage", "maximum_filter")
    line("", "move_argmax", "bottleneck", "argmax (view)", "NumPy (view)")
    for dtype in (np.float32, np.float64, np.int16):
        x = (rng.random(LEN) * 30_000).astype(dtype)
        for width in (3, 10, 20, 50, 100, 200, 1000, 10_000):
            view = sliding_window_view(x, width)
            theirs = move_argmax and (lambda: move_argmax(x, width))
            if move_argmax:
                np.testing.assert_array_equal(argreduce.move_argmax(x, width), move_argmax(x, width))
            calls: list[Call | None] = [
                lambda: argreduce.move_argmax(x, width),
                theirs,
                lambda: argreduce.argmax(view, -1),
                (lambda: np.argmax(view, -1)) if width <= 1000 else None,
            ]
            line(f"{np.dtype(dtype)} {width}", *least(calls, LEN, 8 if width <= 100 else 4))
    print()
    line("", "max_argmax", "max. filter")
    for dtype in (np.float32, np.float64, np.int16):
        image = (rng.random((2048, 2048)) * 30_000).astype(dtype)
        for size in ((31, 31), (31, 1), (1, 31), (101, 101)):
            view = sliding_window_view(image, size)
            inner = tuple(slice(n // 2, n // 2 + count) for n, count in zip(size, view.shape))
            if maximum_filter:
                found = argreduce.max_argmax(view, (2, 3)).values
                np.testing.assert_array_equal(found, maximum_filter(image, size)[inner])
            calls = [
                lambda: argreduce.max_argmax(view, (2, 3)),
                maximum_filter and (lambda: maximum_filter(image, size)),
            ]
            line(f"{np.dtype(dtype)} {size}", *least(calls, image.size, 3))


main()
