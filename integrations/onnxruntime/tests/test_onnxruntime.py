"""The custom-operator library in ONNX Runtime: ONNX's own node tests, every type against NumPy, every attribute, bad input, and threads.

    cargo build --release
    python tests/test_onnxruntime.py          # wheels: onnxruntime onnx numpy

With --times it also prints the times beside those of ONNX Runtime's own kernels.
"""

import itertools
import os
import pathlib
import sys
import threading
import timeit
import unittest
import warnings

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

HERE = pathlib.Path(__file__).resolve().parent.parent
LIBRARY = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", HERE / "target")) / "release" / "libargreduce_onnxruntime.so"

TYPES = {
    TensorProto.FLOAT: np.float32,
    TensorProto.FLOAT16: np.float16,
    TensorProto.BFLOAT16: ml_dtypes.bfloat16,
    TensorProto.DOUBLE: np.float64,
    TensorProto.INT8: np.int8,
    TensorProto.INT16: np.int16,
    TensorProto.INT32: np.int32,
    TensorProto.INT64: np.int64,
    TensorProto.UINT8: np.uint8,
    TensorProto.UINT16: np.uint16,
    TensorProto.UINT32: np.uint32,
    TensorProto.UINT64: np.uint64,
    TensorProto.BOOL: np.bool_,
}


def session(model, threads=1):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    # Errors are raised; there is no need to print them too.
    options.log_severity_level = 4
    options.register_custom_ops_library(str(LIBRARY))
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def model(op, element_type=TensorProto.FLOAT, domain="argreduce", rank=None, **attributes):
    """One operator, for any shape of the rank, or of any rank."""
    node = helper.make_node(op, ["data"], ["result"], domain=domain, **attributes)
    shape = None if rank is None else [f"d{axis}" for axis in range(rank)]
    graph = helper.make_graph(
        [node],
        "one",
        [helper.make_tensor_value_info("data", element_type, shape)],
        [helper.make_tensor_value_info("result", TensorProto.INT64, None)],
    )
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("argreduce", 1)]
    made = helper.make_model(graph, opset_imports=opsets)
    made.ir_version = 8
    return made


def run(runner, data, element_type=TensorProto.FLOAT):
    if element_type == TensorProto.BFLOAT16:
        bits = np.ascontiguousarray(data).view(np.uint16)
        data = onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, element_type)
        return runner.run_with_ort_values(["result"], {"data": data})[0].numpy()
    return runner.run(None, {"data": data})[0]


def expected(op, data, axes, keepdims=1, select_last_index=0, nan_policy="propagate"):
    """The rules in NumPy: the reduced axes together at the end, in ascending order, whatever order they were given in."""
    axes = sorted(axis % data.ndim for axis in axes)
    kept = [axis for axis in range(data.ndim) if axis not in axes]
    flat = data.transpose(kept + axes).reshape([data.shape[axis] for axis in kept] + [-1])
    if flat.dtype == np.bool_:
        flat = flat.astype(np.uint8)
    elif flat.dtype == np.float16 or flat.dtype == ml_dtypes.bfloat16:
        flat = flat.astype(np.float32)
    nan = np.isnan(flat) if flat.dtype.kind == "f" else np.zeros(flat.shape, bool)
    best = flat.max if op == "ArgMax" else flat.min
    if nan_policy == "ignore":
        worst = (-np.inf if op == "ArgMax" else np.inf) if nan.any() else 0
        flat = np.where(nan, worst, flat) if nan.any() else flat
        best = flat.max if op == "ArgMax" else flat.min
        is_best = (flat == best(axis=-1, keepdims=True)) & ~nan
        is_best |= nan.all(axis=-1, keepdims=True)
    else:
        is_best = np.where(nan.any(axis=-1, keepdims=True), nan, flat == best(axis=-1, keepdims=True))
    if select_last_index:
        index = is_best.shape[-1] - 1 - is_best[..., ::-1].argmax(axis=-1)
    else:
        index = is_best.argmax(axis=-1)
    shape = [1 if axis in axes else size for axis, size in enumerate(data.shape) if keepdims or axis not in axes]
    return index.reshape(shape)


