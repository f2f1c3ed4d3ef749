"""docs/conformance.md as the list of what is left out and of what does not pass: there is no other."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs" / "conformance.md"


@dataclass
class Section:
    """What the page says of a suite: under a heading that is its name."""

    # Statements that its tests are run without.
    left_out: list[str] = field(default_factory=list)
    # Each case that does not pass, and what it has to say.
    cases: dict[str, str] = field(default_factory=dict)
    # Its row: name, version, how many passed, how many did not, and how many calls this package answered.
    counts: list[str] = field(default_factory=list)


def expand(names: str) -> list[str]:
    """``a{b,c}d`` and ``a{1..3}`` as the shell expands them."""
    found = re.search(r"\{([^{}]*)\}", names)
    if found is None:
        return [names]
    numbers = re.fullmatch(r"(\d+)\.\.(\d+)", found[1])
    parts = map(str, range(int(numbers[1]), int(numbers[2]) + 1)) if numbers else found[1].split(",")
    return [name for part in parts for name in expand(names[: found.start()] + part + names[found.end() :])]


def read() -> dict[str, Section]:
    """All sections that have a row of counts, by the name of the suite."""
    sections: dict[str, Section] = {}
    heading = table = ""
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split(" | ")] if line.startswith("|") else []
        if line.startswith("#"):
            heading, table = line.strip("# "), ""
        if not cells:
            table = ""
        elif not table:
            table = cells[0]
        elif not set(line) <= set("|-: "):
            section = sections.setdefault(cells[0] if table == "suite" else heading, Section())
            if table == "suite":
                section.counts = cells
            elif table == "case":
                _add_cases(section, cells)
            elif table == "line left out":
                section.left_out.append(cells[0].strip("`"))
    return {name: section for name, section in sections.items() if section.counts}


def _add_cases(section: Section, cells: list[str]) -> None:
    names, says, _ = cells
    for name in expand(names.strip("`")):
        if name in section.cases:
            raise SystemExit(f"{PAGE.name} names {name} twice")
        section.cases[name] = says.strip("`")
