"""Mark a whole class: many hand-ins at once, resumable, then book all in nbgrader."""

import json
import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path

from nbgrader.apps import NbGraderAPI
from rich.progress import Progress
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from mha_course.grading.nbgrader_parts import placeholder
from mha_course.grading.results import FOLDER, Work, entry_of, is_current, read_store, results_of
from mha_course.grading.sandbox import Limits, shared_folder
from mha_course.record import write_private
from mha_course.settings import CONFIG

log = logging.getLogger(__name__)


def works(course: Path, assignment: str, students: Sequence[str]) -> list[Work]:
    """Return all notebooks that have to be marked; a missing one gets a placeholder."""
    found = []
    for student in students:
        for stem in entry_of(course, assignment)["notebooks"]:
            work = Work(course, assignment, student, stem)
            path = work.folder / f"{stem}.ipynb"
            if not path.exists() and not path.is_symlink():
                placeholder(path)
            found.append(work)
    return found


def mark_all(todo: Sequence[Work], workers: int, progress: Progress) -> dict[Work, str]:
    """Make the marks of all; return what went wrong with whom. Nothing already made is lost."""
    troubles: dict[Work, str] = {}
    task = progress.add_task("Marking", total=len(todo))
    left = [work for work in todo if not is_current(work)]
    progress.advance(task, len(todo) - len(left))
    for attempt in range(2 if left else 0):
        for work, trouble in _mark_some(left, workers if attempt == 0 else 1):
            progress.advance(task, 0 if trouble else 1)
            troubles[work] = trouble
        left = [work for work in left if troubles.get(work, "not reached")]
        if not left:
            break
    return {work: troubles.get(work, "not reached") for work in left}


def _mark_some(todo: Sequence[Work], workers: int) -> Iterator[tuple[Work, str]]:
    """Yield each work with its trouble, "" for none; stops where a worker process dies."""
    folder = shared_folder()
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        jobs = {pool.submit(_mark_one, work, folder): work for work in todo}
        for job in as_completed(jobs):
            try:
                yield jobs[job], job.result()
            except BrokenProcessPool:
                return


def _mark_one(work: Work, folder: Path) -> str:
    try:
        results_of(work, folder, Limits())
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def nbgrader_of(course: Path) -> NbGraderAPI:
    """Return nbgrader with the settings of a course."""
    config = Config()
    config.merge(PyFileConfigLoader(CONFIG, path=str(course)).load_config())
    return NbGraderAPI(config=config)


def book_all(todo: Sequence[Work], progress: Progress) -> dict[str, str]:
    """Book the marks in nbgrader, student by student; return student -> what went wrong.

    A student whose marks are booked already is left out.
    """
    students: dict[str, list[Work]] = {}
    for work in todo:
        students.setdefault(work.student, []).append(work)
    task = progress.add_task("Booking", total=len(students))
    troubles = {}
    for student, own in students.items():
        course, assignment = own[0].course, own[0].assignment
        stamp = course / FOLDER / assignment / student / "booked.txt"
        keys = json.dumps([read_store(work.store).get("key", "") for work in own])
        done = course / "autograded" / student / assignment
        if not (done.exists() and _text(stamp) == keys):
            result = nbgrader_of(course).autograde(assignment, student, force=True)
            if result["success"]:
                write_private(stamp, keys)
            else:
                troubles[student] = str(result.get("error") or result.get("log", ""))[-2000:]
        progress.advance(task)
    return troubles


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""
