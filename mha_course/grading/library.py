"""The `mha_lib` that a learner's code sees while it is graded: earlier steps only."""

import ast
import inspect
import shutil
from importlib.resources import files
from pathlib import Path

import mha_lib
from mha_lib.exercises.exercise import Exercise
from mha_lib.exercises.layer_cases import READY_MADE_LAYERS
from mha_lib.exercises.registry import exercises

# The steps that have functions a learner may build on, in teaching order.
STEPS = (
    "hyperparameters",
    "input_layers",
    "linear_layers",
    "splitting_heads",
    "attention_scores",
    "merging_heads",
    "masks",
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


def write_library(exercise: Exercise, folder: Path) -> None:
    """Write the reduced library into `folder`/mha_lib."""
    missing = missing_names(exercise)
    target = folder / "mha_lib"
    target.mkdir(parents=True)
    for name in ALWAYS:
        shutil.copy(str(files(mha_lib) / f"{name}.py"), target / f"{name}.py")
    for step in STEPS:
        source = (files(mha_lib) / f"{step}.py").read_text(encoding="utf-8")
        (target / f"{step}.py").write_text(_without(source, missing), encoding="utf-8")
    init = inspect.getsource(mha_lib)
    (target / "__init__.py").write_text(_init(init, missing), encoding="utf-8")


def _init(source: str, missing: set[str]) -> str:
    """Return the package's own re-exports, less what is missing."""
    lines = []
    for node in ast.parse(source).body:
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
