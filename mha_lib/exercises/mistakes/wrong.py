"""How wrong code is written down: whole, or as a small edit of the right answer."""

import inspect
import math
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import CodeType, ModuleType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

import mha_lib

# What wrong code may use; it is run in a namespace of these names.
NAMES = {"math": math, "torch": torch, "Tensor": Tensor, "nn": nn, "F": F, "mha_lib": mha_lib}


# The layers are not asked for float16.
ONLY_IN_HALF_PRECISION = ("FP-01", "MASK-08")
NOQA = "  # noqa: PLR0913"


@dataclass(frozen=True)
class Mistake:
    """One way to get one exercise wrong.

    Args:
        id: The mistake; other exercises and other code may share it.
        exercise: Name of the exercise.
        text: The wrong code: Python that defines a function, or class, called like the exercise.
    """

    id: str
    exercise: str
    text: str

    def build(self) -> Callable[..., Any]:
        """Return the wrong function itself."""
        namespace: dict[str, Any] = dict(NAMES)
        exec(_compiled(self.text), namespace)
        function: Callable[..., Any] = namespace[self.exercise]
        return function


@cache
def _compiled(text: str) -> CodeType:
    return compile(text, "<known mistake>", "exec")


class Wrong:
    """Collects the mistakes of one lesson.

    Args:
        solutions: The module with the right answers of the lesson.
    """

    def __init__(self, solutions: ModuleType) -> None:
        self.solutions = solutions
        self.table: list[Mistake] = []

    def body(self, id: str, exercises: str, body: str) -> None:
        """Add wrong code that keeps only the signature of the right answer.

        Args:
            id: Of the mistake.
            exercises: Names of the exercises that this code gets wrong, with blanks between.
            body: What stands below the signature.
        """
        for exercise in exercises.split():
            head = signature(self._right(exercise))
            indented = textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
            self.table.append(Mistake(id, exercise, f"{head}\n{indented}\n"))

    def edit(self, id: str, exercise: str, *changes: tuple[str, str]) -> None:
        """Add the right answer with some places changed, each given as (old, new).

        Raises:
            ValueError: An old text does not stand in the right answer exactly once.
        """
        text = self._right(exercise)
        for old, new in changes:
            if text.count(old) != 1:
                raise ValueError(f"{id}, {exercise}: {old!r} stands there {text.count(old)} times")
            text = text.replace(old, new)
        self.table.append(Mistake(id, exercise, text))

    def inside(
        self, exercise: str, others: list[Mistake], inner: str, without: tuple[str, ...] = ()
    ) -> None:
        """Add, for each mistake of another exercise, the right answer that calls this wrong code.

        Args:
            exercise: The exercise whose right answer calls `mha_lib.<inner>`.
            others: Mistakes to take over.
            inner: Name of the exercise they belong to.
            without: Ids that this exercise cannot meet.
        """
        for mistake in others:
            if mistake.exercise == inner and mistake.id not in (*without, *ONLY_IN_HALF_PRECISION):
                right = self._right(exercise)
                text = right.replace(f"mha_lib.{mistake.exercise}(", f"{mistake.exercise}(")
                self.table.append(Mistake(mistake.id, exercise, f"{mistake.text}\n\n{text}"))

    def both(self, exercise: str, one: Mistake, other: Mistake) -> None:
        """Add the right answer that calls the wrong code of two mistakes at once."""
        text = self._right(exercise)
        for mistake in (one, other):
            text = text.replace(f"mha_lib.{mistake.exercise}(", f"{mistake.exercise}(")
        parts = [one.text, other.text, text]
        self.table.append(Mistake(f"{one.id}+{other.id}", exercise, "\n\n".join(parts)))

    def _right(self, exercise: str) -> str:
        return _source(getattr(self.solutions, exercise))


@cache
def _source(function: Callable[..., Any]) -> str:
    return inspect.getsource(function).replace(NOQA, "")


def signature(source: str) -> str:
    """Return the text of a function up to the colon before its body.

    >>> signature("def f(x: int) -> int:\\n    return x")
    'def f(x: int) -> int:'
    """
    start = source.index(" -> ")
    return source[: source.index(":\n", start) + 1]
