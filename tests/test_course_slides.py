"""Lessons as slides: what stands on them, and that they need nothing but their file."""

import re
from pathlib import Path

import nbformat
import pytest
from browser import chromium

from mha_course import commands
from mha_course.plan import NOTEBOOKS
from mha_course.slides.cells import as_slides, split
from mha_course.slides_command import write_slides
from mha_course.solutions import bodies, code_in

LESSONS = sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))
SMALLEST = 0.55  # of the letters' size: below this nobody reads them from the last row


def tags(cell: nbformat.NotebookNode) -> set[str]:
    return set(cell.metadata.get("tags", []))


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_what_stands_on_the_slides(path: Path) -> None:
    lesson = nbformat.read(path, as_version=4)
    made = as_slides(lesson)
    text = "\n".join(cell.source for cell in made.cells)
    for cell in lesson.cells:
        if tags(cell) & {"nav", "setup", "stub", "check", "hint", "solution", "widget"}:
            assert cell.source not in text
        elif cell.cell_type == "code":
            assert [c.id for c in made.cells if c.source == cell.source] == [cell.id]
            ids = (cell.id, f"{cell.id}-figure")
            assert [o for c in made.cells if c.id in ids for o in c.outputs] == cell.outputs
        if "solution" in tags(cell):
            assert code_in(cell.source) not in text
        if "exercise" in tags(cell):
            assert cell.source in text
    types = [cell.metadata.slideshow.slide_type for cell in made.cells]
    texts = [cell.source for cell in made.cells if cell.cell_type == "markdown"]
    headings = re.findall(r"^##? .*", "\n".join(texts), re.MULTILINE)
    assert types[0] == "slide"
    assert types.count("slide") == len(headings)
    for cell, kind in zip(made.cells, types, strict=True):
        assert kind in ("slide", "subslide", "-")
        if cell.source.startswith("> **Predict first"):
            assert kind == "subslide"  # what answers it comes on the next
            after = made.cells[made.cells.index(cell) + 1]
            assert after.metadata.slideshow.slide_type != "-"


def test_a_tall_figure_has_a_slide_of_its_own() -> None:
    made = as_slides(nbformat.read(LESSONS[7], as_version=4)).cells
    (place,) = [n for n, cell in enumerate(made) if cell.id == "build-both-code-figure"]
    code, figure, after = made[place - 1 : place + 2]
    assert (code.id, code.outputs) == ("build-both-code", [])
    (output,) = [output for output in figure.outputs if "text/html" in output.data]
    assert "<img" in output.data["text/html"]
    assert figure.metadata.slideshow.slide_type == after.metadata.slideshow.slide_type == "subslide"
    low = as_slides(nbformat.read(LESSONS[0], as_version=4)).cells
    assert "build-figure" in {cell.id for cell in low}
    assert "build-figure-figure" not in {cell.id for cell in low}


def test_the_source_is_left_as_it_was() -> None:
    lesson = nbformat.read(LESSONS[3], as_version=4)
    before = nbformat.writes(lesson)
    as_slides(lesson)
    assert nbformat.writes(lesson) == before


def test_a_text_is_cut_where_slides_start() -> None:
    box = "> **Predict first.** A or B?\n>\n> <details>B</details>"
    fenced = "```\n## no heading\n```"
    assert split(f"One.\n\n{box}\n\nTwo.\n\n{fenced}\n\n### Three\n\nThree.") == [
        ("-", "One."),
        ("predict", box),
        ("-", f"Two.\n\n{fenced}"),
        ("subslide", "### Three\n\nThree."),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_the_file_needs_no_other(path: Path, tmp_path: Path) -> None:
    html = write_slides(path, tmp_path).read_text(encoding="utf-8")
    page = re.sub(r"(<script)[^>]*?>(?!\s*</script>).*?</script>", r"\1>", html, flags=re.DOTALL)
    loads = re.findall(r"<(?:script|link|img|iframe)\b[^>]*?(?:src|href)=[\"']([^\"']*)", page)
    assert [address[:60] for address in loads if not address.startswith("data:")] == []
    assert not re.search(r"@import|url\(\s*[\"']?(?:https?:|//)", html)
    shown = re.sub(r"<(script|style|pre)\b.*?</\1>", "", html, flags=re.DOTALL)
    assert not re.search(r"\$[^$<]{1,80}\$|\\frac|\\text\{", shown)
    lines = {
        line.strip()
        for cell in nbformat.read(path, as_version=4).cells
        if "solution" in tags(cell)
        for body in bodies(code_in(cell.source)).values()
        for line in body
        if len(line.strip()) > 12
    }
    text = re.sub(r"<[^>]+>", "", html)
    assert lines
    assert [line for line in lines if line in text] == []


@pytest.mark.slow
def test_in_a_browser_without_a_network_every_slide_fits(tmp_path: Path) -> None:
    words = ["slides", "1", "5", "6", "8", "--to", str(tmp_path / "out")]
    assert commands.main(words) == 0
    paths = sorted((tmp_path / "out").iterdir())
    assert [path.name[:2] for path in paths] == ["01", "05", "06", "08"]
    with chromium.started(chromium.program_or_stop()) as browser:
        page = browser.new_context(viewport={"width": 1280, "height": 720}, offline=True).new_page()
        problems: list[str] = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("requestfailed", lambda request: problems.append(request.url))
        for path in paths:
            page.goto(path.as_uri())
            page.wait_for_function("Reveal.isReady()")
            slides = page.evaluate("Reveal.getTotalSlides()")
            assert slides > 15
            for _ in range(slides):
                found = page.evaluate(LOOK)
                assert found["zoom"] >= SMALLEST, found
                assert found["bottom"] <= 720, found
                assert found["visible"], found
                assert found["cut"] == 0, found
                page.evaluate("Reveal.next()")
            assert page.evaluate("Reveal.isLastSlide()")
        assert problems == []


LOOK = """() => {
    const slide = Reveal.getCurrentSlide(), box = slide.getBoundingClientRect();
    return {
        text: slide.innerText.slice(0, 60),
        zoom: Number(slide.style.zoom || 1),
        bottom: box.bottom,
        cut: [...slide.querySelectorAll("pre")].filter(
            (code) => code.scrollWidth > code.clientWidth + 1).length,
        visible: box.height > 20 && box.top >= 0 && box.top < 100 && box.width > 800,
    };
}"""
