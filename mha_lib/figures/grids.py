"""Tensors as grids of numbers: words down, features across, one colour a head."""

from collections.abc import Sequence

from IPython.display import HTML
from matplotlib.axes import Axes
from matplotlib.figure import FigureBase
from matplotlib.patches import Rectangle
from torch import Tensor

from mha_lib.figures import palette
from mha_lib.figures.numbers import check_labels, is_whole, number
from mha_lib.figures.pictures import new_figure, picture

Colour = str | tuple[float, float, float, float]


def draw_grid(
    ax: Axes,
    x: Tensor,
    *,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    title: str = "",
    head_of_column: Sequence[int] | None = None,
    weights_of_head: int | None = None,
    hidden: Tensor | None = None,
) -> None:
    """Draw a matrix with a number in each cell.

    Args:
        ax: Where.
        x: Two axes: rows down, columns across.
        rows: A label for each row.
        columns: A label for each column.
        title: A caption, such as ``Q (L 4, E 6)``.
        head_of_column: The head that owns each column: it gets that head's colour and edge.
        weights_of_head: Fill the cells from 0 to 1 with this head's colour; only for weights.
        hidden: True where a mask hides the cell: hatched, with a dot in place of a number.

    Raises:
        ValueError: `x` has not two axes, or the labels do not fit.
    """
    if x.ndim != 2:
        raise ValueError(f"x must have two axes, got shape {tuple(x.shape)}")
    x = x.detach()
    whole = is_whole(x) and weights_of_head is None
    for r in range(x.shape[0]):
        for c in range(x.shape[1]):
            value = float(x[r, c])
            head = weights_of_head if head_of_column is None else head_of_column[c]
            masked = hidden is not None and bool(hidden[r, c])
            fill: Colour = palette.PANEL
            if weights_of_head is not None and not masked:
                fill = palette.weight_colours(weights_of_head)(value)
            _draw_cell(ax, r, c, fill, masked)
            text = "·" if masked else number(value, whole)
            ax.text(c, r, text, ha="center", va="center", color=palette.ink_on(fill), size=9)
            if head is not None and head_of_column is not None:
                _frame(ax, r, c, head)
    _finish(ax, x, rows, columns, title)
    if weights_of_head is not None:
        outline(ax, (0, 0), (x.shape[0], x.shape[1]), weights_of_head)


def outline(ax: Axes, first: tuple[int, int], size: tuple[int, int], head: int) -> None:
    """Draw a head's edge around a block of cells: `first` (row, column), `size` (rows, columns)."""
    ax.add_patch(
        Rectangle(
            # A little inside the cells, so that the edges of two neighbours stay apart.
            (first[1] - 0.46, first[0] - 0.46),
            size[1] - 0.08,
            size[0] - 0.08,
            fill=False,
            edgecolor=palette.head_colour(head),
            linestyle=palette.head_edge(head),
            linewidth=2.2,
            zorder=3,
            clip_on=False,
        )
    )


def draw_heads(
    axes: Sequence[Axes], x: Tensor, rows: Sequence[str], columns: Sequence[str] | None = None
) -> None:
    """Draw a (H, rows, columns) tensor, one grid a head, each with its head's edge."""
    for head, ax in enumerate(axes):
        draw_grid(ax, x[head], rows=rows, columns=columns, title=f"head {head}")
        outline(ax, (0, 0), (x.shape[1], x.shape[2]), head)


def grids(*shown: tuple[str, Tensor], rows: Sequence[str], alt: str) -> HTML:
    """Show some matrices with the same rows side by side, each with its title.

    >>> import torch
    >>> grids(("x", torch.eye(2)), rows=["dogs", "cats"], alt="The unit matrix.")
    <IPython.core.display.HTML object>

    Args:
        shown: Pairs of title and matrix.
        rows: A label for each row, drawn at the first matrix.
        alt: What there is to see.

    Returns:
        The picture.
    """
    widths = [x.shape[1] for _, x in shown]
    figure = new_figure(0.62 * sum(widths) + 0.5 * len(shown) + 0.8, 0.42 * len(rows) + 0.9)
    axes = side_by_side(figure, widths)
    for i, (ax, (title, x)) in enumerate(zip(axes, shown, strict=True)):
        draw_grid(ax, x, rows=rows if i == 0 else [""] * len(rows), title=title)
    return picture(figure, alt)


def side_by_side(figure: FigureBase, widths: Sequence[float | int]) -> list[Axes]:
    """Return a row of axes whose widths are in proportion."""
    return list(figure.subplots(1, len(widths), squeeze=False, width_ratios=list(widths))[0])


def stacked(figure: FigureBase, heights: Sequence[float | int]) -> list[FigureBase]:
    """Return a column of parts of a figure whose heights are in proportion."""
    parts = figure.subfigures(len(heights), 1, squeeze=False, height_ratios=list(heights))
    return [part for row in parts for part in row]


def _draw_cell(ax: Axes, r: int, c: int, fill: Colour, masked: bool = False) -> None:
    ax.add_patch(
        Rectangle(
            (c - 0.5, r - 0.5),
            1,
            1,
            facecolor=fill,
            edgecolor=palette.LINE,
            linewidth=0.7,
            hatch="////" if masked else None,
        )
    )


def _frame(ax: Axes, r: int, c: int, head: int) -> None:
    ax.add_patch(
        Rectangle(
            (c - 0.44, r - 0.44),
            0.88,
            0.88,
            fill=False,
            edgecolor=palette.head_colour(head),
            linestyle=palette.head_edge(head),
            linewidth=1.4,
        )
    )


def _finish(
    ax: Axes,
    x: Tensor,
    rows: Sequence[str] | None,
    columns: Sequence[str] | None,
    title: str,
) -> None:
    count_rows, count_columns = x.shape
    ax.set_xlim(-0.6, count_columns - 0.4)
    ax.set_ylim(count_rows - 0.4, -0.6)
    for labels, name, count in ((rows, "rows", count_rows), (columns, "columns", count_columns)):
        if labels is not None:
            check_labels(name, labels, count)
    ax.set_yticks(range(count_rows), list(rows) if rows is not None else [""] * count_rows)
    across = columns if columns is not None else [str(c) for c in range(count_columns)]
    ax.set_xticks(range(count_columns), list(across))
    ax.xaxis.tick_top()
    ax.tick_params(length=0, labelsize=9, colors=palette.INK)
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.set_title(title, size=10, color=palette.INK)
