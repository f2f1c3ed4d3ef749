"""The custom-operator library in ONNX Runtime: ONNX's own node tests, every type against NumPy, every attribute, shapes
that are not known at load, bad input, and threads; and the script that moves a model's nodes to its domain.

    cargo build --release
    python tests/test_onnxruntime.py          # wheels: onnxruntime onnx numpy

With --times it also prints the times beside those of ONNX Runtime's own kernels.
"""

import contextlib
import io
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile
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
sys.path.insert(0, str(HERE))

import to_argreduce  # noqa: E402 (it is no package)

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


def session(model, threads=1, level=None, log_severity=4):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    # Errors are raised; there is no need to print them too.
    options.log_severity_level = log_severity
    if level is not None:
        options.graph_optimization_level = level
    options.register_custom_ops_library(str(LIBRARY))
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def finish(graph):
    """A model of the graph, with both domains."""
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13), helper.make_opsetid("argreduce", 1)])
    made.ir_version = 8
    return made


def model(op, element_type=TensorProto.FLOAT, domain="argreduce", rank=None, name="", **attributes):
    """One operator, for any shape of the rank, or of any rank."""
    node = helper.make_node(op, ["data"], ["result"], name, domain=domain, **attributes)
    shape = None if rank is None else [f"d{axis}" for axis in range(rank)]
    graph = helper.make_graph(
        [node],
        "one",
        [helper.make_tensor_value_info("data", element_type, shape)],
        [helper.make_tensor_value_info("result", TensorProto.INT64, None)],
    )
    return finish(graph)


def followed(domain, sizes, data_shape, axis, keepdims, consumer):
    """The operator on data [b, 3, 4], and what a model does with its output next: it has these sizes when b is 5."""
    reduce = helper.make_node("ArgMax", ["data"], ["index"], domain=domain, axis=axis, keepdims=keepdims)
    constants = {
        "other": np.arange(np.prod(sizes), dtype=np.int64).reshape(sizes),
        "front": np.array([0], np.int64),
        "flat": np.array([-1], np.int64),
        "depth": np.array(5, np.int64),
        "off_on": np.array([0, 1], np.int64),
    }
    rest = {
        "Shape": [helper.make_node("Shape", ["index"], ["result"])],
        "Mul": [helper.make_node("Mul", ["index", "other"], ["result"])],
        "Concat": [
            helper.make_node("Unsqueeze", ["index", "front"], ["one"]),
            helper.make_node("Unsqueeze", ["other", "front"], ["two"]),
            helper.make_node("Concat", ["one", "two"], ["result"], axis=0),
        ],
        "Reshape": [helper.make_node("Reshape", ["index", "flat"], ["result"])],
        "Flatten": [helper.make_node("Flatten", ["index"], ["result"], axis=1)],
        "OneHot": [helper.make_node("OneHot", ["index", "depth", "off_on"], ["result"])],
    }[consumer]
    used = {name for node in rest for name in node.input}
    graph = helper.make_graph(
        [reduce, *rest],
        "followed",
        [helper.make_tensor_value_info("data", TensorProto.FLOAT, data_shape)],
        [helper.make_tensor_value_info("result", TensorProto.INT64, None)],
        [onnx.numpy_helper.from_array(value, name) for name, value in constants.items() if name in used],
    )
    return finish(graph)


