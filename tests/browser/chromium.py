"""Finds a Chromium, starts it, and notes whom its pages ask."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
# No sandbox: CI runs as root. The rest keeps the browser itself off the network.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]
HERE = ("127.0.0.1", "localhost")


def find_chromium() -> str | None:
    """Return the program: the one MHA_CHROMIUM names, else the first that is installed."""
    named = os.environ.get("MHA_CHROMIUM")
    found = map(shutil.which, [named] if named else NAMES)
    return next((path for path in found if path), None)


def missing() -> str:
    """Say that there is no browser and what to do."""
    named = os.environ.get("MHA_CHROMIUM")
    looked = f"MHA_CHROMIUM names {named!r}" if named else f"looked for {', '.join(NAMES)}"
    return (
        f"no browser found ({looked}). Install one (on Debian: apt-get install chromium), "
        "or put its path into the environment variable MHA_CHROMIUM."
    )


def is_needed() -> bool:
    """Say whether a missing browser is a failure: it is in continuous integration."""
    return os.environ.get("CI", "").lower() not in ("", "0", "false")


def program_or_stop() -> str:
    """Return the browser's program; without one skip the test, or fail it where one is needed."""
    program = find_chromium()
    if program is None and is_needed():
        pytest.fail(missing())
    if program is None:
        pytest.skip(missing())
    return program


@contextmanager
def started(program: str) -> Iterator[Browser]:
    """Run the browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield browser
        browser.close()


def note_requests(context: BrowserContext) -> list[str]:
    """Return a list that fills with the addresses outside this machine that pages ask."""
    outside: list[str] = []

    def note(url: str) -> None:
        if is_outside(url):
            outside.append(url)

    context.on("request", lambda request: note(request.url))
    context.on("page", lambda page: page.on("websocket", lambda socket: note(socket.url)))
    return outside


def is_outside(url: str) -> bool:
    """Say whether an address leaves this machine; data and blobs are part of the page.

    >>> [is_outside(u) for u in ("data:image/png;base64,x", "http://127.0.0.1:8/lab")]
    [False, False]
    >>> [is_outside(u) for u in ("https://example.org/x", "ws://10.0.0.1/api", "//cdn.org/x")]
    [True, True, True]
    """
    parts = urlsplit(url)
    if parts.scheme in ("data", "blob", "about", "file"):
        return False
    return parts.hostname not in HERE
