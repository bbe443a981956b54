"""Asks axe, rules by program of what makes a page readable to everyone, about HTML files."""

from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page

THEMES = ("light", "dark")
GRAVE = ("serious", "critical")
# axe does not look at what is folded away, but readers do open it.
_OPEN_FOLDED = "document.querySelectorAll('details').forEach(e => { e.open = true; })"
# Sphinx's themes say here which form they show.
_SHOWN = "document.documentElement.dataset.theme"
_INSIDE = "([place, selector]) => document.querySelector(place).closest(selector) !== null"


def grave_findings(
    context: BrowserContext, path: Path, theme: str, foreign_colours: str = ""
) -> list[str]:
    """Return what axe calls serious or critical on a page, one line for each rule and place.

    Nothing is loaded from outside the machine. A page that knows a light and a dark form is
    asked for `theme` in the way an operating system does.

    Args:
        context: Of the browser.
        path: The HTML file.
        theme: "light" or "dark".
        foreign_colours: CSS selector of parts whose colours another project chose; for these
            the contrast is not judged, everything else is.

    Returns:
        The findings; none is the aim.
    """
    page = context.new_page()
    try:
        page.route("http*://**", lambda route: route.abort())
        page.emulate_media(color_scheme=theme)
        page.goto(path.resolve().as_uri())
        assert page.evaluate(_SHOWN) in (None, theme), f"{path} is not shown in its {theme} form"
        page.evaluate(_OPEN_FOLDED)
        found = [
            f"{rule['id']} ({rule['impact']}): {node['html'][:200]} {node['failureSummary'][:300]}"
            for rule in Axe().run(page).response["violations"]
            if rule["impact"] in GRAVE
            for node in rule["nodes"]
            if not is_foreign(page, rule["id"], node["target"], foreign_colours)
        ]
    finally:
        page.close()
    return found


def is_foreign(page: Page, rule: str, target: list[str], foreign_colours: str) -> bool:
    """Say whether a finding is about a colour inside `foreign_colours`."""
    if rule != "color-contrast" or not foreign_colours:
        return False
    return bool(page.evaluate(_INSIDE, [target[-1], foreign_colours]))
