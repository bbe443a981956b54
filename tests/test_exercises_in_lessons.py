"""The checks where learners meet them: in the kernel of a notebook, and in every lesson."""

import re
import tempfile
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from mha_lib.exercises.mistakes import all_known, mistakes_of
from tools.navigation import lessons
from tools.store_notebooks import execute

IMPORTS = """\
import math
import torch
from torch import Tensor, nn
from torch.nn import functional as F
import mha_lib
"""


def shown(cell: NotebookNode) -> str:
    return "".join(out.get("data", {}).get("text/plain", "") for out in cell.outputs)


def run(*sources: str) -> list[NotebookNode]:
    notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
    execute(notebook)
    return list(notebook.cells)


@pytest.mark.slow
def test_in_a_kernel_nothing_hangs_and_nothing_leaks() -> None:
    cells = run(
        "from mha_lib.exercises import check",
        "def merge_heads(x):\n    raise NotImplementedError\ncheck(merge_heads)",
        "def merge_heads(x):\n    while True:\n        pass\ncheck(merge_heads)",
        "def merge_heads(x):\n    while True:\n        print('page')\ncheck(merge_heads)",
        "def merge_heads(x):\n    return input('? ')\ncheck(merge_heads)",
        "def merge_heads(x):\n    return merge_heads(x)\ncheck(merge_heads)",
        "def merge_heads(x):\n    return x.transpose(1, 2).view(7, 7)\ncheck(merge_heads)",
        "def merge_heads(x):\n    return x.transpose(1, 2).flatten(2)\ncheck(merge_heads)",
    )
    texts = [shown(cell) for cell in cells[1:]]
    for text, said in zip(
        texts,
        (
            "not attempted yet",
            "It did not come back within 5 seconds",
            "It did not come back within 5 seconds",
            "nobody is there to type",
            "It calls itself without end",
            "in your line: return x.transpose(1, 2).view(7, 7)",
            "passed, every stage",
        ),
        strict=True,
    ):
        assert said in text
    for cell in cells[1:]:
        assert [out.output_type for out in cell.outputs] == ["execute_result"]
        page = cell.outputs[0].data["text/html"]
        # Nothing that changes from run to run, so that stored outputs can be compared.
        assert not re.search(r"0x[0-9a-f]{5}|ipykernel|\.py", page + shown(cell))
        assert tempfile.gettempdir() not in page + shown(cell)


@pytest.mark.slow
@pytest.mark.parametrize("path", lessons(), ids=lambda path: path.stem)
def test_a_known_mistake_is_named_and_the_lesson_reaches_its_end(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    put, checks = {}, {}
    for cell in notebook.cells:
        tags = cell.metadata.get("tags", [])
        if "stub" in tags:
            exercise = cell.metadata.exercise
            public_first = lambda m: "title" not in all_known()[m.id]  # noqa: E731
            mistake = min(mistakes_of(exercise), key=public_first)
            (name,) = re.findall(r"^(?:def|class) (\w+)", cell.source, re.M)
            alias = "" if name == exercise else f"\n{name} = {exercise}\n"
            cell.source = IMPORTS + mistake.text + alias
            put[exercise] = mistake.id
        elif "check" in tags:
            checks[cell.metadata.exercise] = cell
    execute(notebook)  # raises where a cell fails
    assert set(put) == set(checks)
    assert len(put) >= 2
    for exercise, id in put.items():
        text = shown(checks[exercise])
        assert "not right yet" in text
        assert id in re.findall(r"Known mistake ([\w+-]+):", text), text
