"""The book: its parts, and, as slow tests, the pages as Sphinx builds them."""

import json
import os
import re
import shutil
from pathlib import Path
from urllib.parse import unquote, urldefrag

import nbformat
import pytest
from bs4 import BeautifulSoup

import mha_lib
from tools import book, book_pages, book_pictures
from tools.navigation import launch_link, lessons, nav_line, place

ROOT = Path(__file__).resolve().parent.parent
LESSONS = lessons()
PAGES = ["index", "api", "errata", "glossary", "pictures"]
EXTERNAL = re.compile(r"^(https?:)?//")


def written(name: str) -> str:
    return (ROOT / "book" / name).read_text(encoding="utf-8")


def stored_pictures(path: Path) -> list[str]:
    """The alt text of every picture of a lesson, read off the notebook in a plain way."""
    alts = []
    for cell in nbformat.read(path, as_version=4).cells:
        for output in cell.get("outputs", []):
            page = BeautifulSoup(output.get("data", {}).get("text/html", ""), "html.parser")
            alts += [image["alt"] for image in page.find_all("img")]
    return alts


# ---- what is written or made before Sphinx runs


def test_pictures_become_files_and_keep_their_alt_text():
    for path in LESSONS:
        text, pictures = book_pictures.lesson_for_book(path)
        assert "base64" not in text
        assert [picture.alt for picture in pictures] == stored_pictures(path)
        assert all(picture.data.startswith(b"\x89PNG") for picture in pictures)
        for picture in pictures:
            assert text.count(picture.anchor + "\\") == 1, "one id a picture"


def test_contents_links_lead_to_the_start_page():
    text, _ = book_pictures.lesson_for_book(LESSONS[3])
    assert nav_line(LESSONS[3]).startswith("[← 3 ")
    assert "README" not in text
    assert text.count("](../index.md)") == 2


def test_links_to_modules_lead_to_the_api():
    text = book_pages.readme_page()
    assert "(#api-splitting_heads)" in text
    assert "(mha_lib/" not in text


@pytest.mark.parametrize("text", ["a * b", "x_1 and y_2", "[CLS] to <pad>", "$5 | `x`", "# no"])
def test_alt_texts_are_no_markdown(text):
    from markdown_it import MarkdownIt

    shown = BeautifulSoup(MarkdownIt().render(book_pages.plain(text)), "html.parser")
    assert shown.get_text().strip() == text
    assert [tag.name for tag in shown.find_all()] == ["p"]


def test_the_api_has_every_public_name_in_teaching_order():
    found = re.findall(r"^\.\. auto(?:function|class):: (\w+)", book_pages.api_page(), re.M)
    listed = [name for name in found if name in mha_lib.__all__]
    steps = [getattr(mha_lib, name).__module__ for name in listed]
    assert sorted(listed) == sorted(mha_lib.__all__)
    assert list(dict.fromkeys(steps)) == [
        f"mha_lib.{path.stem[3:]}" for path in LESSONS if f"mha_lib.{path.stem[3:]}" in steps
    ]
    assert {"run_encoder", "Transformer", "greedy_decode", "check"} <= set(found)


def test_every_glossary_entry_says_where_it_is_taught():
    entries = re.search(r"```{glossary}\n(.*?)```", written("glossary.md"), re.S).group(1)
    entries = entries.strip().split("\n\n")
    assert len(entries) > 40
    terms = [entry.splitlines()[0] for entry in entries]
    assert terms == sorted(terms, key=str.lower)
    for entry in entries:
        number = re.search(r"\[Lesson (\d+)\]\(notebooks/(\d+)_", entry)
        assert number, entry
        assert int(number[1]) == int(number[2]), entry


def test_every_erratum_names_a_lesson():
    entries = re.findall(r"^\*\*“.*\n: (.*)$", written("errata.md"), re.M)
    assert len(entries) == written("errata.md").count("\n**“") >= 20
    for entry in entries:
        assert re.search(r"\]\(notebooks/\d\d_\w+\.ipynb#", entry), entry
        for words, number in re.findall(
            r"\[(?:lesson|exercise) (\d+)[^\]]*\]\(notebooks/(\d+)", entry
        ):
            assert int(words) == int(number), entry


def test_the_version_of_mathjax_is_exact():
    assert re.fullmatch(r"\d+\.\d+\.\d+", book.mathjax_version())


def test_without_npm_the_reason_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr(book, "MATHJAX", tmp_path)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert "npm, which would fetch it, is not on this machine" in book.get_mathjax()
    book.fill_mathjax(tmp_path)
    assert "MathJax was not there" in (tmp_path / "tex-svg-full.js").read_text(encoding="utf-8")


