"""The words that run.py knows; standard library only."""

import os
import time
from collections.abc import Callable
from pathlib import Path

from tools.set_up import PYTHON, ROOT, call, say, set_up

FIRST_LESSON = "work/01_hyperparameters.ipynb"
PYTEST = [PYTHON, "-m", "pytest"]
NBVAL = [
    *["--nbval", "notebooks", "--nbval-current-env", "--nbval-cell-timeout", "150"],
    *["--nbval-sanitize-with", "tests/nbval_sanitize.cfg"],
]
BROWSER_TESTS = "tests/browser"
TYPED = ["mha_lib", "mha_course", "tools", "benchmarks"]


def run_parts(parts: dict[str, list[str]]) -> int:
    """Run every part, also after one that failed, and close with the minutes of each."""
    lines, worst = [], 0
    for name, command in parts.items():
        say(f"{name} ...")
        start = time.monotonic()
        code = call(*command)
        minutes = (time.monotonic() - start) / 60
        # pytest answers 5 where it found no test at all: that must not look like success.
        verdict = {0: "passed", 5: "FAILED, nothing to run was found"}.get(code, "FAILED")
        lines.append(f"{name}: {verdict}, {minutes:.1f} min")
        worst = max(worst, abs(code))
    for line in lines:
        say(line)
    return worst


def lab(extra: list[str]) -> int:
    """open JupyterLab at lesson 1, on your own copies of the lessons in work/"""
    set_up(with_tests=False)
    code = call(PYTHON, "-m", "tools.work_copies")
    if code:
        return code
    options = [f"--ServerApp.root_dir={ROOT}", f"--LabApp.default_url=/lab/tree/{FIRST_LESSON}"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        # As root, JupyterLab starts only when told so; for others the option stays away.
        options.append("--allow-root")
    say("Starting JupyterLab. To end it, press Ctrl-C here twice.")
    return call(PYTHON, "-m", "jupyterlab", *options, *extra)


def test(extra: list[str]) -> int:
    """run the unit tests, then compare every notebook with its stored outputs"""
    set_up(with_tests=True)
    unit = [*PYTEST, "-m", "not slow and not proof"]
    return run_parts({"unit tests": unit, "notebooks against stored outputs": PYTEST + NBVAL})


def check(extra: list[str]) -> int:
    """run the slow tests, which `test` leaves out, then every lesson in a real browser"""
    set_up(with_tests=True)
    slow = [*PYTEST, "-m", "slow"]
    # Apart: -rs shows why they were skipped where there is no browser.
    browser = [*slow, "-rs", BROWSER_TESTS]
    return run_parts(
        {
            "slow tests": [*slow, f"--ignore={BROWSER_TESTS}"],
            "lessons in a real browser": browser,
        }
    )


def prove(extra: list[str]) -> int:
    """edit every solution by program and see that the checks fail it: long, not part of check"""
    set_up(with_tests=True)
    return run_parts({"proofs of the checks": [*PYTEST, "-m", "proof"]})


def bench(extra: list[str]) -> int:
    """time our attention beside torch's, then each lesson"""
    set_up(with_tests=True)
    return call(PYTHON, "-m", "benchmarks", *extra)


def notebooks(extra: list[str]) -> int:
    """run all notebooks, or those named (04, splitting_heads), and store their outputs"""
    set_up(with_tests=True)
    return call(PYTHON, "-m", "tools.store_notebooks", *extra)


def book(extra: list[str]) -> int:
    """build the web book from the stored outputs, into build/book/html"""
    set_up(with_tests=True)
    return call(PYTHON, "-m", "tools.book")


def lint(extra: list[str]) -> int:
    """check style and types with ruff and mypy"""
    set_up(with_tests=True)
    ruff = [PYTHON, "-m", "ruff"]
    return run_parts(
        {
            "ruff check": [*ruff, "check"],
            "ruff format": [*ruff, "format", "--check"],
            "mypy": [PYTHON, "-m", "mypy", *TYPED],
        }
    )


WORDS: dict[str, Callable[[list[str]], int]] = {
    word.__name__: word for word in (lab, test, check, prove, bench, notebooks, book, lint)
}
TAKES_MORE = ("lab", "bench", "notebooks")


def usage() -> str:
    lines = [f"    {name:<10} {word.__doc__}" for name, word in WORDS.items()]
    return "\n".join(["Usage: python run.py WORD, where WORD is one of", *lines])


def problem(arguments: list[str]) -> str | None:
    """Return what is wrong with the words given to run.py, or None."""
    word, *extra = arguments
    if word not in WORDS:
        return f"run.py does not know the word '{word}'.\n{usage()}"
    if extra and word not in TAKES_MORE:
        return (
            f"'{word}' takes no further words, but got: {' '.join(extra)}\n"
            f"For a single test: {Path(PYTHON).relative_to(ROOT)} -m pytest tests/test_masks.py"
        )
    return None


def main(arguments: list[str]) -> int | str:
    """Run one word; return the exit code, or a text that says what is wrong."""
    if not arguments or arguments[0] in ("help", "-h", "--help"):
        print(usage())
        return 0
    return problem(arguments) or WORDS[arguments[0]](arguments[1:])
