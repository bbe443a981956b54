"""Lesson 2: word plus position, positions as clock hands, rows that two sentences share."""

from collections.abc import Sequence
from math import atan2, degrees

import ipywidgets as widgets
from IPython.display import HTML
from matplotlib.axes import Axes
from matplotlib.figure import Figure, FigureBase
from matplotlib.patches import Circle
from torch import Tensor

from mha_lib.figures import palette
from mha_lib.figures.explorers import Explorer, explorer
from mha_lib.figures.grids import draw_grid, side_by_side, stacked
from mha_lib.figures.numbers import check_labels, number
from mha_lib.figures.pictures import new_figure, picture

# A title, and the rows (L, E) of two sentences.
Rows = tuple[str, Tensor, Tensor]


def show_sum(scaled: Tensor, positions: Tensor, total: Tensor, words: Sequence[str]) -> HTML:
    """Show scaled words plus positions equals the input: three grids of one shape.

    Args:
        scaled: The words of one sentence, looked up and scaled (L, E).
        positions: One row for each position (L, E).
        total: What is shown as their sum (L, E).
        words: One for each row.

    Returns:
        The picture.
    """
    return picture(*draw_sum(scaled, positions, total, words))


def draw_sum(
    scaled: Tensor, positions: Tensor, total: Tensor, words: Sequence[str]
) -> tuple[Figure, str]:
    """Draw `show_sum`; return the figure and its alt text."""
    figure = new_figure(10.4, 2.3)
    width = scaled.shape[1]
    axes = side_by_side(figure, [width, 0.5, width, 0.5, width])
    size = f"(L {scaled.shape[0]}, E {width})"
    for ax, x, name in zip(
        axes[::2], (scaled, positions, total), ("√E · words", "positions", "X"), strict=True
    ):
        labels = words if name != "positions" else [str(p) for p in range(x.shape[0])]
        draw_grid(ax, x, rows=labels if name != "X" else [""] * len(words), title=f"{name} {size}")
    for ax, sign in zip(axes[1::2], "+=", strict=True):
        ax.axis("off")
        ax.text(0.5, 0.5, sign, ha="center", va="center", size=16, color=palette.INK)
    return figure, (
        f"Three grids of {scaled.shape[0]} rows and {width} columns: the scaled words "
        f"{', '.join(words)}, plus one row for each position, equals the input X. Each number of X "
        "is the sum of the two numbers at the same place."
    )


def clock_hands(positions: Tensor, pair: int = 0) -> HTML:
    """Show one pair of columns as the hand of a clock, one face a position.

    Args:
        positions: One row for each position (P, E); at most six rows.
        pair: Which pair of columns: 0 for the columns 0 and 1, 1 for 2 and 3, ...

    Returns:
        The picture.

    Raises:
        ValueError: There is no such pair, or there are more than six rows.
    """
    return picture(*draw_clocks(positions, pair))


def draw_clocks(positions: Tensor, pair: int) -> tuple[Figure, str]:
    """Draw `clock_hands`; return the figure and its alt text."""
    count, pairs = positions.shape[0], positions.shape[1] // 2
    if not 0 <= pair < pairs:
        raise ValueError(f"pair must lie in 0 .. {pairs - 1}, got {pair}")
    if count > 6:
        raise ValueError(f"positions must have at most 6 rows, got {count}")
    hands = positions[:, 2 * pair : 2 * pair + 2].tolist()
    figure = new_figure(2.2 * count, 2.9)
    figure.set_layout_engine("constrained", h_pad=0.1)
    for row, ax in enumerate(side_by_side(figure, [1] * count)):
        draw_hand(ax, hands[: row + 1])
        x, y = hands[row]
        ax.set_title(
            f"row {row}\ncolumn {2 * pair}: {number(x)}\ncolumn {2 * pair + 1}: {number(y)}",
            size=10,
            color=palette.INK,
        )
    where = "; ".join(
        f"row {p}: {number(x)} and {number(y)}, {degrees(atan2(x, y)) % 360:.0f}° from the top"
        for p, (x, y) in enumerate(hands)
    )
    return figure, (
        f"{count} clock faces, one for each row. Columns {2 * pair} and {2 * pair + 1} are the "
        f"hand's shift to the right and upwards. {where}. Dotted lines show the hand in the rows "
        "before."
    )


