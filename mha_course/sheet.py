"""Single exercises as one source notebook for nbgrader."""

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from mha_course import making
from mha_course.plan import Plan
from mha_course.record import release
from mha_course.solutions import with_solution
from mha_course.variants import worked_case
from mha_lib.exercises.exercise import Exercise
from mha_lib.exercises.registry import find, solution, stub

SET_UP = """\
import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

import mha_lib
from mha_lib.exercises import check"""
HOW = """\
For each exercise: replace the line `raise NotImplementedError` by your answer, run the cell, then
run the check below it. The check says whether the answer is right, or where it goes wrong.
Letters in shapes: `B` sentences, `H` heads, `L` queries, `S` keys, `E` width of a word, `D` width
of a head."""


def sheet(plan: Plan) -> list[NotebookNode]:
    """Return the cells of a sheet: a title, one set-up cell, then the exercises in order."""
    cells = [
        new_markdown_cell(f"# {plan.assignment}\n\n{HOW}", id="title"),
        new_code_cell(SET_UP, id="setup"),
    ]
    for number, name in enumerate(plan.exercises, 1):
        cells += exercise_cells(find(name), number, plan)
    return cells


def exercise_cells(exercise: Exercise, number: int, plan: Plan) -> list[NotebookNode]:
    """Return the cells of one exercise of a sheet."""
    name = exercise.name
    mha = {"exercise": name, "release": release()}
    cells = [
        making.statement(name, statement_text(exercise, number, plan.variant), mha),
        making.answer(name, with_solution(stub(name), solution(name)), mha),
        making.check(name, f"check({name})", mha),
        making.marks(name, plan.points_of(name), mha),
    ]
    return [*cells, making.hints(name, exercise.hints)] if plan.hints else cells


def statement_text(exercise: Exercise, number: int, variant: str) -> str:
    """Return heading and statement; in a variant with a worked case of its own."""
    stars = "★" * exercise.stars
    heading = f"## Exercise {number} · `{exercise.name}` {stars} {exercise.minutes} min"
    case = worked_case(exercise.name, variant, exercise.name) if variant else exercise.worked
    return "\n\n".join(part for part in (heading, exercise.statement, case) if part)
