"""Read what was handed in. Whatever it is, reading ends in answers or in one sentence."""

import ast
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode

from mha_course.cells import answers_of, code_cells, ids, text

MOST_BYTES = 300_000_000
MOST_CELL = 100_000  # characters of one cell that are looked at


@dataclass(frozen=True)
class HandIn:
    """One notebook as handed in.

    Args:
        answers: Exercise -> the learner's cell as plain Python.
        raw: The same as it was written.
        helpers: Definitions and imports from cells that the learner added.
        texts: Id of a free question -> what was written.
        problem: Why the file could not be read; "" where it could.
    """

    answers: Mapping[str, str] = field(default_factory=dict)
    raw: Mapping[str, str] = field(default_factory=dict)
    helpers: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""


def read_hand_in(
    path: Path, root: Path, master: NotebookNode, functions: Mapping[str, str]
) -> HandIn:
    """Read one notebook.

    Args:
        path: Of the file.
        root: The student's folder; nothing outside it is read.
        master: The notebook as it was handed out.
        functions: Exercise -> name of the learner's function.
    """
    try:
        notebook = _notebook(path, root)
    except ValueError as error:
        return HandIn(problem=str(error))
    raw = answers_of(notebook, functions)
    answers = {name: python(source) for name, source in raw.items()}
    return HandIn(answers, raw, tuple(_helpers(notebook, master)), _texts(notebook, master))


def _notebook(path: Path, root: Path) -> NotebookNode:
    """Return the notebook in a file; a ValueError says why there is none."""
    if not path.exists() and not path.is_symlink():
        raise ValueError("The notebook was not handed in.")
    if path.is_symlink() or not path.resolve().is_relative_to(root.resolve()) or not path.is_file():
        raise ValueError("The file is a link or no plain file. It was not followed.")
    if path.stat().st_size > MOST_BYTES:
        raise ValueError(f"The file is bigger than {MOST_BYTES // 1_000_000} MB.")
    try:
        data = json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError, MemoryError):
        raise ValueError("The file is no notebook: it is empty or damaged.") from None
    if not isinstance(data, dict) or not ("cells" in data or "worksheets" in data):
        raise ValueError("The file is no notebook: it has no cells.")
    try:
        notebook = nbformat.from_dict(data)
        if data.get("nbformat", 4) != 4:
            notebook = nbformat.convert(notebook, 4)
    except Exception:
        raise ValueError("The file is no notebook: its format is unknown.") from None
    cells = notebook.get("cells")
    notebook.cells = [c for c in cells if isinstance(c, dict)] if isinstance(cells, list) else []
    return notebook


def python(source: str) -> str:
    """Return a cell as plain Python: IPython's magics become calls, which do nothing here."""
    if len(source) > MOST_CELL:
        return f"raise ValueError('this cell has more than {MOST_CELL} characters')"
    try:
        return TransformerManager().transform_cell(source)
    except Exception:
        return source


def _helpers(notebook: NotebookNode, master: NotebookNode) -> Iterator[str]:
    """Yield imports, functions and constants of cells that the learner added, one by one."""
    known = {text(cell).strip() for cell in code_cells(master)}
    marked = {id for cell in code_cells(master) for id in ids(cell)}
    for cell in code_cells(notebook):
        source = text(cell)
        if source.strip() in known or marked & set(ids(cell)) or len(source) > MOST_CELL:
            continue
        try:
            body = ast.parse(python(source)).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        yield from (ast.unparse(node) for node in body if _is_definition(node))


def imports_of(notebook: NotebookNode) -> list[str]:
    """Return the import statements of a notebook, one by one."""
    found = []
    for cell in code_cells(notebook):
        try:
            body = ast.parse(python(text(cell))).body
        except SyntaxError:
            continue
        found += [
            ast.unparse(node) for node in body if isinstance(node, ast.Import | ast.ImportFrom)
        ]
    return list(dict.fromkeys(found))


def _is_definition(node: ast.stmt) -> bool:
    if isinstance(node, ast.Assign):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef)


def _texts(notebook: NotebookNode, master: NotebookNode) -> dict[str, str]:
    """Return what was written in answer to free questions."""
    asked = {c.metadata.nbgrader.grade_id for c in master.cells if _is_free(c)}
    found: dict[str, str] = {}
    for cell in notebook.cells:
        for id in ids(cell):
            if id in asked and id not in found:
                found[id] = text(cell)
    return found


def _is_free(cell: Any) -> bool:
    nbgrader = cell.metadata.get("nbgrader", {})
    return bool(nbgrader.get("grade") and nbgrader.get("solution"))
