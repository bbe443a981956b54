"""A class that never was: hand-ins with right answers, known mistakes and blanks.

    python -m mha_course.example_class COURSE ASSIGNMENT STUDENTS

For trying a course out before the real class hands in, for tests and for measuring.
"""

import random
import sys
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from mha_course.cells import answers_of, code_cells, functions_of, ids, mha
from mha_lib.exercises.mistakes import Mistake, mistakes_of

# Known mistakes are written for these names.
IMPORTS = """\
import math
import torch
from torch import Tensor, nn
from torch.nn import functional as F
import mha_lib

"""
SOLVED, BLANK = "solved", "blank"
Answers = dict[str, str | Mistake]  # exercise -> SOLVED, BLANK or a mistake


def make_class(
    course: Path, assignment: str, students: int, seed: int = 0
) -> dict[str, dict[str, Answers]]:
    """Write hand-ins into submitted/. The first student has all right, the second nothing.

    Args:
        course: The course folder; the assignment is released there.
        assignment: Its name.
        students: How many: s0001, s0002 and so on.
        seed: Decides who makes which mistake.

    Returns:
        Student -> notebook -> exercise -> what was handed in.
    """
    draw = random.Random(seed)
    masters = read_folder(course / "source" / assignment)
    releases = read_folder(course / "release" / assignment)
    made: dict[str, dict[str, Answers]] = {}
    for n in range(students):
        student = f"s{n + 1:04}"
        folder = course / "submitted" / student / assignment
        folder.mkdir(parents=True, exist_ok=True)
        made[student] = {}
        for stem, master in masters.items():
            answers = {exercise: drawn(exercise, n, draw) for exercise in functions_of(master)}
            notebook = handed_in(releases[stem], master, answers)
            nbformat.write(notebook, folder / f"{stem}.ipynb")
            made[student][stem] = answers
    return made


def drawn(exercise: str, n: int, draw: random.Random) -> str | Mistake:
    """Draw what student number n does with an exercise."""
    if n < 2:
        return (SOLVED, BLANK)[n]
    wrong = draw.choice(mistakes_of(exercise))
    choices: list[str | Mistake] = [SOLVED, BLANK, wrong]
    return draw.choices(choices, weights=[5, 1, 4])[0]


def handed_in(release: NotebookNode, master: NotebookNode, answers: Answers) -> NotebookNode:
    """Return a copy of a notebook that was handed out, filled in.

    Args:
        release: As handed out.
        master: The source notebook, with the solutions.
        answers: What to put in.
    """
    notebook = nbformat.from_dict(release)
    solved, functions = answers_of(master, functions_of(master)), functions_of(master)
    for cell in code_cells(notebook):
        exercise = next((id for id in ids(cell) if id in answers), None)
        if exercise is None or answers[exercise] == BLANK:
            continue
        chosen = answers[exercise]
        if isinstance(chosen, Mistake):
            cell.source = wrong_source(chosen, functions[exercise])
        else:
            lines = solved[exercise].splitlines()
            cell.source = "\n".join(line for line in lines if "### " not in line)
    if any(answer != BLANK for answer in answers.values()):
        for cell in notebook.cells:
            if mha(cell).get("question") in ids(cell):
                cell.source = "An answer in words of my own."
    return notebook


def wrong_source(mistake: Mistake, function: str) -> str:
    """Return a known mistake as a learner's cell, under the name that the notebook asks for."""
    alias = "" if function == mistake.exercise else f"\n{function} = {mistake.exercise}\n"
    return IMPORTS + mistake.text + alias


def read_folder(folder: Path) -> dict[str, NotebookNode]:
    """Read all notebooks of a folder."""
    paths = sorted(folder.glob("*.ipynb"))
    if not paths:
        raise ValueError(
            f"there is no notebook in {folder}; was the assignment built and released?"
        )
    return {path.stem: nbformat.read(path, as_version=4) for path in paths}


def main(arguments: list[str]) -> int:
    """Make a class; return 2 where the words are wrong."""
    if len(arguments) != 3 or not arguments[2].isdecimal():
        print("usage: python -m mha_course.example_class COURSE ASSIGNMENT STUDENTS")
        return 2
    made = make_class(Path(arguments[0]), arguments[1], int(arguments[2]))
    print(f"{len(made)} students handed in {arguments[1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
