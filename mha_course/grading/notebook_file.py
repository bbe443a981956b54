"""A file that was handed in, as a notebook: small enough, not nested too deeply, no links."""

import ast
import json
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from mha_course.cells import text
from mha_course.grading.inside.wire import whole

MOST_BYTES = 200_000_000
MOST_BRACKETS = 20_000_000  # each may become a list or a dict, of many times its size in memory
MOST_CELL = 100_000  # characters of one cell that are looked at
MOST_DEEP = 80  # levels of one cell's code: Python's own tools recurse
MOST_FILES = 50  # of one student that are looked at
DAMAGED = "The file is no notebook: it is empty or damaged."
LINK = "The folder is a link. It was not followed."


def read_notebook(path: Path) -> NotebookNode:
    """Return the notebook in a file.

    Raises:
        ValueError: There is none; the text says why.
    """
    try:
        data = _data(path)
    except OSError as error:
        raise ValueError(f"The file could not be read: {error.strerror}.") from None
    if not isinstance(data, dict) or not ("cells" in data or "worksheets" in data):
        raise ValueError("The file is no notebook: it has no cells.")
    metadata = data.get("metadata")
    if isinstance(metadata, dict) and metadata.get("mha") == {"missing": True}:
        raise ValueError("The notebook was not handed in.")
    try:
        return _notebook(data)
    except Exception:  # what a file may hold has no end
        raise ValueError("The file is no notebook: its format is unknown.") from None


def _data(path: Path) -> Any:
    """Return what stands in a file, as JSON has it."""
    if not path.exists() and not path.is_symlink():
        raise ValueError("The notebook was not handed in.")
    if path.is_symlink() or not path.is_file():
        raise ValueError("The file is a link or no plain file. It was not followed.")
    if path.stat().st_size > MOST_BYTES:
        raise ValueError(f"The file is bigger than {MOST_BYTES // 1_000_000} MB.")
    raw = path.read_bytes()
    if raw.count(b"[") + raw.count(b"{") > MOST_BRACKETS:
        raise ValueError("The file has more parts than a notebook can have.")
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError("The file is in UTF-16. Notebooks are in UTF-8.")
    try:
        return json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError, MemoryError):
        raise ValueError(DAMAGED) from None


def _notebook(data: dict[str, Any]) -> NotebookNode:
    """Return the cells without their outputs, as nbformat 4 has them."""
    if "cells" not in data:
        data = nbformat.convert(nbformat.v3.to_notebook_json(data), 4)
    cells = data["cells"] if isinstance(data["cells"], list) else []
    kept = [
        nbformat.from_dict({key: value for key, value in cell.items() if key != "outputs"})
        for cell in cells
        if isinstance(cell, dict)
    ]
    for cell in kept:
        cell.source = tamed(text(cell), cell.get("cell_type") == "code")
        if not isinstance(cell.get("metadata"), Mapping):
            cell.metadata = NotebookNode()
    return NotebookNode(cells=kept, metadata=NotebookNode())


def tamed(source: str, is_code: bool) -> str:
    """Return a cell's text without what other programs stumble over."""
    source = whole(source)
    if len(source) > MOST_CELL:
        said = f"this cell has more than {MOST_CELL} characters"
        return f"raise ValueError({said!r})" if is_code else source[:MOST_CELL]
    if is_code and _is_deep(source):
        return "raise ValueError('the code of this cell is nested too deeply')"
    return source


def _is_deep(source: str) -> bool:
    try:
        level: list[ast.AST] = [ast.parse(source)]
    except (SyntaxError, ValueError):
        return False
    except (RecursionError, MemoryError):
        return True
    depth = 0
    while level and depth <= MOST_DEEP:
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        depth += 1
    return bool(level)


def is_linked(course: Path, student: str, assignment: str) -> bool:
    """Say whether a student's folder is not where it seems to be."""
    folder = course / "submitted" / student
    return folder.is_symlink() or (folder / assignment).is_symlink()


def notebook_files(folder: Path) -> list[Path]:
    """Return the notebooks in a student's folder and below it, no copies that an editor keeps."""
    return sorted(islice(_visible(folder), MOST_FILES))


def _visible(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*.ipynb"):
        if not any(part.startswith(".") for part in path.relative_to(folder).parts):
            yield path
