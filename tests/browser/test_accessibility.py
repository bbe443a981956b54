"""axe finds nothing serious on the lessons as HTML, in light and in dark."""

from pathlib import Path

import pytest
from nbconvert import HTMLExporter
from playwright.sync_api import BrowserContext
from test_lessons_run import every_lesson

from browser.axe import THEMES, grave_findings

pytestmark = pytest.mark.slow
# The numbers beside cells, and code's syntax colours: nbconvert takes them from JupyterLab.
NBCONVERT_COLOURS = ".jp-InputPrompt, .jp-OutputPrompt, .highlight"


def as_html(path: Path, theme: str, folder: Path) -> Path:
    """Convert a stored lesson; return the file."""
    html, _ = HTMLExporter(theme=theme).from_filename(str(path))
    page = folder / f"{path.stem}_{theme}.html"
    page.write_text(html, encoding="utf-8")
    return page


@pytest.mark.parametrize("theme", THEMES)
@every_lesson
def test_nothing_serious_in_a_lesson(
    path: Path, theme: str, context: BrowserContext, tmp_path: Path
) -> None:
    page = as_html(path, theme, tmp_path)
    assert grave_findings(context, page, theme, NBCONVERT_COLOURS) == []


def test_a_picture_without_words_and_pale_text_are_found(
    context: BrowserContext, tmp_path: Path
) -> None:
    page = tmp_path / "bad.html"
    page.write_text(
        '<!doctype html><html lang="en"><title>bad</title><body><main><h1>bad</h1>'
        '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">'
        '<details><summary>more</summary><p style="color:#bbb">pale</p></details>'
        '<pre class="foreign" style="color:#bbb">pale</pre></main></body></html>',
        encoding="utf-8",
    )
    found = grave_findings(context, page, "light", ".foreign")
    assert sorted(line.split()[0] for line in found) == ["color-contrast", "image-alt"]
    assert len(grave_findings(context, page, "light")) == 3
