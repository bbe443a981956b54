"""Marks of whole hand-ins: made once, kept in files, made again only when something changed."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from mha_course.cells import is_stub
from mha_course.grading.hidden_stages import digest, seed_of
from mha_course.grading.marking import NOT_ATTEMPTED, Answer, Mark, mark
from mha_course.grading.sandbox import Limits, Sandbox
from mha_course.grading.submissions import HandIn, imports_of, read_hand_in
from mha_course.record import read_record, release, write_private
from mha_lib.exercises import solution
from mha_lib.exercises.registry import find

FOLDER = ".marks"
Result = dict[str, Any]


@dataclass(frozen=True)
class Work:
    """One notebook of one student."""

    course: Path
    assignment: str
    student: str
    stem: str

    @property
    def folder(self) -> Path:
        return self.course / "submitted" / self.student / self.assignment

    @property
    def store(self) -> Path:
        return self.course / FOLDER / self.assignment / self.student / f"{self.stem}.json"


def entry_of(course: Path, assignment: str) -> dict[str, Any]:
    """Return what the record says of an assignment.

    Raises:
        ValueError: There is no such assignment.
    """
    assignments = read_record(course)["assignments"]
    if assignment not in assignments:
        known = ", ".join(sorted(assignments)) or "none"
        raise ValueError(f"there is no assignment {assignment!r} in {course}; there are: {known}")
    entry: dict[str, Any] = assignments[assignment]
    return entry


@cache
def master_of(course: Path, assignment: str, stem: str) -> NotebookNode:
    """Return a notebook as it was handed out."""
    path = course / "release" / assignment / f"{stem}.ipynb"
    if not path.exists():
        command = f"nbgrader generate_assignment {assignment}"
        raise ValueError(f"{path} is missing; make it with: {command}")
    return nbformat.read(path, as_version=4)


def read_all(course: Path, assignment: str, student: str) -> dict[str, HandIn]:
    """Read all notebooks of a student. Answers in the wrong notebook are found there, too."""
    entry = entry_of(course, assignment)
    folder = course / "submitted" / student / assignment
    read: dict[str, HandIn] = {}
    for stem, functions in entry["functions"].items():
        master = master_of(course, assignment, stem)
        read[stem] = read_hand_in(folder / f"{stem}.ipynb", folder, master, functions)
    for stem, functions in entry["functions"].items():
        lacking = {name: f for name, f in functions.items() if name not in read[stem].answers}
        if lacking:
            read[stem] = _elsewhere(
                read[stem], folder, master_of(course, assignment, stem), lacking
            )
    return read


def _elsewhere(
    hand_in: HandIn, folder: Path, master: NotebookNode, lacking: Mapping[str, str]
) -> HandIn:
    """Look for answers in the other notebooks of the folder: renamed, or swapped."""
    answers, raw, helpers = dict(hand_in.answers), dict(hand_in.raw), hand_in.helpers
    for path in sorted(folder.glob("*.ipynb")):
        other = read_hand_in(path, folder, master, lacking)
        found = {n: s for n, s in other.answers.items() if n not in answers and not is_stub(s)}
        if found:
            answers |= found
            raw |= {name: other.raw[name] for name in found}
            helpers = (*helpers, *other.helpers)
    return HandIn(answers, raw, helpers, hand_in.texts, "" if answers else hand_in.problem)


def results_of(work: Work, sandbox_folder: Path, limits: Limits) -> Result:
    """Return the marks of one notebook: as stored, or made now and stored.

    Args:
        work: Which notebook.
        sandbox_folder: As made by `new_folder`.
        limits: Of each answer.
    """
    hand_in = read_all(work.course, work.assignment, work.student)[work.stem]
    key = _key(work, hand_in)
    stored = read_store(work.store)
    if stored.get("key") == key:
        return stored
    entry = entry_of(work.course, work.assignment)
    functions = entry["functions"][work.stem]
    master = master_of(work.course, work.assignment, work.stem)
    secret = read_record(work.course)["secret"]
    before = [*imports_of(master), *hand_in.helpers]
    marks: dict[str, Result] = {}
    with Sandbox(sandbox_folder, limits) as sandbox:
        for name, function in functions.items():
            source = hand_in.answers.get(name)
            answer = Answer(find(name), function, source, tuple(before))
            seed = seed_of(secret, work.assignment, work.student, name)
            stub = source is not None and is_stub(source)
            marks[name] = as_json(NOT_ATTEMPTED if stub else mark(answer, sandbox, seed), name)
            before += _reference(name, function)  # an error costs once
    result = {"key": key, "problem": hand_in.problem, "marks": marks}
    work.store.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_private(work.store, json.dumps(result, indent=1, ensure_ascii=False))
    return result


def is_current(work: Work) -> bool:
    """Say whether the stored marks are those of what is handed in now."""
    hand_in = read_all(work.course, work.assignment, work.student)[work.stem]
    return read_store(work.store).get("key") == _key(work, hand_in)


def _reference(exercise: str, function: str) -> list[str]:
    """Return code that gives later answers the right one of this exercise."""
    name = find(exercise).solution.__name__
    return [f"{solution(exercise)}\n\n\n{function} = {name}"]


def _key(work: Work, hand_in: HandIn) -> str:
    """Return a hash of all that the marks depend on."""
    entry = entry_of(work.course, work.assignment)
    asked = (work.assignment, work.student, work.stem, entry["functions"][work.stem], release())
    return digest(*asked, sorted(hand_in.answers.items()), hand_in.helpers, hand_in.problem)


def read_store(path: Path) -> Result:
    """Return what is stored, {} where there is nothing or it is damaged."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stored if isinstance(stored, dict) else {}


def as_json(mark: Mark, exercise: str) -> Result:
    verdict, hints = mark.verdict, find(exercise).hints
    tells = {"wrong": hints[0], "partly right": hints[min(1, len(hints) - 1)]}
    return {
        "share": mark.share,
        "status": mark.status,
        "said": mark.said,
        "stages": [[stage.title, stage.passed, stage.said] for stage in mark.stages],
        "mistakes": list(verdict.group) if verdict else [],
        "text": str(verdict) if verdict else "",
        "html": verdict._repr_html_() if verdict else "",
        "hint": tells.get(mark.status, ""),
        "suspect": mark.suspect,
    }


def points(share: float, most: float) -> float:
    """Return the points of a share, to two digits."""
    return round(share * most, 2)


def learners_notebook(work: Work) -> NotebookNode:
    """Return the notebook as it was handed out, with this learner's answers put in."""
    hand_in = read_all(work.course, work.assignment, work.student)[work.stem]
    path = work.course / "release" / work.assignment / f"{work.stem}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    wanted = {**hand_in.raw, **hand_in.texts}
    for cell in notebook.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        if grade_id in wanted:
            cell.source = wanted[grade_id]
    return notebook


def students_of(course: Path, assignment: str) -> list[str]:
    """Return the ids of those who handed in, in order."""
    return sorted(path.parent.name for path in course.glob(f"submitted/*/{assignment}"))
