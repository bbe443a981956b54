"""All notebooks of one student, read together: an answer in the wrong one is found there."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from mha_course.cells import is_stub
from mha_course.grading.free_texts import WITHOUT
from mha_course.grading.notebook_file import LINK, is_linked, notebook_files
from mha_course.grading.submissions import HandIn, read_hand_in
from mha_course.grading.work import Work, entry_of
from mha_course.solutions import defined


def master_of(course: Path, assignment: str, stem: str) -> NotebookNode:
    """Return a notebook as it was handed out."""
    path = course / "release" / assignment / f"{stem}.ipynb"
    if not path.exists():
        command = f"nbgrader generate_assignment {assignment}"
        raise ValueError(f"{path} is missing; make it with: {command}")
    return _as_of(path, path.stat().st_mtime_ns)


@cache
def _as_of(path: Path, time: int) -> NotebookNode:
    """Read a notebook once; formgrader's process lives on when a new one is made."""
    return nbformat.read(path, as_version=4)


def read_all(course: Path, assignment: str, student: str) -> dict[str, HandIn]:
    """Read all notebooks of a student. Answers in the wrong notebook are found there, too."""
    functions = entry_of(course, assignment)["functions"]
    if is_linked(course, student, assignment):
        return {stem: HandIn(problem=LINK) for stem in functions}
    folder = course / "submitted" / student / assignment
    masters = {stem: master_of(course, assignment, stem) for stem in functions}
    read = {
        stem: read_hand_in(folder / f"{stem}.ipynb", masters[stem], functions[stem])
        for stem in functions
    }
    if any(_lacking(read[stem], functions[stem]) for stem in functions):
        for path in notebook_files(folder):
            for stem in functions:
                if path != folder / f"{stem}.ipynb":
                    other = read_hand_in(path, masters[stem], functions[stem])
                    read[stem] = _with(read[stem], other, functions[stem])
    return read


def _lacking(hand_in: HandIn, functions: Mapping[str, str]) -> bool:
    return any(is_stub(hand_in.answers.get(name, "")) for name in functions)


def _with(hand_in: HandIn, other: HandIn, functions: Mapping[str, str]) -> HandIn:
    """Fill up what is lacking from another notebook of the folder: renamed, or swapped."""
    found = {
        name: source
        for name, source in other.answers.items()
        if is_stub(hand_in.answers.get(name, ""))
        and not is_stub(source)
        and functions[name] in defined(source)
    }
    texts = {**other.texts, **{k: v for k, v in hand_in.texts.items() if v not in WITHOUT}}
    if not found and texts == hand_in.texts:
        return hand_in
    return HandIn(
        {**hand_in.answers, **found},
        {**hand_in.raw, **{name: other.raw[name] for name in found}},
        (*hand_in.helpers, *other.helpers),
        texts,
    )


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
