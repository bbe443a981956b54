"""The few things that we ask of nbgrader's gradebook."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry

from mha_course.plan import Plan


@contextmanager
def opened(course: Path) -> Iterator[Gradebook]:
    """Open the gradebook of a course; it is made where there is none."""
    # A new gradebook calls the command `alembic`, which lies beside this Python and is not
    # found where the environment was not activated.
    folder = os.path.dirname(sys.executable)
    if folder not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join([folder, os.environ.get("PATH", "")])
    with Gradebook(f"sqlite:///{(course / 'gradebook.db').resolve()}") as gradebook:
        yield gradebook


def book(course: Path, plan: Plan) -> None:
    """Make the assignment known to nbgrader; without a due date that of before stays."""
    with opened(course) as gradebook:
        if plan.due is None:
            gradebook.update_or_create_assignment(plan.assignment)
        else:
            gradebook.update_or_create_assignment(plan.assignment, duedate=plan.due)


def submissions(course: Path, assignment: str) -> int:
    """Count the students of whom there is work, collected or graded."""
    students = {path.parent.name for path in course.glob(f"submitted/*/{assignment}")}
    if (course / "gradebook.db").exists():
        with opened(course) as gradebook:
            try:
                found = gradebook.assignment_submissions(assignment)
            except MissingEntry:
                found = []
            students |= {submission.student.id for submission in found}
    return len(students)
