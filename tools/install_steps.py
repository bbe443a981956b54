"""Says what gets installed, in which order and with which pins; standard library only."""

import hashlib
import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
# The one index besides pip's own: its builds of torch come without several GB of CUDA libraries.
TORCH_INDEX = "https://download.pytorch.org/whl/cpu"
# What tests, the book, an instructor and the tests in a browser need besides requirements.txt.
EXTRAS = ("-test", "-book", "-instructor", "-browser")
TORCH_HINT = """\
torch has ready-made wheels for 64-bit Python 3.11 to 3.14 on Linux, on Windows (x64) and on
Macs with Apple silicon (macOS 14 or newer). There is none for Intel Macs.
"""


class Step(NamedTuple):
    """One call of pip."""

    name: str
    what: str
    arguments: list[str]


def pinned_torch() -> str:
    """Return the line of requirements.txt that pins torch."""
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    found = re.search(r"^torch==\S+", text, re.MULTILINE)
    if not found:
        raise SystemExit("requirements.txt has no line torch==VERSION")
    return found.group()


def steps(with_tests: bool) -> list[Step]:
    """Return the install steps in their order."""
    # torch goes first and alone: asked with the extra index, pip would look up every other
    # package there too, and where that index cannot be reached it would retry each of them.
    torch = ["--no-deps", "--retries", "1", "--extra-index-url", TORCH_INDEX, pinned_torch()]
    encoder = ["--no-deps", "-r", "requirements-nodeps.txt"]
    plan = [
        Step("torch", "torch, the largest part (about 200 MB)", torch),
        Step("learner", "JupyterLab, matplotlib and the like", ["-r", "requirements.txt"]),
        Step("encoder", "a trained encoder (84 MB)", encoder),
        Step("library", "mha_lib, the library of this folder", ["--no-deps", "-e", "."]),
    ]
    if with_tests:
        # The learner's file too, so that pip minds its pins; quiet, as most of it is there.
        files = [f"requirements{part}.txt" for part in ("", *EXTRAS)]
        options = [word for file in files for word in ("-r", file)]
        plan.append(
            Step("tests", "pytest, nbval, Sphinx, nbgrader and the like", ["--quiet", *options])
        )
    return plan


def fingerprint(step: Step) -> str:
    """Return a hash of pip's arguments and of the requirement files that they name."""
    files = [ROOT / word for word in step.arguments if word.endswith(".txt")]
    parts = [" ".join(step.arguments).encode(), *(path.read_bytes() for path in files)]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()