def test_mathjax_that_is_there_is_not_fetched(monkeypatch, tmp_path):
    (tmp_path / "es5").mkdir()
    package = json.dumps({"version": book.mathjax_version()})
    (tmp_path / "package.json").write_text(package, encoding="utf-8")
    monkeypatch.setattr(book, "MATHJAX", tmp_path)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert not book.has_mathjax(), "the files themselves are missing"
    for name in book.MATHJAX_FILES:
        (tmp_path / name).touch()
    assert book.get_mathjax() is None


# ---- the built pages


@pytest.fixture(scope="module")
def html(tmp_path_factory) -> Path:
    """The book, built into a folder of its own; a warning of Sphinx fails it."""
    out = tmp_path_factory.mktemp("book") / "out"
    if shutil.which("npm"):
        assert book.get_mathjax() is None
    assert book.build(out) == 0
    return out / "html"


@pytest.fixture(scope="module")
def pages(html) -> dict[str, BeautifulSoup]:
    names = {path.relative_to(html).as_posix(): path for path in html.rglob("*.html")}
    return {
        name: BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        for name, path in names.items()
        if not name.startswith("_static/")
    }


def page_of(path: Path) -> str:
    return f"notebooks/{path.stem}.html"


@pytest.mark.slow
def test_every_page_is_there(pages):
    wanted = {page_of(path) for path in LESSONS} | {f"{name}.html" for name in PAGES}
    assert wanted | {"search.html"} == set(pages)


@pytest.mark.slow
def test_every_internal_link_and_anchor_leads_somewhere(html, pages):
    ids = {name: {tag["id"] for tag in page.find_all(id=True)} for name, page in pages.items()}
    checked, broken = 0, []
    for name, page in pages.items():
        for tag in page.find_all(["a", "img", "script", "link"]):
            target = tag.get("href") or tag.get("src") or ""
            if not target or re.match(r"(https?|mailto|data|javascript):", target):
                continue
            address, anchor = urldefrag(target.split("?")[0] if "#" not in target else target)
            file = (html / name).parent / unquote(address) if address else html / name
            reached = Path(os.path.normpath(file)).relative_to(html).as_posix()
            checked += 1
            if not file.exists() or (anchor and anchor not in ids.get(reached, {anchor})):
                broken.append((name, target))
    assert broken == []
    assert checked > 1000


@pytest.mark.slow
def test_no_page_asks_another_host(html, pages):
    asked = []
    for name, page in pages.items():
        for tag in page.find_all(["script", "img", "iframe", "source", "video", "audio", "object"]):
            asked += [(name, tag[key]) for key in ("src", "srcset", "data") if tag.get(key)]
        asked += [(name, tag["href"]) for tag in page.find_all("link", href=True)]
    for path in html.rglob("*.css"):
        text = path.read_text(encoding="utf-8")
        found = re.findall(r"url\(\s*['\"]?([^)'\"]+)|@import\s+['\"]([^'\"]+)", text)
        asked += [(path.name, "".join(each)) for each in found]
    assert len(asked) > 200
    assert [(where, what) for where, what in asked if EXTERNAL.match(what)] == []


@pytest.mark.slow
def test_every_page_has_the_right_launch_button(pages):
    lesson = {page_of(path): path for path in LESSONS}
    for name, page in pages.items():
        links = [a["href"] for a in page.select(".article-header-buttons a[href*=mybinder]")]
        assert links == [launch_link(lesson.get(name, LESSONS[0]))], name


@pytest.mark.slow
def test_the_repository_button_has_the_place_of_pyproject(pages):
    at = place()
    for name, page in pages.items():
        links = {a["href"] for a in page.select(".article-header-buttons a[href*=github]")}
        base = f"https://github.com/{at['owner']}/{at['repository']}"
        assert base in links, name
        assert all(link.startswith(base) for link in links), name


@pytest.mark.slow
def test_hints_and_solutions_are_folded(pages):
    for path in LESSONS:
        article, count = pages[page_of(path)].select_one("article"), 0
        for cell in nbformat.read(path, as_version=4).cells:
            count += cell.source.count("<details>") if cell.cell_type == "markdown" else 0
        folded = article.find_all("details")
        stages = [each for each in folded if each.find_parent(class_="cell_output")]
        assert len(folded) - len(stages) == count > 0
        assert not [each for each in folded if each.has_attr("open")]
        solutions = [each for each in folded if each.summary.get_text() == "Solution"]
        assert all(each.find("pre") for each in solutions), path.stem
        assert len(solutions) >= 2


@pytest.mark.slow
def test_formulas_and_pictures_are_served_from_the_book(html, pages):
    for path in LESSONS:
        page = pages[page_of(path)]
        assert page.select(".math")
        assert page.find("script", src=re.compile(r"_static/mathjax/tex-svg-full\.js"))
        images = page.select("article .cell_output img")
        assert [image["alt"] for image in images] == stored_pictures(path)
    if shutil.which("npm"):
        assert (html / "_static/mathjax/tex-svg-full.js").stat().st_size > 1e6


