"""Colours, each with a second cue beside it, since a colour alone may not be seen.

Colour belongs to heads. The first two are those of the running example. Query, key and value
have a colour, a letter and a glyph.
"""

from matplotlib.colors import LinearSegmentedColormap, to_rgb

PANEL = "#FFFFFF"
INK = "#111111"
FAINT = "#767676"
LINE = "#9A9A9A"

# Okabe and Ito's palette in an order that keeps neighbours apart, and an edge for each.
HEADS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#8A6D00")
EDGES = ("-", "--", ":", "-.", (0, (5, 1)), (0, (1, 1)))
HATCHES = ("", "//", "..", "xx", "\\\\", "--")

# In place of a head's number: what is drawn is the mean of all heads.
MEAN_OF_HEADS = -1

QUERY, KEY, VALUE = "#873CFF", "#0FA0A0", "#A5646E"
GLYPHS = {"query": "▸", "key": "◂", "value": "■"}


def head_colour(head: int) -> str:
    """Return the colour of a head; beyond the sixth they repeat. The mean of heads is grey."""
    return FAINT if head == MEAN_OF_HEADS else HEADS[head % len(HEADS)]


def head_edge(head: int) -> str | tuple[int, tuple[int, int]]:
    """Return the line style that goes with `head_colour`: solid, dashed, dotted ..."""
    return "-" if head == MEAN_OF_HEADS else EDGES[head % len(EDGES)]


def weight_colours(head: int) -> LinearSegmentedColormap:
    """Return white to the head's colour, for weights from 0 to 1."""
    return LinearSegmentedColormap.from_list(f"head {head}", [PANEL, head_colour(head)])


def ink_on(colour: str | tuple[float, float, float, float]) -> str:
    """Return black or white, whichever contrasts more with the colour (WCAG 2)."""
    light = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    luminance = 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2]
    return "#000000" if (luminance + 0.05) ** 2 > 0.05 * 1.05 else "#FFFFFF"
