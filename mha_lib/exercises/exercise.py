"""What an exercise is: a statement, a right answer, and stages of cases."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


def answer(function: Callable[..., Any], *args: Any) -> Any:
    """Ask the plain question: what does the function return for these arguments?"""
    return function(*args)


@dataclass(frozen=True)
class Case:
    """One question to a learner's function.

    Args:
        args: The arguments. Every call gets a fresh copy.
        ask: Makes from function and arguments what is compared; the plain result by default.
        says: For a property, the rule in words.
        tolerance: How far a number may lie from the right one, absolute and relative.
    """

    args: tuple[Any, ...]
    ask: Callable[..., Any] = answer
    says: str = ""
    tolerance: float = 1e-5


@dataclass(frozen=True)
class Stage:
    """Some cases that together look at one suspect; `title` says at which."""

    title: str
    cases: tuple[Case, ...]


@dataclass(frozen=True)
class Exercise:
    """Everything about one exercise.

    Args:
        name: What `check` calls it.
        lesson: The slug of the lesson.
        stars: Difficulty, 1 to 3.
        minutes: How long it takes.
        statement: The task, in Markdown.
        hints: From gentle to nearly the answer.
        solution: A right answer; its text is the folded solution.
        right: What the checks compare with: the library's function where there is one.
        stages: The checks, in order. Made when asked for.
    """

    name: str
    lesson: str
    stars: int
    minutes: int
    statement: str
    hints: tuple[str, ...]
    solution: Callable[..., Any]
    right: Callable[..., Any]
    stages: Callable[[], tuple[Stage, ...]] = field(repr=False)
