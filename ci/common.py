"""What the commands beside this file share: how they say what they are for, by their own documentation, before they do
anything; and Rust as text, without comments and strings."""

import re
import sys
from pathlib import Path

# Comments, strings and characters, longest first; lifetimes are none of them.
NO_CODE = re.compile(r"""//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|'(?:\\[^']+|[^'\\])'""", re.DOTALL)
TESTS = re.compile(r"#\[cfg\(test\)\]\s*mod\s+\w+\s*\{")


def words(usage, are_known=lambda words: not words):
    """The words of the command line. Prints `usage` and ends for `--help`, and for words that are not known."""
    given = sys.argv[1:]
    if {"--help", "-h"} & set(given):
        print(usage.strip())
        sys.exit()
    if not are_known(given):
        said = f"{' '.join(given)}: not known" if given else "a word is missing"
        print(f"ci/{Path(sys.argv[0]).name}: {said}\n\n{usage.strip()}", file=sys.stderr)
        sys.exit(2)
    return given


def blank(text):
    """As many lines, and nothing else."""
    return re.sub(r"[^\n]", " ", text)


def code_of(text):
    """Without comments, strings and characters."""
    return NO_CODE.sub(lambda found: blank(found[0]), text)


def end_of_braces(code, start):
    """Where the braces end that are open, or opened, from there on."""
    depth = 0
    for at in range(start, len(code)):
        depth += {"{": 1, "}": -1}.get(code[at], 0)
        if depth == 0 and code[at] == "}":
            return at + 1
    return len(code)


def without_tests(code):
    """Code in which unit tests are blank."""
    while tests := TESTS.search(code):
        end = end_of_braces(code, tests.end() - 1)
        code = code[: tests.start()] + blank(code[tests.start() : end]) + code[end:]
    return code
