"""An instructor's way through formgrader in JupyterLab, on a class that mha-course graded."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from playwright.sync_api import BrowserContext, Page, Response, expect

from browser import formgrader_server, shots
from browser.formgrader_server import POINTS, running_formgrader

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")]
MINUTE = 60_000
WORDS = "The softmax is missing."


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    course = tmp_path_factory.mktemp("course")
    formgrader_server.graded_course(course)
    return course


@pytest.fixture(scope="module")
def url(course: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_formgrader(tmp_path_factory.mktemp("server"), course) as running:
        yield running


@pytest.fixture
def page(context: BrowserContext, outside: list[str]) -> Iterator[Page]:
    page = context.new_page()
    page.set_default_timeout(MINUTE)
    yield page
    page.close()


def submission_of(course: Path, student: str) -> str:
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        return str(gradebook.find_submission_notebook("ps", "ps", student).id)


def is_saved(response: Response, kind: str) -> bool:
    """Say whether the server answers that it saved a grade or a comment."""
    return f"/api/{kind}/" in response.url and response.request.method == "PUT" and response.ok


def test_jupyterlab_opens_formgrader_with_the_assignment(url: str, page: Page) -> None:
    page.goto(f"{url}/lab?reset")
    page.wait_for_function("window.jupyterapp")
    page.evaluate("window.jupyterapp.restored")
    page.evaluate("void window.jupyterapp.commands.execute('nbgrader:open-formgrader')")
    frame = page.frame_locator("iframe[src*='formgrader']")
    row = frame.locator("tr", has=frame.get_by_role("link", name="ps", exact=True)).first
    expect(row).to_be_visible(timeout=MINUTE)
    expect(row.locator(".num-submissions")).to_have_text("3")
    page.screenshot(path=shots.FOLDER / "formgrader_in_lab.png")


def test_submissions_are_listed_with_our_marks(course: Path, url: str, page: Page) -> None:
    page.goto(f"{url}/formgrader/gradebook")
    page.get_by_role("link", name="ps", exact=True).click()
    page.get_by_role("link", name="ps", exact=True).last.click()
    expect(page.locator("tbody tr")).to_have_count(3)
    for student, score in (("s0001", POINTS), ("s0002", 0.0), ("s0003", POINTS)):
        link = f"/formgrader/submissions/{submission_of(course, student)}"
        row = page.locator("tbody tr", has=page.locator(f"a[href$='{link}']"))
        expect(row.locator(".code-score")).to_have_text(f"{score:g} / {POINTS:g}")
        expect(row.locator(".written-score")).to_have_text("0 / 4")
    page.screenshot(path=shots.FOLDER / "formgrader_submissions.png")


def test_a_mark_and_a_comment_typed_in_are_in_the_gradebook(
    course: Path, url: str, page: Page
) -> None:
    page.goto(f"{url}/formgrader/submissions/{submission_of(course, 's0001')}")
    # What mha-course said stands there, and its points in the field.
    expect(page.get_by_text("5 of 5 points").first).to_be_visible()
    expect(page.locator("#split_heads-marks")).to_have_attribute("placeholder", "5")
    # The page fetches marks and comments and puts them into its fields: not over what is typed.
    page.wait_for_load_state("networkidle")
    for field, kind, text in (("why", "grade", "3"), ("why-comment", "comment", WORDS)):
        with page.expect_response(lambda r, kind=kind: is_saved(r, kind)):
            page.locator(f"#{field}").fill(text)
            page.locator(f"#{field}").blur()
    page.screenshot(path=shots.FOLDER / "formgrader_submission.png", full_page=True)
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        assert gradebook.find_grade("why", "ps", "ps", "s0001").manual_score == 3
        comment = gradebook.find_comment("why", "ps", "ps", "s0001")
        assert comment.manual_comment == WORDS
        assert gradebook.find_submission("ps", "s0001").score == POINTS + 3


def test_a_hostile_text_runs_nothing_where_it_is_marked(
    course: Path, url: str, page: Page, outside: list[str]
) -> None:
    page.goto(f"{url}/formgrader/submissions/{submission_of(course, 's0003')}")
    expect(page.get_by_text("Because.").first).to_be_visible()
    page.get_by_text("a link").last.click()
    page.wait_for_timeout(500)
    assert page.evaluate("window.wasHere") is None
    # A bare address becomes a link; nothing else does.
    links = [link.get_attribute("href") or "" for link in page.locator(".nbgrader_cell a").all()]
    assert [link for link in links if not link.startswith("https://example.org/")] == []
    assert page.locator(".nbgrader_cell img, .nbgrader_cell script").count() == 0
    assert not [address for address in outside if "example.org" in address]
