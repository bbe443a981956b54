#!/usr/bin/env python3
"""Set up and run everything: python run.py WORD.

It needs Python 3.11 or newer and nothing else. This one file has to be readable by older
Pythons too, so that they answer in words and not with a syntax error.
"""

import sys

MIN_PYTHON = (3, 11)


def version_problem(version, executable):
    """Return what to tell someone whose Python is too old, or None."""
    if tuple(version[:2]) >= MIN_PYTHON:
        return None
    return (
        "This needs Python {0}.{1} or newer, but {2} is Python {3}.{4}.\n"
        "Call it with a newer one, for example:\n"
        "    python{0}.{1} run.py test        or        make test PYTHON=python{0}.{1}"
    ).format(MIN_PYTHON[0], MIN_PYTHON[1], executable, version[0], version[1])


def main():
    problem = version_problem(sys.version_info, sys.executable)
    if problem:
        sys.exit(problem)
    from tools import commands

    sys.exit(commands.main(sys.argv[1:]))


if __name__ == "__main__":
    main()
