"""Answers to free questions: found, and made harmless for the pages that show them."""

import re

from nbformat import NotebookNode

from mha_course.cells import ids, text
from mha_course.making import WAITING

TAG = re.compile(r"<(?=[A-Za-z/!?])")
LINK = re.compile(r"\](?=[(:])")
WITHOUT = ("", WAITING)


def free_texts(notebook: NotebookNode, master: NotebookNode) -> dict[str, str]:
    """Return id of a free question -> what was written.

    A cell is known by its id, else by the question above it. Of several the last counts in which
    something was written.
    """
    found: dict[str, str] = {}
    for place, cell in enumerate(master.cells):
        if not is_free(cell):
            continue
        id, question = cell.metadata.nbgrader.grade_id, text(master.cells[place - 1]).strip()
        written = [text(other) for other in notebook.cells if id in ids(other)]
        above = [NotebookNode(), *notebook.cells]
        for before, other in zip(above, notebook.cells, strict=False):
            if not written and question and text(before).strip() == question:
                written = [text(other)]
        attempts = [one for one in written if one.strip() not in WITHOUT]
        if written:
            found[id] = harmless(attempts[-1] if attempts else written[-1])
    return found


def is_free(cell: NotebookNode) -> bool:
    nbgrader = cell.metadata.get("nbgrader", {})
    return bool(nbgrader.get("grade") and nbgrader.get("solution"))


def harmless(markdown: str) -> str:
    """Return a text without links, pictures and HTML: they stand there as they were typed.

    Whoever marks it is logged in: a script in it, or behind a link, could give marks.

    >>> harmless("a < b, <img src=x onerror=steal()>, [x](javascript:steal()), [x]: data:y")
    'a < b, < img src=x onerror=steal()>, [x] (javascript:steal()), [x] : data:y'
    """
    return LINK.sub("] ", TAG.sub("< ", markdown))
