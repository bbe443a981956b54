"""The word `slides`: lessons as slides."""

import argparse
from pathlib import Path

import nbformat

from mha_course.plan import lesson_paths
from mha_course.slides.cells import as_slides
from mha_course.slides.exporter import to_html


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lessons", nargs="+", help="numbers or slugs: 4 splitting_heads")
    parser.add_argument(
        "--to", type=Path, default=Path("slides"), help="folder, slides/ by default"
    )


def run(options: argparse.Namespace) -> int:
    paths = lesson_paths(tuple(options.lessons))
    options.to.mkdir(parents=True, exist_ok=True)
    for path in paths:
        print(write_slides(path, options.to))
    return 0


def write_slides(path: Path, folder: Path) -> Path:
    """Write the slides of a lesson; return the file, which needs no other file."""
    lesson = nbformat.read(path, as_version=4)
    title = lesson.cells[0].source.splitlines()[0].removeprefix("# ")
    target = folder / f"{path.stem}.html"
    target.write_text(to_html(as_slides(lesson), title), encoding="utf-8")
    return target