def sample(dtype, shape, seed=0):
    """Few values, so that there are ties; with NaN, infinities and both zeros, or the extremes."""
    random = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        values = np.array([False, True])
    elif dtype.kind in "iu":
        limits = np.iinfo(dtype)
        values = np.array([0, 1, limits.min, limits.max, limits.max // 2 + 1], dtype)
    else:
        values = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan], dtype)
    return random.choice(values[random.permutation(len(values))[:4]], shape)


class Operators(unittest.TestCase):
    def test_onnx_node_tests(self):
        from onnx.backend.test.case.node import collect_testcases

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cases = {case.name: case for case in collect_testcases(None) if case.name.startswith(("test_argmax_", "test_argmin_"))}
        self.assertEqual(len(cases), 32)
        for name, case in cases.items():
            with self.subTest(name):
                changed = onnx.ModelProto()
                changed.CopyFrom(case.model)
                changed.graph.node[0].domain = "argreduce"
                changed.opset_import.append(helper.make_opsetid("argreduce", 1))
                runner = session(changed)
                self.assertTrue(case.data_sets)
                for inputs, outputs in case.data_sets:
                    names = [value.name for value in case.model.graph.input]
                    found = runner.run(None, dict(zip(names, inputs)))
                    np.testing.assert_array_equal(found[0], outputs[0])
                    self.assertEqual(found[0].dtype, outputs[0].dtype)

    def test_every_type_against_numpy(self):
        for element_type, dtype in TYPES.items():
            for op, last, policy in itertools.product(("ArgMax", "ArgMin"), (0, 1), ("propagate", "ignore")):
                options = dict(select_last_index=last, nan_policy=policy)
                for seed, axes in enumerate(([1], [-1], [2, 0], [0, 1, 2])):
                    with self.subTest(dtype=dtype, op=op, axes=axes, **options):
                        runner = session(model(op, element_type, rank=3, axes=axes, **options))
                        data = sample(dtype, (3, 70, 5), seed)
                        found = run(runner, data, element_type)
                        np.testing.assert_array_equal(found, expected(op, data, axes, **options))

    def test_types_that_onnx_runtime_refuses(self):
        for element_type in (TensorProto.UINT16, TensorProto.UINT32, TensorProto.UINT64, TensorProto.INT16, TensorProto.BFLOAT16):
            with self.assertRaises(Exception, msg="its own ArgMax takes the type by now: say so no longer"):
                session(model("ArgMax", element_type, domain="", rank=2))
            data = sample(TYPES[element_type], (4, 9))
            found = run(session(model("ArgMax", element_type, rank=2)), data, element_type)
            np.testing.assert_array_equal(found, expected("ArgMax", data, [0]))

    def test_attributes_and_shapes(self):
        for keepdims, rank in itertools.product((0, 1), (3, None)):
            for attributes, axes in (({}, [0]), ({"axis": 1}, [1]), ({"axis": -1}, [2]), ({"axes": [2, 0]}, [0, 2])):
                runner = session(model("ArgMin", keepdims=keepdims, rank=rank, **attributes))
                # The same session, one shape after another.
                for shape in ((2, 3, 4), (1, 1, 1), (5, 40, 33)):
                    data = sample(np.float32, shape)
                    np.testing.assert_array_equal(run(runner, data), expected("ArgMin", data, axes, keepdims))
        # No output, no elements, no problem.
        self.assertEqual(run(session(model("ArgMax", rank=2, axis=1)), np.zeros((0, 3), np.float32)).shape, (0, 1))

    def test_shape_inference(self):
        node = model("ArgMax", rank=3, axes=[2, 0], keepdims=0)
        found = session(node).get_outputs()[0]
        self.assertEqual((found.type, len(found.shape)), ("tensor(int64)", 1))

    def test_bad_input(self):
        zeros = np.zeros((2, 3), np.float32)
        for attributes, message in (
            (dict(axis=0, axes=[1]), "both axis and axes are given: one of them is allowed"),
            (dict(nan_policy="first"), 'nan_policy is "first": no such name: expected one of propagate, ignore'),
            (dict(keepdims=2), "keepdims is 2: 0 and 1 are allowed"),
            (dict(select_last_index=-1), "select_last_index is -1: 0 and 1 are allowed"),
            (dict(axis=1.0), "axis has the wrong type: it has to be an integer"),
            (dict(axis=2), "axis 2 is out of range: rank 2 allows -2 to 1"),
            (dict(axes=[1, -1]), "axis -1 is given twice: dimension 1 can be reduced only once"),
        ):
            with self.subTest(message), self.assertRaises(Exception) as raised:
                run(session(model("ArgMax", rank=2, **attributes)), zeros)
            self.assertIn(message, str(raised.exception))
        with self.assertRaises(Exception) as raised:
            run(session(model("ArgMax", rank=2, axis=1)), np.zeros((2, 0), np.float32))
        self.assertIn("axis 1 has size 0", str(raised.exception))

    def test_one_session_many_threads(self):
        runner = session(model("ArgMax", rank=2, axis=1))
        failures = []

        def work(seed):
            for round in range(50):
                data = np.random.default_rng(seed * 100 + round).random((seed + 1, 300 + round), np.float32)
                if not np.array_equal(run(runner, data), data.argmax(1, keepdims=True)):
                    failures.append(seed)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])


