"""Runs tests of other packages, from their wheels, with this package's functions in place of theirs.

    python run.py            all suites, each in a process of its own; checks what docs/conformance.md says of them
    python run.py NAME       one of them
    python run.py --cases    also prints all cases that do not pass, as they are

Every case passes, or is named on the page with what it says; what is named does not pass; and at least as many calls are
answered by this package as the page says.
"""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
import page
import pytest


@dataclass
class Suite:
    """Tests of a package."""

    package: str
    # What is replaced: names of functions of replace.py.
    replaced: tuple[str, ...]
    # Modules of tests, and which of their functions (a pattern).
    modules: dict[str, str]
    # Which of their cases (a pattern).
    cases: str = "."
    # Libraries that are not found by them, installed or not: so that the same cases run everywhere.
    hidden: tuple[str, ...] = ()
    # Whether copies are run, in which methods of NumPy's arrays are replaced too.
    is_copied: bool = True


SUITES = {
    "NumPy": Suite(
        "numpy",
        ("numpy",),
        {
            "numpy._core.tests.test_multiarray": "TestArgmax|TestArgmin",
            "numpy._core.tests.test_regression": "argmax|test_method_args|test_attributes",
            "numpy._core.tests.test_half": "test_half_funcs",
            "numpy.lib.tests.test_nanfunctions": "ArgminArgmax|NumberTypes::test_nanfunc$",
            "numpy.lib.tests.test_shape_base": "test_argequivalent|test_replace_max",
        },
        # What is parametrized with all of NumPy's nan functions.
        cases=r"^(?!.*test_nanfunc\[(?!nanarg))",
    ),
    "bottleneck": Suite(
        "bottleneck",
        ("bottleneck",),
        {
            f"bottleneck.tests.{name}_test": "."
            for name in ("reduce", "move", "list_input", "scalar_input", "input_modification")
        },
        cases="nanarg|move_arg",
        is_copied=False,
    ),
    "xarray": Suite(
        "xarray",
        ("numpy", "bottleneck", "dask"),
        {
            f"xarray.tests.test_{name}": "."
            for name in ("dataarray", "dataset", "dask", "duck_array_ops", "duck_array_wrapping", "variable")
        },
        cases="argm|idxm",
        # numbagg would answer calls in place of bottleneck.
        hidden=("cupy", "jax", "numbagg", "pint", "polars", "pyarrow", "sparse"),
        is_copied=False,
    ),
    "dask": Suite(
        "dask",
        ("dask",),
        {
            "dask.array.tests.test_reductions": "arg_red|nanarg|2D_nans|negative_axes|test_nan$|reduction_out|3940",
            "dask.array.tests.test_masked": "arg_red",
        },
        cases=r"^(?!.*(reduction_out\[sum\]|cum))",
    ),
}


class Recorder:
    """A plugin for pytest: which cases there were, and what became of them."""

    def __init__(self, suite: Suite) -> None:
        self.suite = suite
        self.passed: list[str] = []
        # What they said.
        self.others: dict[str, str] = {}

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = [item for item in items if self._is_asked_for(name_of(item))]

    def _is_asked_for(self, name: str) -> bool:
        file, _, case = name.partition("::")
        tests = next(tests for module, tests in self.suite.modules.items() if f".{module}".endswith(f".{file[:-3]}"))
        return bool(re.search(tests, case.partition("[")[0]) and re.search(self.suite.cases, case))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: Any) -> Generator[None, Any, Any]:
        report = yield
        if report.failed:
            self.others[name_of(item)] = str(report.longrepr)
        elif report.skipped:
            self.others[name_of(item)] = report.wasxfail if hasattr(report, "wasxfail") else report.longrepr[-1]
        elif report.when == "call":
            self.passed.append(name_of(item))
        return report


def name_of(item: Any) -> str:
    """The file, the class and the function of a case, and its parameters."""
    return f"{item.path.name}::{item.nodeid.partition('::')[2]}"


