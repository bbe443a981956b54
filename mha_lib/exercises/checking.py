"""`check`: the question a learner asks."""

import difflib
import inspect

from mha_lib.exercises.one_check import OneCheck
from mha_lib.exercises.registry import exercises
from mha_lib.exercises.verdict import Verdict


def check(function: object, name: str | None = None) -> Verdict:
    """Check an answer.

    Args:
        function: The learner's function, or class. Anything else is answered, too.
        name: Of the exercise; the function's own name by default.

    Returns:
        A verdict. It shows itself as the last line of a cell, or with print. Whatever the
        function does ends in a verdict, not in an error.
    """
    given = getattr(function, "__name__", "") if name is None else name
    if not isinstance(given, str) or given not in exercises():
        return Verdict(str(given), "failed", problem=_unknown(function, str(given)))
    exercise = exercises()[given]
    is_class = inspect.isclass(exercise.solution)
    if not callable(function) or (is_class and not inspect.isclass(function)):
        wanted = "class" if is_class else "function"
        problem = f"Give the {wanted} itself: check({given}), without quotes and brackets."
        return Verdict(given, "failed", problem=problem)
    return OneCheck(exercise, function).verdict()


def _unknown(function: object, name: str) -> str:
    close = difflib.get_close_matches(name, exercises(), n=2)
    if isinstance(function, str) or not callable(function):
        return "Give the function itself, without quotes and brackets: check(split_heads)."
    hint = f"Did you mean {' or '.join(close)}? " if close else ""
    example = close[0] if close else "split_heads"
    return (
        f'There is no exercise called "{name}". {hint}'
        f'For a function with a name of its own: check(my_function, "{example}").'
    )
