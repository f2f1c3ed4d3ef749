#!/usr/bin/env python3
"""How long argmax takes, beside NumPy and others: on one core, in one process, by turns, the least time of many.

    pip install ./integrations/python bottleneck numbagg jax onnxruntime onnx polars pandas pyarrow
    python integrations/python/bench.py              prints two tables
    python integrations/python/bench.py --write      writes them into README.md
    python integrations/python/bench.py --calls      the second one alone: single calls, each beside another way
    python integrations/python/bench.py --calls polars     and of it those that have that in their names

Libraries that are missing are "not run", and what one does not offer is left empty. All of them read the same array of
NumPy's (JAX copies one that is not on 64 bytes), and give the result in the type that they have by default. Answers are
compared with each other before anything is timed. benches/peers has more libraries and other shapes, by what is here.
"""

from __future__ import annotations

import os

# Before anything starts its threads: what is compared is the work, and not how many cores there are.
CORES = os.sched_getaffinity(0)
CORE = max(CORES)
os.sched_setaffinity(0, {CORE})
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import argparse
import datetime
import importlib.metadata
import platform
import subprocess
import time
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import argreduce
import numpy as np

Call = Callable[[], Any]
README = Path(__file__).parent / "README.md"
MARKS = "<!-- by bench.py -->\n", "<!-- end -->\n"
MARKS_OF_CALLS = "<!-- single calls, by bench.py -->\n", "<!-- end -->\n"


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


class Pair(NamedTuple):
    """One question, asked in two ways, as a user would type it; and what both need."""

    name: str
    ours: str
    other: str
    setup: str
    # By whom the other one is: without that library it is not run.
    needs: str = "numpy"
    # On two cores, and not on one.
    on_two: bool = False


def pairs() -> list[Pair]:
    rng = "rng = np.random.default_rng(17); "
    bottleneck = "import bottleneck as bn; "
    row = rng + "x = rng.random(16)"
    square = rng + "x = rng.random((10, 10))"
    dates = "x = np.arange(10**6).astype('M8[s]')[::-1].copy(); x[5] = 'NaT'"
    of_polars = "import polars as pl; n = 10**{}; v = rng.permutation(n); here = rng.random(n) > 0.1; "
    with_nulls = "s = pl.Series(pl.select(pl.when(pl.Series(here)).then(pl.Series({}))).to_series()).rechunk()"

    def column(power: int, values: str, has_nulls: bool = True) -> str:
        made = with_nulls.format(values) if has_nulls else f"s = pl.Series({values})"
        return rng + of_polars.format(power) + made

    def of_column(name: str, power: int, values: str, has_nulls: bool = True) -> Pair:
        count = f"10^{power}" if power > 2 else str(10**power)
        nulls = ", a tenth null" if has_nulls else ""
        setup = column(power, values, has_nulls)
        return Pair(f"polars, {count} {name}{nulls}", "argmax(s)", "s.arg_max()", setup, "polars")

    def of_pandas(name: str, made: str) -> Pair:
        return Pair(f"pandas, {name}", "argmax(s)", "s.argmax()", rng + f"import pandas as pd; s = {made}", "pandas")

    sparse = "np.arange(n) == n // 2"
    return [
        Pair("16 f4", "argmax(x)", "x.argmax()", row + ".astype('f4')"),
        Pair("16 f8", "argmax(x)", "x.argmax()", row),
        Pair("[10, 10] f8", "argmax(x, 1)", "x.argmax(1)", square),
        Pair("[4, 4] f8", "argmax(x, 0)", "x.argmax(0)", rng + "x = rng.random((4, 4))"),
        Pair("100 f8, half of them there", "argmax(x, where=w)", "np.where(w, x, -np.inf).argmax()",
             rng + "x = rng.random(100); w = rng.random(100) > 0.5"),
        Pair("16 f8", "argminmax(x)", "(x.argmin(), x.argmax())", row),
        Pair("[10, 10] f8", "argminmax(x, 1)", "(x.argmin(1), x.argmax(1))", square),
        Pair("16 f8", "max_argmax(x)", "(x.max(), x.argmax())", row),
        Pair("16 f8", "nanargmax(x)", "np.nanargmax(x)", row),
        Pair("16 f8", "nanargmax(x)", "bn.nanargmax(x)", bottleneck + row, "bottleneck"),
        Pair("[4, 4] f8", "nanargmax(x, 0)", "bn.nanargmax(x, 0)", bottleneck + rng + "x = rng.random((4, 4))",
             "bottleneck"),
        Pair("a list of 16 float", "argmax(x)", "np.argmax(x)", row + ".tolist()"),
        Pair("a list of 16 int", "argmax(x)", "np.argmax(x)", rng + "x = rng.permutation(16).tolist()"),
        of_pandas("16 f8", "pd.Series(rng.random(16))"),
        of_pandas("100 Float64 (nullable)", "pd.Series(rng.random(100), dtype='Float64')"),
        of_pandas("100 of pyarrow's double", "pd.Series(rng.random(100), dtype='double[pyarrow]')"),
        of_pandas("10^5 f8", "pd.Series(rng.random(10**5))"),
        of_column("f8", 2, "rng.random(n)", False),
        of_column("f8", 5, "rng.random(n)", False),
        of_column("bool, True in the middle", 5, sparse, False),
        of_column("bool, True in the middle", 6, sparse, False),
        of_column("bool, True in the middle", 6, sparse),
        of_column("datetime", 5, "v.astype('M8[us]')"),
        of_column("datetime", 6, "v.astype('M8[us]')"),
        of_column("i64", 5, "v", False),
        of_column("i64", 6, "v", False),
        of_column("i64", 5, "v"),
        of_column("i64", 6, "v"),
        of_column("f4", 6, "v.astype('f4')"),
        of_column("u1", 6, "(v % 256).astype('u1')"),
        Pair("10^6 dates, NaT at 5", "argmax(x)", "x.argmax()", dates),
        Pair("10^6 dates, NaT at 5", "argmin(x)", "x.argmin()", dates),
        Pair("10^7 bool, True at 5", "argmax(b, where=b, fill=-1)", "b.argmax()",
             "b = np.zeros(10**7, bool); b[5] = True"),
        Pair("4 MB: [1024, 1000] f4", "argmax(x, 1, threads=2)", "argmax(x, 1)",
             rng + "x = rng.random((1024, 1000), np.float32)", on_two=True),
        Pair("1 MB: [256, 1000] f4", "argmax(x, 1, threads=2)", "argmax(x, 1)",
             rng + "x = rng.random((256, 1000), np.float32)", on_two=True),
    ]


