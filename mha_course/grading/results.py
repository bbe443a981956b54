"""Marks of whole hand-ins: made once, kept in files, made again only when something changed."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from mha_course.cells import is_stub
from mha_course.grading.hand_ins import master_of, read_all
from mha_course.grading.hidden_stages import digest, seed_of
from mha_course.grading.marking import NOT_ATTEMPTED, Answer, Mark, mark
from mha_course.grading.sandbox import Limits, Sandbox
from mha_course.grading.submissions import HandIn, imports_of
from mha_course.grading.work import Work, entry_of
from mha_course.record import read_record, release, write_private
from mha_lib.exercises import solution
from mha_lib.exercises.registry import find

Result = dict[str, Any]


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
    marks = _marks_of(work, hand_in, sandbox_folder, limits)
    result = {"key": key, "problem": hand_in.problem, "marks": marks}
    work.store.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_private(work.store, json.dumps(result, indent=1, ensure_ascii=False))
    return result


def _marks_of(work: Work, hand_in: HandIn, folder: Path, limits: Limits) -> dict[str, Result]:
    """Make the marks of one notebook, exercise by exercise."""
    functions = entry_of(work.course, work.assignment)["functions"][work.stem]
    master = master_of(work.course, work.assignment, work.stem)
    secret = read_record(work.course)["secret"]
    before = [*imports_of(master), *hand_in.helpers]
    marks: dict[str, Result] = {}
    with Sandbox(folder, limits) as sandbox:
        for name, function in functions.items():
            source = hand_in.answers.get(name)
            answer = Answer(find(name), function, source, tuple(before))
            seed = seed_of(secret, work.assignment, work.student, name)
            stub = source is not None and is_stub(source)
            marks[name] = as_json(NOT_ATTEMPTED if stub else mark(answer, sandbox, seed), name)
            before += _reference(name, function)  # an error costs once
    return marks


def _reference(exercise: str, function: str) -> list[str]:
    """Return code that gives later answers the right one of this exercise."""
    name = find(exercise).solution.__name__
    return [f"{solution(exercise)}\n\n\n{function} = {name}"]


def _key(work: Work, hand_in: HandIn) -> str:
    """Return a hash of all that the marks depend on, and of what is shown beside them."""
    entry = entry_of(work.course, work.assignment)
    asked = (work.assignment, work.student, work.stem, entry["functions"][work.stem])
    written = [sorted(part.items()) for part in (hand_in.answers, hand_in.raw, hand_in.texts)]
    return digest(*asked, release(), graders(), written, hand_in.helpers, hand_in.problem)


@cache
def graders() -> str:
    """Return a hash of the code that makes marks: what another version made is made again."""
    paths = sorted(Path(__file__).parent.rglob("*.py"))
    return digest([path.read_text(encoding="utf-8") for path in paths])


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
        "hint": "" if mark.said else tells.get(mark.status, ""),
        "suspect": mark.suspect,
    }


def points(share: float, most: float) -> float:
    """Return the points of a share, to two digits."""
    return round(share * most, 2)


def students_of(course: Path, assignment: str) -> list[str]:
    """Return the ids of those who handed in, in order."""
    return sorted(path.parent.name for path in course.glob(f"submitted/*/{assignment}"))
