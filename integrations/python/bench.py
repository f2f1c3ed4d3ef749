#!/usr/bin/env python3
"""How long argmax takes, beside NumPy and others: on one core, in one process, by turns, the least time of many.

    pip install ./integrations/python bottleneck numbagg jax onnxruntime onnx
    python integrations/python/bench.py              prints a table
    python integrations/python/bench.py --write      writes it into README.md

Libraries that are missing are "not run", and what one does not offer is left empty. All of them read the same array of
NumPy's (JAX copies one that is not on 64 bytes), and give the result in the type that they have by default. Answers are
compared with NumPy's before anything is timed. benches/peers has more libraries and other shapes, by what is here.
"""

from __future__ import annotations

import os

# Before anything starts its threads: what is compared is the work, and not how many cores there are.
CORE = max(os.sched_getaffinity(0))
os.sched_setaffinity(0, {CORE})
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import argparse
import datetime
import importlib.metadata
import platform
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import argreduce
import numpy as np

Call = Callable[[], Any]
README = Path(__file__).parent / "README.md"
MARKS = "<!-- by bench.py -->\n", "<!-- end -->\n"


class Case(NamedTuple):
    """An array, along which axis, whether NaN is ignored, and how many threads may help."""

    name: str
    x: np.ndarray[Any, Any]
    axis: int | None
    ignores_nan: bool = False
    threads: int = 1


def cases() -> list[Callable[[], Case]]:
    """One at a time: some are large."""
    rng = np.random.default_rng(17)

    def floats(*shape: int, dtype: Any = np.float32) -> np.ndarray[Any, Any]:
        return rng.random(shape, dtype)

    def series() -> np.ndarray[Any, Any]:
        x = floats(256, 8760, dtype=np.float64)
        x[rng.random(x.shape) < 0.05] = np.nan
        return x

    def image() -> np.ndarray[Any, Any]:
        return rng.integers(0, 255, (2160, 3840), np.uint8, endpoint=True)

    return [
        lambda: Case("a short row: [16] float32", floats(16), None),
        lambda: Case("classes of a batch: [1024, 1000] float32, axis 1", floats(1024, 1000), 1),
        lambda: Case("label maps: [8, 21, 512, 512] float32, axis 1", floats(8, 21, 512, 512), 1),
        lambda: Case("a stack of images: [64, 1048576] float32, axis 0", floats(64, 1 << 20), 0),
        lambda: Case("time series with gaps: [256, 8760] float64, axis 1, NaN ignored", series(), 1, True),
        lambda: Case("the brightest pixel: [2160, 3840] uint8", image(), None),
    ]


def of_argreduce(case: Case) -> Call:
    function = argreduce.nanargmax if case.ignores_nan else argreduce.argmax
    return lambda: function(case.x, case.axis, threads=case.threads)


def of_numpy(case: Case) -> Call:
    function = np.nanargmax if case.ignores_nan else np.argmax
    return lambda: function(case.x, case.axis)


def of_method(case: Case) -> Call | None:
    """Without the function of NumPy's that is written in Python. For NaN there is none."""
    return None if case.ignores_nan else lambda: case.x.argmax(case.axis)


def of_bottleneck(case: Case) -> Call | None:
    import bottleneck

    # It passes other types on to NumPy. Without NaN, its one function does the same as argmax.
    if case.x.dtype not in (np.float32, np.float64):
        return None
    return lambda: bottleneck.nanargmax(case.x, case.axis)


def of_numbagg(case: Case) -> Call | None:
    import numbagg

    if case.x.dtype.kind != "f":
        return None
    axis = tuple(range(case.x.ndim)) if case.axis is None else case.axis
    return lambda: numbagg.nanargmax(case.x, axis=axis)


def of_jax(case: Case) -> Call:
    import jax

    jax.config.update("jax_enable_x64", True)
    # Else a call goes to another thread, which has to wait for the same core.
    jax.config.update("jax_cpu_enable_async_dispatch", False)
    function = jax.jit(jax.numpy.nanargmax if case.ignores_nan else jax.numpy.argmax, static_argnums=1)
    x = jax.dlpack.from_dlpack(case.x)
    return lambda: function(x, case.axis).block_until_ready()


def onnx_model(x: np.ndarray[Any, Any], axis: int) -> bytes:
    """A model of one node, `ArgMax` from `x` to `y`."""
    import onnx

    element_type = onnx.helper.np_dtype_to_tensor_dtype(x.dtype)
    node = onnx.helper.make_node("ArgMax", ["x"], ["y"], axis=axis, keepdims=0)
    graph = onnx.helper.make_graph(
        [node],
        "argmax",
        [onnx.helper.make_tensor_value_info("x", element_type, x.shape)],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.INT64, None)],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8)
    serialized: bytes = model.SerializeToString()
    return serialized