def measure_pair(pair: Pair, seconds: float) -> tuple[float, float] | str:
    """The least times of a call, ours and the other one's, which take turns."""
    names: dict[str, Any] = {name: getattr(argreduce, name) for name in argreduce.__all__} | {"np": np}
    try:
        exec(pair.setup, names)
    except ImportError:
        return "not run"
    ours, other = (eval(text, names) for text in (pair.ours, pair.other))
    if not all(map(np.array_equal, *((each if isinstance(each, tuple) else (each,)) for each in (ours, other)))):
        return "differs"
    timers = [timeit.Timer(text, globals=names) for text in (pair.ours, pair.other)]
    counts, best = [1, 1], [float("inf")] * 2
    for n, timer in enumerate(timers):
        # In a loop: threads that have slept have to be woken, by the first call alone.
        while timer.timeit(counts[n]) < (5e-3 if pair.on_two else 2e-4):
            counts[n] *= 2
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for n, timer in enumerate(timers):
            # Once for nothing: the caches are full of what the other has read.
            timer.timeit(1)
            best[n] = min(best[n], timer.timeit(counts[n]) / counts[n])
    return best[0], best[1]


def table_of_calls(seconds: float, chosen: str = "") -> str:
    lines = ["| what | argreduce | | beside it | | beside it / argreduce |", "|---" * 6 + "|"]
    for pair in pairs():
        if chosen not in f"{pair.name} {pair.ours}":
            continue
        os.sched_setaffinity(0, CORES if pair.on_two else {CORE})
        times = "1 CPU" if pair.on_two and len(CORES) == 1 else measure_pair(pair, seconds)
        if isinstance(times, str):
            cells = [times, f"`{pair.other}`", "", ""]
        else:
            cells = [shown(times[0]), f"`{pair.other}`", shown(times[1]), f"{times[1] / times[0]:.2f}"]
        lines.append(f"| {pair.name} | `{pair.ours}` | " + " | ".join(cells) + " |")
    names = ["numpy", "bottleneck", "polars", "pandas", "pyarrow"]
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    return "\n".join([*lines, "", f"{about()}\nPython {platform.python_version()}, {versions}.", ""])


def version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not run"


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
    parser.add_argument("--write", action="store_true", help="write the tables into README.md")
    parser.add_argument("--seconds", type=float, default=2, help="for each library and shape (default: 2)")
    parser.add_argument("--calls", nargs="?", const="", metavar="NAME", help="single calls alone, or those so named")
    options = parser.parse_args()
    texts = {} if options.calls is not None else {MARKS: table(options.seconds)}
    texts[MARKS_OF_CALLS] = table_of_calls(options.seconds, options.calls or "")
    print(*texts.values(), sep="\n")
    if options.write:
        readme = README.read_text(encoding="utf-8")
        for (start, end), text in texts.items():
            before, _, rest = readme.partition(start)
            readme = before + start + "\n" + text + "\n" + end + rest.partition(end)[2]
        README.write_text(readme, encoding="utf-8")


if __name__ == "__main__":
    main()
