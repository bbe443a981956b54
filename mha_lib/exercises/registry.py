"""All exercises, in lesson order."""

import inspect
import sys
from functools import cache

from mha_lib.exercises import (
    attention_scores,
    encoder_decoder_attention,
    hyperparameters,
    input_layers,
    linear_layers,
    many_heads,
    masks,
    merging_heads,
    splitting_heads,
    transformer,
)
from mha_lib.exercises.exercise import Exercise

_GROUPS = (
    hyperparameters,
    input_layers,
    linear_layers,
    splitting_heads,
    attention_scores,
    merging_heads,
    many_heads,
    masks,
    encoder_decoder_attention,
    transformer,
)


@cache
def exercises() -> dict[str, Exercise]:
    return {exercise.name: exercise for group in _GROUPS for exercise in group.EXERCISES}


def find(name: str) -> Exercise:
    """Return the exercise called `name`; a ValueError that lists all names if there is none."""
    if name not in exercises():
        raise ValueError(f"no exercise is called {name!r}; there are {', '.join(exercises())}")
    return exercises()[name]


def names() -> tuple[str, ...]:
    """Return the names of all exercises, in lesson order."""
    return tuple(exercises())


def hint(name: str, n: int) -> str:
    """Return hint number `n` of an exercise, counted from 1."""
    hints = find(name).hints
    if not 1 <= n <= len(hints):
        raise ValueError(f"n must lie in 1 .. {len(hints)} for {name!r}, got {n}")
    return hints[n - 1]


def statement(name: str) -> str:
    """Return the task in Markdown."""
    return find(name).statement


def solution(name: str) -> str:
    """Return the text of a right answer, with the imports it needs."""
    function = find(name).solution
    text = inspect.getsource(function)
    module = inspect.getsource(sys.modules[function.__module__])
    imports = [
        line
        for line in module.splitlines()
        if line.startswith(("import ", "from ")) and line.split()[-1] in text
    ]
    return "\n".join([*imports, "", "", text]).strip().replace("  # noqa: PLR0913", "")


def stub(name: str) -> str:
    """Return what the learner starts from: the signature, the first line of the task, no answer.

    >>> print(stub("head_rows"))
    def head_rows(weight: Tensor, head: int, num_heads: int) -> Tensor:
        \"\"\"Return the part of a projection's weight that belongs to one head.\"\"\"
        raise NotImplementedError
    """
    exercise = find(name)
    text = inspect.getsource(exercise.solution).replace("  # noqa: PLR0913", "")
    head = text[: text.index(" -> ")] + text[text.index(" -> ") :].split(":\n", 1)[0] + ":\n"
    first = exercise.statement.splitlines()[0]
    return f'{head}    """{first}"""\n    raise NotImplementedError'
