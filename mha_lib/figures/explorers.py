"""Widgets: controls above, a picture below that follows them."""

import html
from collections.abc import Callable

import ipywidgets as widgets
from IPython.display import display
from matplotlib.figure import Figure

from mha_lib.figures.pictures import picture_html

FALLBACK = "Interactive. Run this cell to use it; the figure beside it shows the same without it."


def explorer(
    draw: Callable[..., tuple[Figure, str]], controls: dict[str, widgets.Widget]
) -> widgets.VBox:
    """Show controls and, below, the picture that `draw` makes of their values.

    Nothing is stored in the notebook but a line of text, so a saved lesson opens without a
    broken widget; running the cell brings the controls.

    Args:
        draw: Called with each control's value by name; returns a figure and its alt text.
        controls: Widgets with a `value`, by the name of `draw`'s parameter.

    Returns:
        The box that was shown. A value that `draw` refuses is answered with the error's text.
    """
    canvas = widgets.HTML()

    def follow(_change: object = None) -> None:
        values = {name: control.value for name, control in controls.items()}
        try:
            canvas.value = picture_html(*draw(**values))
        except ValueError as error:
            canvas.value = f'<p role="alert">{html.escape(str(error))}</p>'

    for control in controls.values():
        control.style = {"description_width": "initial"}
        if control.has_trait("continuous_update"):
            control.continuous_update = False
        control.observe(follow, names="value")
    follow()
    row = widgets.HBox(list(controls.values()), layout=widgets.Layout(flex_flow="row wrap"))
    box = widgets.VBox([row, canvas])
    show(box)
    return box


def show(widget: widgets.Widget) -> None:
    """Display a widget; where no kernel runs, a line of text stands in its place."""
    bundle = dict(widget._repr_mimebundle_())
    bundle["text/plain"] = FALLBACK
    display(bundle, raw=True)
