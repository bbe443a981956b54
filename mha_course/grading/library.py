"""The `mha_lib` that a learner's code sees while it is graded: earlier steps only."""

import ast
import inspect
from functools import cache
from importlib.resources import files

import mha_lib
from mha_lib.exercises.exercise import Exercise
from mha_lib.exercises.layer_cases import READY_MADE_LAYERS
from mha_lib.exercises.registry import exercises, find

PACKAGE = ast.parse(inspect.getsource(mha_lib)).body
# The steps that have functions a learner may build on: those that the package re-exports.
STEPS = tuple(
    dict.fromkeys(
        node.module.removeprefix("mha_lib.")
        for node in PACKAGE
        if isinstance(node, ast.ImportFrom) and node.module
    )
)
ALWAYS = ("input_rules", "running_example")
REFUSED = "is not there while this exercise is graded"
REFUSAL = "mha_lib.{} " + REFUSED + ": it is the answer, or comes later"


def missing_names(exercise: Exercise) -> set[str]:
    """Return the names of the library that the learner has to do without.

    The exercise's own answer and those of later exercises. Where the statement allows the
    functions of the library, only the answer and the finished layer are missing.
    """
    own = {exercise.name, exercise.right.__name__}
    if exercise.forbidden == READY_MADE_LAYERS:
        return own | {"MultiHeadAttention"}
    everything = list(exercises().values())
    later = everything[everything.index(exercise) :]
    return own | {one.right.__name__ for one in later}


@cache
def reduced_library(name: str) -> dict[str, str]:
    """Return the reduced library of an exercise: name of a module -> its source."""
    missing = missing_names(find(name))
    texts = {step: (files(mha_lib) / f"{step}.py").read_text("utf-8") for step in ALWAYS + STEPS}
    texts |= {step: _without(texts[step], missing) for step in STEPS}
    made = {f"mha_lib.{step}": text for step, text in texts.items()}
    return {"mha_lib": _init(missing), **made}


def _init(missing: set[str]) -> str:
    """Return the package's own re-exports, less what is missing."""
    lines = []
    for node in PACKAGE:
        if isinstance(node, ast.ImportFrom):
            kept = [alias.name for alias in node.names if alias.name not in missing]
            lines += [f"from {node.module} import {', '.join(kept)}"] if kept else []
    return "\n".join([*lines, _refuse(missing)])


def _without(source: str, missing: set[str]) -> str:
    """Return a module's source without the missing names and all that is built on them."""
    tree = ast.parse(source)
    gone, count = set(missing), 0
    while count != len(gone):
        count = len(gone)
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and _mentions(node) & gone:
                gone.add(node.name)
    tree.body = [kept for node in tree.body if (kept := _kept(node, gone)) is not None]
    return ast.unparse(tree) + "\n\n" + _refuse(gone)


def _mentions(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _kept(node: ast.stmt, gone: set[str]) -> ast.stmt | None:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return None if node.name in gone else node
    if isinstance(node, ast.ImportFrom):
        node.names = [alias for alias in node.names if alias.name not in gone]
        return node if node.names else None
    return node


def _refuse(missing: set[str]) -> str:
    return (
        "\ndef __getattr__(name):\n"
        f"    if name in {sorted(missing)!r}:\n"
        f"        raise ImportError({REFUSAL!r}.format(name))\n"
        "    raise AttributeError(f\"module 'mha_lib' has no attribute {name!r}\")\n"
    )
