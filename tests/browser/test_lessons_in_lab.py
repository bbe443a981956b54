"""Every lesson in JupyterLab: it runs, its controls answer the keyboard, nothing leaves here.

The tests of one lesson share one page and run from top to bottom. The pictures that they take
lie in screenshots/.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import nbformat
import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect
from test_lessons_run import printed

from browser import controls, lesson_page, names, shots
from browser.colours import is_opaque, lowest_contrast
from browser.lab_server import Lab
from tools.navigation import lessons

pytestmark = pytest.mark.slow
VERDICTS = ".jp-RenderedHTMLCommon div[style*='border-left-width']"


class Lesson(NamedTuple):
    """A lesson on its page, after a first run of all its cells."""

    path: Path
    page: Page
    outside: list[str]

    def cell(self, number: int) -> Locator:
        """Return a cell, scrolled into view."""
        lesson_page.scroll_to_cell(self.page, number)
        return self.page.locator(f'.jp-Cell[data-windowed-list-index="{number}"]')

    def explorer(self) -> Locator:
        """Return the box of controls and picture."""
        cell = self.cell(lesson_page.cell_number(self.page, "widget"))
        return cell.locator(".jp-OutputArea .widget-vbox").first


@pytest.fixture(scope="module", params=lessons(), ids=lambda path: path.stem)
def lesson(
    request: pytest.FixtureRequest, lab: Lab, context: BrowserContext, outside: list[str]
) -> Iterator[Lesson]:
    """One lesson after the other; kernel and page end before the next begins."""
    del outside[:]
    page = lesson_page.open_lesson(context, lab, request.param)
    lesson_page.run_all(page)
    yield Lesson(request.param, page, outside)
    lesson_page.close(page)


def texts_of(cells: list[dict]) -> list[str]:
    """Return what the cells print or show as text."""
    return [printed(nbformat.from_dict(cell)) for cell in cells]


def assert_as_stored(lesson: Lesson) -> None:
    """See that all cells ran without a fault and gave the texts that are stored."""
    assert lesson_page.faults(lesson.page) == []
    stored = nbformat.read(lesson.path, as_version=4).cells
    assert texts_of(lesson_page.cells(lesson.page)) == [printed(cell) for cell in stored]


def test_all_cells_run_and_give_the_stored_texts(lesson: Lesson) -> None:
    assert_as_stored(lesson)


def test_e06_the_lab_finds_every_widget_model(lesson: Lesson) -> None:
    expect(lesson.explorer().locator("img")).to_be_visible()
    for sign in ("Error displaying widget", "model not found", "Loading widget"):
        expect(lesson.page.get_by_text(sign)).to_have_count(0)


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_can_be_read_in_light_and_dark(lesson: Lesson, theme: str) -> None:
    lesson_page.set_theme(lesson.page, theme)
    name = theme.split()[-1].lower()
    taken = shots.shoot(lesson.page, f"{lesson.path.stem}_{name}")
    assert len(taken) >= 4
    found = 0
    for number, cell in enumerate(lesson_page.cells(lesson.page)):
        if not any("text/html" in output.get("data", {}) for output in cell.get("outputs", [])):
            continue
        box = lesson.cell(number)
        for verdict in box.locator(VERDICTS).all():
            assert lowest_contrast(verdict) >= 4.5, number
            found += 1
        for image in box.locator(".jp-OutputArea img").all():
            assert is_opaque(image), number
    assert found >= 2  # every lesson has exercises, and each shows its verdict
    lesson_page.set_theme(lesson.page, "JupyterLab Light")


def test_controls_answer_the_keyboard_and_the_picture_follows(lesson: Lesson) -> None:
    box = lesson.explorer()
    row, canvas = box.locator(".widget-hbox").first, box.locator(".widget-html").last
    every = row.locator("xpath=./*").all()
    assert every
    for place, control in enumerate(every):
        controls.use(lesson.page, control, canvas, first=place == 0)


def test_controls_have_names(lesson: Lesson) -> None:
    for control in lesson.explorer().locator(".widget-hbox").first.locator("xpath=./*").all():
        names.check_name(control)


def test_e26_no_figure_stays_open(lesson: Lesson) -> None:
    code = "import matplotlib.pyplot"
    assert lesson_page.ask_kernel(lesson.page, code, "matplotlib.pyplot.get_fignums()") == "[]"


def test_nothing_outside_this_machine_is_asked(lesson: Lesson) -> None:
    assert lesson.outside == []
