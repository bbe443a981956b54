"""A missing browser: skipped with a reason at home, a failure in continuous integration."""

import shutil

import pytest

from browser import chromium


@pytest.fixture(autouse=True)
def _no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.delenv("MHA_CHROMIUM", raising=False)


@pytest.mark.parametrize("value", ["", "0", "false", "False"])
def test_at_home_the_test_is_skipped(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("CI", value)
    with pytest.raises(pytest.skip.Exception, match="apt-get install chromium"):
        chromium.program_or_stop()


@pytest.mark.parametrize("value", ["true", "1"])
def test_in_ci_it_fails(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("CI", value)
    with pytest.raises(pytest.fail.Exception, match="no browser found"):
        chromium.program_or_stop()


def test_the_reason_names_what_was_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = "looked for chromium, chromium-browser, google-chrome, chrome"
    assert looked in chromium.missing()
    monkeypatch.setenv("MHA_CHROMIUM", "no-such-browser")
    assert "MHA_CHROMIUM names 'no-such-browser'" in chromium.missing()


def test_the_one_that_is_named_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MHA_CHROMIUM", "mine")
    monkeypatch.setattr(shutil, "which", lambda name: f"/programs/{name}")
    assert chromium.program_or_stop() == "/programs/mine"
