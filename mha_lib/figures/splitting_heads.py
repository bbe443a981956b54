"""Lesson 4: where each number lies in memory, and what a bare reshape does to it."""

from collections.abc import Sequence

import ipywidgets as widgets
from IPython.display import HTML
from matplotlib.axes import Axes
from matplotlib.figure import Figure, FigureBase
from matplotlib.patches import Rectangle
from torch import Tensor

from mha_lib.figures import palette
from mha_lib.figures.explorers import Explorer, explorer
from mha_lib.figures.grids import draw_grid, outline, side_by_side, stacked
from mha_lib.figures.numbers import number
from mha_lib.figures.pictures import new_figure, picture
from mha_lib.splitting_heads import split_heads

STEPS = ("memory", "(L, E)", "(L, H, D)", "(H, L, D)")


def split_steps(x: Tensor, num_heads: int, words: Sequence[str], picked: int) -> HTML:
    """Show one matrix in memory, as rows, with heads marked, and split: four frames.

    Args:
        x: The projected queries, keys or values of one sentence (L, E).
        num_heads: Number H of heads.
        words: One for each row.
        picked: Place in memory of the number that is followed.

    Returns:
        The picture.
    """
    figure = new_figure(9, 7.6)
    for step, frame in enumerate(stacked(figure, [0.8, 2.2, 2.2, 2.2])):
        draw_step(frame, x, num_heads, words, step, picked)
    return picture(figure, split_alt(x, num_heads, words, picked))


def explore_split(x: Tensor, num_heads: int, words: Sequence[str]) -> Explorer:
    """Show a slider over the four frames and one over the places in memory."""

    def draw(step: int, place: int) -> tuple[Figure, str]:
        figure = new_figure(9, 3.4)
        memory, view = stacked(figure, [1, 2.4])
        draw_step(memory, x, num_heads, words, 0, place)
        draw_step(view, x, num_heads, words, step, place)
        return figure, view_alt(x, num_heads, words, step, place)

    return explorer(
        draw,
        {
            "step": widgets.SelectionSlider(
                options=[(name, i) for i, name in enumerate(STEPS) if i], description="shape"
            ),
            "place": widgets.IntSlider(0, 0, x.numel() - 1, description="place in memory"),
        },
    )


def split_alt(x: Tensor, num_heads: int, words: Sequence[str], picked: int) -> str:
    """Say in words where the picked number is in each frame."""
    word, head, feature = position(x, num_heads, picked)
    width = x.shape[1] // num_heads
    return (
        f"The {x.numel()} numbers in memory order, then as {len(words)} rows, as rows cut into "
        f"{num_heads} heads, and as {num_heads} matrices. The number at place {picked} is marked: "
        f"word {words[word]}, feature {head * width + feature}, which is head {head}, feature "
        f"{feature} of that head. The strip of memory is the same in every frame."
    )


