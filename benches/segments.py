"""Segments from Python, beside awkward and polars on one thread: by turns, the least time of some.

    python benches/segments.py         milliseconds for all, or "-" where a library is missing
"""

from __future__ import annotations

import os

os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
os.environ["POLARS_MAX_THREADS"] = "1"

import importlib
import time
from collections.abc import Callable
from typing import Any

import argreduce.segments
import numpy as np

ELEMENTS = 1_000_000
Call = Callable[[], Any]


def library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def main() -> None:
    rng = np.random.default_rng(17)
    ak, pl, pa = library("awkward"), library("polars"), library("pyarrow")
    names = ["offsets", "pyarrow", "awkward array", "polars column", "ak.argmax", "list.arg_max", "times", "times"]
    print(f"{'':<10}" + "".join(f"{name:>15}" for name in names))
    for dtype in ("f4", "i8", "u1"):
        for mean in (1, 4, 16, 64, 1000):
            ends = np.cumsum(rng.integers(1, 2 * mean, 2 * ELEMENTS // mean))
            offsets = np.concatenate([[0], ends[ends <= ELEMENTS]])
            x = (rng.random(ELEMENTS) * 250).astype(dtype)
            calls: list[Call | None] = [lambda: argreduce.segments.argmax(x, offsets), None, None, None, None, None]
            if pa:
                lists = pa.LargeListArray.from_arrays(offsets, x[: offsets[-1]])
                calls[1] = lambda: argreduce.segments.argmax(lists)
            if ak:
                array = ak.Array(ak.contents.ListOffsetArray(ak.index.Index64(offsets), ak.contents.NumpyArray(x)))
                calls[2], calls[4] = (lambda: argreduce.segments.argmax(array)), (lambda: ak.argmax(array, axis=1))
            if pl and pa:
                column = pl.Series(lists)
                calls[3], calls[5] = (lambda: argreduce.segments.argmax(column)), (lambda: column.list.arg_max())
            for call in calls[1:]:
                if call:
                    np.testing.assert_array_equal(np.asarray(call()), calls[0]())
            least = [float("inf")] * len(calls)
            for _ in range(15):
                for n, call in enumerate(calls):
                    if call:
                        before = time.perf_counter()
                        call()
                        least[n] = min(least[n], 1e3 * (time.perf_counter() - before))
            times = ["-" if ms == float("inf") else f"{ms:.3f}" for ms in least]
            times += [f"{least[4] / least[2]:.1f}", f"{least[5] / least[3]:.1f}"]
            print(f"{dtype} {mean:<7}" + "".join(f"{ms:>15}" for ms in times), flush=True)


if __name__ == "__main__":
    main()
