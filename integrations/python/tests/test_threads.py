"""Calls on several threads: the same answers, threads that are really used, and a fork that has its own."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import argreduce
import numpy as np
import pytest
from argreduce import _argreduce
from conftest import DTYPES, EMULATOR, random_array


@pytest.fixture(autouse=True)
def as_on_a_large_machine():
    _argreduce._set_cpus(16)
    yield
    _argreduce._set_cpus(0)


# Runs before each program below: what the threads of the pool did, in nanoseconds, by the system's account.
PRELUDE = """
import glob, os, time, numpy as np, argreduce
argreduce._argreduce._set_cpus(16)
def pool():
    times = []
    for task in glob.glob("/proc/self/task/*"):
        if open(task + "/comm").read().strip() == "argreduce":
            times.append(int(open(task + "/schedstat").read().split()[0]))
    return times
def has(count):
    # A thread has its name once it runs.
    end = time.monotonic() + 30
    while len(pool()) < count and time.monotonic() < end:
        time.sleep(0.001)
    return len(pool()) == count
x = np.zeros((64, 1 << 16), np.float32)
x[np.arange(64), np.arange(64) * 1000] = 1
def check(**options):
    assert argreduce.argmax(x, 1, **options).tolist() == [n * 1000 for n in range(64)]
    assert argreduce.argmax(x, **options) == 0
"""


def run(program: str, **environment: str) -> str:
    command = [*EMULATOR, sys.executable, "-c", PRELUDE + program]
    others = {name: value for name, value in os.environ.items() if name != "ARGREDUCE_NUM_THREADS"}
    environment = others | environment
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_answers_are_those_of_one_thread(rng, dtype):
    # Large enough to be divided: along the outputs, and along the reduction.
    dense = random_array(rng, (6 << 20) // dtype.itemsize, dtype)
    # The best is in a later part, too.
    sparse = np.zeros_like(dense)
    sparse[[dense.size * 2 // 3, dense.size * 5 // 6]] = 1
    for x in (dense, sparse):
        for y, axis in (
            (x.reshape(12, -1), 1),
            (x.reshape(64, -1), 0),
            (x, None),
            (x[::-1].reshape(8, -1, 4), (0, 2)),
        ):
            for options in ({}, {"select_last": True, "nan": "ignore", "dtype": np.uint32}):
                alone = argreduce.max_argmax(y, axis, threads=1, **options)
                for threads in (2, 3, 8):
                    shared = argreduce.max_argmax(y, axis, threads=threads, **options)
                    part_options = {name: value for name, value in options.items() if name != "dtype"}
                    window = {"start": (0,) * y.ndim, "whole": y.shape}
                    part = argreduce.partial(y, axis, threads=threads, **window, **part_options)
                    np.testing.assert_array_equal(part.indices, alone.indices)
                    assert part.values.tobytes() == np.asarray(alone.values).tobytes()
                    np.testing.assert_array_equal(shared.indices, alone.indices)
                    assert np.asarray(shared.values).tobytes() == np.asarray(alone.values).tobytes()
                    out = np.empty((*np.shape(alone.indices), 2), np.int32)[..., 0]
                    argreduce.argmax(y, axis, out=out, threads=threads, **{**options, "dtype": None})
                    np.testing.assert_array_equal(out, alone.indices)


def test_of_nothing_but_nan():
    x = np.full((4, 1 << 20), np.nan)
    with pytest.raises(ValueError, match="All-NaN"):
        argreduce.nanargmax(x, 1, threads=2)
    x[:, -1] = 5
    assert argreduce.nanargmin(x, 1, threads=2).tolist() == [(1 << 20) - 1] * 4


def test_threads_start_when_they_are_needed_and_work():
    run("""
check(); check(threads=1)
argreduce.argmax(x[0, :1000], threads=9)
assert has(0)
check(threads=2)
assert has(1)
check(threads=3); check(threads=2)
assert has(2)
before = pool()
# On a busy machine, the caller may be done before others wake.
end = time.monotonic() + 30
while sum(pool()) - sum(before) < 1_000_000:
    assert time.monotonic() < end, (before, pool())
    check(threads=3)
