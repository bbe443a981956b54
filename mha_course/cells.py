"""Finds in a notebook what belongs to an exercise, also where a learner's editor lost marks."""

import ast
from collections.abc import Iterator, Mapping

from nbformat import NotebookNode

from mha_course.solutions import defined
from mha_lib.exercises.registry import names


def answers_of(
    notebook: NotebookNode, functions: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the source of the answer to each exercise.

    A cell is known by nbgrader's id, else by its own id, else by what it defines. Of several
    the last counts that is more than the untouched stub: so a copied cell costs nothing.

    Args:
        notebook: As handed out or handed in; metadata may be missing or wrong.
        functions: Exercise -> name of its function. By default every exercise, by its own name.

    Returns:
        Exercise -> source, in the order of `functions`. An exercise without a cell is not in it.
    """
    wanted = {name: name for name in names()} if functions is None else functions
    found: dict[str, str] = {}
    strays = _unmarked(notebook, wanted)
    for exercise, function in wanted.items():
        marked = [cell for cell in code_cells(notebook) if exercise in ids(cell)]
        sources = [text(cell) for cell in marked]
        if all(is_stub(source) for source in sources):
            sources += [source for name, source in strays if name == function]
        attempts = [source for source in sources if not is_stub(source)]
        if sources:
            found[exercise] = attempts[-1] if attempts else sources[-1]
    return found


def _unmarked(notebook: NotebookNode, wanted: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return (function, source) of cells without a mark that define a function asked for.

    A cell may define helpers, also such as are called like another exercise: the last one counts.
    """
    pairs = []
    for cell in code_cells(notebook):
        asked = [name for name in defined(text(cell)) if name in wanted.values()]
        if asked and not any(id in wanted for id in ids(cell)):
            pairs.append((asked[-1], text(cell)))
    return pairs


def exercises_of(notebook: NotebookNode) -> list[str]:
    """Return the exercises that a notebook names, in order."""
    found = [mha(cell).get("exercise") for cell in code_cells(notebook)]
    marked = [text for text in found if isinstance(text, str)]
    return list(dict.fromkeys(marked))


def functions_of(notebook: NotebookNode) -> dict[str, str]:
    """Return exercise -> name of the function that its answer cell defines, in our own files."""
    found = {}
    for cell in code_cells(notebook):
        exercise = mha(cell).get("exercise")
        if isinstance(exercise, str) and ids(cell)[0] == exercise:
            found[exercise] = defined(text(cell))[0]
    return found


def code_cells(notebook: NotebookNode) -> Iterator[NotebookNode]:
    for cell in notebook.get("cells", []):
        if isinstance(cell, NotebookNode) and cell.get("cell_type") == "code":
            yield cell


def text(cell: NotebookNode) -> str:
    """Return a cell's source with plain line ends; nbformat allows a list of lines, too."""
    source = cell.get("source", "")
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    return source.replace("\r\n", "\n").replace("\r", "\n") if isinstance(source, str) else ""


def ids(cell: NotebookNode) -> list[str]:
    """Return under which names a cell may be known: nbgrader's id first."""
    metadata = cell.get("metadata", {})
    nbgrader = metadata.get("nbgrader", {}) if isinstance(metadata, Mapping) else {}
    grade_id = nbgrader.get("grade_id") if isinstance(nbgrader, Mapping) else None
    return [id for id in (grade_id, cell.get("id")) if isinstance(id, str)]


def mha(cell: NotebookNode) -> Mapping[str, object]:
    """Return our own metadata of a cell; empty where there is none."""
    metadata = cell.get("metadata", {})
    value = metadata.get("mha", {}) if isinstance(metadata, Mapping) else {}
    return value if isinstance(value, Mapping) else {}


def is_stub(source: str) -> bool:
    """Say whether a cell is empty, or still raises NotImplementedError wherever it is called.

    >>> is_stub("def f():\\n    raise NotImplementedError"), is_stub("def f():\\n    return 1")
    (True, False)
    """
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    functions = [part for node in body for part in _functions(node)]
    others = [node for node in body if not isinstance(node, ast.FunctionDef | ast.ClassDef)]
    return not others and all(_only_raises(function) for function in functions)


def _functions(node: ast.stmt) -> list[ast.FunctionDef]:
    inside = node.body if isinstance(node, ast.ClassDef) else [node]
    return [part for part in inside if isinstance(part, ast.FunctionDef)]


def _only_raises(function: ast.FunctionDef) -> bool:
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return len(body) == 1 and ast.unparse(body[0]) in (
        "raise NotImplementedError",
        "raise NotImplementedError()",
    )
