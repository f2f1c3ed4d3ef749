"""Rust as text, for the commands beside this file: code without comments and strings, blocks, functions."""

import re

# Comments, strings and characters, longest first; lifetimes are none of them.
NO_CODE = re.compile(r"""//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|'(?:\\[^']+|[^'\\])'""", re.DOTALL)
TESTS = re.compile(r"#\[cfg\(test\)\]\s*mod\s+\w+\s*\{")
FUNCTION = re.compile(r"\bfn\s+(\w+)")
# An entry of a table, or an arm of a `match`, on a line of its own.
ENTRY = re.compile(r"\s*(?:\(.*\),|.* => [^{]*,|.* => \{.*\},?)")


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


def functions(text):
    """Of each function with a body: its line, its name, and how many lines it has, but for entries of tables and matches
    that are a line each."""
    code = code_of(text)
    for found in FUNCTION.finditer(code):
        # A body, or none: in a type, a semicolon is within brackets.
        depth, body = 0, None
        for at in range(found.end(), len(code)):
            depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(code[at], 0)
            if depth < 0 or depth == 0 and code[at] in "{;":
                body = at if depth == 0 and code[at] == "{" else None
                break
        if body is not None:
            lines = code[found.start() : end_of_braces(code, body)].split("\n")
            yield code.count("\n", 0, found.start()) + 1, found[1], sum(not ENTRY.fullmatch(line) for line in lines)
