"""The marks of a class as `mha-course grade` stored them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mha_course.grading.results import points, read_store, students_of
from mha_course.grading.work import FOLDER, Work, entry_of


@dataclass(frozen=True)
class Answer:
    """One student's mark in one exercise, as stored."""

    student: str
    exercise: str
    mark: dict[str, Any]


@dataclass(frozen=True)
class ClassMarks:
    """A class.

    Args:
        assignment: Its name.
        handed_in: How many students handed in.
        most: Exercise -> its points, in the order of the assignment.
        answers: All that are marked.
        totals: Of those students whose exercises are all marked.
    """

    assignment: str
    handed_in: int
    most: dict[str, float]
    answers: tuple[Answer, ...]
    totals: tuple[float, ...]

    @property
    def maximum(self) -> float:
        return sum(self.most.values())

    @property
    def marked(self) -> int:
        """How many students have at least one mark."""
        return len({answer.student for answer in self.answers})

    def of(self, exercise: str) -> list[Answer]:
        return [answer for answer in self.answers if answer.exercise == exercise]


def read_class(course: Path, assignment: str) -> ClassMarks:
    """Read what is stored of an assignment.

    Raises:
        ValueError: There is no such assignment.
    """
    entry = entry_of(course, assignment)
    folder = course / FOLDER / assignment
    stored = {path.parent.name for path in folder.glob("*/*.json")}
    handed_in = {*students_of(course, assignment), *stored}
    most: dict[str, float] = {
        name: entry["points"][name] for names in entry["notebooks"].values() for name in names
    }
    answers, totals = [], []
    for student in sorted(handed_in):
        marks: dict[str, dict[str, Any]] = {}
        for stem, names in entry["notebooks"].items():
            found = read_store(Work(course, assignment, student, stem).store).get("marks", {})
            marks |= {name: found[name] for name in names if name in found}
        answers += [Answer(student, name, mark) for name, mark in marks.items()]
        if most and len(marks) == len(most):
            totals.append(sum(points(mark["share"], most[n]) for n, mark in marks.items()))
    return ClassMarks(assignment, len(handed_in), most, tuple(answers), tuple(totals))
