"""Makes the cells of one exercise, with nbgrader's metadata."""

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

MARKS = """\
# {points:g} points. The marks are made after handing in, by your instructor.
### BEGIN HIDDEN TESTS
raise RuntimeError("no marks made: grade with mha-course grade, not with nbgrader alone")
### END HIDDEN TESTS"""
WAITING = "*Write your answer here, in place of this line.*"
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}

LOCKED: dict[str, object] = {"grade": False, "solution": False, "locked": True, "task": False}
ANSWER = LOCKED | {"solution": True, "locked": False}


def statement(exercise: str, text: str, mha: dict[str, str]) -> NotebookNode:
    return _text(f"{exercise}-statement", text, LOCKED, mha)


def hints(exercise: str, texts: tuple[str, ...]) -> NotebookNode:
    """Make the folded hints; no nbgrader metadata: nothing depends on them."""
    folded = (
        f"<details><summary>Hint {n}</summary>\n\n{text}\n</details>"
        for n, text in enumerate(texts, 1)
    )
    return new_markdown_cell("\n".join(folded), id=f"{exercise}-hints")


def answer(exercise: str, source: str, mha: dict[str, str]) -> NotebookNode:
    """Make the cell that the learner fills in; `source` holds the marked solution."""
    return _code(exercise, source, ANSWER, mha)


def check(exercise: str, source: str, mha: dict[str, str]) -> NotebookNode:
    return _code(f"{exercise}-check", source, LOCKED, mha)


def marks(exercise: str, points: float, mha: dict[str, str]) -> NotebookNode:
    """Make the cell that nbgrader books the marks on. Run by nbgrader alone, it gives none."""
    source = MARKS.format(points=points)
    return _code(f"{exercise}-marks", source, LOCKED | {"grade": True, "points": points}, mha)


def question(id: str, text: str, points: float) -> list[NotebookNode]:
    """Make a question and the text cell for its answer, which is marked by hand."""
    by_hand, of = ANSWER | {"grade": True, "points": points}, {"question": id}
    return [
        _text(f"{id}-question", f"### Question · {points:g} points\n\n{text}", LOCKED, of),
        _text(id, WAITING, by_hand, of),
    ]


def _text(
    grade_id: str, source: str, flags: dict[str, object], mha: dict[str, str]
) -> NotebookNode:
    return new_markdown_cell(source, id=grade_id, metadata=_metadata(grade_id, flags, mha))


def _code(
    grade_id: str, source: str, flags: dict[str, object], mha: dict[str, str]
) -> NotebookNode:
    return new_code_cell(source, id=grade_id, metadata=_metadata(grade_id, flags, mha))


def _metadata(
    grade_id: str, flags: dict[str, object], mha: dict[str, str]
) -> dict[str, dict[str, object]]:
    nbgrader = {"schema_version": 3, "grade_id": grade_id, **flags}
    return {"nbgrader": nbgrader, "mha": dict(mha)}
