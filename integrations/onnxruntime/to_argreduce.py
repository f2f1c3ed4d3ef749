#!/usr/bin/env python3
"""Moves a model's standard ArgMax and ArgMin nodes to the domain `argreduce`.

    python to_argreduce.py model.onnx -o moved.onnx          # wheel: onnx; - is standard output

Nodes in the bodies of If, Loop and Scan and in the model's own functions move too. Attributes stay as they are: they
have the same names, meanings and defaults. What changes is NaN: by default it is better than every number, as in NumPy,
PyTorch and ONNX's reference. With `--nan-policy ignore` it is worse than every number. ONNX Runtime's own kernels do
neither: README.md has the table.
"""

import argparse
import collections
import collections.abc
import os
import pathlib
import sys

import onnx
from google.protobuf.message import DecodeError

DOMAIN = "argreduce"
OPERATORS = ("ArgMax", "ArgMin")
# ONNX's own domain has two names.
STANDARD = ("", "ai.onnx")
# The versions of ONNX's ArgMax and ArgMin that the operators of the domain are known to cover, with all their types.
VERSIONS = (1, 11, 12, 13)


class Refused(Exception):
    """The model or the file cannot be had: the message says why."""


def bodies(nodes):
    """The nodes, and those of their bodies, at any depth."""
    for node in nodes:
        yield node
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                yield from bodies(graph.node)


def check(node, version):
    """Refuses a node that is not one of ONNX's standard, because its meaning in the other domain is not known."""
    what = f"{node.op_type} {node.name!r} with the output {', '.join(node.output)!r}"
    if version is None:
        raise Refused(f"{what}: no opset of ONNX's own domain is imported for it")
    latest = onnx.defs.onnx_opset_version()
    if not 1 <= version <= latest:
        raise Refused(f"{what}: onnx {onnx.__version__} knows opsets 1 to {latest}, not {version}")
    schema = onnx.defs.get_schema(node.op_type, version, "")
    if schema.since_version not in VERSIONS:
        raise Refused(f"{what}: its version {schema.since_version} is not known here: {VERSIONS} are")
    unknown = [attribute.name for attribute in node.attribute if attribute.name not in schema.attributes]
    if unknown:
        allowed = ", ".join(sorted(schema.attributes))
        raise Refused(f"{what}: opset {version} has no attribute {unknown[0]!r}: it has {allowed}")


def move(model, nan_policy="propagate"):
    """Moves the nodes, and gives how many of each operator there were."""
    moved = collections.Counter()
    own = {function.name for function in model.functions if function.domain in STANDARD}
    places = [(model.graph.node, model.opset_import)]
    places += [(function.node, function.opset_import) for function in model.functions]
    for nodes, imports in places:
        version = next((opset.version for opset in imports if opset.domain in STANDARD), None)
        before = moved.total()
        for node in bodies(nodes):
            is_standard = node.domain in STANDARD and node.op_type in OPERATORS
            # A function of the model's own takes the place of an operator of its name.
            if not is_standard or node.op_type in own:
                continue
            check(node, version)
            node.domain = DOMAIN
            if nan_policy != "propagate":
                node.attribute.append(onnx.helper.make_attribute("nan_policy", nan_policy))
            moved[node.op_type] += 1
        if moved.total() > before:
            import_domain(imports)
    if moved:
        # Also where only functions use it.
        import_domain(model.opset_import)
    return moved


def import_domain(imports):
    if DOMAIN not in (opset.domain for opset in imports):
        imports.append(onnx.helper.make_opsetid(DOMAIN, 1))


def external_files(message):
    """The files of weights beside the model, wherever in the model they are named."""
    if isinstance(message, onnx.TensorProto):
        if message.data_location == onnx.TensorProto.EXTERNAL:
            yield from (entry.value for entry in message.external_data if entry.key == "location")
        return
    for field, value in message.ListFields():
        if field.message_type is not None:
            for part in value if isinstance(value, collections.abc.Sequence) else [value]:
                yield from external_files(part)


def read(path):
    try:
        model = onnx.load(path, format="protobuf", load_external_data=False)
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}") from None
    except DecodeError:
        raise Refused(f"{path}: not an ONNX model") from None
    if not model.HasField("graph"):
        raise Refused(f"{path}: not an ONNX model: it has no graph")
    return model


def write(path, data, force):
    """Writes the whole file or none of it. Without `force`, a file that is there stays as it is."""
    part = path.with_name(f".{path.name}.{os.getpid()}") if force else path
    try:
        file = open(part, "xb")
    except FileExistsError:
        raise Refused(f"{part} exists: --force replaces it") from None
    try:
        with file:
            file.write(data)
        if force:
            os.replace(part, path)
    except BaseException:
        part.unlink()
        raise


def place(text):
    """Where to write to: a path, or None for standard output."""
    return None if text == "-" else pathlib.Path(text)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path, help="the model to read; it is never changed")
    parser.add_argument("-o", "--output", type=place, required=True, help="the model to write; - is standard output")
    parser.add_argument("--force", action="store_true", help="replace the output if it exists")
    parser.add_argument("--nan-policy", choices=("propagate", "ignore"), default="propagate", help="default: propagate")
    options = parser.parse_args(arguments)
    try:
        return convert(options.model, options.output, options.force, options.nan_policy)
    except (Refused, OSError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2


def convert(source, output, force, nan_policy):
    model = read(source)
    if output is None:
        if sys.stdout.isatty():
            raise Refused("standard output is a terminal: name a file, or send it to one")
    elif output.exists():
        if output.samefile(source):
            raise Refused(f"{output} is the model itself: give another file")
        if not force:
            raise Refused(f"{output} exists: --force replaces it")
    weights = sorted(set(external_files(model)))
    if weights and (output is None or output.resolve().parent != source.resolve().parent):
        raise Refused(f"{source} keeps weights in {weights[0]} beside it: the output has to be in the same folder")
    moved = move(model, nan_policy)
    if not moved:
        raise Refused(f"{source} has no ArgMax or ArgMin of ONNX's own domain: nothing is written")
    each = " and ".join(f"{moved[name]} {name}" for name in OPERATORS)
    report = f"{each} moved to the domain {DOMAIN}, with nan_policy {nan_policy}"
    if output is None:
        sys.stdout.buffer.write(model.SerializeToString())
        sys.stdout.buffer.flush()
        print(f"standard output: {report}", file=sys.stderr)
    else:
        write(output, model.SerializeToString(), force)
        print(f"{output}: {report}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
