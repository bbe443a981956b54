"""Uses the controls above a picture as someone without a mouse does."""

from collections.abc import Callable
from typing import NamedTuple

from playwright.sync_api import Locator, Page, expect

# What is typed into a text field, by its label; then what its lesson has to refuse in words.
TYPED = {
    "date": "2016-12-24",
    "sentence": "The dog saw the cat that it chased.",
    "pin a word": "cat",
}
REFUSED = {"date": "2016-13-24", "sentence": "a " * 40}
# Tab stops inside one control: a slider's handle and its number, or a row of buttons.
MOST_TABS = 6


class Kind(NamedTuple):
    """How one kind of control is found, moved and read."""

    focused: str
    move: Callable[[Page, Locator, str], None]
    value: str


def move_slider(page: Page, control: Locator, _label: str) -> None:
    handle = control.locator(".noUi-handle")
    at_end = handle.get_attribute("aria-valuenow") == handle.get_attribute("aria-valuemax")
    page.keyboard.press("ArrowLeft" if at_end else "ArrowRight")


def move_dropdown(page: Page, control: Locator, _label: str) -> None:
    """Choose the first option where the last is chosen, and end at the last in any case."""
    at_end = "s => s.selectedIndex === s.options.length - 1"
    if control.locator("select").evaluate(at_end):
        page.keyboard.press("Home")
    else:
        page.keyboard.press("End")


def press_space(page: Page, _control: Locator, _label: str) -> None:
    page.keyboard.press("Space")


def press_next_button(page: Page, _control: Locator, _label: str) -> None:
    page.keyboard.press("Tab")
    page.keyboard.press("Space")


def type_text(page: Page, _control: Locator, label: str) -> None:
    enter(page, TYPED[label])


def enter(page: Page, text: str) -> None:
    page.keyboard.press("Control+a")
    page.keyboard.type(text)
    page.keyboard.press("Enter")


KINDS = {
    "widget-slider": Kind(
        ".noUi-handle", move_slider, "e => e.querySelector('.widget-readout').textContent"
    ),
    "widget-dropdown": Kind("select", move_dropdown, "e => e.querySelector('select').value"),
    "widget-checkbox": Kind(
        "input[type=checkbox]", press_space, "e => String(e.querySelector('input').checked)"
    ),
    "widget-toggle-buttons": Kind(
        "button", press_next_button, "e => e.querySelector('.mod-active').textContent"
    ),
    "widget-text": Kind("input[type=text]", type_text, "e => e.querySelector('input').value"),
}


def kind_of(control: Locator) -> str:
    """Return the class that tells what a control is.

    Raises:
        KeyError: Nothing here knows how to use it.
    """
    names = (control.get_attribute("class") or "").split()
    known = [name for name in names if name in KINDS]
    if len(known) != 1:
        raise KeyError(f"controls.KINDS needs a way to use this control: {names}")
    return known[0]


def label_of(control: Locator) -> str:
    """Return the words beside a control; ipywidgets keeps an empty label before a checkbox."""
    lines = control.inner_text().replace("\u200b", "").split("\n")
    return next((line.strip() for line in lines if line.strip()), "")


def go_to(page: Page, target: Locator, first: bool) -> None:
    """Focus the first control; reach every later one with the Tab key, as a reader would."""
    if first:
        target.focus()
        return
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        if target.evaluate("e => e === document.activeElement"):
            return
    raise AssertionError(f"the Tab key does not lead to {target}")


def use(page: Page, control: Locator, canvas: Locator, first: bool) -> str:
    """Move one control by keyboard; its value, the picture and its words have to follow.

    Returns:
        The kind of the control.
    """
    name = kind_of(control)
    kind, label = KINDS[name], label_of(control)
    go_to(page, control.locator(kind.focused).first, first)
    picture = canvas.locator("img")
    value = control.evaluate(kind.value)
    source, words = picture.get_attribute("src"), picture.get_attribute("alt")
    assert source
    assert words
    kind.move(page, control, label)
    expect(picture, f"{label}: the picture follows").not_to_have_attribute("src", source)
    expect(picture, f"{label}: its words follow").not_to_have_attribute("alt", words)
    assert control.evaluate(kind.value) != value, f"{label}: shows another value"
    assert picture.evaluate("e => e.complete && e.naturalWidth > 0"), f"{label}: picture is blank"
    if name == "widget-text" and label in REFUSED:
        refuse(page, canvas, label)
    if name == "widget-dropdown":
        page.keyboard.press("End")
    return name


def refuse(page: Page, canvas: Locator, label: str) -> None:
    """Enter what can't be drawn: the reason stands in place of the picture, then all is well."""
    enter(page, REFUSED[label])
    expect(canvas.get_by_role("alert")).not_to_be_empty()
    enter(page, TYPED[label])
    expect(canvas.locator("img")).to_be_visible()
