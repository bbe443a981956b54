"""Read what was handed in. Whatever it is, reading ends in answers or in one sentence."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nbformat import NotebookNode

from mha_course.cells import answers_of, code_cells, ids, is_stub, text
from mha_course.grading.free_texts import free_texts
from mha_course.grading.notebook_file import read_notebook
from mha_course.grading.plain_python import python
from mha_course.solutions import defined

# Calls in a cell of the learner's own that are made before an answer: constants mostly.
QUICK = {"float", "int", "tuple", "frozenset", "math.sqrt", "math.log", "partial"}
QUICK |= {"functools.partial", "torch.finfo", "torch.tensor", "torch.device"}


@dataclass(frozen=True)
class HandIn:
    """One notebook as handed in.

    Args:
        answers: Exercise -> the learner's cell as plain Python.
        raw: The same as it was written.
        helpers: Definitions and imports from cells that the learner added or changed.
        texts: Id of a free question -> what was written.
        problem: Why the file could not be read; "" where it could.
    """

    answers: Mapping[str, str] = field(default_factory=dict)
    raw: Mapping[str, str] = field(default_factory=dict)
    helpers: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""


def read_hand_in(path: Path, master: NotebookNode, functions: Mapping[str, str]) -> HandIn:
    """Read one notebook.

    Args:
        path: Of the file.
        master: The notebook as it was handed out.
        functions: Exercise -> name of the learner's function.
    """
    try:
        notebook = read_notebook(path)
    except ValueError as error:
        return HandIn(problem=str(error))
    raw = answers_of(notebook, functions)
    raw |= _put_right(notebook, functions, raw)
    answers = {name: python(source) for name, source in raw.items()}
    helpers = tuple(_helpers(notebook, master, functions))
    return HandIn(answers, raw, helpers, free_texts(notebook, master))


def _put_right(
    notebook: NotebookNode, functions: Mapping[str, str], raw: Mapping[str, str]
) -> dict[str, str]:
    """Return answers that were written anew below the cell meant for them, above its check.

    The check in the notebook judged these; so they count.
    """
    found: dict[str, str] = {}
    cells = list(code_cells(notebook))
    for exercise, function in functions.items():
        places = [n for n, cell in enumerate(cells) if exercise in ids(cell)]
        ends = [n for n, cell in enumerate(cells) if f"{exercise}-check" in ids(cell)]
        if exercise not in raw or not places or not ends:
            continue
        for cell in cells[places[-1] + 1 : ends[-1]]:
            source = text(cell)
            if function in defined(source)[-1:] and not is_stub(source):
                found[exercise] = source
    return found


def _helpers(
    notebook: NotebookNode, master: NotebookNode, functions: Mapping[str, str]
) -> Iterator[str]:
    """Yield imports, functions and values of cells that the learner wrote, one by one.

    Answers have helpers beside the function asked for, which later answers may use.
    """
    known = {text(cell).strip() for cell in code_cells(master)}
    ours = {f"{name}-{kind}" for name in functions for kind in ("check", "marks")}
    for cell in code_cells(notebook):
        source = text(cell)
        if source.strip() in known or ours & set(ids(cell)):
            continue
        try:
            body = ast.parse(python(source)).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for node in body:
            if _is_definition(node) and getattr(node, "name", "") not in functions.values():
                yield ast.unparse(node)


def imports_of(notebook: NotebookNode) -> list[str]:
    """Return the import statements of a notebook, one by one."""
    found = []
    for cell in code_cells(notebook):
        try:
            body = ast.parse(python(text(cell))).body
        except SyntaxError:
            continue
        found += [
            ast.unparse(node) for node in body if isinstance(node, ast.Import | ast.ImportFrom)
        ]
    return list(dict.fromkeys(found))


def _is_definition(node: ast.stmt) -> bool:
    """Say whether a statement only gives something a name, without running anything long."""
    if isinstance(node, ast.Assign | ast.AnnAssign):
        return node.value is not None and not any(
            isinstance(part, ast.comprehension)
            or (isinstance(part, ast.Call) and ast.unparse(part.func) not in QUICK)
            for part in _run(node.value)
        )
    if isinstance(node, ast.Try):
        return all(isinstance(part, ast.Import | ast.ImportFrom) for part in node.body)
    return isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef)


def _run(value: ast.expr) -> Iterator[ast.AST]:
    """Yield the parts of an expression that run at once: not the body of a lambda."""
    yield value
    if not isinstance(value, ast.Lambda):
        for child in ast.iter_child_nodes(value):
            yield from _run(child)  # type: ignore[arg-type]
