"""Models for tests/models.rs: one folder each, with model.onnx, and input_0.pb, output_0.pb, input_1.pb, ..

    python models.py FOLDER      # wheels: tests/requirements.txt

node-*      ONNX's own node tests of ArgMax and ArgMin, with their answers
single-*    one axis, of each type that tract's own takes
several-*   a Reshape merges axes, and ArgMax or ArgMin reduces the merged one; also after a Transpose
symbolic-*  a batch of any size
real        PP-OCRv4's recogniser of text, as the wheel rapidocr-onnxruntime has it, with an ArgMax after it; and a picture
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

OPSET = 13
TYPES = {
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "i8": np.int8,
    "i32": np.int32,
    "i64": np.int64,
    "u8": np.uint8,
}
# 5 x 7 pixels each.
LETTERS = {
    "H": "10001 10001 10001 11111 10001 10001 10001",
    "E": "11111 10000 10000 11110 10000 10000 11111",
    "L": "10000 10000 10000 10000 10000 10000 11111",
    "O": "01110 10001 10001 10001 10001 10001 01110",
}


def save(folder, model, data_sets):
    """`data_sets`: pairs of an input and its answer, or None where only the two ways of tract are compared."""
    folder.mkdir(parents=True)
    onnx.save(model, folder / "model.onnx")
    for number, pair in enumerate(data_sets):
        for name, array in zip(("input", "output"), pair):
            if array is not None:
                (folder / f"{name}_{number}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())


def sample(shape, dtype, seed=0):
    """Few different values: full of ties."""
    return np.random.default_rng(seed).integers(0, 5, shape).astype(dtype)


def make(folder, dtype, dims, nodes, shapes, initializers=()):
    element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    inputs = [helper.make_tensor_value_info("x", element, dims)]
    outputs = [helper.make_tensor_value_info("y", TensorProto.INT64, None)]
    graph = helper.make_graph(nodes, "graph", inputs, outputs, initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
    data = [sample(shape, dtype, seed) for seed, shape in enumerate(shapes)]
    save(folder, model, [(x, ReferenceEvaluator(model).run(None, {"x": x})[0]) for x in data])


def single(root):
    shape = (2, 21, 9, 17)
    for op in ("ArgMax", "ArgMin"):
        for last in (0, 1):
            for axis in (0, 1, 2, 3, -1):
                node = helper.make_node(op, ["x"], ["y"], axis=axis, keepdims=last, select_last_index=last)
                make(root / f"single-{op}-{axis}-{last}", np.float32, shape, [node], [shape])
            for name, dtype in TYPES.items():
                node = helper.make_node(op, ["x"], ["y"], axis=1, select_last_index=last)
                make(root / f"single-{op}-{name}-{last}", dtype, shape, [node], [shape])


def several(root):
    shape = (2, 9, 17, 5)
    for op in ("ArgMax", "ArgMin"):
        for last in (0, 1):
            merge = helper.make_node("Reshape", ["t", "sizes"], ["merged"])
            sizes = numpy_helper.from_array(np.array([2, 5, 9 * 17]), "sizes")
            best = helper.make_node(op, ["merged"], ["y"], axis=2, keepdims=0, select_last_index=last)
            # A heat map for each channel, the channels last.
            nodes = [helper.make_node("Transpose", ["x"], ["t"], perm=[0, 3, 1, 2]), merge, best]
            make(root / f"several-transposed-{op}-{last}", np.float32, shape, nodes, [shape], [sizes])
            # The transposition swaps two of the merged axes: it has to stay.
            nodes = [helper.make_node("Transpose", ["x"], ["t"], perm=[0, 3, 2, 1]), merge, best]
            make(root / f"several-swapped-{op}-{last}", np.float32, shape, nodes, [shape], [sizes])
            nodes = [
                helper.make_node("Flatten", ["x"], ["flat"], axis=1),
                helper.make_node(op, ["flat"], ["y"], axis=1, select_last_index=last),
            ]
            make(root / f"several-flat-{op}-{last}", np.float16, shape, nodes, [shape])


def symbolic(root):
    for name, axis, dims in (("channels", 1, ["batch", 21, "pixels"]), ("last", -1, ["batch", 3, 700])):
        node = helper.make_node("ArgMax", ["x"], ["y"], axis=axis, keepdims=0)
        shapes = [tuple(size if isinstance(size, int) else batch for size in dims) for batch in (4, 1, 19)]
        make(root / f"symbolic-{name}", np.float32, dims, [node], shapes)


def node_tests(root):
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = [case for case in collect_testcases(None) if case.name.startswith(("test_argmax_", "test_argmin_"))]
    for case in cases:
        save(root / f"node-{case.name}", case.model, [(inputs[0], outputs[0]) for inputs, outputs in case.data_sets])


def picture(word):
    """Black on white, as the recogniser takes it: channels, 48 x 320, from -1 to 1."""
    image = np.ones((48, 320), np.float32)
    for number, letter in enumerate(word):
        glyph = np.array([[int(pixel) for pixel in row] for row in LETTERS[letter].split()])
        image[6:41, 12 + 32 * number : 37 + 32 * number] -= 2 * np.kron(glyph, np.ones((5, 5)))
    return np.repeat(image[None, None], 3, axis=1)


def real(root):
    import importlib.util

    package = Path(importlib.util.find_spec("rapidocr_onnxruntime").origin).parent
    model = onnx.load(package / "models" / "ch_PP-OCRv4_rec_infer.onnx")
    graph = model.graph
    graph.node.append(helper.make_node("ArgMax", [graph.output[0].name], ["labels"], axis=2, keepdims=0))
    del graph.output[:]
    graph.output.append(helper.make_tensor_value_info("labels", TensorProto.INT64, None))
    save(root / "real", model, [(picture("HELLO"), None)])
    # Label 0 is no character, and the last one is a space.
    characters = next(item.value for item in model.metadata_props if item.key == "character").splitlines()
    (root / "real" / "hello.txt").write_text(" ".join(str(1 + characters.index(letter)) for letter in "HELLO"))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = Path(sys.argv[1])
    for write in (node_tests, single, several, symbolic, real):
        write(root)
    print(f"{len(list(root.iterdir()))} models")


main()
