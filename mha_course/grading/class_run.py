"""Mark a whole class: many hand-ins at once, and one that ends its process stops no other."""

import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from pathlib import Path

import nbformat
from rich.progress import Progress

from mha_course.grading.hand_ins import master_of
from mha_course.grading.marking import Answer, mark
from mha_course.grading.notebook_file import is_linked
from mha_course.grading.results import results_of
from mha_course.grading.sandbox import Limits, Sandbox, shared_folder
from mha_course.grading.work import Work, entry_of
from mha_lib.exercises import solution
from mha_lib.exercises.registry import find
from mha_lib.exercises.watchdog import TimeUp

PROBE = "head_dim"
ENDED = "it ended the process that marked it, by its size perhaps"


def works(course: Path, assignment: str, students: Sequence[str]) -> list[Work]:
    """Return all notebooks that have to be marked; a missing one gets a placeholder.

    Raises:
        ValueError: The assignment was not handed out by nbgrader.
    """
    found = []
    for stem in entry_of(course, assignment)["notebooks"]:
        master_of(course, assignment, stem)
    for student in students:
        for stem in entry_of(course, assignment)["notebooks"]:
            found.append(Work(course, assignment, student, stem))
            if not is_linked(course, student, assignment):
                _fill(found[-1].folder / f"{stem}.ipynb")
    return found


def _fill(path: Path) -> None:
    """Write an empty notebook where one is missing, so that nbgrader books 0 and says why."""
    if not path.exists() and not path.is_symlink() and path.parent.is_dir():
        empty = nbformat.v4.new_notebook(metadata={"mha": {"missing": True}})
        path.write_text(nbformat.writes(empty), encoding="utf-8")


def check_sandbox() -> None:
    """Mark a right answer first: where that fails, honest work would get 0 without a word.

    Raises:
        RuntimeError: It did not get all points.
    """
    answer = Answer(find(PROBE), PROBE, solution(PROBE))
    with Sandbox(shared_folder(), Limits()) as made:
        result = mark(answer, made, seed=1)
    if result.share < 1:
        said = "; ".join({result.said, *(stage.said for stage in result.stages)} - {""})
        raise RuntimeError(
            f"the right answer to {PROBE} got {result.share:.0%} ({said}), "
            "so learners' code does not run as it should here; nothing was graded"
        )


def mark_all(todo: Sequence[Work], workers: int, progress: Progress) -> dict[Work, str]:
    """Make the marks of all; return what went wrong with whom. Nothing already made is lost."""
    task = progress.add_task("Marking", total=len(todo))
    troubles: dict[Work, str] = {}
    left, alone = list(todo), False
    while left:
        # After a process died: first those that it may have had in hand, one at a time.
        some = left[: 2 * workers + 1] if alone else left
        done = {}
        for work, trouble in _mark_some(some, 1 if alone else workers):
            done[work] = trouble
            progress.advance(task)
        unfinished = [work for work in some if work not in done]
        if alone and unfinished:
            done[unfinished[0]] = ENDED
            progress.advance(task)
        alone = bool(unfinished)
        troubles |= {work: trouble for work, trouble in done.items() if trouble}
        left = [work for work in left if work not in done]
    return troubles


def _mark_some(todo: Sequence[Work], workers: int) -> Iterator[tuple[Work, str]]:
    """Yield each work with its trouble, "" for none; where a process dies, some are left out."""
    folder = shared_folder()
    spawn = get_context("spawn")
    with ProcessPoolExecutor(workers, spawn, initializer=_end_with_parent) as pool:
        jobs = {pool.submit(_mark_one, work, folder): work for work in todo}
        for job in as_completed(jobs):
            try:
                trouble = job.result()
            except BrokenProcessPool:
                continue
            yield jobs[job], trouble


def _end_with_parent() -> None:
    """Let a worker end when the command was killed; it would wait for work for ever."""

    def watch() -> None:
        parent = parent_process()
        assert parent is not None
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _mark_one(work: Work, folder: Path) -> str:
    try:
        results_of(work, folder, Limits())
    except (Exception, TimeUp) as error:  # a late alarm of the watchdog is no Exception
        return f"{type(error).__name__}: {error}"
    return ""
