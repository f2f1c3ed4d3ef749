"""One table of functions: what Python, dask and type checkers have of them is the same."""

from __future__ import annotations

import inspect
import runpy
from pathlib import Path

import argreduce
import pytest

ROOT = Path(__file__).parent.parent


def test_stubs_are_up_to_date():
    pytest.importorskip("dask.array")
    stubs = runpy.run_path(str(ROOT / "stubs.py"))["stubs"]
    for path, text in stubs():
        assert path.read_text(encoding="utf-8") == text, "integrations/python/stubs.py --write"


def test_signatures():
    for name, out, nan in (("argmax", "out=None, ", "nan='propagate', "), ("nanargmin", "out=None, ", "")):
        signature = f"keepdims=False, {out}dtype=None, select_last=False, {nan}threads=None, where=None, fill=None, "
        signature += "key=None, near=None"
        assert str(inspect.signature(getattr(argreduce, name))) == f"(x, /, axis=None, *, {signature})"
    signature = "start, whole, function='argmax', select_last=False, nan='propagate', threads=None, where=None, "
    signature += "key=None, near=None"
    assert str(inspect.signature(argreduce.partial)) == f"(x, axis=None, *, {signature})"


def test_signatures_of_dask():
    lazy = pytest.importorskip("argreduce.dask")
    assert lazy.__all__ == sorted(argreduce._argreduce._FUNCTIONS)
    for name in lazy.__all__:
        function = getattr(lazy, name)
        nan = "" if name.startswith("nan") else "nan='propagate', "
        options = f"keepdims=False, select_last=False, {nan}where=None, fill=None, key=None, near=None, split_every=None"
        assert str(inspect.signature(function)) == f"(x, axis=None, *, {options})"
        with pytest.raises(TypeError, match=rf"^{name}\(\) got an unexpected keyword argument 'dtype'$"):
            function([1], dtype=1)
        with pytest.raises(TypeError, match=rf"^{name}\(\) takes from 1 to 2 positional arguments but 3 were given$"):
            function([1], 0, True)
        with pytest.raises(TypeError, match=rf"^{name}\(\) missing 1 required positional argument: 'x'$"):
            function()


@pytest.mark.parametrize("name", sorted({**argreduce._argreduce._FUNCTIONS, **argreduce._argreduce._CUMULATIVE}))
def test_docs_have_all_options(name):
    function = getattr(argreduce, name)
    parameters, _, rest = function.__doc__.partition("Parameters\n----------\n")[2].partition("\nReturns\n")
    assert rest
    documented = [line.partition(" : ")[0] for line in parameters.splitlines() if not line.startswith(" ")]
    assert documented == list(inspect.signature(function).parameters)
