#!/usr/bin/env python3
"""How long the largest magnitude and the nearest element take, beside NumPy and BLAS: on one core, in one process, by
turns, the least time of many.

    pip install ./integrations/python scipy
    python integrations/python/bench_keys.py        prints the table of docs/performance.md
"""

from __future__ import annotations

import os

# Before anything starts its threads.
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import timeit
from collections.abc import Callable
from typing import Any

import argreduce
import numpy as np

try:
    from scipy.linalg import blas
except ImportError:
    blas = None


def least(calls: list[Callable[[], Any]]) -> list[float]:
    """The time of each, in microseconds."""
    timers = [timeit.Timer(call) for call in calls]
    counts = [max(1, int(2e-3 / max(timer.timeit(1), 1e-7))) for timer in timers]
    times = [[timer.timeit(count) / count for timer, count in zip(timers, counts, strict=True)] for _ in range(40)]
    return [1e6 * min(column) for column in zip(*times, strict=True)]


def main() -> None:
    rng = np.random.default_rng(7)
    print("| array | `argmax` | `key=\"abs\"` | NumPy's `abs`, `argmax` | BLAS | `nearest` | NumPy's `abs(x - q)`, `argmin` |")
    print("|---|---|---|---|---|---|---|")
    for dtype in ("f4", "f8", "f2", "i1", "i4"):
        for count in (4096, 16_384, 131_072, 4 << 20):
            x = (rng.standard_normal(count) * 30).astype(dtype)
            q = 101.5 if x.dtype.kind == "f" else 101
            isamax = {"f4": "isamax", "f8": "idamax"}.get(dtype)
            calls: list[Callable[[], Any]] = [
                lambda x=x: argreduce.argmax(x),
                lambda x=x: argreduce.argmax(x, key="abs"),
                lambda x=x: np.abs(x).argmax(),
                lambda x=x, q=q: argreduce.nearest(x, q),
                lambda x=x, q=x.dtype.type(q): np.abs(x - q).argmin(),
            ]
            if isamax and blas:
                calls.append(lambda x=x, isamax=isamax: getattr(blas, isamax)(x))
            assert calls[1]() == calls[2]() or x.dtype.kind == "i"
            plain, magnitude, by_numpy, nearest, nearest_by_numpy, *of_blas = least(calls)
            of_blas = f"{of_blas[0] / magnitude:.1f}" if of_blas else ""
            print(
                f"| {x.dtype}, {count:,} | {plain:.1f} µs | {magnitude:.1f} µs | {by_numpy / magnitude:.1f} | {of_blas} "
                f"| {nearest:.1f} µs | {nearest_by_numpy / nearest:.1f} |"
            )


if __name__ == "__main__":
    main()
