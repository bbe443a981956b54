"""Book marks in nbgrader, student by student; what is booked already is left alone."""

import glob
from collections.abc import Sequence
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.apps import NbGraderAPI
from rich.progress import Progress
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from mha_course.gradebook import opened
from mha_course.grading.hidden_stages import digest
from mha_course.grading.nbgrader_parts import MOST_KEPT
from mha_course.grading.results import points, read_store
from mha_course.grading.work import FOLDER, Work
from mha_course.record import write_private
from mha_course.settings import CONFIG


def nbgrader_of(course: Path) -> NbGraderAPI:
    """Return nbgrader with the settings of a course."""
    config = Config()
    config.merge(PyFileConfigLoader(CONFIG, path=str(course)).load_config())
    return NbGraderAPI(config=config)


def pattern_of(student: str) -> str:
    """Return what nbgrader takes for this student only: it strips blanks around an id.

    Raises:
        ValueError: nbgrader would take the id for a pattern, and grade others with it.

    >>> pattern_of(" a b "), pattern_of("anna-7")
    ('[ ]a b[ ]', 'anna-7')
    """
    if glob.has_magic(student):
        raise ValueError("nbgrader takes *, ? and [ in an id for a pattern; rename the folder")
    pattern = student
    if student[0].isspace():
        pattern = f"[{pattern[0]}]{pattern[1:]}"
    return f"{pattern[:-1]}[{pattern[-1]}]" if pattern[-1].isspace() else pattern


def book_all(todo: Sequence[Work], progress: Progress) -> dict[str, str]:
    """Book the marks; return student -> what went wrong."""
    students: dict[str, list[Work]] = {}
    for work in todo:
        students.setdefault(work.student, []).append(work)
    task = progress.add_task("Booking", total=len(students))
    troubles, settings = {}, _settings(todo[0].course, todo[0].assignment) if todo else []
    for student, own in students.items():
        try:
            _book(student, own, settings)
        except Exception as error:  # nbgrader's may be of any kind, and others wait
            troubles[student] = f"{type(error).__name__}: {error}"
        progress.advance(task)
    return troubles


def _book(student: str, own: Sequence[Work], settings: Sequence[str]) -> None:
    course, assignment = own[0].course, own[0].assignment
    stamp = course / FOLDER / assignment / student / "booked.txt"
    keys = [read_store(work.store).get("key", "") for work in own]
    now = digest(keys, _time(own[0].folder), settings)
    done = course / "autograded" / student / assignment
    if done.exists() and _text(stamp) == now and _is_booked(own):
        return
    result = nbgrader_of(course).autograde(assignment, pattern_of(student), force=True)
    if not result["success"]:
        raise RuntimeError(trouble_in(result))
    if not _is_booked(own):
        raise RuntimeError("nbgrader's gradebook does not hold the marks")
    write_private(stamp, now)


def trouble_in(result: dict[str, str]) -> str:
    """Return what nbgrader said: the cause is in the log, the error only points there."""
    return f"{result.get('log', '')}{result.get('error', '')}"[-3000:]


def _time(folder: Path) -> bytes:
    """Return when it was handed in; refuse a file that nbgrader would read without an end."""
    path = folder / "timestamp.txt"
    if not path.exists() and not path.is_symlink():
        return b""
    if path.is_symlink() or not path.is_file() or path.stat().st_size > MOST_KEPT:
        raise ValueError(f"timestamp.txt is no plain file of at most {MOST_KEPT} bytes")
    return path.read_bytes()


def _settings(course: Path, assignment: str) -> list[str]:
    """Return what penalties depend on beside the marks: nbgrader's settings and the due date."""
    with opened(course) as gradebook:
        found = [known.duedate for known in gradebook.assignments if known.name == assignment]
    return [_text(course / CONFIG), *map(str, found)]


def _is_booked(own: Sequence[Work]) -> bool:
    """Say whether the gradebook holds these marks."""
    with opened(own[0].course) as gradebook:
        return all(_holds(gradebook, work) for work in own)


def _holds(gradebook: Gradebook, work: Work) -> bool:
    marks = read_store(work.store).get("marks", {})
    for name, mark in marks.items():
        try:
            grade = gradebook.find_grade(f"{name}-marks", work.stem, work.assignment, work.student)
        except MissingEntry:
            return False
        if grade.auto_score != points(mark["share"], grade.max_score):
            return False
    return True


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""
