"""Opens a lesson in JupyterLab, runs it, and reads what it shows."""

import shutil
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Page, expect

from browser.lab_server import Lab

MINUTE = 60_000
PANEL = "window.jupyterapp.shell.currentWidget"
SCROLLER = ".jp-WindowedPanel-outer"


def open_lesson(context: BrowserContext, lab: Lab, path: Path) -> Page:
    """Open a copy of the lesson, alone in a folder; return the page once its kernel is idle."""
    folder = lab.root / path.stem
    folder.mkdir(exist_ok=True)
    shutil.copy(path, folder / path.name)
    page = context.new_page()
    page.set_default_timeout(MINUTE)
    page.goto(f"{lab.url}/doc/tree/{path.stem}/{path.name}?reset")
    page.wait_for_function("window.jupyterapp")
    page.evaluate("window.jupyterapp.restored")
    page.wait_for_function(f"{PANEL}?.sessionContext?.session?.kernel")
    page.evaluate(f"{PANEL}.sessionContext.ready")
    wait_for_kernel(page)
    return page


def wait_for_kernel(page: Page, timeout: int = 5 * MINUTE) -> None:
    """Wait until the kernel has nothing to do."""
    page.wait_for_function(
        f"{PANEL}.sessionContext.session.kernel.status === 'idle'", timeout=timeout
    )


def run_all(page: Page) -> None:
    """Run all cells, as the menu does, and wait for the last one."""
    page.evaluate("window.jupyterapp.commands.execute('notebook:run-all-cells')")
    wait_for_kernel(page)


def wait_for_runs(page: Page, last: int) -> None:
    """Wait until the last code cell has this number in brackets and the kernel is idle."""
    numbers = f"{PANEL}.content.widgets.map(c => c.model.executionCount).filter(n => n)"
    page.wait_for_function(f"{numbers}.at(-1) === {last}", timeout=5 * MINUTE)
    wait_for_kernel(page)


def close(page: Page) -> None:
    """End the lesson's kernel and close its page."""
    page.evaluate(f"{PANEL}.sessionContext.shutdown()")
    page.close()


def cells(page: Page) -> list[dict[str, Any]]:
    """Return the notebook's cells as they would be saved now."""
    found: list[dict[str, Any]] = page.evaluate(f"{PANEL}.content.model.toJSON().cells")
    return found


def text_of(value: str | list[str]) -> str:
    return value if isinstance(value, str) else "".join(value)


def faults(page: Page) -> list[str]:
    """Return what went wrong: cells that did not run, errors, words on stderr."""
    found = []
    for number, cell in enumerate(cells(page)):
        if cell["cell_type"] != "code":
            continue
        if text_of(cell["source"]).strip() and not cell["execution_count"]:
            found.append(f"cell {number} did not run")
        for output in cell["outputs"]:
            if output["output_type"] == "error":
                found.append(f"cell {number}: {output['ename']}: {output['evalue']}")
            if output.get("name") == "stderr":
                found.append(f"cell {number} on stderr: {text_of(output['text'])}")
    return found


def run_counts(page: Page) -> list[int]:
    """Return the numbers in brackets beside the code cells."""
    return [cell["execution_count"] for cell in cells(page) if cell["cell_type"] == "code"]


def ask_kernel(page: Page, code: str, expression: str) -> str:
    """Run code in the lesson's kernel, leaving no trace in the lesson; return a value's text."""
    ask = {"code": code, "store_history": False, "user_expressions": {"asked": expression}}
    reply: dict[str, Any] = page.evaluate(
        f"ask => {PANEL}.sessionContext.session.kernel.requestExecute(ask).done", ask
    )
    asked = reply["content"]["user_expressions"]["asked"]
    return str(asked["data"]["text/plain"] if asked["status"] == "ok" else asked)


def cell_number(page: Page, tag: str) -> int:
    """Return the place of the first cell with a tag."""
    tags = [cell["metadata"].get("tags", []) for cell in cells(page)]
    return next(number for number, own in enumerate(tags) if tag in own)


def scroll_to_cell(page: Page, number: int) -> None:
    """Bring a cell into view; JupyterLab draws only what is near the view."""
    page.evaluate(
        f"async n => {{ const book = {PANEL}.content; book.activeCellIndex = n;"
        " await book.scrollToItem(n, 'start'); }",
        number,
    )
    expect(page.locator(f'.jp-Cell[data-windowed-list-index="{number}"]')).to_be_visible()


def set_theme(page: Page, theme: str) -> None:
    """Switch JupyterLab to 'JupyterLab Dark' or 'JupyterLab Light'."""
    page.evaluate(
        "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", theme
    )
    page.wait_for_function("t => document.body.dataset.jpThemeName === t", arg=theme)
