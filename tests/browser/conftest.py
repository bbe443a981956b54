"""One browser and one JupyterLab for all tests of this folder."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext

from browser import chromium, shots
from browser.lab_server import Lab, running_lab


# Of the package, not of the session: where other tests follow in the same process, they must
# not meet Playwright's running event loop.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """A running Chromium; without one the test is skipped, in continuous integration it fails."""
    with chromium.started(chromium.program_or_stop()) as started:
        yield started


@pytest.fixture(scope="package")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A running JupyterLab whose settings are those of a first start."""
    with running_lab(tmp_path_factory.mktemp("lab")) as running:
        yield running


@pytest.fixture(scope="package")
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser window without a past."""
    fresh = browser.new_context(viewport=shots.SIZE)
    yield fresh
    fresh.close()


@pytest.fixture(scope="package")
def outside(context: BrowserContext) -> list[str]:
    """The addresses outside this machine that the browser's pages asked for, as they come."""
    return chromium.note_requests(context)
