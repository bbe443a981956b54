"""`check`: run a learner's function through the stages of its exercise."""

import copy
import difflib
from collections.abc import Callable
from typing import Any

from mha_lib.exercises.comparing import difference
from mha_lib.exercises.exercise import Exercise
from mha_lib.exercises.registry import exercises
from mha_lib.exercises.verdict import SIGNS, StageResult, Verdict


def check(function: Callable[..., Any], name: str | None = None) -> Verdict:
    """Check an answer.

    Args:
        function: The learner's function.
        name: Of the exercise; the function's own name by default.

    Returns:
        A verdict. It shows itself as the last line of a cell, or with print.
    """
    name = name or str(getattr(function, "__name__", ""))
    if name not in exercises():
        close = difflib.get_close_matches(name, exercises())
        hint = f" Did you mean {' or '.join(close)}?" if close else ""
        return Verdict(name, "failed", text=f"There is no exercise called {name!r}.{hint}")
    return _run(function, exercises()[name])


def _run(function: Callable[..., Any], exercise: Exercise) -> Verdict:
    results: list[StageResult] = []
    problem = ""
    for stage in exercise.stages():
        if problem:
            results.append(StageResult(stage.title, "not reached"))
            continue
        for case in stage.cases:
            right = case.ask(exercise.right, *copy.deepcopy(case.args))
            try:
                got = case.ask(function, *copy.deepcopy(case.args))
            except NotImplementedError:
                text = f"{exercise.name}: not attempted yet."
                return Verdict(exercise.name, "not attempted", text=text)
            except Exception as error:
                problem = f"Your function raised {type(error).__name__}: {error}"
                break
            problem = difference(right, got, case.tolerance) or ""
            if problem:
                break
        results.append(StageResult(stage.title, "failed" if problem else "passed"))
    status = "failed" if problem else "passed"
    head = f"{exercise.name}: {'not right yet' if problem else 'passed'}."
    lines = [f"  {SIGNS[r.outcome]} {r.outcome}: {r.title}" for r in results]
    text = "\n".join([head, *lines, *([problem] if problem else [])])
    return Verdict(exercise.name, status, None, tuple(results), text)
