"""All exercises, in lesson order."""

import ast
import inspect
import re
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
    """Return the task in Markdown, with its worked case."""
    exercise = find(name)
    return f"{exercise.statement}\n\n{exercise.worked}".strip()


def solution(name: str) -> str:
    """Return the text of a right answer, with the imports it needs.

    >>> print(solution("head_dim"))
    def head_dim(embed_dim: int, num_heads: int) -> int:
        return embed_dim // num_heads
    """
    function = find(name).solution
    text = inspect.getsource(function).replace("  # noqa: PLR0913", "")
    module = inspect.getsource(sys.modules[function.__module__])
    imports = [
        line
        for line in module.splitlines()
        if line.startswith(("import ", "from ")) and _is_used(line, text)
    ]
    return "\n".join([*imports, "", "", text]).strip()


def _is_used(line: str, text: str) -> bool:
    names = re.sub(r"^from \S+ import|^import|.* as ", "", line).split(",")
    return any(re.search(rf"\b{name.strip()}\b", text) for name in names)


def stub(name: str) -> str:
    """Return what the learner starts from: signatures, the first line of the task, no answer.

    >>> print(stub("head_rows"))
    def head_rows(weight: Tensor, head: int, num_heads: int) -> Tensor:
        \"\"\"Return the part of a projection's weight that belongs to one head.\"\"\"
        raise NotImplementedError
    """
    exercise = find(name)
    text = inspect.getsource(exercise.solution).replace("  # noqa: PLR0913", "")
    lines = text.splitlines()
    document = f'"""{exercise.statement.splitlines()[0]}"""'
    (whole,) = ast.parse(text).body
    if isinstance(whole, ast.FunctionDef):
        return "\n".join([*_head(whole, lines), f"    {document}", "    raise NotImplementedError"])
    assert isinstance(whole, ast.ClassDef)
    parts = [lines[0], f"    {document}"]
    for method in whole.body:
        if isinstance(method, ast.FunctionDef):
            parts += ["", *_head(method, lines), "        raise NotImplementedError"]
    return "\n".join(parts)


def _head(function: ast.FunctionDef, lines: list[str]) -> list[str]:
    """Return the lines of a function before its body."""
    return lines[function.lineno - 1 : function.body[0].lineno - 1]
