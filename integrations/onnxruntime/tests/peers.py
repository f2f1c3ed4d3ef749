"""ArgMax of float32 to int64 on two threads: this library in ONNX Runtime, ONNX Runtime's own kernel, and OpenVINO, in
one process and in turn.

    cargo build --release
    python tests/peers.py                     # wheels: those of requirements.txt, and openvino==2026.4.1
    python tests/peers.py --threads 4 --seconds 10

Prints milliseconds for a call, the least of many, as a table. All three get the same model, and buffers that are there
before. The first row is a call that has nothing to do.
"""

import argparse
import time

import numpy as np
import onnxruntime
import openvino
from test_onnxruntime import model, session

SHAPES = (
    ((1, 2), 1),
    ((8, 21, 512, 512), 1),
    ((1024, 1000), 1),
    ((8, 512, 512, 21), 3),
    ((64, 1048576), 0),
    ((1, 64 << 20), 1),
)


def by_onnxruntime(domain, threads, data, axis, output):
    made = model("ArgMax", domain=domain, rank=data.ndim, axis=axis, keepdims=0)
    runner = session(made, threads=threads)
    binding = runner.io_binding()
    binding.bind_ortvalue_input("data", onnxruntime.OrtValue.ortvalue_from_numpy(data))
    binding.bind_output("result", "cpu", 0, np.int64, output.shape, output.ctypes.data)
    return lambda: runner.run_with_iobinding(binding)


def by_openvino(threads, data, axis, output):
    core = openvino.Core()
    read = core.read_model(model("ArgMax", domain="", rank=data.ndim, axis=axis, keepdims=0).SerializeToString())
    read.reshape(list(data.shape))
    options = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
    request = core.compile_model(read, "CPU", options).create_infer_request()
    request.set_input_tensor(openvino.Tensor(data, shared_memory=True))
    request.set_output_tensor(openvino.Tensor(output, shared_memory=True))
    return request.infer


def fastest(calls, seconds):
    """The least time of each, in turn."""
    best = [float("inf")] * len(calls)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for n, call in enumerate(calls):
            # The threads of a pool go on asking for work for a while.
            time.sleep(0.05)
            call()
            turn_end = time.perf_counter() + 0.05
            while True:
                start = time.perf_counter()
                call()
                done = time.perf_counter()
                best[n] = min(best[n], done - start)
                if done > turn_end:
                    break
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=20, help="for each shape")
    arguments = parser.parse_args()
    threads = arguments.threads
    print(f"onnxruntime {onnxruntime.__version__}, openvino {openvino.__version__}; {threads} threads; milliseconds\n")
    print("| shape | axis | OpenVINO | ONNX Runtime | argreduce | the faster peer / argreduce | argreduce on 1 thread |")
    print("|---|---|---|---|---|---|---|")
    behind = []
    for shape, axis in SHAPES:
        data = np.random.default_rng(0).standard_normal(shape, np.float32)
        expected = data.argmax(axis)
        outputs = [np.full(expected.shape, -1, np.int64) for _ in range(4)]
        calls = [
            by_openvino(threads, data, axis, outputs[0]),
            by_onnxruntime("", threads, data, axis, outputs[1]),
            by_onnxruntime("argreduce", threads, data, axis, outputs[2]),
            by_onnxruntime("argreduce", 1, data, axis, outputs[3]),
        ]
        times = fastest(calls, arguments.seconds)
        for output in outputs:
            np.testing.assert_array_equal(output, expected)
        ratio = min(times[:2]) / times[2]
        peers, ours, alone = [f"{1e3 * best:.3f}" for best in times[:2]], f"{1e3 * times[2]:.3f}", f"{1e3 * times[3]:.3f}"
        print(f"| {list(shape)} | {axis} | {' | '.join(peers)} | {ours} | {ratio:.2f} | {alone} |", flush=True)
        if data.size > 2 and ratio < 1:
            behind.append(f"{list(shape)} axis {axis}")
    if behind:
        raise SystemExit(f"behind a peer on {', '.join(behind)}")


if __name__ == "__main__":
    main()
