"""Long calls end when a signal's handler raises: within a second, whatever they read."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import argreduce
import numpy as np
import pytest
from argreduce import _argreduce
from conftest import EMULATOR
from numpy.lib.stride_tricks import as_strided


class Enough(Exception):
    pass


@pytest.fixture
def alarm() -> Iterator[Callable[[float], None]]:
    def enough(number: int, frame: Any) -> None:
        raise Enough

    before = signal.signal(signal.SIGALRM, enough)
    try:
        yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def rows_of(series: Any, rows: int, size: int) -> Any:
    """Rows that have elements in common, at steps that make no windows of them: those would be answered at once."""
    return as_strided(series, (rows, size), (7 * series.itemsize, 5 * series.itemsize))


# Each of these reads for half a minute or more, and has some megabytes of memory.
SERIES = np.random.default_rng(1).random(2_000_000)
ROWS = rows_of(SERIES, 140_000, 200_000)
WHERE = np.random.default_rng(2).random(200_000) < 0.5
SEGMENTS = as_strided(np.zeros(1 << 26, np.uint8), (8192, 1024, 8192), (4095, 4093, 5))
PART = {"start": (0, 0), "whole": ROWS.shape}
LONG: dict[str, Callable[..., Any]] = {
    "rows": lambda **options: argreduce.argmax(ROWS, 1, **options),
    "columns": lambda **options: argreduce.argmin(ROWS, 0, **options),
    "all": lambda **options: argreduce.argmax(ROWS, **options),
    "segments": lambda **options: argreduce.argmax(SEGMENTS, (0, 2), **options),
    "values": lambda **options: argreduce.max_argmax(ROWS, 1, **options),
    "numbers": lambda **options: argreduce.nanargmin(ROWS, 1, **options),
    "dates": lambda **options: argreduce.argmax(rows_of(SERIES.view("M8[s]"), 140_000, 200_000), 1, **options),
    "both": lambda **options: argreduce.argminmax_values(ROWS, 1, **options),
    "both of all": lambda **options: argreduce.argminmax(ROWS, **options),
    "out": lambda **options: argreduce.argmax(ROWS, 1, out=np.zeros(140_000, np.int64), **options),
    "where": lambda **options: argreduce.argmax(ROWS, 1, where=WHERE, **options),
    "partial": lambda **options: argreduce.partial(ROWS, 1, **PART, **options),
    "partial where": lambda **options: argreduce.partial(ROWS, 1, where=WHERE, **PART, **options),
}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("what", LONG)
def test_a_handler_that_raises(alarm, what, threads):
    _argreduce._set_cpus(16)
    try:
        alarm(0.2)
        start = time.monotonic()
        with pytest.raises(Enough):
            LONG[what](threads=threads)
            # Not until some seconds later.
            time.sleep(5)
        assert time.monotonic() - start < (60 if EMULATOR else 5), what
        # And all is as it was.
        assert argreduce.argmax(SERIES, threads=threads) == np.argmax(SERIES)
    finally:
        _argreduce._set_cpus(0)


def test_a_handler_that_does_not_raise():
    seen = []
    before = signal.signal(signal.SIGALRM, lambda *_: seen.append(argreduce.argmax(ROWS[:9], 1, threads=2)))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
        x = rows_of(SERIES, 60_000, 20_000)
        found = argreduce.argmax(x, 1, threads=2)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    np.testing.assert_array_equal(found, argreduce.argmax(x, 1))
    assert seen and all(at.tolist() == argreduce.argmax(ROWS[:9], 1).tolist() for at in seen)


def test_ctrl_c():
    program = """
import numpy as np, argreduce, sys
from numpy.lib.stride_tricks import as_strided
x = as_strided(np.zeros(2_000_000), (140_000, 200_000), (56, 40))
print("ready", flush=True)
try:
    argreduce.argmax(x, 1)
except KeyboardInterrupt:
    print("interrupted", argreduce.argmax(x[0]), flush=True)
"""
    command = [*EMULATOR, sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        told, errors = child.communicate(timeout=60)
    assert (told, errors) == ("interrupted 0\n", "")


def test_other_threads_go_on(alarm):
    # Signals are the main thread's. It waits for another, whose answer is the right one.
    x, found, done = rows_of(SERIES, 60_000, 20_000), [], threading.Event()

    def work() -> None:
        try:
            found.append(argreduce.argmax(x, 1, threads=2))
        finally:
            done.set()

    other = threading.Thread(target=work)
    other.start()
    alarm(0.05)
    with pytest.raises(Enough):
        done.wait()
        time.sleep(5)
    assert done.wait(60)
    np.testing.assert_array_equal(found[0], argreduce.argmax(x, 1))


def test_a_fork_is_interrupted(alarm):
    # The thread that forks is the main one of the child.
    def child() -> None:
        pid = os.fork()
        if pid == 0:
            status = 3
            try:
                signal.signal(signal.SIGALRM, lambda *_: os._exit(7))
                signal.setitimer(signal.ITIMER_REAL, 0.2)
                argreduce.argmax(ROWS, 1)
            finally:
                os._exit(status)
        statuses.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))

    statuses: list[int] = []
    thread = threading.Thread(target=child)
    thread.start()
    thread.join()
    assert statuses == [7]
