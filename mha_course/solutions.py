"""A solution put into a stub, between the marks that nbgrader cuts along."""

import ast
import re

STUB = "raise NotImplementedError"
FENCE = re.compile(r"```python\n(.*?)\n```", re.DOTALL)


def with_solution(stub: str, solution: str) -> str:
    """Put the bodies of a solution into a stub. What nbgrader leaves is the stub.

    Args:
        stub: Signatures and docstrings; each body ends in `raise NotImplementedError`.
        solution: The same functions, or the same class; imports in front are left out.

    Raises:
        ValueError: The solution has other functions than the stub.

    >>> stub = "def one():\\n    raise NotImplementedError"
    >>> print(with_solution(stub, "def one():\\n    return 1"))
    def one():
        ### BEGIN SOLUTION
        return 1
        ### END SOLUTION
    """
    answers = bodies(solution)
    wanted = list(bodies(stub))
    lines = []
    if wanted != list(answers) or stub.count(STUB) != len(wanted):
        raise ValueError(f"the stub has {', '.join(wanted)}, the solution {', '.join(answers)}")
    rest = iter(answers.values())
    for line in stub.splitlines():
        if line.strip() != STUB:
            lines.append(line)
            continue
        indent = line.removesuffix(STUB)
        lines += [f"{indent}### BEGIN SOLUTION", *next(rest), f"{indent}### END SOLUTION"]
    return "\n".join(lines)


def code_in(text: str) -> str:
    """Return the code of a folded solution."""
    found = FENCE.search(text)
    if found is None:
        raise ValueError(f"there is no ```python block in {text[:60]!r}")
    return found[1]


def defined(source: str) -> list[str]:
    """Return the names of functions and classes that a cell defines; none where it is no Python."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)]


def bodies(source: str) -> dict[str, list[str]]:
    """Return the lines of each function's body, without docstrings; of a class: its methods'."""
    lines = source.splitlines()
    found = {}
    for node in ast.parse(source).body:
        methods = node.body if isinstance(node, ast.ClassDef) else [node]
        for method in methods:
            if isinstance(method, ast.FunctionDef):
                found[method.name] = lines[_first(method, lines) : method.end_lineno]
    return found


def _first(function: ast.FunctionDef, lines: list[str]) -> int:
    """Return where the body starts: behind the docstring, with the comments above it."""
    body = function.body
    if ast.get_docstring(function) is not None and len(body) > 1:
        return body[0].end_lineno or 0
    first = body[0].lineno - 1
    while lines[first - 1].strip().startswith("#"):
        first -= 1
    return first
