"""What an exercise is: a statement, a right answer, and stages of cases."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


class WrongKind(Exception):
    """The result cannot be looked into any further; the text says why."""


def answer(function: Callable[..., Any], *args: Any) -> Any:
    """Ask the plain question: what does the function return for these arguments?"""
    return function(*args)


@dataclass(frozen=True)
class Case:
    """One question to a learner's function.

    Args:
        args: The arguments. Every call gets a fresh copy.
        ask: Makes from function and arguments what is compared; the plain result by default.
        says: What is compared, in words, where it is not the plain result.
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


def cases(ask: Callable[..., Any], says: str, *all_args: tuple[Any, ...]) -> tuple[Case, ...]:
    """Make cases that share the question and differ in the arguments."""
    return tuple(Case(args, ask, says) for args in all_args)


def plain(*all_args: tuple[Any, ...], tolerance: float = 1e-5) -> tuple[Case, ...]:
    """Make cases that ask for the plain result."""
    return tuple(Case(args, tolerance=tolerance) for args in all_args)


def _no_cases() -> tuple[Case, ...]:
    return ()


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
        tiny: Inputs from the smallest up: the first on which an answer fails is shown.
        properties: Rules that say more about a mistake nobody knows.
        worked: A worked case, in Markdown; a class of its own can be shown another one.
        forbidden: Functions of torch that do the whole exercise, by name.
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
    tiny: Callable[[], tuple[Case, ...]] = field(default=_no_cases, repr=False)
    properties: Callable[[], tuple[Case, ...]] = field(default=_no_cases, repr=False)
    worked: str = ""
    forbidden: tuple[str, ...] = ()
