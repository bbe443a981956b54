"""The stages that give marks: those of the visible check, on inputs that only one student gets."""

import hashlib
import hmac
from functools import cache
from typing import Any

import torch

from mha_course.grading.drawn_inputs import questions
from mha_lib.exercises.comparing import difference
from mha_lib.exercises.exercise import Case, Exercise, Stage
from mha_lib.exercises.inputs import shifted
from mha_lib.exercises.registry import find
from mha_lib.exercises.running import Runner

OTHER = "Other sizes and numbers"
DRAWN = 40  # questions of the last stage


def seed_of(secret: str, assignment: str, student: str, exercise: str) -> int:
    """Return the seed of one student's inputs: it can't be guessed without the course's secret."""
    text = "\0".join((assignment, student, exercise))
    return int.from_bytes(hmac.digest(bytes.fromhex(secret), text.encode(), "sha256")[:6], "big")


def hidden_stages(exercise: Exercise, seed: int) -> list[tuple[Stage, int]]:
    """Return the stages for one student, each with the shift of its numbers.

    The stages of the visible check with other numbers, and one with other sizes, too. Whoever
    asks the cases of a stage does so inside `shifted(its shift)`.
    """
    shift = 1 + seed % 997
    with shifted(shift):
        stages = [(stage, shift) for stage in exercise.stages()]
    # With large numbers the weights hang on the last digits: for some numbers a right answer in
    # float32 would fail, or a mistake could not show. These stages keep numbers that were tried.
    pairs = zip(stages, exercise.stages(), strict=True)
    stages = [(kept, 0) if "large" in kept.title.lower() else moved for moved, kept in pairs]
    drawn = questions(exercise.name, DRAWN, seed, floats=(torch.float64,))
    return [*stages, (Stage(OTHER, tuple(Case(args, ask) for ask, args in drawn)), shift)]


@cache
def by_heart(name: str) -> frozenset[str]:
    """Return the titles of stages that cannot be shifted: their questions are the visible ones."""
    exercise = find(name)
    with shifted(1):
        moved = exercise.stages()
    pairs = zip(moved, exercise.stages(), strict=True)
    return frozenset(one.title for one, other in pairs if same_questions(one, other))


def same_questions(one: Stage, other: Stage) -> bool:
    return all(_same(a.args, b.args) for a, b in zip(one.cases, other.cases, strict=True))


def is_visible(name: str, case: Case) -> bool:
    """Say whether the visible check puts the same question."""
    return any(_same(case.args, other.args) for other in _visible(name))


@cache
def _visible(name: str) -> tuple[Case, ...]:
    return tuple(case for stage in find(name).stages() for case in stage.cases)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return one.shape == other.shape and torch.equal(one, other)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return type(one) is type(other) and bool(one == other)


@cache
def given_away(name: str) -> frozenset[str]:
    """Return the titles of stages that some answer without content passes."""
    exercise = find(name)
    found = set()
    for empty in EMPTY:
        right, runner = Runner(exercise.right, seconds=60), Runner(empty, seconds=60)
        for stage in exercise.stages():
            pairs = [(right.ask(c), runner.ask(c), c.tolerance) for c in stage.cases]
            if not any(difference(*pair) for pair in pairs):
                found.add(stage.title)
    return frozenset(found)


def _nothing(*args: Any, **kwargs: Any) -> Any:
    return None


def _first(*args: Any, **kwargs: Any) -> Any:
    return args[0]


def _zeros(*args: Any, **kwargs: Any) -> Any:
    return torch.zeros_like(args[0])


def _zero(*args: Any, **kwargs: Any) -> Any:
    return torch.tensor(0.0)


def _refusing(*args: Any, **kwargs: Any) -> Any:
    raise ValueError(f"{args} {[getattr(a, 'shape', None) for a in args]}")


EMPTY = (_nothing, _first, _zeros, _zero, _refusing)


def digest(*parts: object) -> str:
    """Return a hash of what a result depends on."""
    return hashlib.sha256(repr(parts).encode("utf-8")).hexdigest()