assert has(2)
""")


def test_threads_sleep_when_nobody_calls():
    run("""
check(threads=3)
assert has(2)
# They stay awake for some microseconds, which a busy machine may make longer.
end = time.monotonic() + 30
before = pool()
while True:
    time.sleep(0.2)
    now = pool()
    if now == before:
        break
    assert time.monotonic() < end, (before, now)
    before = now
check(threads=3)
""")


def test_a_fork_has_its_own():
    run("""
import warnings
warnings.simplefilter("ignore", DeprecationWarning)
check(threads=3)
for generation in range(2):
    child = os.fork()
    if child:
        assert os.waitpid(child, 0)[1] == 0
        break
    assert has(0)
    check(threads=2)
    assert has(1)
check(threads=3)
assert has(2)
""")


def test_a_fork_while_others_call():
    run("""
import threading, warnings
warnings.simplefilter("ignore", DeprecationWarning)
# Not while something is made for the first time.
check(threads=3)
done = False
def work():
    while not done:
        check(threads=3)
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads: thread.start()
children = []
for _ in range(8):
    child = os.fork()
    if not child:
        check(threads=2)
        os._exit(0)
    children.append(child)
done = True
for thread in threads: thread.join()
assert [os.waitpid(child, 0)[1] for child in children] == [0] * 8
""")


def test_no_more_threads_than_cpus():
    run("""
argreduce._argreduce._set_cpus(0)
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
for threads in ("all", -1, 2, 10**6, 10**30): check(threads=threads)
argreduce.partial(x, start=(0, 0), whole=x.shape, threads=5)
assert has(0), pool()
argreduce._argreduce._set_cpus(3)
check(threads=2)
assert has(1)
for threads in ("all", -1, 10**6, 10**30): check(threads=threads)
assert has(2)
argreduce._argreduce._set_cpus(5)
check(threads="all")
assert has(4)
""")
    for count in ("all", " all ", "-1", "1000000", "9" * 30):
        program = "argreduce._argreduce._set_cpus(3); check(); assert has(2), pool()"
        run(program, ARGREDUCE_NUM_THREADS=count)


def test_partial_answers():
    run("""
for y in (x, x.reshape((1,) * 8 + x.shape)):
    axis = y.ndim - 1
    part = argreduce.partial(y, axis, start=(0,) * y.ndim, whole=y.shape, threads=3)
    assert part.indices.ravel().tolist() == [n * 1000 for n in range(64)]
    assert argreduce.partial(y, start=(0,) * y.ndim, whole=y.shape, threads=3).indices == 0
assert has(2)
""")
    run("""
argreduce.partial(x, start=(0, 0), whole=x.shape)
assert has(3)
""", ARGREDUCE_NUM_THREADS="4")


def test_environment():
    for count, threads in (("3", 2), (" 2 ", 1), ("1", 0), ("", 0)):
        run(f"check(); assert has({threads}), pool()", ARGREDUCE_NUM_THREADS=count)
    run("check(threads=2); assert has(1)", ARGREDUCE_NUM_THREADS="5")
    for count in ("0", "-2", "two", "1.5"):
        told = run(
            """
for call in (argreduce.argmax, argreduce.max_argmax, argreduce.nanargmin):
    try: call(x, 1)
    except ValueError as error: print(error)
check(threads=2)
""",
            ARGREDUCE_NUM_THREADS=count,
        )
        lines = told.splitlines()
        assert len(lines) == 3 and all("ARGREDUCE_NUM_THREADS" in line and count in line for line in lines), told


def test_many_calls_at_once(rng):
    xs = [rng.random((40, 100_000)) for _ in range(4)]
    wrong = []

    def work(x):
        expected = argreduce.argmax(x, 1)
        for threads in (2, 5, 3) * 10:
            if not np.array_equal(argreduce.argmax(x, 1, threads=threads), expected):
                wrong.append(threads)

    callers = [threading.Thread(target=work, args=(x,)) for x in xs]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not wrong