def run(name: str, left_out: list[str], report: Path) -> int:
    """Runs a suite in this process, and writes what became of it to a file."""
    import replace

    suite = SUITES[name]
    # Then `import` raises a ModuleNotFoundError.
    sys.modules.update(dict.fromkeys(suite.hidden))  # type: ignore[arg-type]
    for function in suite.replaced:
        getattr(replace, function)()
    _seed_generators()
    recorder = Recorder(suite)
    found_lines = dict.fromkeys(left_out, 0)
    with tempfile.TemporaryDirectory() as folder:
        # Other people's settings are not for us, nor are ours for them.
        settings = Path(folder, "pytest.ini")
        settings.write_text("[pytest]\n")
        files = [
            replace.copy_of_tests(module, tests, found_lines, Path(folder)) if suite.is_copied else replace.file_of(module)
            for module, tests in suite.modules.items()
        ]
        if missing := [line for line, count in found_lines.items() if not count]:
            raise SystemExit(f"no test of {name} has the line that the page leaves out: {missing}")
        options = ["-q", "--tb=line", "--disable-warnings", "-p", "no:cacheprovider", "-c", settings, "--rootdir", folder]
        status = pytest.main([*map(str, options), *map(str, files)], plugins=[recorder])
    outcome = {"passed": recorder.passed, "others": recorder.others, "answered": sum(replace.answered.values())}
    report.write_text(json.dumps(outcome))
    # Whether tests failed is for the caller to judge.
    return 0 if status in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) else 1


def _seed_generators() -> None:
    """Gives random numbers of tests a seed: some have data that decide whether a case passes."""
    unseeded = numpy.random.default_rng
    numpy.random.default_rng = lambda seed=0: unseeded(seed)
    numpy.random.seed(0)


def check(name: str, section: page.Section, outcome: dict[str, Any]) -> list[str]:
    """What is not as the page says."""
    passed, others, answered = outcome["passed"], outcome["others"], outcome["answered"]
    wrong = []
    for case, said in others.items():
        if case not in section.cases:
            wrong.append(f"{case} does not pass, and the page does not name it: {last_line(said)}")
        elif section.cases[case] not in said:
            wrong.append(f"{case} was to say '{section.cases[case]}': {last_line(said)}")
    wrong += [f"{case} passes: the page must not name it" for case in section.cases if case in passed]
    wrong += [f"{case} is no case" for case in section.cases if case not in passed and case not in others]
    found = [name, importlib.metadata.version(SUITES[name].package), str(len(passed)), str(len(others)), str(answered)]
    print("|", " | ".join(found), "|")
    if found[:-1] != section.counts[:-1] or answered < int(section.counts[-1]):
        wrong.append(f"{name} was to have the row {section.counts}, with that many calls or more")
    return wrong


def last_line(said: str) -> str:
    return said.strip().splitlines()[-1][:200]


def main() -> int:
    """Runs suites beside each other, and checks them."""
    names = [name for name in SUITES if name in sys.argv] or list(SUITES)
    sections = page.read()
    if missing := [name for name in names if name not in sections]:
        raise SystemExit(f"{page.PAGE.name} has no row of counts for {missing}")
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        reports = {name: Path(folder, name) for name in names}
        logs = {name: Path(folder, f"{name}.log") for name in names}
        started = {}
        for name in names:
            command = [sys.executable, __file__, "--in-this-process", name, str(reports[name]), *sections[name].left_out]
            started[name] = subprocess.Popen(command, stdout=logs[name].open("w"), stderr=subprocess.STDOUT)
        for name in names:
            if started[name].wait():
                print(logs[name].read_text())
                return 1
            outcome = json.loads(reports[name].read_text())
            wrong += check(name, sections[name], outcome)
            if "--cases" in sys.argv:
                for case, said in outcome["others"].items():
                    print(f"{case}: {last_line(said)}")
    print(*wrong or [f"all as {page.PAGE.name} says"], sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--in-this-process"]:
        sys.exit(run(sys.argv[2], sys.argv[4:], Path(sys.argv[3])))
    sys.exit(main())
