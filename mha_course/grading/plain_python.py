"""A cell as plain Python: what only IPython understands is made harmless."""

import ast
import re

from IPython.core.inputtransformer2 import (
    TransformerManager,
    classic_prompt,
    ipython_prompt,
    leading_indent,
)

MOST_MAGICS = 20  # IPython takes time for each, and the more the longer the cell is
MOST_LENGTH = 20_000
MAGIC = re.compile(r"^\s*[%!?]|=\s*[%!]|\?\s*$", re.MULTILINE)
# They run the cell below them as it is.
AROUND = ("%%time", "%%timeit", "%%capture", "%%prun")


def python(source: str) -> str:
    """Return a cell as plain Python: IPython's magics become calls, which do nothing here."""
    if _parses(source):
        return source
    lines = source.splitlines(keepends=True)
    while lines and (not lines[0].strip() or lines[0].split()[0] in AROUND):
        lines = lines[1:]
    for cleaned in (leading_indent, classic_prompt, ipython_prompt):
        lines = cleaned(lines)
    plain = "".join(lines)
    if _parses(plain) or len(plain) > MOST_LENGTH or len(MAGIC.findall(plain)) > MOST_MAGICS:
        return plain
    try:
        return TransformerManager().transform_cell(plain)
    except Exception:
        return plain


def _parses(source: str) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
