"""axe finds nothing serious on lessons and book as HTML, in light and in dark."""

from pathlib import Path

import pytest
from nbconvert import HTMLExporter
from playwright.sync_api import BrowserContext
from test_lessons_run import every_lesson

from browser.axe import THEMES, grave_findings
from tools import book
from tools.navigation import lessons

pytestmark = pytest.mark.slow
BOOK_PAGES = ["index", "api", "errata", "glossary", "pictures", "search"]
BOOK_PAGES += [f"notebooks/{path.stem}" for path in lessons()]
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


@pytest.fixture(scope="module")
def book_pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The book's pages, built as `make book` builds them."""
    out = tmp_path_factory.mktemp("book") / "out"
    assert book.build(out) == 0
    return out / "html"


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", BOOK_PAGES)
def test_nothing_serious_in_the_book(
    name: str, theme: str, context: BrowserContext, book_pages: Path
) -> None:
    assert grave_findings(context, book_pages / f"{name}.html", theme) == []


def test_no_page_of_the_book_is_left_out(book_pages: Path) -> None:
    pages = [*book_pages.glob("*.html"), *book_pages.glob("notebooks/*.html")]
    found = {path.relative_to(book_pages).with_suffix("").as_posix() for path in pages}
    assert found == set(BOOK_PAGES)


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
