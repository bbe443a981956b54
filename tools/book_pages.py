"""The pages of the book that are made by program: API, pictures, and the README's parts."""

import html
import importlib
import inspect
import re
from pathlib import Path

import mha_lib
from tools.book_pictures import Picture
from tools.navigation import lessons, title

ROOT = Path(__file__).resolve().parent.parent
# Modules of a step besides the one that bears its name.
MORE = {"transformer": ("transformer_layers", "training", "decoding")}
API_HEAD = """\
API
===

The public names of `mha_lib`, step by step, in the order in which the lessons need them. Above
each group stands the line that imports it.

{legend}
"""
PICTURES_HEAD = """\
# Pictures

Every picture of the lessons, with the text that says what there is to see. A screen reader reads
the same text in the lesson. The number leads to the picture's place.
"""


def readme_page() -> str:
    """Return the README with its links to modules leading to the API page."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.sub(r"\(mha_lib/(\w+)\.py\)", r"(#api-\1)", text)


def public_names(module: str) -> list[str]:
    """Return the public functions and classes that a module of the library defines itself."""
    home = importlib.import_module(f"mha_lib.{module}")
    own = [
        name
        for name, value in vars(home).items()
        if not name.startswith("_")
        and (inspect.isfunction(value) or inspect.isclass(value))
        and value.__module__ == home.__name__
    ]
    exported = [name for name in mha_lib.__all__ if name in own]
    return exported or own


def underlined(text: str, sign: str) -> str:
    return f"{text}\n{sign * len(text)}\n"


def entries(module: str, names: list[str]) -> str:
    """Return the autodoc directives of some names of one module."""
    lines = [f".. currentmodule:: mha_lib.{module}\n"]
    for name in names:
        thing = getattr(importlib.import_module(f"mha_lib.{module}"), name)
        kind = "class" if inspect.isclass(thing) else "function"
        members = "   :members:\n" if kind == "class" else ""
        lines.append(f".. auto{kind}:: {name}\n{members}")
    return "\n".join(lines)


def api_section(slug: str) -> str:
    """Return what a step brings, or an empty text where it has no module of its own."""
    if not (ROOT / "mha_lib" / f"{slug}.py").exists():
        return ""
    parts = []
    for module in (slug, *MORE.get(slug, ())):
        names = public_names(module)
        place = "mha_lib" if set(names) <= set(mha_lib.__all__) else f"mha_lib.{module}"
        line = f"``from {place} import {', '.join(names)}``\n"
        parts += [f".. _api-{module}:\n", underlined(f"mha_lib.{module}", "~"), line]
        parts.append(entries(module, names))
    return "\n".join(parts)


def api_page() -> str:
    """Return the API page as reStructuredText, which autodoc and the docstrings speak."""
    legend = inspect.getdoc(mha_lib).split("Shape legend")[1]  # type: ignore[union-attr]
    parts = [API_HEAD.format(legend=f"Shape legend{legend}")]
    for path in lessons():
        section = api_section(path.stem[3:])
        if section:
            link = f"Lesson: :doc:`{title(path)} <notebooks/{path.stem}>`.\n"
            parts += [underlined(title(path), "-"), link, section]
    parts += [
        underlined("Exercises", "-"),
        ".. _api-exercises:\n",
        underlined("mha_lib.exercises", "~"),
    ]
    names = list(importlib.import_module("mha_lib.exercises").__all__)
    parts.append(entries("exercises", names))
    return "\n".join(parts)


def plain(text: str) -> str:
    """Return a text with every sign escaped that Markdown would read as its own."""
    return re.sub(r"([\\`*_{}\[\]<>$|~^#])", r"\\\1", text)


def pictures_page(taken: dict[Path, list[Picture]]) -> str:
    """Return the list of pictures as Markdown."""
    parts = [PICTURES_HEAD]
    for path, pictures in taken.items():
        parts.append(f"## [{title(path)}](notebooks/{path.name})\n")
        for picture in pictures:
            place = f"notebooks/{path.stem}.html#{picture.anchor}"
            about = html.escape(f"Picture {picture.number}, described in the text below it")
            parts.append(
                f'<p class="picture"><a href="{place}">Picture {picture.number}</a><br>'
                f'<img loading="lazy" alt="{about}" src="_static/pictures/{picture.file}"></p>\n'
            )
            parts.append(f"{plain(picture.alt)}\n")
    return "\n".join(parts)
