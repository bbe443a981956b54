"""Takes pictures of a whole lesson as JupyterLab shows it."""

from pathlib import Path

from playwright.sync_api import Page

from browser.lesson_page import SCROLLER

FOLDER = Path(__file__).resolve().parent.parent.parent / "screenshots"
SIZE = {"width": 1150, "height": 1700}
STEP = 1550
_SCROLL = f"y => {{ const e = document.querySelector('{SCROLLER}'); e.scrollTop = y; }}"
_MORE = f"y => {{ const e = document.querySelector('{SCROLLER}'); return y < e.scrollHeight; }}"


def shoot(page: Page, name: str) -> list[Path]:
    """Write NAME_00.png, NAME_01.png ... from the top of the lesson to its end."""
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob(f"{name}_[0-9][0-9].png"):
        old.unlink()
    paths: list[Path] = []
    while page.evaluate(_MORE, STEP * len(paths)):
        page.evaluate(_SCROLL, STEP * len(paths))
        page.wait_for_timeout(250)  # cells near the view are drawn, those left behind are dropped
        path = FOLDER / f"{name}_{len(paths):02}.png"
        page.screenshot(path=path)
        paths.append(path)
    return paths
