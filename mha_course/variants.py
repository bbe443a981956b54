"""Worked cases for a variant: other sizes, numbers and words, the same question."""

import random

import torch

from mha_course.drawn_cases import CASES
from mha_lib.exercises.registry import find


def worked_case(exercise: str, variant: str, function: str) -> str:
    """Return a worked case in Markdown: code to try, and its result from the reference.

    Args:
        exercise: Name of the exercise.
        variant: The word that sizes, numbers and words are drawn from.
        function: How the learner's function is called.
    """
    drawn = CASES[exercise](random.Random(f"{variant}/{exercise}"))
    # Python that we wrote ourselves: it stands in the notebook as it is evaluated here.
    values = {name: eval(text, {"torch": torch}) for name, text in drawn.arguments.items()}
    tensors = {name for name, value in values.items() if isinstance(value, torch.Tensor)}
    names = [name if name in tensors else text for name, text in drawn.arguments.items()]
    lines = [f"{name} = {text}" for name, text in drawn.arguments.items() if name in tensors]
    call = drawn.call.format(*names, function=function, arguments=", ".join(names))
    code = "\n".join([*lines, call])
    result = drawn.shown(find(exercise).right, *values.values())
    intro = f"A worked case. {drawn.words}".strip()
    return f"{intro}\n\n```python\n{code}\n```\n\n{result}"
