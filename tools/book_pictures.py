"""A lesson in the form that the book shows: its pictures as files, its links to pages."""

import base64
import html
import re
from pathlib import Path
from typing import NamedTuple

import nbformat
from nbformat import NotebookNode

PICTURE = re.compile(r'<img alt="([^"]*)"([^>]*?)src="data:image/png;base64,([A-Za-z0-9+/=]+)"')


class Picture(NamedTuple):
    """One picture of a lesson."""

    number: str
    alt: str
    data: bytes

    @property
    def anchor(self) -> str:
        """The id of the picture in its page."""
        return f"picture-{self.number.replace('.', '-')}"

    @property
    def file(self) -> str:
        return f"{self.anchor}.png"


def take_out(notebook: NotebookNode, lesson: int) -> list[Picture]:
    """Put a file's name in the place of every picture in the outputs; return the pictures."""
    taken: list[Picture] = []

    def replace(found: re.Match[str]) -> str:
        alt, style, data = found.groups()
        picture = Picture(f"{lesson}.{len(taken) + 1}", html.unescape(alt), base64.b64decode(data))
        taken.append(picture)
        source = f"../_static/pictures/{picture.file}"
        return f'<img id="{picture.anchor}" alt="{alt}"{style}src="{source}"'

    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if "text/html" in output.get("data", {}):
                output.data["text/html"] = PICTURE.sub(replace, output.data["text/html"])
    return taken


def lesson_for_book(path: Path) -> tuple[str, list[Picture]]:
    """Return a lesson's notebook as text, and its pictures."""
    notebook = nbformat.read(path, as_version=4)
    pictures = take_out(notebook, int(path.stem[:2]))
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = cell.source.replace("](../README.md)", "](../index.md)")
    return nbformat.writes(notebook), pictures
