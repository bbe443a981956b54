"""A lesson's cells cut and marked as slides."""

import base64
import copy
import re
import struct
from collections.abc import Iterator

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

# What is for the reader alone, with a kernel: no slide.
SKIPPED = {"nav", "setup", "stub", "check", "hint", "solution"}
# A fence, a heading or a Predict box at the start of a line.
START = re.compile(r"^(```)|^(##) |^(###) |^(> \*\*Predict first)", re.MULTILINE)
# What fits on a slide, counted in lines of its text; printed lines are smaller.
MOST_LINES, A_LINE, A_FIGURE, SMALLER = 21, 95, 12, 0.85
PNG = re.compile(r"data:image/png;base64,([A-Za-z0-9+/]{32})")  # as far as its size
TALL = 900  # dots; beside its code a figure has less than half of them
Piece = tuple[str, NotebookNode]  # type of the slide, cell


def as_slides(lesson: NotebookNode) -> NotebookNode:
    """Return the lesson with every section and every step on a slide of its own.

    A section starts a slide, its steps follow below it. A Predict box stands alone, and what
    answers it comes on the next slide. Widgets are left out.
    """
    groups: list[list[Piece]] = []
    for kind, cell in _pieces(lesson):
        if kind == "-" and groups and _full(groups[-1], cell):
            kind = "subslide"
        if (kind != "-" and not _only_a_heading(groups)) or not groups:
            groups.append([])
        groups[-1].append(("-" if groups[-1] else kind.replace("-", "slide"), cell))
    made = copy.deepcopy(lesson)
    made.cells = []
    for group in groups:
        for kind, cell in _without_widget(group):
            cell.metadata["slideshow"] = {"slide_type": kind}
            made.cells.append(cell)
    return made


def _without_widget(group: list[Piece]) -> list[Piece]:
    """Leave out a widget and what is said about it: it does nothing without a kernel."""
    for place, (_, cell) in enumerate(group):
        if "widget" in _tags(cell):
            before = group[:place]
            return before if any(other.cell_type == "code" for _, other in before) else []
    return group


def _full(group: list[Piece], cell: NotebookNode) -> bool:
    """Say whether a slide has no room for one more code cell; a text stays with its figure."""
    return (
        cell.cell_type == "code"
        and sum(lines(other) for _, other in group) + lines(cell) > MOST_LINES
    )


def lines(cell: NotebookNode) -> float:
    """Guess how many lines of text a cell takes on a slide."""
    if cell.cell_type == "markdown":
        return sum(1 + len(line) // A_LINE for line in cell.source.splitlines() if line)
    count = len(cell.source.splitlines()) + 1.0
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        text = output.get("text", data.get("text/plain", ""))
        count += A_FIGURE if "text/html" in data else SMALLER * len(text.splitlines())
    return count


def _only_a_heading(groups: list[list[Piece]]) -> bool:
    """Say whether the last slide has nothing but a section's heading: the next step joins it."""
    if not groups or len(groups[-1]) != 1:
        return False
    source = groups[-1][0][1].source
    return source.startswith("## ") and "\n" not in source


def _pieces(lesson: NotebookNode) -> Iterator[Piece]:
    alone = False  # does the piece before want to stand alone?
    for cell in lesson.cells:
        if _tags(cell) & SKIPPED:
            continue
        if cell.cell_type == "code":
            parts = _parts(cell)
            for part in parts:
                yield ("subslide" if alone else "-"), part
                alone = len(parts) > 1
            continue
        for number, (kind, source) in enumerate(split(cell.source)):
            if kind == "-" and alone:
                kind = "subslide"
            alone = kind == "predict" or "exercise" in _tags(cell)
            kind = "subslide" if kind == "predict" else kind
            yield kind, new_markdown_cell(source, id=f"{cell.id}-{number}")


def _parts(cell: NotebookNode) -> list[NotebookNode]:
    """Return a code cell; a tall figure apart from its code, for a slide of its own."""
    code = copy.deepcopy(cell)
    if not _is_tall(cell):
        return [code]
    figure = copy.deepcopy(cell)
    code.outputs, figure.source = [], ""
    figure.id = f"{cell.id}-figure"
    figure.metadata["tags"] = [*_tags(cell), "tall"]
    figure.metadata["transient"] = {"remove_source": True}  # nbconvert's word for: no code
    return [code, figure]


def _is_tall(cell: NotebookNode) -> bool:
    """Say whether a cell shows a figure that would be small beside its code."""
    for output in cell.get("outputs", []):
        found = PNG.search(output.get("data", {}).get("text/html", ""))
        if found:
            _, height = struct.unpack(">II", base64.b64decode(found[1])[16:24])
            return bool(height > TALL)
    return False


def split(source: str) -> list[tuple[str, str]]:
    """Cut a text where a slide starts; return (type, text) of each part.

    >>> split("Read.\\n\\n## Build it\\n\\n### 1. Cut")
    [('-', 'Read.'), ('slide', '## Build it'), ('subslide', '### 1. Cut')]
    >>> split("# 4 · Split")
    [('slide', '# 4 · Split')]
    """
    cuts, fenced = [(0, "slide" if source.startswith("# ") else "-")], False
    for found in START.finditer(source):
        fence, section, step, _ = found.groups()
        fenced ^= bool(fence)
        if fenced or fence:
            continue
        kind = "slide" if section else "subslide" if step else "predict"
        cuts.append((found.start(), kind))
        end = _end_of_box(source, found.start())
        if kind == "predict" and end is not None:
            cuts.append((end, "-"))
    ends = [start for start, _ in cuts[1:]] + [len(source)]
    parts = [(kind, source[a:b].strip()) for (a, kind), b in zip(cuts, ends, strict=True)]
    return [(kind, text) for kind, text in parts if text]


def _end_of_box(source: str, start: int) -> int | None:
    """Return where the first line stands that is no longer part of the box."""
    place = start
    for line in source[start:].splitlines(keepends=True):
        if not line.startswith(">"):
            return place
        place += len(line)
    return None


def _tags(cell: NotebookNode) -> set[str]:
    return set(cell.metadata.get("tags", []))
