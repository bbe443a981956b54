"""Widgets: controls above, a picture below that follows them."""

import html
from collections.abc import Callable

import ipywidgets as widgets
from matplotlib.figure import Figure

from mha_lib.figures.pictures import picture_html

FALLBACK = "Interactive: run this cell to use it. The figure named above shows the same without it."


class Explorer(widgets.VBox):
    """Controls and the picture that follows them; a line of text where no kernel runs."""

    def _repr_mimebundle_(self, **options: object) -> dict[str, object]:
        return {**super()._repr_mimebundle_(**options), "text/plain": FALLBACK}


def explorer(
    draw: Callable[..., tuple[Figure, str]], controls: dict[str, widgets.Widget]
) -> Explorer:
    """Return controls and, below, the picture that `draw` makes of their values.

    Nothing of it is stored in the notebook but a line of text, so a saved lesson opens without
    a broken widget; running the cell brings the controls.

    Args:
        draw: Called with each control's value by name; returns a figure and its alt text.
        controls: Widgets with a `value`, by the name of `draw`'s parameter.

    Returns:
        The box: end a cell with it. A value that `draw` refuses with a ValueError is answered
        with the error's text.

    Raises:
        ValueError: A control has no description, so that nobody could tell what it is for.
    """
    canvas = widgets.HTML()

    def follow(_change: object = None) -> None:
        values = {name: control.value for name, control in controls.items()}
        try:
            canvas.value = picture_html(*draw(**values))
        except ValueError as error:
            canvas.value = f'<p role="alert">{html.escape(str(error))}</p>'

    for name, control in controls.items():
        if not control.description:
            raise ValueError(f"controls[{name!r}] must have a description, got ''")
        control.tooltip = control.description  # else pointing at the label shows "null"
        control.style = {"description_width": "initial"}
        if control.has_trait("continuous_update"):
            control.continuous_update = False
        control.observe(follow, names="value")
    follow()
    row = widgets.HBox(list(controls.values()), layout=widgets.Layout(flex_flow="row wrap"))
    return Explorer([row, canvas])