def view_alt(x: Tensor, num_heads: int, words: Sequence[str], step: int, picked: int) -> str:
    """Say in words what the widget shows: memory, one of the frames, and the picked number."""
    word, head, feature = position(x, num_heads, picked)
    column = head * (x.shape[1] // num_heads) + feature
    frame, place = {
        1: (f"{len(words)} rows", f"feature {column}"),
        2: (f"rows cut into {num_heads} heads", f"head {head}, feature {feature} of that head"),
        3: (f"{num_heads} matrices", f"head {head}, feature {feature} of that head"),
    }[step]
    return (
        f"Above, the {x.numel()} numbers in memory order. Below, the same numbers as {frame}, "
        f"{STEPS[step]}. The number at place {picked} is marked: word {words[word]}, {place}."
    )


def position(x: Tensor, num_heads: int, place: int) -> tuple[int, int, int]:
    """Return word, head and feature within the head of the number at a place in memory.

    >>> import torch
    >>> position(torch.zeros(4, 6), 2, 10)
    (1, 1, 1)
    """
    word, column = divmod(place, x.shape[1])
    return word, *divmod(column, x.shape[1] // num_heads)


def draw_step(
    frame: FigureBase, x: Tensor, num_heads: int, words: Sequence[str], step: int, picked: int
) -> None:
    """Draw one frame: 0 the strip of memory, 1 rows, 2 rows cut into heads, 3 heads."""
    width = x.shape[1] // num_heads
    word, head, feature = position(x, num_heads, picked)
    if step == 0:
        draw_memory(frame.subplots(), x, num_heads, picked)
    elif step == 3:
        heads = split_heads(x, num_heads)
        axes = side_by_side(frame, [1] * num_heads)
        for h, ax in enumerate(axes):
            title = (
                f"head {h} of (H {num_heads}, L {len(words)}, D {width}), strides {heads.stride()}"
            )
            draw_grid(ax, heads[h], rows=words if h == 0 else [""] * len(words), title=title)
            outline(ax, (0, 0), (len(words), width), h)
        mark(axes[head], word, feature)
    else:
        ax = frame.subplots()
        shaped = x if step == 1 else x.unflatten(-1, (num_heads, width))
        names = "(L {}, E {})" if step == 1 else "(L {}, H {}, D {})"
        title = f"{names.format(*shaped.shape)}, strides {shaped.stride()}"
        columns = [str(c if step == 1 else c % width) for c in range(x.shape[1])]
        draw_grid(ax, x, rows=words, columns=columns, title=title)
        for h in range(num_heads):
            outline(ax, (0, h * width), (len(words), width), h)
        mark(ax, word, head * width + feature)


def draw_memory(ax: Axes, x: Tensor, num_heads: int, picked: int) -> None:
    """Draw all numbers in the order in which they lie in memory."""
    flat = x.detach().reshape(-1)
    width = x.shape[1] // num_heads
    for place, value in enumerate(flat):
        head = place // width % num_heads
        colour = palette.head_colour(head)
        ax.add_patch(
            Rectangle(
                (place - 0.45, -0.45),
                0.9,
                0.9,
                facecolor=palette.PANEL,
                edgecolor=colour,
                linestyle=palette.head_edge(head),
                linewidth=1.5,
            )
        )
        ax.text(place, 0, number(float(value), whole=True), ha="center", va="center", size=8)
    ax.set_xlim(-0.7, len(flat) - 0.3)
    ax.set_ylim(0.8, -0.8)
    ax.axis("off")
    ax.set_title("memory", size=10)
    mark(ax, 0, picked)


def mark(ax: Axes, row: int, column: int) -> None:
    """Put a black ring on a cell."""
    ax.plot(column, row, "o", ms=19, mfc="none", mec=palette.INK, mew=1.8, clip_on=False, zorder=4)


def right_and_wrong(x: Tensor, num_heads: int, words: Sequence[str]) -> HTML:
    """Show the split beside the bare reshape; hatched where a number is out of place.

    Args:
        x: The projected queries, keys or values of one sentence (L, E).
        num_heads: Number H of heads.
        words: One for each row.

    Returns:
        The picture.
    """
    return picture(*draw_right_and_wrong(x, num_heads, words))


def draw_right_and_wrong(x: Tensor, num_heads: int, words: Sequence[str]) -> tuple[Figure, str]:
    """Return the figure of `right_and_wrong` and its alt text."""
    right = split_heads(x, num_heads)
    wrong = x.reshape(right.shape)
    figure = new_figure(9, 2.8)
    axes = side_by_side(figure, [1] * (2 * num_heads))
    for h in range(num_heads):
        draw_grid(
            axes[h],
            right[h],
            rows=words if h == 0 else [""] * len(words),
            title=f"split, head {h}",
        )
        bare = axes[num_heads + h]
        draw_grid(bare, wrong[h], rows=[""] * len(words), title=f"reshape, “head {h}”")
        shade(bare, wrong[h] != right[h])
        for ax in (axes[h], bare):
            outline(ax, (0, 0), (right.shape[1], right.shape[2]), h)
    moved = int((wrong != right).sum())
    alt = (
        f"Left, the split: each head has one row for each of the words {', '.join(words)}. Right, "
        f"the bare reshape to the same shape: {moved} of {x.numel()} cells are hatched, because "
        "another number stands there. Its first matrix holds the first words whole, its last "
        "matrix the last words."
    )
    return figure, alt


def shade(ax: Axes, where: Tensor) -> None:
    """Hatch the cells in which `where` is true, behind the numbers."""
    for r, c in where.nonzero().tolist():
        ax.add_patch(
            Rectangle(
                (c - 0.5, r - 0.5),
                1,
                1,
                facecolor="none",
                edgecolor=palette.LINE,
                hatch="////",
                linewidth=0,
                zorder=1.5,
            )
        )
    for text in ax.texts:
        text.set_bbox({"facecolor": palette.PANEL, "edgecolor": "none", "pad": 1})
