"""Lesson 1: how heads share out the width, and what of the layer grows with their number."""

from collections.abc import Callable, Sequence

import ipywidgets as widgets
from IPython.display import HTML
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from mha_lib.figures import palette
from mha_lib.figures.explorers import Explorer, explorer
from mha_lib.figures.grids import side_by_side
from mha_lib.figures.pictures import new_figure, picture

Counts = tuple[int, int, int]
Count = Callable[[int, int, int], Counts]
QUANTITIES = ("parameters", "multiply-adds", "scores")
LARGEST_WIDTH, LARGEST_LENGTH = 12, 6
_BAR = "#C4C4C4"


def compare_heads(count: Count, head_counts: Sequence[int], embed_dim: int, length: int) -> HTML:
    """Show one width shared out among several numbers of heads, and what each layer costs.

    Args:
        count: Counts a live layer: (embed_dim, num_heads, length) to parameters, multiply-adds
            and scores. It raises ValueError where the heads do not divide the width.
        head_counts: The numbers of heads, one row each.
        embed_dim: Width E.
        length: Words L.

    Returns:
        The picture. Columns that belong to no head are hatched.
    """
    counted = {heads: counts_or_none(count, embed_dim, heads, length) for heads in head_counts}
    return picture(
        sizes_figure(counted, embed_dim, limits=largest(counted)),
        sizes_alt(counted, embed_dim, length),
    )


def explore_sizes(count: Count) -> Explorer:
    """Show sliders for width, heads and words: one head above, the chosen number below."""
    # The bars keep one scale at all values, so that they can be seen to grow.
    limits = [max(pair) for pair in zip(*_extremes(count), strict=True)]

    def draw(embed_dim: int, num_heads: int, length: int) -> tuple[Figure, str]:
        heads = dict.fromkeys((1, num_heads))
        counted = {h: counts_or_none(count, embed_dim, h, length) for h in heads}
        figure = sizes_figure(counted, embed_dim, limits, columns=LARGEST_WIDTH)
        return figure, sizes_alt(counted, embed_dim, length)

    return explorer(
        draw,
        {
            "embed_dim": widgets.IntSlider(6, 1, LARGEST_WIDTH, description="E, width"),
            "num_heads": widgets.IntSlider(2, 1, LARGEST_WIDTH, description="H, heads"),
            "length": widgets.IntSlider(4, 1, LARGEST_LENGTH, description="L, words"),
        },
    )


def _extremes(count: Count) -> list[Counts]:
    return [count(LARGEST_WIDTH, heads, LARGEST_LENGTH) for heads in (1, LARGEST_WIDTH)]


def counts_or_none(count: Count, embed_dim: int, num_heads: int, length: int) -> Counts | None:
    """Return the counts, or None where there is no such layer."""
    try:
        return count(embed_dim, num_heads, length)
    except ValueError:
        return None


def largest(counted: dict[int, Counts | None]) -> list[int]:
    """Return the largest number of each kind, or 1 where nothing was counted.

    >>> largest({1: (168, 96, 16), 4: None})
    [168, 96, 16]
    """
    found = [counts for counts in counted.values() if counts is not None]
    return [max(kind) for kind in zip(*found, strict=True)] if found else [1, 1, 1]


def sizes_alt(counted: dict[int, Counts | None], embed_dim: int, length: int) -> str:
    """Say in words what the rows show."""
    lines = []
    for heads, counts in counted.items():
        width, left_over = divmod(embed_dim, heads)
        if counts is None:
            lines.append(
                f"H={heads}: {left_over} of {embed_dim} columns belong to no head and are hatched; "
                "there is no such layer"
            )
        else:
            named = (f"{n} {name}" for n, name in zip(counts, QUANTITIES, strict=True))
            lines.append(f"H={heads}: heads of width {width}, {', '.join(named)}")
    return (
        f"{embed_dim} columns shared out among heads, and counts of the layer "
        f"for {length} words. " + "; ".join(lines) + "."
    )


def sizes_figure(
    counted: dict[int, Counts | None],
    embed_dim: int,
    limits: Sequence[int],
    columns: int | None = None,
) -> Figure:
    """Draw one row for each number of heads: the strip of columns, then three bars.

    Args:
        counted: Counts by number of heads; None where there is no such layer.
        embed_dim: Width E.
        limits: The end of each bar's scale.
        columns: How many columns the strip leaves room for; E if None.

    Returns:
        The figure.
    """
    columns = columns or embed_dim
    figure = new_figure(9, 0.55 * len(counted) + 0.75)
    strip, *bars = side_by_side(figure, [2.7, 1, 1, 1])
    for row, heads in enumerate(counted):
        draw_shares(strip, row, embed_dim, heads)
    labels = [
        f"H {heads}, no D" if counts is None else f"H {heads}, D {embed_dim // heads}"
        for heads, counts in counted.items()
    ]
    title = f"E {embed_dim}: columns, and the head that owns them"
    _finish(strip, labels, title, (-0.6, columns - 0.4))
    strip.set_xticks(range(embed_dim))
    strip.xaxis.tick_top()
    for i, ax in enumerate(bars):
        _draw_bars(ax, [None if c is None else c[i] for c in counted.values()], limits[i])
        _finish(ax, [""] * len(counted), QUANTITIES[i], (0, 1.45 * limits[i]))
        ax.set_xticks([])
    return figure


def draw_shares(ax: Axes, row: int, embed_dim: int, num_heads: int) -> None:
    """Draw one row of columns, each head's share in its colour, hatched where no head owns it."""
    width = embed_dim // num_heads
    for column in range(embed_dim):
        owned = column < width * num_heads
        ax.add_patch(
            Rectangle(
                (column - 0.5, row - 0.36),
                1,
                0.72,
                facecolor=palette.PANEL,
                edgecolor=palette.LINE,
                linewidth=0.7,
                hatch=None if owned else "////",
            )
        )
    for head in range(num_heads if width else 0):
        ax.add_patch(
            Rectangle(
                (head * width - 0.46, row - 0.32),
                width - 0.08,
                0.64,
                fill=False,
                edgecolor=palette.head_colour(head),
                linestyle=palette.head_edge(head),
                linewidth=2.2,
                zorder=3,
            )
        )
        middle = head * width + (width - 1) / 2
        name = f"head {head}" if width > 1 else str(head)
        text = ax.text(middle, row, name, ha="center", va="center", size=9, color=palette.INK)
        # The lines between the columns stop short of the text.
        text.set_bbox({"facecolor": palette.PANEL, "edgecolor": "none", "pad": 1})


def _draw_bars(ax: Axes, numbers: Sequence[int | None], limit: int) -> None:
    for row, count in enumerate(numbers):
        if count is None:
            ax.text(0.02 * limit, row, "no such layer", va="center", size=8, color=palette.FAINT)
            continue
        ax.barh(row, count, height=0.64, color=_BAR, edgecolor=palette.FAINT, linewidth=0.7)
        ax.text(count + 0.04 * limit, row, str(count), va="center", size=9, color=palette.INK)


def _finish(
    ax: Axes, labels: Sequence[str], title: str, across: tuple[float | int, float | int]
) -> None:
    ax.set_xlim(*across)
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.set_yticks(range(len(labels)), labels)
    ax.tick_params(length=0, labelsize=9, colors=palette.INK)
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.set_title(title, size=10, color=palette.INK)