def times():
    """Microseconds for one call, beside ONNX Runtime's own kernel: best of many, one thread, everything but the kernel the same."""
    print("\nONNX Runtime", onnxruntime.__version__, "ArgMax of float32, microseconds (best of many, 1 thread):")
    print(f"{'shape':>20} {'axes':>7} {'its own':>9} {'argreduce':>9} {'times':>6}")
    for shape, axes in (((64, 1000), [1]), ((1, 128256), [1]), ((8, 21, 256, 256), [1]), ((32, 64, 56, 56), [2, 3])):
        data = np.random.default_rng(0).standard_normal(shape, np.float32)
        rank = len(shape)
        ours = session(model("ArgMax", rank=rank, axes=axes, keepdims=0))
        its_own, its_data = session(model("ArgMax", domain="", rank=rank, axis=axes[0], keepdims=0)), data
        if len(axes) > 1:
            # Its ArgMax takes one axis: of these two, which are neighbours, a reshape makes one at no cost.
            its_data = data.reshape(*shape[: axes[0]], -1)
            its_own = session(model("ArgMax", domain="", rank=its_data.ndim, axis=axes[0], keepdims=0))
        np.testing.assert_array_equal(run(ours, data), run(its_own, its_data))
        best = []
        for runner, given in ((its_own, its_data), (ours, data)):
            value = onnxruntime.OrtValue.ortvalue_from_numpy(given)
            binding = runner.io_binding()
            binding.bind_ortvalue_input("data", value)
            binding.bind_output("result")
            timer = timeit.Timer(lambda: runner.run_with_iobinding(binding))
            number = max(1, int(0.02 / timer.timeit(1)))
            best.append(min(timer.repeat(15, number)) / number * 1e6)
        print(f"{str(list(shape)):>20} {str(axes):>7} {best[0]:9.1f} {best[1]:9.1f} {best[0] / best[1]:6.1f}", flush=True)


if __name__ == "__main__":
    show_times = "--times" in sys.argv
    outcome = unittest.main(argv=[a for a in sys.argv if a != "--times"], exit=False).result
    if show_times:
        times()
    sys.exit(not outcome.wasSuccessful())
