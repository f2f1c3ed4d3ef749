"""One shape of the table of speed, by every library: `run` starts this in its own environment, once for each shape and
number of threads. Prints JSON: the versions, and the least seconds of a call by each library, or why there is none.

All libraries take turns in one process, on the same array of NumPy's, in memory of huge pages if the system has them:
none is timed on a copy. Python calls them all, as their users do, but for the crate argminmax: a loop of Rust calls it
for each row, in a library that ctypes loads.
"""

from __future__ import annotations

import argparse
import ctypes
import functools
import importlib.metadata
import json
import mmap
import os
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "integrations" / "python"))
# It takes one core for itself, before anything starts threads.
import bench
import numpy as np
from bench import Call, Case
from shapes import SHAPES, Shape

HUGE_PAGE_BYTES = 2 << 20


def array(shape: Shape) -> np.ndarray[Any, Any]:
    """Random elements, where a huge page begins."""
    dtype = np.dtype(shape.dtype)
    count = int(np.prod(shape.sizes))
    memory = mmap.mmap(-1, count * dtype.itemsize + HUGE_PAGE_BYTES)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)
    whole = np.frombuffer(memory, np.uint8)
    start = -whole.ctypes.data % HUGE_PAGE_BYTES
    x = whole[start : start + count * dtype.itemsize].view(dtype)
    rng = np.random.default_rng(17)
    if dtype.kind == "u":
        x[:] = rng.integers(0, 255, count, dtype, endpoint=True)
    else:
        x[:] = rng.random(count, np.float32)
    return x.reshape(shape.sizes)


def rows_of(case: Case) -> np.ndarray[Any, Any] | None:
    """The array as rows, for what knows no other axis than the last; or nothing, if that is not what is asked."""
    if case.axis is None:
        return case.x.reshape(1, -1)
    return case.x.reshape(-1, case.x.shape[-1]) if case.axis == case.x.ndim - 1 else None


def of_openvino(case: Case) -> Call:
    # It would report to its makers, from a process of its own.
    sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]
    import openvino

    x = case.x if case.axis is not None else case.x.reshape(-1)
    axis = case.axis or 0
    output = np.empty(np.delete(x.shape, axis), np.int64)
    core = openvino.Core()
    options = {"INFERENCE_NUM_THREADS": case.threads, "PERFORMANCE_HINT": "LATENCY"}
    model = core.read_model(bench.onnx_model(x, axis))
    request = core.compile_model(model, "CPU", options).create_infer_request()
    request.set_input_tensor(openvino.Tensor(x, shared_memory=True))
    request.set_output_tensor(openvino.Tensor(output, shared_memory=True))

    def call() -> Any:
        request.infer()
        return output

    return call


def of_numkong(case: Case) -> Call:
    import numkong

    return lambda: numkong.argmax(case.x, case.axis)


def of_polars(case: Case) -> Call | None:
    import polars
    import pyarrow

    rows = rows_of(case)
    if rows is None:
        return None
    values = pyarrow.array(rows.reshape(-1))
    assert values.buffers()[1].address == case.x.ctypes.data
    if len(rows) == 1:
        column = polars.Series(polars.from_arrow(values))
        return lambda: column.arg_max()
    columns = polars.Series(polars.from_arrow(pyarrow.FixedSizeListArray.from_arrays(values, rows.shape[1])))
    return lambda: columns.arr.arg_max()


def of_argminmax(case: Case, function: str = "argmax") -> Call | None:
    rows = rows_of(case)
    if rows is None:
        return None
    library = ctypes.CDLL(os.environ["ARGREDUCE_PEERS"])
    foreign = getattr(library, f"{function}_{rows.dtype}", None)
    if foreign is None:
        return None
    indices = np.empty(len(rows), np.int64)
    sizes = [ctypes.c_size_t(size) for size in rows.shape]
    arguments = [ctypes.c_void_p(rows.ctypes.data), *sizes, ctypes.c_void_p(indices.ctypes.data)]

    def call() -> Any:
        foreign(*arguments)
        return indices

    return call


LIBRARIES: bench.Libraries = {
    "argreduce": bench.of_argreduce,
    "NumPy": bench.of_numpy,
    "JAX": bench.of_jax,
    "OpenVINO": of_openvino,
    "ONNX Runtime": bench.of_onnxruntime,
    "bottleneck": bench.of_bottleneck,
    "NumKong": of_numkong,
    "polars": of_polars,
    "argminmax": of_argminmax,
    "argminmax (NaN wins)": lambda case: of_argminmax(case, "nanargmax"),
}


def tried(name: str, case: Case) -> Call | None:
    """What a library does not take, it says by an error."""
    try:
        return LIBRARIES[name](case)
    except ImportError:
        raise
    except Exception as error:
        print(f"{name}: {case.name}: {type(error).__name__}: {error}", file=sys.stderr)
        return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shape", help="its name in shapes.py")
    parser.add_argument("threads", type=int)
    parser.add_argument("--seconds", type=float, default=1, help="for each library (default: 1)")
    options = parser.parse_args()
    shape = SHAPES[options.shape]
    cores = sorted(os.sched_getaffinity(0) | set(range(os.cpu_count() or 1)))[-options.threads :]
    os.sched_setaffinity(0, cores)
    os.environ["POLARS_MAX_THREADS"] = str(options.threads)
    case = Case(options.shape, array(shape), shape.axis, threads=options.threads)
    libraries: bench.Libraries = {name: functools.partial(tried, name) for name in LIBRARIES}
    times = bench.measure(case, options.seconds, libraries)
    packages = [name.lower().replace(" ", "") for name in LIBRARIES if "argm" not in name]
    versions = {name: importlib.metadata.version(name) for name in packages}
    json.dump({"versions": versions, "times": times}, sys.stdout)


if __name__ == "__main__":
    main()
