"""Run each lesson in a fresh kernel; report its seconds and its peak memory."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import nbformat

from tools.navigation import lessons
from tools.store_notebooks import execute

SECONDS, MEGABYTES = 60, 1000  # the budget of a lesson
# Asked of the kernel itself when the lesson is over. Linux counts in KiB, macOS in bytes.
PEAK = """
import resource, sys
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(peak * (1 if sys.platform == "darwin" else 1024))
"""


class Cost(NamedTuple):
    """What one lesson takes."""

    name: str
    seconds: float
    megabytes: float


def measure_lessons(paths: list[Path] | None = None) -> Iterator[Cost]:
    """Run the lessons one after another.

    Args:
        paths: Notebooks; all lessons if None.

    Yields:
        Seconds from the kernel's start to the last output, and the kernel's peak of resident
        memory in units of a million bytes.
    """
    for path in lessons() if paths is None else paths:
        notebook = nbformat.read(path, as_version=4)
        notebook.cells.append(nbformat.v4.new_code_cell(PEAK))
        start = time.perf_counter()
        execute(notebook)
        seconds = time.perf_counter() - start
        yield Cost(path.stem, seconds, int(notebook.cells[-1].outputs[0].text) / 1e6)


def lesson_line(cost: Cost) -> str:
    """Return one line of the table.

    >>> lesson_line(Cost("04_splitting_heads", 7.25, 310.4))
    '04_splitting_heads                  7 s     310 MB  within the budget'
    """
    within = cost.seconds <= SECONDS and cost.megabytes <= MEGABYTES
    verdict = "within the budget" if within else "OVER the budget"
    return f"{cost.name:<32} {cost.seconds:>4.0f} s  {cost.megabytes:>6.0f} MB  {verdict}"
