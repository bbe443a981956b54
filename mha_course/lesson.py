"""A lesson as a source notebook for nbgrader."""

import copy
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from mha_course import making
from mha_course.plan import Plan
from mha_course.record import release
from mha_course.solutions import code_in, defined, with_solution
from mha_course.variants import worked_case

# What a lesson says of its solutions, and what is true of the lesson handed out.
FOLDED = "Hints and a solution are folded below it."
ROLES = ("stub", "check", "exercise", "hint", "solution")


def lesson_notebook(path: Path, plan: Plan) -> NotebookNode:
    """Turn a lesson into a source notebook: exercises for nbgrader, the rest as it is.

    Cells that are no exercise are left open: a lesson invites its reader to change them.
    """
    lesson = nbformat.read(path, as_version=4)
    solutions = {
        cell.metadata.exercise: cell.source for cell in lesson.cells if role(cell) == "solution"
    }
    functions = functions_of(lesson)
    cells: list[NotebookNode] = []
    for cell in lesson.cells:
        exercise = cell.metadata.get("exercise", "")
        if role(cell) == "stub":
            source = with_solution(cell.source, code_in(solutions[exercise]))
            cells.append(making.answer(exercise, source, _mha(exercise)))
        elif role(cell) == "exercise":
            text = cell.source
            if plan.variant:
                text += "\n\n" + worked_case(exercise, plan.variant, functions[exercise])
            cells.append(making.statement(exercise, text, _mha(exercise)))
        elif role(cell) == "check":
            cells.append(making.check(exercise, cell.source, _mha(exercise)))
            cells.append(making.marks(exercise, plan.points_of(exercise), _mha(exercise)))
        elif kept(cell, plan.hints):
            cells.append(plain(cell, plan.hints))
    return notebook(cells)


def role(cell: NotebookNode) -> str:
    """Return what a cell is to its exercise; "" where it belongs to none."""
    tags = cell.metadata.get("tags", [])
    return next((word for word in ROLES if word in tags and "exercise" in cell.metadata), "")


def functions_of(lesson: NotebookNode) -> dict[str, str]:
    """Return exercise -> name that the lesson gives its function."""
    return {
        cell.metadata.exercise: defined(cell.source)[0]
        for cell in lesson.cells
        if role(cell) == "stub"
    }


def kept(cell: NotebookNode, hints: bool) -> bool:
    """Say whether a cell that is no exercise goes into the assignment."""
    if "nav" in cell.metadata.get("tags", []):
        return False  # leads to lessons that are not in the assignment
    return role(cell) != "solution" and (hints or role(cell) != "hint")


def plain(cell: NotebookNode, hints: bool) -> NotebookNode:
    """Return a cell without outputs, and without words about what is not there."""
    cell = copy.deepcopy(cell)
    cell.source = cell.source.replace(FOLDED, "Hints are folded below it." if hints else "").strip()
    if cell.cell_type == "code":
        cell.outputs, cell.execution_count = [], None
    return cell


def notebook(cells: list[NotebookNode]) -> NotebookNode:
    """Put cells together; every id must be there once."""
    ids = [cell.id for cell in cells]
    for id in ids:
        if ids.count(id) > 1:
            raise ValueError(f"the cell {id!r} is there {ids.count(id)} times")
    metadata = {
        "kernelspec": dict(making.KERNEL),
        "language_info": {"name": "python"},
        "mha": {"release": release()},
    }
    return nbformat.v4.new_notebook(cells=cells, metadata=metadata)


def _mha(exercise: str) -> dict[str, str]:
    return {"exercise": exercise, "release": release()}
