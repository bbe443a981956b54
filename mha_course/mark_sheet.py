"""The marks of a class, as nbgrader's gradebook has them: manual marks and penalties count."""

import warnings
from dataclasses import dataclass
from pathlib import Path

from nbgrader.api import Assignment, Gradebook, MissingEntry, Student, SubmittedAssignment
from sqlalchemy.exc import SAWarning

from mha_course.gradebook import opened
from mha_course.grading.results import entry_of, students_of

Cell = tuple[str, str]  # notebook, graded cell
GRADED, WAITING, NOTHING = "graded", "not graded yet", "nothing handed in"


@dataclass(frozen=True)
class Row:
    """One student.

    Args:
        student: The student's id.
        state: GRADED, WAITING (handed in, not in the gradebook) or NOTHING (handed in).
        names: "last", "first", "email" and "lms" (the number in the learning system) -> text.
        scores: What each graded cell got, where there is a mark.
        penalty: For handing in late.
        total: The sum less the penalty, at least 0; None where it is not known yet.
        by_hand: Something waits for an instructor in formgrader.
    """

    student: str
    state: str
    names: dict[str, str]
    scores: dict[Cell, float]
    penalty: float
    total: float | None
    by_hand: bool


@dataclass(frozen=True)
class Sheet:
    """All students, in order of their ids; `columns` are the graded cells with their headings."""

    assignment: str
    maximum: float
    columns: dict[Cell, str]
    rows: tuple[Row, ...]


def read_sheet(course: Path, assignment: str) -> Sheet:
    """Read the gradebook.

    Raises:
        ValueError: There is no such assignment, or nobody is graded.
    """
    entry = entry_of(course, assignment)
    error = ValueError(
        f"nobody is graded in {assignment!r} yet; first: mha-course grade {course} {assignment}"
    )
    if not (course / "gradebook.db").exists():
        raise error
    headings = {f"{n}-marks": n for names in entry["notebooks"].values() for n in names}
    headings |= {question["id"]: f"question {question['id']}" for question in entry["questions"]}
    with warnings.catch_warnings():
        # nbgrader 0.9.6 makes SQLAlchemy 2 warn, of things that do no harm.
        warnings.simplefilter("ignore", SAWarning)
        with opened(course) as gradebook:
            try:
                found = gradebook.find_assignment(assignment)
            except MissingEntry:
                raise error from None
            rows = _rows(gradebook, assignment, students_of(course, assignment))
            if all(row.state != GRADED for row in rows):
                raise error
            return Sheet(assignment, float(found.max_score), _columns(found, headings), rows)


def _columns(assignment: Assignment, headings: dict[str, str]) -> dict[Cell, str]:
    """Order the graded cells: exercises, questions, then cells that an instructor added."""
    cells = [
        (notebook.name, cell.name)
        for notebook in assignment.notebooks
        for cell in (*notebook.grade_cells, *notebook.task_cells)
    ]
    order = {name: n for n, name in enumerate(headings)}
    cells.sort(key=lambda cell: (order.get(cell[1], len(order)), cell))
    return {cell: headings.get(cell[1], ": ".join(cell)) for cell in cells}


def _rows(gradebook: Gradebook, assignment: str, handed_in: list[str]) -> tuple[Row, ...]:
    submissions = {s.student_id: s for s in gradebook.assignment_submissions(assignment)}
    students = {student.id: student for student in gradebook.students}
    rows = []
    for id in sorted({*students, *submissions, *handed_in}):
        names = _names(students[id]) if id in students else {}
        if id in submissions:
            rows.append(_graded(id, names, submissions[id]))
        elif id in handed_in:
            rows.append(Row(id, WAITING, names, {}, 0.0, None, False))
        else:
            rows.append(Row(id, NOTHING, names, {}, 0.0, 0.0, False))
    return tuple(rows)


def _graded(id: str, names: dict[str, str], submission: SubmittedAssignment) -> Row:
    scores = {
        (notebook.name, grade.cell.name): float(grade.score)
        for notebook in submission.notebooks
        for grade in notebook.grades
    }
    penalty = float(submission.late_submission_penalty)
    total = max(0.0, float(submission.score) - penalty)
    return Row(id, GRADED, names, scores, penalty, total, bool(submission.needs_manual_grade))


def _names(student: Student) -> dict[str, str]:
    found = {
        "last": student.last_name,
        "first": student.first_name,
        "email": student.email,
        "lms": student.lms_user_id,
    }
    return {key: str(text) for key, text in found.items() if text}
