"""How the commands beside this file say what they are for: by their own documentation, before they do anything."""

import sys
from pathlib import Path


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
