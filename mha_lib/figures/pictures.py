"""A matplotlib figure becomes a picture with alt text, on its own white panel."""

import base64
import html
import io

from IPython.display import HTML
from matplotlib.figure import Figure
from PIL import Image

from mha_lib.figures import palette

_DPI = 160  # twice the usual, so that small numbers stay sharp on dense screens
_SHOWN_DPI = 84


def new_figure(width: float | int, height: float | int) -> Figure:
    """Return an empty figure, sizes in inches; about 9 inches fill a notebook's width.

    Made without pyplot: nothing stays open, and no window system is asked.

    >>> new_figure(4, 2).get_size_inches().tolist()
    [4.0, 2.0]
    """
    return Figure(figsize=(width, height), facecolor=palette.PANEL, layout="constrained")


def picture(figure: Figure, alt: str) -> HTML:
    """Return the figure for display: end a cell with it.

    >>> "alt=\\"An empty panel.\\"" in picture(new_figure(1, 1), "An empty panel.").data
    True

    Args:
        figure: What was drawn.
        alt: What there is to see, in a sentence or two, for those who can't see it.

    Returns:
        An HTML object that holds the picture as PNG.

    Raises:
        ValueError: `alt` is empty.
    """
    return HTML(picture_html(figure, alt))


def picture_html(figure: Figure, alt: str) -> str:
    """Return the HTML of `picture`, for a widget."""
    if not alt.strip():
        raise ValueError(f"alt must say what there is to see, got {alt!r}")
    width = round(figure.get_size_inches()[0] * _SHOWN_DPI)
    return (
        f'<img alt="{html.escape(alt)}" width="{width}" style="max-width:100%;height:auto" '
        f'src="data:image/png;base64,{base64.b64encode(png(figure)).decode()}">'
    )


def png(figure: Figure) -> bytes:
    """Return the figure as PNG with at most 128 colours: a third of the size, no visible loss."""
    full = io.BytesIO()
    figure.savefig(full, format="png", dpi=_DPI)
    small = io.BytesIO()
    Image.open(full).convert("RGB").quantize(128, dither=Image.Dither.NONE).save(
        small, format="png", optimize=True
    )
    return small.getvalue()
