"""Puts this package's functions in place of those of NumPy, bottleneck and dask, and counts the calls that they answer."""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import importlib.util
import re
from collections import Counter
from pathlib import Path
from typing import Any

import argreduce
import numpy as np

NAMES = ("argmax", "argmin", "nanargmax", "nanargmin")

# How many calls of each function were answered. One that raises is not counted.
answered: Counter[str] = Counter()


def _counted(function: Any) -> Any:
    """The function, counted. Nothing else: no type is looked at, and nothing goes on to what was replaced."""

    def counted(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        answered[function.__name__] += 1
        return result

    counted.__name__ = function.__name__
    return counted


def _with_parameters_of_numpy(name: str) -> Any:
    """``a`` has a name, and ``out`` has a place. Arrays of another library with functions of its own go there."""
    ours, theirs = _counted(getattr(argreduce, name)), getattr(np, name)

    def function(a: Any, *args: Any, **kwargs: Any) -> Any:
        if hasattr(a, "__array_function__") and not isinstance(a, np.ndarray):
            return theirs(a, *args, **kwargs)
        if len(args) > 1:
            args, kwargs = args[:1], {"out": args[1], **kwargs}
        return ours(a, *args, **kwargs)

    function.__name__ = name
    return function


def _with_parameters_of_bottleneck(name: str) -> Any:
    ours = _counted(getattr(argreduce, name))

    def function(a: Any, axis: Any = None) -> Any:
        return ours(a, axis)

    function.__name__ = name
    return function


def _moving_of_bottleneck(name: str) -> Any:
    """Ours gives float64 whatever the elements are; theirs has floats of the type of the elements."""
    ours = _counted(getattr(argreduce, name))

    def function(a: Any, window: Any, min_count: Any = None, axis: Any = -1) -> Any:
        found = ours(a, window, min_count, axis)
        return found.astype(np.asarray(a).dtype) if np.asarray(a).dtype.kind == "f" else found

    function.__name__ = name
    return function


_methods: dict[str, Any] = {}


def numpy() -> None:
    """NumPy's functions. Methods of its arrays cannot be replaced: see :func:`copy_of_tests`."""
    for name in NAMES:
        function = _with_parameters_of_numpy(name)
        setattr(np, name, function)
        if hasattr(np.ndarray, name):
            _methods[name] = function


def bottleneck() -> None:
    """bottleneck's functions: not those of ``bottleneck.slow``, which its tests compare them with."""
    module = importlib.import_module("bottleneck")
    for name in ("nanargmax", "nanargmin"):
        setattr(module, name, _with_parameters_of_bottleneck(name))
    for name in ("move_argmax", "move_argmin"):
        setattr(module, name, _moving_of_bottleneck(name))


def dask() -> None:
    """dask's functions, and the methods of its arrays."""
    ours = importlib.import_module("argreduce.dask")
    array = importlib.import_module("dask.array")
    for name in NAMES:
        function = _counted(getattr(ours, name))
        for where in (array, importlib.import_module("dask.array.reductions")):
            setattr(where, name, function)
        if hasattr(array.Array, name):
            setattr(array.Array, name, function)


def method(x: Any, name: str, *default: Any) -> Any:
    """``getattr``, but of NumPy's arrays it finds ours."""
    if isinstance(x, np.ndarray) and name in _methods:
        return functools.partial(_methods[name], x)
    return builtins.getattr(x, name, *default)


class _Rewrite(ast.NodeTransformer):
    """``x.argmax(..)`` and ``getattr(x, name)(..)`` find :func:`method`, and some statements are left out."""

    def __init__(self, left_out: dict[str, int]) -> None:
        self.left_out = left_out

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        self.generic_visit(node)
        if node.attr not in NAMES or not isinstance(node.ctx, ast.Load):
            return node
        return ast.Call(ast.Name("_method", ast.Load()), [node.value, ast.Constant(node.attr)], [])

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "getattr":
            node.func.id = "_method"
        return node

    def visit_Expr(self, node: ast.Expr) -> Any:
        line = ast.unparse(node)
        if line in self.left_out:
            self.left_out[line] += 1
            return ast.Pass()
        return self.generic_visit(node)


def _some_tests(body: list[ast.stmt], tests: str, group: str = "") -> list[ast.stmt]:
    """Statements of a module or a class without the tests that a pattern does not find: NumPy has too many to collect."""
    kept = []
    for node in body:
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            node.body = _some_tests(node.body, tests, f"{node.name}::")
            keep = any(isinstance(part, ast.FunctionDef) and part.name.startswith("test") for part in node.body)
        elif isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            keep = re.search(tests, group + node.name) is not None
        else:
            keep = True
        if keep:
            kept.append(node)
    return kept


def file_of(module: str) -> Path:
    """Where a module of tests is."""
    found = importlib.util.find_spec(module)
    if found is None or found.origin is None:
        raise SystemExit(f"{module} is not there: its package's wheel carries it no longer")
    return Path(found.origin)


def copy_of_tests(module: str, tests: str, left_out: dict[str, int], folder: Path) -> Path:
    """A copy of a module with some of its tests (a pattern), which finds our functions for methods of NumPy's arrays.

    Statements that are to be left out are, and counted.
    """
    source = file_of(module)
    tree = ast.parse(source.read_text())
    tree.body = _some_tests(tree.body, tests)
    tree = _Rewrite(left_out).visit(tree)
    after_future = sum(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body)
    tree.body.insert(after_future, ast.ImportFrom("replace", [ast.alias("method", "_method")], 0))
    copy = folder / source.name
    copy.write_text(ast.unparse(ast.fix_missing_locations(tree)))
    return copy
