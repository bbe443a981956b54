"""What an instructor asks for, checked before anything is written."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from mha_course.questions import Question
from mha_lib.exercises.registry import find

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
VARIANT = re.compile(r"[a-z0-9-]*")
NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
POINTS_A_STAR = 5


@dataclass(frozen=True)
class Plan:
    """One assignment, as it was asked for.

    Args:
        assignment: Its name in nbgrader.
        lessons: Numbers or slugs of whole lessons.
        exercises: Names of single exercises, in the order of the sheet.
        points: Of exercises; the others get 5 points a star.
        due: When it is due; None leaves what nbgrader knows already.
        variant: A word that worked cases and hidden inputs are made from.
        hints: Whether the folded hints stay in.
        questions: Free-text questions, marked by hand.
    """

    assignment: str
    lessons: tuple[str, ...] = ()
    exercises: tuple[str, ...] = ()
    points: Mapping[str, float] = field(default_factory=dict)
    due: datetime | None = None
    variant: str = ""
    hints: bool = True
    questions: tuple[Question, ...] = ()

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.assignment):
            raise ValueError(
                "assignment must be letters, digits, - and _, "
                f"starting with a letter or digit; got {self.assignment!r}"
            )
        if not VARIANT.fullmatch(self.variant):
            raise ValueError(f"variant must be small letters, digits and -, got {self.variant!r}")
        if bool(self.lessons) == bool(self.exercises):
            raise ValueError("give either lessons or exercises")
        for name in self.exercises:
            find(name)
            if self.exercises.count(name) > 1:
                raise ValueError(f"exercises: {name!r} is named twice")
        for name, value in self.points.items():
            find(name)
            if not (math.isfinite(value) and value > 0):
                raise ValueError(f"points of {name} must be more than 0, got {value}")

    def points_of(self, exercise: str) -> float:
        return self.points.get(exercise, float(POINTS_A_STAR * find(exercise).stars))


def lesson_paths(lessons: tuple[str, ...], folder: Path = NOTEBOOKS) -> list[Path]:
    """Return the notebooks of lessons, in lesson order.

    Args:
        lessons: Numbers (4, 04), slugs (splitting_heads) or both in one (04_splitting_heads).
        folder: Where the lessons lie.

    Raises:
        ValueError: There is no such lesson.
    """
    known: dict[str, Path] = {}
    for path in sorted(folder.glob("[0-9][0-9]_*.ipynb")):
        number, slug = path.stem.split("_", 1)
        known |= dict.fromkeys((number, str(int(number)), slug, path.stem), path)
    for lesson in lessons:
        if lesson not in known:
            stems = ", ".join(sorted({path.stem for path in known.values()})) or "none"
            raise ValueError(f"there is no lesson {lesson!r}; {folder.name}/ has {stems}")
    return sorted({known[lesson] for lesson in lessons})
