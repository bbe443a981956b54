"""JupyterLab's version, restart and run all in the middle of a run, and a second run."""

import pytest
from packaging.version import Version
from playwright.sync_api import BrowserContext, expect

from browser import lesson_page
from browser.lab_server import Lab
from browser.lesson_page import PANEL
from tools.navigation import lessons

pytestmark = pytest.mark.slow
# A lesson whose run takes several seconds, so that there is a middle.
LONG = next(path for path in lessons() if path.stem == "08_masks")


def test_the_version_is_one_that_the_requirements_allow(lab: Lab) -> None:
    print(f"JupyterLab {lab.version}")
    assert Version("4.4") <= Version(lab.version) < Version("5")


def test_restart_in_the_middle_then_a_second_run(lab: Lab, context: BrowserContext) -> None:
    page = lesson_page.open_lesson(context, lab, LONG)
    start = f"void window.jupyterapp.commands.execute('notebook:run-all-cells'); {PANEL}.id"
    page.evaluate(start)
    done = f"{PANEL}.content.widgets.filter(c => c.model.executionCount).length"
    page.wait_for_function(f"{done} >= 3")
    assert page.evaluate(done) < len(lesson_page.run_counts(page)), "the run was over already"
    page.locator("[data-command='notebook:restart-run-all']").first.click()
    page.get_by_role("dialog").locator(".jp-mod-accept").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    cells = len(lesson_page.run_counts(page))
    lesson_page.wait_for_runs(page, cells)
    assert lesson_page.faults(page) == []
    # Counted from 1 again, in order: a fresh kernel ran each cell once.
    assert lesson_page.run_counts(page) == list(range(1, cells + 1))
    lesson_page.run_all(page)
    assert lesson_page.faults(page) == []
    assert lesson_page.run_counts(page) == list(range(cells + 1, 2 * cells + 1))
    lesson_page.close(page)