@contextlib.contextmanager
def standard_error():
    """What is written to standard error meanwhile, by the runtime's C++ too."""
    with tempfile.TemporaryFile("w+") as file:
        kept = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            yield (written := [])
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            file.seek(0)
            written.append(file.read())


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

    def test_unknown_dimensions_beside_the_runtimes_own(self):
        """Each consumer reads the inferred shape: at load to check it, and in the optimizer to fold constants."""
        data = sample(np.float32, (5, 3, 4))
        data[np.isnan(data)] = 2
        levels = onnxruntime.GraphOptimizationLevel.__members__.values()
        consumers = ("Shape", "Mul", "Concat", "Reshape", "Flatten", "OneHot")
        shapes = (["b", 3, 4], [None, 3, 4], [None, "c", 4], [None, None, None])
        for case in itertools.product(consumers, shapes, (0, 1, -1), (0, 1)):
            consumer, shape, axis, keepdims = case
            index = expected("ArgMax", data, [axis], keepdims)
            made = [followed(domain, index.shape, shape, axis, keepdims, consumer) for domain in ("argreduce", "")]
            for level in levels:
                with self.subTest(case=case, level=level):
                    with standard_error() as written:
                        ours, its_own = (session(one, level=level, log_severity=2) for one in made)
                        np.testing.assert_array_equal(run(ours, data), run(its_own, data))
                    self.assertEqual(written, [""])
                    ours, its_own = (runner.get_outputs()[0].shape for runner in (ours, its_own))
                    # A dimension without a name has one here: the interface has no other way to say that it is unknown.
                    unnamed = [None if str(size).startswith("argreduce_") else size for size in ours]
                    self.assertEqual(unnamed, its_own)

    def test_two_unknown_dimensions_are_two(self):
        for domain in ("argreduce", ""):
            reduces = [helper.make_node("ArgMax", [f"x{i}"], [f"y{i}"], domain=domain, axis=1) for i in range(2)]
            graph = helper.make_graph(
                reduces,
                "two",
                [helper.make_tensor_value_info(f"x{i}", TensorProto.FLOAT, [None, 3, None]) for i in range(2)],
                [helper.make_tensor_value_info(f"y{i}", TensorProto.INT64, None) for i in range(2)],
            )
            # Two sessions, because the symbols of one may be used in a model for the other.
            shapes = [output.shape for _ in range(2) for output in session(finish(graph)).get_outputs()]
            self.assertEqual([shape[1] for shape in shapes], [1] * 4)
            symbols = [size for shape in shapes for size in (shape[0], shape[2]) if size is not None]
            self.assertEqual(len(set(symbols)), 8 if domain else 0)

    def test_errors_at_load(self):
        known = "allowed are axis, axes, keepdims, select_last_index, nan_policy"
        for attributes, message in (
            (dict(axis=2), "axis 2 is out of range: rank 2 allows -2 to 1"),
            (dict(axes=[0, -3]), "axis -3 is out of range: rank 2 allows -2 to 1"),
            (dict(axes=[1, -1]), "axis -1 is given twice: dimension 1 can be reduced only once"),
            (dict(axis=[1]), "axis has the wrong type: it has to be an integer"),
            *(
                ({name: value}, f"there is no attribute {name}: {known}")
                for name, value in (
                    ("keepdim", 0), ("keep_dims", 0), ("keep_dim", 0), ("keepdmis", 0), ("KeepDims", 0),
                    ("axe", [1]), ("axi", 1), ("axsi", 1), ("axxis", 1), ("Axis", 1), ("dim", 1), ("dims", [0]),
                    ("select_last", 1), ("select_last_idx", 1), ("last_index", 1), ("selectlast", 1),
                    ("selectLastIndex", 1), ("selectlastindex", 1), ("SelectLast", 1), ("keepDim", 0),
                    ("nan_polcy", "ignore"), ("nanpolicy", "ignore"), ("nan", "ignore"),
                )
            ),
        ):
            with self.subTest(message):
                with self.assertRaises(Exception) as raised:
                    session(model("ArgMax", rank=2, **attributes))
                self.assertIn(message, str(raised.exception))
        # The misspelling is what is wrong, not what follows from it: that 3 dimensions are concatenated with 2.
        made = followed("argreduce", (5, 4), ["b", 3, 4], 1, 0, "Concat")
        next(attribute for attribute in made.graph.node[0].attribute if attribute.name == "keepdims").name = "keepdim"
        with self.assertRaisesRegex(Exception, "no attribute keepdim:"):
            session(made)
        with self.assertRaisesRegex(Exception, "rank 9"):
            session(model("ArgMax", rank=9))
        # The rank is not known at load: an error when it is.
        runner = session(model("ArgMax", axis=2))
        with self.assertRaisesRegex(Exception, "axis 2 is out of range: rank 2 allows -2 to 1"):
            run(runner, np.zeros((2, 3), np.float32))

    def test_axes_of_another_type(self):
        """The runtime reads each of these as an empty list of integers. None is taken for one: no axis would be reduced."""
        tensor = onnx.numpy_helper.from_array(np.array([0, 1]))
        sparse = helper.make_sparse_tensor(tensor, tensor, [2])
        graph = followed("", (5,), [5, 3, 4], 0, 0, "Flatten").graph
        graph.ClearField("input")
        float_type = helper.make_tensor_type_proto(TensorProto.FLOAT, [1])
        values = (1, 1.0, "1", "", [1.0], ["1"], ["0", "1"], tensor, [tensor], sparse, [sparse], graph, [graph], float_type)
        kinds = onnx.AttributeProto.AttributeType
        attributes = [helper.make_attribute("axes", value) for value in values]
        attributes += [helper.make_attribute("axes", [], attr_type=kind) for kind in (kinds.INTS, kinds.FLOATS, kinds.STRINGS)]
        for attribute in attributes:
            for rank in (2, None):
                made = model("ArgMax", rank=rank, name="which")
                made.graph.node[0].attribute.append(attribute)
                with self.subTest(attribute), self.assertRaises(Exception) as raised:
                    session(made)
                message = "axes is empty or has the wrong type: it has to be a list of integers, of one at least"
                self.assertIn(f'ArgMax "which" with the output "result": {message}', str(raised.exception))

    def test_errors_name_the_node(self):
        for name, message in (
            ("the second", 'ArgMin "the second" with the output "result": axis 7 is out of range: rank 2 allows -2 to 1'),
            ("", 'ArgMin "" with the output "result": axis 7 is out of range'),
        ):
            with self.assertRaises(Exception) as raised:
                session(model("ArgMin", rank=2, axis=7, name=name))
            self.assertIn(message, str(raised.exception))

    def test_what_the_interface_hides(self):
        """README.md says that these go unnoticed: it should no longer, once a runtime lists attributes and opsets."""
        made = model("ArgMax", rank=2, no_name_of_ours=1)
        made.opset_import[1].version = 2
        self.assertEqual(run(session(made), np.zeros((2, 3), np.float32)).tolist(), [[0, 0, 0]])

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


    def test_threads_of_the_session(self):
        """Large enough for several: the answer is that of one thread, and no thread is started beside the session's."""
        for shape, axes in (((64, 20000), [1]), ((1, 2000000), [1]), ((21, 300, 300), [0]), ((500000, 5), [0])):
            data = np.random.default_rng(3).integers(-1000, 1000, shape).astype(np.float32)
            # The best is in a later part, too.
            data.flat[data.size * 2 // 3] = 1000
            for threads in (1, 2, 3):
                runner = session(model("ArgMax", rank=len(shape), axes=axes), threads=threads)
                before = len(os.listdir("/proc/self/task"))
                np.testing.assert_array_equal(run(runner, data), data.argmax(axes[0], keepdims=True))
                self.assertEqual(len(os.listdir("/proc/self/task")), before)


def everywhere(opset=17):
    """Standard ArgMax and ArgMin in the graph, in both branches of an If, and in a function that a Loop calls."""

    def info(name, element_type=TensorProto.INT64, shape=None):
        return helper.make_tensor_value_info(name, element_type, shape)

    def branch(op, **attributes):
        node = helper.make_node(op, ["data"], [f"{op}_result"], axis=-1, keepdims=0, **attributes)
        return helper.make_graph([node], op, [], [info(f"{op}_result")])

    one = helper.make_node("ArgMax", ["x"], ["y"])
    # The function's caller says which axis.
    one.attribute.append(onnx.AttributeProto(name="axis", ref_attr_name="at", type=onnx.AttributeProto.INT))
    opsets = [helper.make_opsetid("", opset)]
    function = helper.make_function("own", "Best", ["x"], ["y"], [one], opsets, ["at"])
    body = helper.make_graph(
        [
            helper.make_node("Best", ["data"], ["found"], domain="own", at=1),
            helper.make_node("Identity", ["going_on"], ["still_going_on"]),
        ],
        "body",
        [info("round", shape=[]), info("going_on", TensorProto.BOOL, [])],
        [info("still_going_on", TensorProto.BOOL, []), info("found")],
    )
    branches = {"then_branch": branch("ArgMax"), "else_branch": branch("ArgMin", select_last_index=1)}
    graph = helper.make_graph(
        [
            helper.make_node("ArgMin", ["data"], ["first"], domain="ai.onnx", axis=-2),
            helper.make_node("If", ["condition"], ["second"], **branches),
            helper.make_node("Loop", ["rounds", "condition"], ["third"], body=body),
        ],
        "everywhere",
        [info("data", TensorProto.FLOAT, ["b", 7]), info("condition", TensorProto.BOOL, []), info("rounds", shape=[])],
        [info("first"), info("second"), info("third")],
    )
    made = helper.make_model(graph, functions=[function], opset_imports=[*opsets, helper.make_opsetid("own", 1)])
    made.ir_version = 8
    return made


class Script(unittest.TestCase):
    """`to_argreduce.py`, in a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def path(self, name, content=None):
        path = self.folder / name
        if isinstance(content, onnx.ModelProto):
            path.write_bytes(content.SerializeToString())
        elif content is not None:
            path.write_bytes(content)
        return path

    def script(self, *arguments):
        """Its exit status, and what it writes to both outputs."""
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as error:
            status = to_argreduce.main([str(argument) for argument in arguments])
        return status, out.getvalue(), error.getvalue()

    def test_as_a_program(self):
        source, output = self.path("model.onnx", model("ArgMax", domain="", rank=2, axis=1)), self.path("moved.onnx")
        program = [sys.executable, HERE / "to_argreduce.py", source, "-o", output]
        done = subprocess.run(program, capture_output=True, text=True)
        report = f"{output}: 1 ArgMax and 0 ArgMin moved to the domain argreduce, with nan_policy propagate\n"
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, report, ""))
        again = subprocess.run(program, capture_output=True, text=True)
        self.assertEqual((again.returncode, again.stdout), (2, ""))
        self.assertEqual(again.stderr, f"to_argreduce.py: {output} exists: --force replaces it\n")

    def test_to_standard_output(self):
        source = self.path("model.onnx", model("ArgMax", domain="", rank=2, axis=1))
        program = [sys.executable, HERE / "to_argreduce.py", source, "-o"]
        done = subprocess.run([*program, "-"], capture_output=True, cwd=self.folder)
        report = b"standard output: 1 ArgMax and 0 ArgMin moved to the domain argreduce, with nan_policy propagate\n"
        self.assertEqual((done.returncode, done.stderr), (0, report))
        self.assertEqual(os.listdir(self.folder), ["model.onnx"])
        subprocess.run([*program, "moved.onnx"], capture_output=True, cwd=self.folder, check=True)
        self.assertEqual(done.stdout, (self.folder / "moved.onnx").read_bytes())
        # A file of this name is one, if the path says so.
        subprocess.run([*program, "./-"], capture_output=True, cwd=self.folder, check=True)
        self.assertEqual(done.stdout, (self.folder / "-").read_bytes())
        # A terminal is no place for a model.
        ours, its = os.openpty()
        done = subprocess.run([*program, "-"], stdout=its, stderr=subprocess.PIPE, text=True)
        os.close(its), os.close(ours)
        message = "to_argreduce.py: standard output is a terminal: name a file, or send it to one\n"
        self.assertEqual((done.returncode, done.stderr), (2, message))

    def test_nodes_everywhere(self):
        original = everywhere()
        source, output = self.path("model.onnx", original), self.path("moved.onnx")
        status, report, _ = self.script(source, "-o", output)
        self.assertEqual(status, 0)
        self.assertIn("2 ArgMax and 2 ArgMin moved to the domain argreduce", report)
        self.assertEqual(onnx.load(source), original)
        moved = onnx.load(output)
        domains = [
            [node.domain for node in to_argreduce.bodies(nodes) if node.op_type in ("ArgMax", "ArgMin")]
            for nodes in (moved.graph.node, moved.functions[0].node)
        ]
        self.assertEqual(domains, [["argreduce"] * 3, ["argreduce"]])
        for imports in (moved.opset_import, moved.functions[0].opset_import):
            self.assertEqual([opset.version for opset in imports if opset.domain == "argreduce"], [1])
        data = np.random.default_rng(0).integers(0, 3, (4, 7)).astype(np.float32)
        for condition in (True, False):
            inputs = {"data": data, "condition": np.array(condition), "rounds": np.array(2)}
            before, after = (session(one).run(None, inputs) for one in (original, moved))
            for one, other in zip(before, after, strict=True):
                np.testing.assert_array_equal(one, other)

    def test_every_opset(self):
        data = np.random.default_rng(0).integers(0, 3, (3, 4, 5)).astype(np.float32)
        for opset in (11, 12, 13, 20):
            attributes = dict(axis=-2, keepdims=0, **(dict(select_last_index=1) if opset > 11 else {}))
            original = model("ArgMin", domain="", rank=3, **attributes)
            original.opset_import[0].version = opset
            source, output = self.path("model.onnx", original), self.path("moved.onnx")
            self.assertEqual(self.script(source, "-o", output, "--force")[0], 0)
            np.testing.assert_array_equal(run(session(onnx.load(output)), data), run(session(original), data))

    def test_what_nan_changes(self):
        """The table of README.md. Its own kernel takes a NaN in the first place, and no other."""
        nan = np.nan
        data = np.array([[nan, 1, 3, 2], [1, nan, 3, 2], [2, nan, nan, 2], [nan] * 4], np.float32)
        for last, its_own, propagate, ignore in (
            (0, [0, 2, 0, 0], [0, 1, 1, 0], [2, 2, 0, 0]),
            (1, [0, 2, 3, 0], [0, 1, 2, 3], [2, 2, 3, 3]),
        ):
            original = model("ArgMax", domain="", rank=2, axis=1, keepdims=0, select_last_index=last)
            self.assertEqual(run(session(original), data).tolist(), its_own)
            source, output = self.path("model.onnx", original), self.path("moved.onnx")
            for policy, answer in (("propagate", propagate), ("ignore", ignore)):
                self.assertEqual(self.script(source, "-o", output, "--force", "--nan-policy", policy)[0], 0)
                self.assertEqual(run(session(onnx.load(output)), data).tolist(), answer)

    def test_files_are_not_replaced(self):
        source = self.path("model.onnx", everywhere())
        kept = source.read_bytes()
        users = self.path("users.onnx", b"the user's")
        linked = self.path("linked.onnx")
        linked.symlink_to(source)
        for arguments, message in (
            ((source, "-o", users), "users.onnx exists: --force replaces it"),
            ((source, "-o", source), "model.onnx is the model itself: give another file"),
            ((source, "-o", source, "--force"), "model.onnx is the model itself: give another file"),
            ((source, "-o", linked, "--force"), "linked.onnx is the model itself: give another file"),
            ((source, "-o", self.folder / "none" / "moved.onnx"), "No such file or directory"),
        ):
            with self.subTest(message):
                status, report, error = self.script(*arguments)
                self.assertEqual((status, report), (2, ""))
                self.assertIn(message, error)
                self.assertEqual((source.read_bytes(), users.read_bytes()), (kept, b"the user's"))
        self.assertEqual(self.script(source, "-o", users, "--force")[0], 0)
        self.assertEqual(len(onnx.load(users).functions), 1)
        self.assertEqual(sorted(os.listdir(self.folder)), ["linked.onnx", "model.onnx", "users.onnx"])

    def test_a_failed_write_leaves_nothing(self):
        for force in (False, True):
            with self.assertRaises(TypeError):
                to_argreduce.write(self.path("moved.onnx"), "no bytes", force)
            self.assertEqual(os.listdir(self.folder), [])

    def test_weights_beside_the_model(self):
        original = model("ArgMax", domain="", rank=2)
        weights = onnx.numpy_helper.from_array(np.zeros((2, 3), np.float32), "data")
        onnx.external_data_helper.set_external_data(weights, "weights.bin")
        original.graph.initializer.append(weights)
        weights.ClearField("raw_data")
        source = self.path("model.onnx", original)
        (self.folder / "other").mkdir()
        status, _, error = self.script(source, "-o", self.folder / "other" / "moved.onnx")
        self.assertEqual(status, 2)
        self.assertIn("keeps weights in weights.bin beside it: the output has to be in the same folder", error)
        self.assertEqual(self.script(source, "-o", "-"), (2, "", error))
        self.assertEqual(self.script(source, "-o", self.folder / "moved.onnx")[0], 0)

    def test_models_that_are_refused(self):
        def changed(change):
            made = model("ArgMax", domain="", rank=2)
            change(made)
            return made

        of_another = model("ArgMax", domain="another", rank=2)
        # In place of the standard operator, the model has a function.
        own = helper.make_function("", "ArgMax", ["x"], ["y"], [helper.make_node("Size", ["x"], ["y"])], [])
        attribute = helper.make_attribute("axes", [1])
        for content, message in (
            (None, "No such file or directory"),
            (b"", "not an ONNX model: it has no graph"),
            (b"no model at all", "not an ONNX model"),
            (of_another, "has no ArgMax or ArgMin of ONNX's own domain: nothing is written"),
            (changed(lambda made: made.functions.append(own)), "has no ArgMax or ArgMin of ONNX's own domain"),
            (
                changed(lambda made: made.graph.node[0].attribute.append(attribute)),
                "ArgMax '' with the output 'result': opset 13 has no attribute 'axes': it has axis, keepdims,",
            ),
            (changed(lambda made: setattr(made.opset_import[0], "version", 999)), "knows opsets 1 to "),
            (changed(lambda made: made.ClearField("opset_import")), "no opset of ONNX's own domain is imported for it"),
        ):
            with self.subTest(message):
                source = self.path("model.onnx", content) if content is not None else self.path("none.onnx")
                status, report, error = self.script(source, "-o", self.folder / "moved.onnx")
                self.assertEqual((status, report), (2, ""))
                self.assertIn(message, error)
                self.assertFalse((self.folder / "moved.onnx").exists())


def times():
    """Microseconds for one call, beside ONNX Runtime's own kernel: best of many, everything but the kernel the same."""
    print("\nONNX Runtime", onnxruntime.__version__, "ArgMax of float32, microseconds (best of many), on 1 and 2 threads:")
    print(f"{'shape':>20} {'axes':>7} {'its own, 1':>10} {'2':>9} {'argreduce, 1':>12} {'2':>9}")
    shapes = (((64, 1000), [1]), ((1, 128256), [1]), ((8, 21, 256, 256), [1]), ((32, 64, 56, 56), [2, 3]), ((1, 1 << 24), [1]))
    for shape, axes in shapes:
        data = np.random.default_rng(0).standard_normal(shape, np.float32)
        # Its ArgMax takes one axis: of two, which are neighbours, a reshape makes one at no cost.
        its_data = data.reshape(*shape[: axes[0]], -1) if len(axes) > 1 else data
        best = []
        for domain, given in (("", its_data), ("argreduce", data)):
            for threads in (1, 2):
                which = {"axes": axes} if domain else {"axis": axes[0]}
                made = model("ArgMax", domain=domain, rank=given.ndim, keepdims=0, **which)
                runner = session(made, threads=threads)
                np.testing.assert_array_equal(run(runner, given), its_data.argmax(axes[0]))
                value = onnxruntime.OrtValue.ortvalue_from_numpy(given)
                binding = runner.io_binding()
                binding.bind_ortvalue_input("data", value)
                binding.bind_output("result")
                timer = timeit.Timer(lambda: runner.run_with_iobinding(binding))
                # Short turns: what else the machine does makes most of them slower.
                number = max(1, int(0.005 / timer.timeit(1)))
                best.append(min(timer.repeat(100, number)) / number * 1e6)
                # Its threads go on asking for work for a while.
                del binding, runner
        print(f"{str(list(shape)):>20} {str(axes):>7} " + "{:10.1f} {:9.1f} {:12.1f} {:9.1f}".format(*best), flush=True)


if __name__ == "__main__":
    show_times = "--times" in sys.argv
    outcome = unittest.main(argv=[a for a in sys.argv if a != "--times"], exit=False).result
    if show_times:
        times()
    sys.exit(not outcome.wasSuccessful())