@pytest.mark.slow
def test_the_picture_list_has_every_alt_text(pages):
    page = pages["pictures.html"].select_one("article")
    shown = [p.get_text() for p in page.find_all("p")]
    alts = [alt for path in LESSONS for alt in stored_pictures(path)]
    assert len(page.find_all("img")) == len(alts) > 20
    assert all(image.get("alt") for image in page.find_all("img"))
    spaces = [" ".join(text.split()) for text in shown]
    assert [alt for alt in alts if " ".join(alt.split()) not in spaces] == []


@pytest.mark.slow
def test_shapes_can_be_read_in_the_api(pages):
    page = pages["api.html"]
    signature = page.find(id="mha_lib.splitting_heads.split_heads").get_text()
    assert "x: Shaped[Tensor, '*B L E']" in signature
    assert "→ Shaped[Tensor, '*B H L D']" in signature
    text = page.select_one("article").get_text()
    assert "jaxtyping" not in text
    assert "A view of the rows: no copy" in text, "Returns is one sentence, not a type and a rest"
    assert "Define the computation performed at every call" not in text


@pytest.mark.slow
def test_what_is_downloaded_is_the_lesson_itself(html):
    for path in LESSONS:
        assert (html / "_sources/notebooks" / path.name).read_bytes() == path.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "lesson", "not_in"),
    [
        ("causal mask", "08_masks", "02_input_layers"),
        ("softmax", "05_attention_scores", "01_hyperparameters"),
        ("encoder-decoder attention", "09_encoder_decoder_attention", "03_linear_layers"),
        ("strides", "04_splitting_heads", "01_hyperparameters"),
        ("padding mask", "08_masks", "03_linear_layers"),
        ("concatenation", "06_merging_heads", "02_input_layers"),
        ("teacher forcing", "10_transformer", "06_merging_heads"),
        ("vocabulary", "02_input_layers", "03_linear_layers"),
    ],
)
def test_the_search_index_finds_the_words_of_the_field(html, words, lesson, not_in):
    from sphinx.search.en import SearchEnglish

    text = (html / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(re.fullmatch(r"Search\.setIndex\((.*)\)", text, re.S).group(1))
    stem = SearchEnglish({}).stem
    found = set(range(len(index["docnames"])))
    for word in re.split(r"\W+", words):
        hits: set[int] = set()
        for table in ("terms", "titleterms"):
            where = index[table].get(stem(word), [])
            hits |= set(where if isinstance(where, list) else [where])
        found &= hits
    names = {index["docnames"][number] for number in found}
    assert f"notebooks/{lesson}" in names
    assert f"notebooks/{not_in}" not in names
    assert "glossary" in names


# ---- in a browser, from the file system


@pytest.fixture(scope="module")
def tab():
    from browser.chromium import find_chromium, is_needed, missing, started

    program = find_chromium()
    if program is None:
        (pytest.fail if is_needed() else pytest.skip)(missing())
    with started(program) as browser:
        tab = browser.new_page()
        tab.trouble = []
        tab.on("console", lambda m: m.type == "error" and tab.trouble.append(m.text))
        tab.on("pageerror", lambda error: tab.trouble.append(str(error)))
        tab.on("request", lambda r: EXTERNAL.match(r.url) and tab.trouble.append(r.url))
        tab.on("requestfailed", lambda r: tab.trouble.append(f"failed: {r.url}"))
        yield tab


@pytest.mark.slow
def test_every_page_opens_from_the_file_system(html, pages, tab):
    for name, page in pages.items():
        tab.goto((html / name).as_uri(), wait_until="load")
        formulas = len(page.select(".math"))
        if formulas and shutil.which("npm"):
            tab.wait_for_function(
                f"document.querySelectorAll('mjx-container').length >= {formulas}"
            )
            assert tab.locator("mjx-merror").count() == 0, name
        assert tab.trouble == [], name


@pytest.mark.slow
def test_the_search_page_answers_from_the_file_system(html, tab):
    tab.goto((html / "search.html").as_uri() + "?q=causal+mask")
    tab.wait_for_selector("#search-results li a")
    found = tab.locator("#search-results li a").evaluate_all("all => all.map(a => a.href)")
    assert any("08_masks.html" in link for link in found)
    assert tab.trouble == []


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
def test_no_page_is_wider_than_the_window(html, pages, tab, width):
    tab.set_viewport_size({"width": width, "height": 900})
    wide = []
    for name in pages:
        tab.goto((html / name).as_uri(), wait_until="load")
        tab.evaluate("document.querySelectorAll('details').forEach(each => (each.open = true))")
        if tab.evaluate("document.documentElement.scrollWidth") > width:
            wide.append(name)
    assert wide == []


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(html, pages, tab, theme):
    from browser.axe import grave_findings

    context = tab.context.browser.new_context()
    found = {name: grave_findings(context, html / name, theme) for name in pages}
    context.close()
    assert {name: lines for name, lines in found.items() if lines} == {}
