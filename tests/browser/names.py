"""What a screen reader says of a control."""

from playwright.sync_api import Locator, expect

from browser.controls import KINDS, kind_of, label_of


def check_name(control: Locator) -> None:
    """See that the words beside a control are also its name for a screen reader.

    ipywidgets gives a slider's handle no name (version 8.1 offers no way to): there the words
    have to stand right before the handle, where they are read first. When that is mended, the
    line about the empty name fails and this exception goes.
    """
    label = label_of(control)
    assert label
    if kind_of(control) == "widget-slider":
        assert control.inner_text().strip().startswith(label)
        expect(control.locator(".noUi-handle")).to_have_accessible_name("")
        return
    if kind_of(control) == "widget-toggle-buttons":
        for button in control.get_by_role("button").all():
            expect(button).not_to_have_accessible_name("")
        return
    target = control.locator(KINDS[kind_of(control)].focused)
    expect(target).to_have_accessible_name(label)
