"""Makes the source notebooks of an assignment, and books the assignment in nbgrader."""

from pathlib import Path

import nbformat
from nbformat import NotebookNode

from mha_course import gradebook, making, writing
from mha_course.cells import exercises_of
from mha_course.lesson import lesson_notebook, notebook
from mha_course.plan import Plan, lesson_paths
from mha_course.record import entry_of, read_record, write_record
from mha_course.sheet import sheet


def build(course: Path, plan: Plan, again: bool = False) -> list[str]:
    """Write an assignment into a course folder; asked the same again, it writes the same.

    Args:
        course: The course folder; made where it is missing.
        plan: What to build.
        again: Also write over notebooks that were handed out or edited by hand.

    Returns:
        Lines to print.

    Raises:
        ValueError: Something does not fit; then nothing is written.
    """
    notebooks = make_notebooks(plan)
    texts = {f"{stem}.ipynb": nbformat.writes(nb) + "\n" for stem, nb in notebooks.items()}
    record = read_record(course)
    before = record["assignments"].get(plan.assignment, {})
    entry = entry_of(plan, notebooks, texts)
    folder = course / "source" / plan.assignment
    if not again:
        handed_in = gradebook.submissions(course, plan.assignment)
        writing.refuse_to_lose(folder, before, entry, handed_in)
    writing.write_sources(folder, texts, before)
    writing.write_config(course)
    writing.write_rubric(course, plan)
    record["assignments"][plan.assignment] = entry
    write_record(course, record)
    gradebook.book(course, plan)
    return said(course, plan, entry["notebooks"])


def make_notebooks(plan: Plan) -> dict[str, NotebookNode]:
    """Return the source notebooks: one a lesson, or one sheet.

    Raises:
        ValueError: There is no such lesson, or points are given for what is not in it.
    """
    if plan.exercises:
        made = {plan.assignment: notebook(sheet(plan))}
    else:
        paths = lesson_paths(plan.lessons)
        made = {path.stem: lesson_notebook(path, plan) for path in paths}
    asked = {name for nb in made.values() for name in exercises_of(nb)}
    for name in plan.points:
        if name not in asked:
            raise ValueError(f"points are given for {name}, which is not in this assignment")
    for stem, nb in made.items():
        cells = questions_of(plan, stem, list(made))
        made[stem] = notebook([*nb.cells, *cells]) if cells else nb
    return made


def questions_of(plan: Plan, stem: str, stems: list[str]) -> list[NotebookNode]:
    """Return the cells of the free-text questions that stand in one notebook."""
    cells: list[NotebookNode] = []
    for question in plan.questions:
        place = stems[-1]
        if question.lesson:
            (path,) = lesson_paths((question.lesson,))
            place = path.stem
        if place not in stems:
            raise ValueError(
                f"question {question.id}: lesson {question.lesson} is not in this assignment"
            )
        if place == stem:
            cells += making.question(question.id, question.text, question.points)
    return cells


def said(course: Path, plan: Plan, notebooks: dict[str, list[str]]) -> list[str]:
    """Return what is printed at the end."""
    lines = [f"{course / 'source' / plan.assignment}: {len(notebooks)} notebook(s)"]
    for stem, exercises in notebooks.items():
        points = ", ".join(f"{name} {plan.points_of(name):g}" for name in exercises)
        lines.append(f"  {stem}.ipynb: {points or 'no exercises'} points")
    lines += [f"  question {q.id}: {q.points:g} points, by hand" for q in plan.questions]
    if plan.due:
        lines.append(f"  due {plan.due:%Y-%m-%d %H:%M} UTC")
    return [*lines, f"Next, in {course}: nbgrader generate_assignment {plan.assignment}"]
