#!/usr/bin/env python3
"""What type checkers are told of the functions: the stubs of argreduce and argreduce.dask, and the names of a package.

    python integrations/python/stubs.py              whether they are up to date
    python integrations/python/stubs.py --write      makes them so

It goes by the package that is installed: by its table of functions, and by their signatures. What a type checker has to
know beside that is here: the types of options, and what comes back for which of them.
"""

from __future__ import annotations

import argparse
import inspect
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import argreduce
import argreduce.dask

FOLDER = Path(__file__).parent / "python" / "argreduce"
MARKS = "# By stubs.py: what follows, to the end mark.\n", "# end\n"

TYPES = {
    "x": "Any",
    "axis": "_Axis",
    "keepdims": "_Truth",
    "reverse": "_Truth",
    "out": "None",
    "dtype": "DTypeLike | None",
    "select_last": "_Truth",
    "nan": "Nan",
    "threads": "_Threads",
    "where": "_Where",
    "fill": "SupportsIndex | None",
    "key": "_Key",
    "near": "_Near",
}
TYPES_OF_DASK = {
    **TYPES,
    "keepdims": "bool",
    "select_last": "bool",
    "split_every": "int | dict[int, int] | None",
    "where": "Any",
    "fill": "int | None",
    "key": "Any",
    "near": "Any",
}

# The types of some parameters, with defaults if they have any there; and what comes back.
Overload = tuple[dict[str, str], str]


def result(name: str, values: str, indices: str) -> str:
    """The type of what a function gives, of such values and indices."""
    functions, answer = argreduce._argreduce._FUNCTIONS[name]
    if answer == "ValuesAndIndices":
        return f"{answer if len(functions) == 1 else 'ArgMinMaxValues'}[{values}, {indices}]"
    return indices if len(functions) == 1 else f"ArgMinMax[{indices}]"


def overloads(name: str, options: set[str]) -> Iterator[Overload]:
    """The first that fits is what a type checker takes."""
    functions, answer = argreduce._argreduce._FUNCTIONS[name]
    has_values = answer == "ValuesAndIndices"
    x = "NDArray[_S]" if has_values else "_OfNumPy"
    number = {"x": x, "axis": "None = None", "keepdims": "Literal[False] | None = False"}
    array = {"x": x, "keepdims": "Literal[True]"}
    usual = {"dtype": "None = None"}
    yield {**number, **usual}, result(name, "_S", "np.int64")
    if len(functions) == 1 and not has_values:
        yield number, "np.integer[Any]"
    yield {**array, **usual}, result(name, "NDArray[_S]", "NDArray[np.int64]")
    if len(functions) == 1 and not has_values:
        yield array, "_Integers"
    if "out" in options:
        yield {"out": "_Out"}, result(name, "Any", "_Out")
    yield {"x": "_Labelled", "axis": "_Name = None"}, result(name, "Any", "Any")
    yield {}, result(name, "Any", "Any")


def cumulative_overloads(name: str) -> Iterator[Overload]:
    """The same of the best so far: each result has as many elements as ``x``."""
    _, answer = argreduce._argreduce._CUMULATIVE[name]
    has_values = answer == "ValuesAndIndices"

    def of(values: str, indices: str) -> str:
        return f"ValuesAndIndices[{values}, {indices}]" if has_values else indices

    x = {"x": "NDArray[_S]" if has_values else "_OfNumPy", "axis": "SupportsIndex | None = None"}
    yield {**x, "dtype": "None = None"}, of("NDArray[_S]", "NDArray[np.int64]")
    if not has_values:
        yield x, "_Integers"
    yield {"out": "_Out", "axis": "SupportsIndex | None = None"}, of("Any", "_Out")
    yield {"x": "_Labelled", "axis": "SupportsIndex | str | None = None"}, of("Any", "Any")
    yield {"axis": "SupportsIndex | None = None"}, of("Any", "Any")


def wrapped(words: list[str]) -> str:
    """In lines, indented."""
    text = textwrap.TextWrapper(119, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
    # A word keeps its own spaces.
    return text.fill(", ".join(word.replace(" ", "\0") for word in words)).replace("\0", " ") + ",\n"


def all_names(names: list[str], sign: str = "=") -> str:
    return f"__all__ {sign} [\n" + wrapped([f'"{name}"' for name in sorted(names)]) + "]\n"


def stub(function: Any, types: dict[str, str], overload: Overload, body: str) -> str:
    """With the types and defaults that an overload says, or else those that there are."""
    (said, result), words = overload, []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in words:
            words.append("*")
        default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}".replace("'", '"')
        words.append(f"{name}: {said.get(name, types[name] + default)}")
        if parameter.kind is parameter.POSITIONAL_ONLY:
            words.append("/")
    return f"def {function.__name__}(\n{wrapped(words)}) -> {result}:{body}\n"


def stubs() -> Iterator[tuple[Path, str]]:
    """Each file, as it should be."""
    eager, lazy = argreduce._argreduce, argreduce.dask
    yield filled_in(FOLDER / "__init__.py", all_names(eager.__all__, "+="))
    text = all_names(eager.__all__)
    for name in eager._FUNCTIONS:
        function = getattr(eager, name)
        for overload in overloads(name, set(inspect.signature(function).parameters)):
            text += "@overload\n" + stub(function, TYPES, overload, " ...")
    for name in eager._CUMULATIVE:
        for overload in cumulative_overloads(name):
            text += "@overload\n" + stub(getattr(eager, name), TYPES, overload, " ...")
    yield filled_in(FOLDER / "_argreduce.pyi", text)
    text = all_names(lazy.__all__)
    for name in lazy.__all__:
        function = getattr(lazy, name)
        summary = function.__doc__.partition("\n")[0]
        overload = {}, result(name, "Any", "Any")
        text += "\n" + stub(function, TYPES_OF_DASK, overload, f'\n    """{summary} Lazily."""')
    yield filled_in(FOLDER / "dask.pyi", text)


def filled_in(path: Path, text: str) -> tuple[Path, str]:
    first, last = MARKS
    before, rest = path.read_text(encoding="utf-8").split(first)
    return path, before + first + text + last + rest.partition(last)[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="write them anew")
    write, outdated = parser.parse_args().write, [(path, text) for path, text in stubs() if path.read_text() != text]
    for path, text in outdated:
        if write:
            path.write_text(text, encoding="utf-8")
        else:
            print(f"{path} is not what the functions are: {sys.argv[0]} --write makes it so")
    sys.exit(bool(outdated) and not write)


if __name__ == "__main__":
    main()
