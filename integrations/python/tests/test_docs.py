"""The examples in docstrings and documents are run. (Those of the extension module too: doctest does not find them.)"""

from __future__ import annotations

import doctest
import importlib
import importlib.metadata
from pathlib import Path

import argreduce
import pytest


@pytest.mark.parametrize("name", argreduce.__all__)
def test_docstrings(name):
    what = getattr(argreduce, name)
    finder = doctest.DocTestParser()
    examples = finder.get_doctest(what.__doc__, {}, name, None, 0)
    assert examples.examples or isinstance(what, type), f"{name} has no example"
    assert doctest.DocTestRunner().run(examples).failed == 0


@pytest.mark.parametrize("module", ["argreduce", "argreduce.dask", "argreduce.segments"])
def test_modules(module):
    pytest.importorskip(module)
    result = doctest.testmod(importlib.import_module(module))
    assert result.failed == 0 and result.attempted > 0


def test_readme():
    pytest.importorskip("dask.array")
    pytest.importorskip("xarray")
    readme = Path(__file__).parent.parent / "README.md"
    result = doctest.testfile(str(readme), module_relative=False)
    assert result.failed == 0 and result.attempted > 20


@pytest.mark.parametrize("page", ["README.md", "docs/masks.md"])
def test_pages_of_the_repository(page):
    text = (Path(__file__).parents[3] / page).read_text(encoding="utf-8")
    # The line that ends a block would be taken for output.
    examples = doctest.DocTestParser().get_doctest(text.replace("```", ""), {}, page, page, 0)
    assert examples.examples and doctest.DocTestRunner().run(examples).failed == 0


def test_notices_are_installed():
    files = {file.name: file for file in importlib.metadata.files("argreduce") or []}
    assert {"LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY-NOTICES"} <= set(files)
    assert "pyo3" in files["THIRD-PARTY-NOTICES"].read_text()