def draw_hand(ax: Axes, hands: Sequence[Sequence[float]]) -> None:
    """Draw a clock face with its hand, the last one given, and faint the hands before it."""
    ax.add_patch(Circle((0, 0), 1, fill=False, edgecolor=palette.LINE))
    for x, y in hands[:-1]:
        ax.plot([0, x], [0, y], color=palette.LINE, linewidth=1, linestyle=":")
    x, y = hands[-1]
    ax.plot([x, x, 0], [0, y, y], color=palette.FAINT, linewidth=0.8)
    ax.plot([-1, 1], [0, 0], color=palette.LINE, linewidth=0.6)
    ax.plot([0, 0], [-1, 1], color=palette.LINE, linewidth=0.6)
    ax.annotate("", (x, y), (0, 0), arrowprops={"arrowstyle": "-|>", "lw": 2, "color": palette.INK})
    ax.set_xlim(-1.1, 1.1)
    ax.set_ylim(-1.1, 1.1)
    ax.set_aspect("equal")
    ax.axis("off")


def equal_rows(left: Tensor, right: Tensor) -> list[tuple[int, int]]:
    """Return all pairs (row of left, row of right) that are equal number by number.

    >>> import torch
    >>> equal_rows(torch.tensor([[1, 2], [3, 4]]), torch.tensor([[3, 4], [1, 5]]))
    [(1, 0)]
    """
    return [(i, j) for i, a in enumerate(left) for j, b in enumerate(right) if a.equal(b)]


def compare_rows(
    shown: Sequence[Rows], left_words: Sequence[str], right_words: Sequence[str]
) -> HTML:
    """Show two sentences side by side, with lines between the rows that are equal.

    Args:
        shown: One triple for each frame: a title, and the two sentences' rows (L, E).
        left_words: The left sentence.
        right_words: The right sentence.

    Returns:
        The picture, frames below each other.
    """
    return picture(*draw_rows(shown, left_words, right_words))


def draw_rows(
    shown: Sequence[Rows], left_words: Sequence[str], right_words: Sequence[str]
) -> tuple[Figure, str]:
    """Draw `compare_rows`; return the figure and its alt text."""
    figure = new_figure(9, 2.2 * len(shown))
    alts = []
    for frame, rows in zip(stacked(figure, [1] * len(shown)), shown, strict=True):
        alts.append(draw_pair(frame, rows, left_words, right_words))
    return figure, (
        f"Left the rows of the sentence {' '.join(left_words)}, right those of "
        f"{' '.join(right_words)}. " + " ".join(alts)
    )


def draw_pair(
    frame: FigureBase, rows: Rows, left_words: Sequence[str], right_words: Sequence[str]
) -> str:
    """Draw one frame of `compare_rows`; return what it shows in words."""
    title, left, right = rows
    same = equal_rows(left, right)
    known = {j for _, j in same}
    a, between, b = side_by_side(frame, [left.shape[1], 3, right.shape[1]])
    draw_grid(a, left, rows=left_words, title=title)
    check_labels("rows", right_words, len(right))
    labels = [w if j in known else f"{w}, new" for j, w in enumerate(right_words)]
    draw_grid(b, right, rows=labels, title="the other sentence")
    b.yaxis.tick_right()
    b.tick_params(length=0)
    between.set_xlim(0, 1)
    between.set_ylim(*a.get_ylim())
    between.axis("off")
    for i, j in same:
        between.plot(
            [0, 1], [i, j], color=palette.INK, linewidth=1.4, marker="o", ms=4, clip_on=False
        )
    new = [word for j, word in enumerate(right_words) if j not in known]
    lines = ", ".join(f"{left_words[i]} (row {i}) to row {j}" for i, j in same) or "none"
    return f"{title}: lines between equal rows: {lines}; {len(new)} rows on the right are new."


def explore_positions(
    ids: Tensor, table: Tensor, positions: Tensor, sentences: Sequence[Sequence[str]]
) -> Explorer:
    """Show sentence 0 beside another one, with the positions turned up or down.

    Args:
        ids: Word ids (B, L).
        table: One row for each word (V, E).
        positions: One row for each position (L, E).
        sentences: The words of each row of `ids`.

    Returns:
        The box: gain of the positions, whether words are scaled by √E, the other sentence.
    """

    def draw(gain: float, scale: bool, other: int) -> tuple[Figure, str]:
        looked_up = table[ids] * (table.shape[1] ** 0.5 if scale else 1.0)
        x = looked_up + gain * positions
        # All rows of the position table have the same length, so the first one stands for all.
        word, place = (float(r[0].norm()) for r in (looked_up[0], gain * positions))
        title = f"length of {sentences[0][0]}: {number(word)}, of a position: {number(place)}"
        return draw_rows([(title, x[0], x[other])], sentences[0], sentences[other])

    options = [(" ".join(words), i) for i, words in enumerate(sentences) if i]
    return explorer(
        draw,
        {
            "gain": widgets.FloatSlider(1, min=0, max=2, step=0.25, description="positions times"),
            "scale": widgets.Checkbox(True, description="words times √E", indent=False),
            "other": widgets.Dropdown(options=options, value=1, description="beside sentence 0:"),
        },
    )
