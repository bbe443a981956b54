"""A small course made by hand for tests: a record, stored marks, a gradebook."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

from mha_course.gradebook import opened
from mha_course.record import write_record

NOTEBOOKS = {
    "04_splitting_heads": ["split_heads", "split_heads_view"],
    "06_merging_heads": ["merge_heads"],
}
POINTS = {"split_heads": 5.0, "split_heads_view": 10.0, "merge_heads": 5.0}
QUESTION = {"id": "why", "text": "Why?", "points": 4.0, "rubric": "Because.", "lesson": ""}
MAXIMUM = 24.0


def make_record(course: Path) -> None:
    """Write what the record says of ps1: three exercises in two notebooks, one question."""
    entry = {"notebooks": NOTEBOOKS, "points": POINTS, "questions": [QUESTION]}
    write_record(course, {"secret": "", "assignments": {"ps1": entry}})


def hand_in(course: Path, student: str) -> None:
    (course / "submitted" / student / "ps1").mkdir(parents=True)


def mark(
    share: float,
    stages: Mapping[str, bool] | None = None,
    mistakes: Sequence[str] = (),
    status: str = "",
    suspect: bool = False,
) -> dict[str, Any]:
    """Return a mark as `mha-course grade` stores it."""
    return {
        "share": share,
        "status": status or ("right" if share == 1 else "partly right" if share else "wrong"),
        "said": "in your line: SECRET_CODE",
        "stages": [[title, passed, ""] for title, passed in (stages or {}).items()],
        "mistakes": list(mistakes),
        "text": "SECRET_CODE",
        "html": "SECRET_CODE",
        "hint": "",
        "suspect": suspect,
    }


def store(course: Path, student: str, marks: Mapping[str, dict[str, Any]]) -> None:
    """Store the marks of a student, notebook by notebook; exercises that are left out have none."""
    for stem, names in NOTEBOOKS.items():
        found = {name: marks[name] for name in names if name in marks}
        if found:
            path = course / ".marks" / "ps1" / student / f"{stem}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({"key": "", "problem": "", "marks": found}), "utf-8")


def make_gradebook(course: Path) -> None:
    """Put ps1 into a new gradebook, without students."""
    # To learn its version nbgrader starts another program, which takes seconds.
    fast = patch("nbgrader.api.get_alembic_version", return_value="by hand")
    with fast, opened(course) as gradebook:
        gradebook.add_assignment("ps1")
        for stem, names in NOTEBOOKS.items():
            gradebook.add_notebook(stem, "ps1")
            for name in names:
                cell = {"max_score": POINTS[name], "cell_type": "code"}
                gradebook.add_grade_cell(f"{name}-marks", stem, "ps1", **cell)
        last = list(NOTEBOOKS)[-1]
        gradebook.add_grade_cell("why", last, "ps1", max_score=4.0, cell_type="markdown")


def book(
    course: Path,
    student: str,
    auto: Mapping[str, float],
    by_hand: Mapping[str, float] | None = None,
    late: Mapping[str, float] | None = None,
) -> None:
    """Book marks of a student as nbgrader does.

    Args:
        course: The course folder.
        student: The id; made known where it is not.
        auto: Exercise -> automatic mark.
        by_hand: Cell -> mark given in formgrader; `why` waits for one until it is here.
        late: Notebook -> penalty.
    """
    with opened(course) as gradebook:
        gradebook.update_or_create_student(student)
        gradebook.add_submission("ps1", student)
        for stem, names in NOTEBOOKS.items():
            for name in names:
                grade = gradebook.find_grade(f"{name}-marks", stem, "ps1", student)
                grade.auto_score, grade.needs_manual_grade = auto[name], False
        for notebook in gradebook.find_submission("ps1", student).notebooks:
            notebook.late_submission_penalty = (late or {}).get(notebook.name)
            for grade in notebook.grades:
                if grade.cell.name in (by_hand or {}):
                    grade.manual_score = (by_hand or {})[grade.cell.name]
                    grade.needs_manual_grade = False
        gradebook.db.commit()
