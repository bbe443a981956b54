"""Every lesson runs from an empty folder, twice in one kernel, and with its exercises solved."""

import re
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from tools.navigation import lessons
from tools.store_notebooks import execute

every_lesson = pytest.mark.parametrize("path", lessons(), ids=lambda path: path.stem)


def tags(cell: NotebookNode) -> list[str]:
    return list(cell.metadata.get("tags", []))


def printed(cell: NotebookNode) -> str:
    """What a cell prints or shows as text, pictures left out; streams may come in pieces."""
    text = ""
    for output in cell.get("outputs", []):
        text += output.get("text", "") + output.get("data", {}).get("text/plain", "")
    return text


@pytest.mark.slow
@every_lesson
def test_runs_in_an_empty_folder_and_twice_in_one_kernel(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    stored = [printed(cell) for cell in notebook.cells]
    again = nbformat.read(path, as_version=4).cells
    for number, cell in enumerate(again):
        cell.id = f"again-{number}"
    notebook.cells += again
    execute(notebook)  # in an empty folder; raises where a cell fails or writes to stderr
    results = [printed(cell) for cell in notebook.cells]
    assert results[: len(stored)] == stored
    assert results[len(stored) :] == stored


@pytest.mark.slow
@every_lesson
def test_the_solutions_pass_in_the_lesson_itself(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    stubs, checks = {}, []
    for cell in notebook.cells:
        if "stub" in tags(cell):
            stubs[cell.metadata.exercise] = cell
        elif "check" in tags(cell):
            checks.append(cell)
        elif "solution" in tags(cell):
            code = re.search(r"```python\n(.*?)```", cell.source, re.S)
            assert code
            stubs[cell.metadata.exercise].source = code.group(1)
    execute(notebook)
    assert len(checks) >= 2
    for cell in checks:
        shown = str(cell.outputs).lower()
        assert "passed" in shown, (cell.id, shown[:2000])
        assert "not attempted" not in shown, cell.id
