"""The line that leads from lesson to lesson, and the launch links: all built here.

`make notebooks` writes them into the cells tagged `nav`. Owner, repository and branch are
settings in pyproject.toml.
"""

import tomllib
from pathlib import Path

import nbformat
from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parent.parent


def lessons(folder: Path = ROOT / "notebooks") -> list[Path]:
    """Return the notebooks in teaching order."""
    return sorted(folder.glob("[0-9][0-9]_*.ipynb"))


def title(path: Path) -> str:
    """Return a lesson's title, without the sign in front of it."""
    first = nbformat.read(path, as_version=4).cells[0].source.splitlines()[0]
    return first.removeprefix("# ")


def place(root: Path = ROOT) -> dict[str, str]:
    """Return owner, repository and branch."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    return project["tool"]["launch"]


def launch_link(path: Path, root: Path = ROOT) -> str:
    """Return the address that opens a lesson on Binder."""
    at = place(root)
    return (
        f"https://mybinder.org/v2/gh/{at['owner']}/{at['repository']}/{at['branch']}"
        f"?urlpath=lab/tree/notebooks/{path.name}"
    )


def nav_line(path: Path) -> str:
    """Return: previous lesson, contents, next lesson, launch link."""
    order = lessons(path.parent)
    here = order.index(path)
    parts = ["[Contents](../README.md)", f"[Launch on Binder]({launch_link(path)})"]
    if here > 0:
        previous = order[here - 1]
        parts.insert(0, f"[← {title(previous)}]({previous.name})")
    if here + 1 < len(order):
        following = order[here + 1]
        parts.insert(-1, f"[{title(following)} →]({following.name})")
    return " · ".join(parts)


def write_nav(notebook: NotebookNode, path: Path) -> None:
    """Put the line into every cell tagged `nav`."""
    for cell in notebook.cells:
        if "nav" in cell.metadata.get("tags", []):
            cell.source = nav_line(path)
