"""`mha-course grade` and `mha-course feedback`."""

import argparse
import os
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from sqlalchemy.exc import SAWarning

from mha_course.arguments import add_assignment
from mha_course.export import warnings_of
from mha_course.grading.booking import book_all, nbgrader_of, pattern_of, trouble_in
from mha_course.grading.class_run import check_sandbox, mark_all, works
from mha_course.grading.results import entry_of, read_store, students_of
from mha_course.grading.sandbox import weaknesses
from mha_course.grading.work import Work
from mha_course.mark_sheet import read_sheet


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_assignment(parser)
    parser.add_argument(
        "--students", nargs="+", metavar="ID", help="only these; by default all who handed in"
    )


def add_grade_arguments(parser: argparse.ArgumentParser) -> None:
    add_arguments(parser)
    parser.add_argument(
        "--workers", type=int, default=os.cpu_count() or 1, help="hand-ins marked at a time"
    )


def asked(options: argparse.Namespace) -> tuple[Path, list[str]]:
    """Return course and students, checked.

    Raises:
        ValueError: No such assignment, nobody handed in, or a student who did not.
    """
    course = options.course.resolve()
    entry_of(course, options.assignment)
    there = students_of(course, options.assignment)
    if not there:
        raise ValueError(f"nobody handed in {options.assignment!r}: submitted/ has no such folder")
    for student in options.students or []:
        if student not in there:
            raise ValueError(f"student {student!r} did not hand in {options.assignment!r}")
    return course, options.students or there


def grade(options: argparse.Namespace) -> int:
    """Mark and book; return 1 where something could not be marked."""
    if options.workers < 1:
        raise ValueError(f"workers must be at least 1, got {options.workers}")
    course, students = asked(options)
    start = time.monotonic()
    for text in weaknesses():
        print(f"WARNING: {text}", file=sys.stderr)
    # nbgrader 0.9.6 makes SQLAlchemy 2 warn, of things that do no harm.
    warnings.simplefilter("ignore", SAWarning)
    todo = works(course, options.assignment, students)
    try:
        check_sandbox()
    except RuntimeError as error:
        print(f"mha-course grade: {error}", file=sys.stderr)
        return 1
    with Progress(console=Console(stderr=True)) as progress:
        troubles = mark_all(todo, options.workers, progress)
        # To book a student nbgrader asks for all marks: those that could not be made, too.
        unfinished = {work.student for work in troubles}
        booked = book_all([work for work in todo if work.student not in unfinished], progress)
    for work, text in troubles.items():
        print(f"{work.student} {work.stem}: not marked: {text}", file=sys.stderr)
    for student, text in booked.items():
        print(f"{student}: not booked: {text}", file=sys.stderr)
    minutes = (time.monotonic() - start) / 60
    print(f"{len(todo)} notebooks of {len(students)} students in {minutes:.1f} min.")
    _name_problems(todo)
    _name_suspects(todo)
    return 1 if troubles or booked else 0


def _name_problems(todo: Sequence[Work]) -> None:
    for work in todo:
        if problem := read_store(work.store).get("problem"):
            print(f"{work.student} {work.stem}: {problem}")


def _name_suspects(todo: Sequence[Work]) -> None:
    for work in todo:
        for name, mark in read_store(work.store).get("marks", {}).items():
            if mark["suspect"]:
                print(f"Look at {work.student}, {name}: right on the visible inputs only.")


def feedback(options: argparse.Namespace) -> int:
    """Write the feedback pages; return 1 where one could not be written."""
    course, students = asked(options)
    waiting = warnings_of(read_sheet(course, options.assignment), "csv")
    failed = 0
    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("Feedback", total=len(students))
        for student in students:
            if trouble := _feedback_trouble(course, options.assignment, student):
                failed += 1
                print(f"{student}: no feedback: {trouble}", file=sys.stderr)
            progress.advance(task)
    for text in waiting:
        print(text)
    print(f"Feedback for {len(students) - failed} students is in {course / 'feedback'}")
    return 1 if failed else 0


def _feedback_trouble(course: Path, assignment: str, student: str) -> str:
    """Write the feedback of one student; return what went wrong, "" for nothing."""
    try:
        result = nbgrader_of(course).generate_feedback(assignment, pattern_of(student))
    except Exception as error:  # nbgrader's may be of any kind, and others wait
        return f"{type(error).__name__}: {error}"
    return "" if result["success"] else trouble_in(result)