def of_onnxruntime(case: Case) -> Call | None:
    import onnxruntime

    if case.ignores_nan:
        return None
    x = case.x if case.axis is not None else case.x.reshape(-1)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = case.threads
    model = onnx_model(x, case.axis or 0)
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, {"x": x})[0]


Libraries = dict[str, Callable[[Case], Call | None]]
LIBRARIES: Libraries = {
    "argreduce": of_argreduce,
    "np.argmax(x)": of_numpy,
    "x.argmax()": of_method,
    "bottleneck": of_bottleneck,
    "numbagg": of_numbagg,
    "jax": of_jax,
    "onnxruntime": of_onnxruntime,
}


def measure(case: Case, seconds: float, libraries: Libraries = LIBRARIES) -> dict[str, float | str]:
    """The least time of a call by each library, in seconds; or why there is none. What takes many times as long as the
    fastest has one turn, and no more."""
    result: dict[str, float | str] = {}
    calls: dict[str, Call] = {}
    expected = of_numpy(case)()
    for name, library in libraries.items():
        try:
            call = library(case)
        except ImportError:
            result[name] = "not run"
            continue
        if call is None:
            result[name] = ""
            continue
        # The first call may compile. What knows rows alone gives a list of answers, whatever the shape.
        if not np.array_equal(np.ravel(call()), np.ravel(expected)):
            result[name] = "differs"
            continue
        calls[name] = call
        result[name] = float("inf")
    counts = {name: 1 for name in calls}
    for name, call in calls.items():
        # So many calls at a time that the clock is exact.
        while (duration := clock(call, counts[name])) < 2e-4:
            counts[name] *= 2
        result[name] = duration / counts[name]
    end = time.perf_counter() + seconds * len(calls)
    turns = 0
    while turns < 5 or time.perf_counter() < end:
        turns += 1
        fastest = min(float(result[name]) for name in calls)
        for name, call in calls.items():
            if float(result[name]) > 20 * fastest:
                continue
            # Once for nothing: the caches are full of what the one before has read.
            call()
            result[name] = min(float(result[name]), clock(call, counts[name]) / counts[name])
    return result


def clock(call: Call, count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        call()
    return time.perf_counter() - start


def shown(seconds: float | str) -> str:
    """Three digits and a unit."""
    if isinstance(seconds, str):
        return seconds
    scale, unit = next((s, u) for s, u in ((1, "s"), (1e3, "ms"), (1e6, "µs"), (1e9, "ns")) if seconds * s >= 1)
    value = seconds * scale
    return f"{value:.0f} {unit}" if value >= 99.5 else f"{value:.{2 if value < 9.95 else 1}f} {unit}"


def table(seconds: float) -> str:
    def version(name: str) -> str:
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            return "not run"

    beside = ["np.argmax(x)", "x.argmax()"]
    lines = [
        "| what | " + " | ".join([*LIBRARIES, *(f"{name} / argreduce" for name in beside)]) + " |",
        "|---" * (len(LIBRARIES) + len(beside) + 1) + "|",
    ]
    for make in cases():
        case = make()
        times = measure(case, seconds)
        cells = [shown(times[name]) for name in LIBRARIES]
        for name in beside:
            cells.append(f"{float(times[name]) / float(times['argreduce']):.2g}" if times[name] else "")
        lines.append(f"| {case.name} | " + " | ".join(cells) + " |")
    names = ["numpy", *(name for name in LIBRARIES if name not in ("argreduce", *beside))]
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    return "\n".join([*lines, "", f"{about()}\nPython {platform.python_version()}, {versions}.", ""])


def about() -> str:
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        models = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    try:
        git = ["git", "-C", str(README.parent), "describe", "--always", "--dirty", "--exclude=*"]
        commit = subprocess.run(git, capture_output=True, check=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        commit = "unknown"
    return f"{datetime.date.today()}, commit {commit}, one core of: {models[0] if models else platform.machine()}."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the table into README.md")
    parser.add_argument("--seconds", type=float, default=2, help="for each library and shape (default: 2)")
    options = parser.parse_args()
    text = table(options.seconds)
    print(text)
    if options.write:
        readme = README.read_text(encoding="utf-8")
        before, _, rest = readme.partition(MARKS[0])
        after = rest.partition(MARKS[1])[2]
        README.write_text(before + MARKS[0] + "\n" + text + "\n" + MARKS[1] + after, encoding="utf-8")


if __name__ == "__main__":
    main()
