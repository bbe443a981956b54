"""Lesson 3: which numbers of the input and of the weight make one number of a projection."""

from collections.abc import Sequence

import ipywidgets as widgets
import torch
from IPython.display import HTML
from matplotlib.axes import Axes
from matplotlib.figure import Figure, FigureBase
from matplotlib.patches import Rectangle
from torch import Tensor

from mha_lib.figures import palette
from mha_lib.figures.explorers import Explorer, explorer
from mha_lib.figures.grids import draw_grid, outline, side_by_side, stacked
from mha_lib.figures.numbers import check_labels, number
from mha_lib.figures.pictures import new_figure, picture
from mha_lib.hyperparameters import head_dim

VIEWS = {"W as stored": True, "Wᵀ in the formula": False}


def wire_cell(
    x: Tensor, weight: Tensor, words: Sequence[str], num_heads: int, word: int, feature: int
) -> HTML:
    """Show one number of a projection, and the six products that it is the sum of.

    Args:
        x: The input of one sentence (L, E).
        weight: As `nn.Linear` stores it (E, E), one row for each output feature.
        words: One for each row of `x`.
        num_heads: Number H of heads.
        word: Row of the number that is followed.
        feature: Column of the number that is followed.

    Returns:
        The picture.
    """
    figure = new_figure(9.4, 4.6)
    draw_wired(figure, x, weight, words, num_heads, word, feature)
    return picture(figure, wired_alt(x, weight, words, num_heads, word, feature))


def both_views(weight: Tensor, num_heads: int) -> HTML:
    """Show a weight as stored and as the formula uses it, with each head's part outlined.

    Args:
        weight: As `nn.Linear` stores it (E, E), one row for each output feature.
        num_heads: Number H of heads.

    Returns:
        The picture.
    """
    return picture(*draw_views(weight, num_heads))


def draw_views(weight: Tensor, num_heads: int) -> tuple[Figure, str]:
    """Draw the figure of `both_views` and say in words what it shows."""
    figure = new_figure(9, 2.9)
    for ax, (title, stored) in zip(side_by_side(figure, [1, 1]), VIEWS.items(), strict=True):
        draw_weight(ax, weight, num_heads, stored, title)
    width = head_dim(len(weight), num_heads)
    parts = "; ".join(
        f"head {h} owns {h * width} to {(h + 1) * width - 1}" for h in range(num_heads)
    )
    return figure, (
        f"The same {len(weight)} by {weight.shape[1]} weight twice. Left as stored: the heads are "
        f"blocks of rows. Right transposed, as in the formula: the heads are blocks of columns. "
        f"In both, {parts}."
    )


def explore_projection(x: Tensor, weight: Tensor, words: Sequence[str], num_heads: int) -> Explorer:
    """Show controls for the word, the output feature and the view of the weight."""

    def draw(word: int, feature: int, stored: bool) -> tuple[Figure, str]:
        figure = new_figure(9.4, 4.6)
        draw_wired(figure, x, weight, words, num_heads, word, feature, stored)
        return figure, wired_alt(x, weight, words, num_heads, word, feature, stored)

    return explorer(
        draw,
        {
            "word": widgets.Dropdown(
                options=[(name, i) for i, name in enumerate(words)], value=1, description="word"
            ),
            "feature": widgets.IntSlider(
                len(weight) // 2, 0, len(weight) - 1, description="output feature"
            ),
            "stored": widgets.ToggleButtons(options=list(VIEWS.items()), description="weight"),
        },
    )


def cell_products(x: Tensor, weight: Tensor, word: int, feature: int) -> Tensor:
    """Return the products whose sum is one number of the projection: (E,).

    >>> cell_products(torch.tensor([[2.0, 3.0]]), torch.tensor([[1.0, -1.0]]), 0, 0)
    tensor([ 2., -3.])
    """
    return x[word] * weight[feature]


def draw_wired(
    figure: FigureBase,
    x: Tensor,
    weight: Tensor,
    words: Sequence[str],
    num_heads: int,
    word: int,
    feature: int,
    stored: bool = True,
) -> None:
    """Draw input, weight and projection; below, one cell's products and their sum."""
    top, bottom = stacked(figure, [1.75, 1])
    left, middle, right = side_by_side(top, [x.shape[1], weight.shape[1], len(weight) + 1])
    draw_grid(left, x, rows=words, title=f"X (L {len(x)}, E {x.shape[1]})")
    ring(left, (word, 0), (1, x.shape[1]))
    title = next(name for name, value in VIEWS.items() if value is stored)
    draw_weight(middle, weight, num_heads, stored, title)
    row = (feature, 0), (1, weight.shape[1])
    column = (0, feature), (weight.shape[1], 1)
    ring(middle, *(row if stored else column))
    draw_projection(right, x @ weight.T, num_heads)
    ring(right, (word, feature), (1, 1))
    products = cell_products(x, weight, word, feature)
    shown = torch.stack([x[word], weight[feature], products])
    part = f"{'row' if stored else 'column'} {feature} of the weight"
    steps, total = side_by_side(bottom, [x.shape[1], 1])
    names = [f"{words[word]}, row of X", part, "their products"]
    draw_grid(steps, shown, rows=names, title="feature by feature")
    sum_grid(total, products.sum(), len(shown), f"Q[{words[word]}, {feature}]")


def draw_projection(ax: Axes, projected: Tensor, num_heads: int) -> None:
    """Draw the queries with each head's columns outlined and named."""
    length, embed_dim = projected.shape
    width = head_dim(embed_dim, num_heads)
    draw_grid(ax, projected, title=f"Q (L {length}, E {embed_dim})")
    for head in range(num_heads):
        outline(ax, (0, head * width), (length, width), head)
        name_columns(ax, length, head * width, width, f"head {head}")


def sum_grid(ax: Axes, value: Tensor, rows: int, title: str) -> None:
    """Draw the sum as one cell beside the last of the rows."""
    draw_grid(ax, value.reshape(1, 1), rows=["sum"], columns=[""])
    ax.text(0, -0.7, title, ha="center", va="bottom", size=9, in_layout=False)
    ax.set_ylim(0.6, 0.4 - rows)


def draw_weight(ax: Axes, weight: Tensor, num_heads: int, stored: bool, title: str) -> None:
    """Draw a weight, rows outlined by head as stored, columns in the formula."""
    width = head_dim(len(weight), num_heads)
    outputs = [f"out {i}" for i in range(len(weight))]
    inputs = [f"in {i}" for i in range(weight.shape[1])]
    if stored:
        draw_grid(ax, weight, rows=outputs, columns=inputs, title=title)
    else:
        draw_grid(ax, weight.T, rows=inputs, columns=outputs, title=title)
    ax.tick_params(axis="x", labelsize=8)
    for head in range(num_heads):
        first, size = (head * width, 0), (width, weight.shape[1])
        outline(ax, first if stored else first[::-1], size if stored else size[::-1], head)
        if stored:
            middle = head * width + (width - 1) / 2
            ax.text(weight.shape[1] - 0.4, middle, f"head {head}", rotation=90, va="center", size=9)
        else:
            name_columns(ax, weight.shape[1], head * width, width, f"head {head}")


def name_columns(ax: Axes, rows: int, first: int, width: int, name: str) -> None:
    """Write a name below some columns of a grid."""
    ax.text(first + (width - 1) / 2, rows - 0.4, name, ha="center", va="top", size=9)


def ring(ax: Axes, first: tuple[int, int], size: tuple[int, int]) -> None:
    """Draw a thick black edge around a block: `first` (row, column), `size` (rows, columns)."""
    ax.add_patch(
        Rectangle(
            (first[1] - 0.5, first[0] - 0.5),
            size[1],
            size[0],
            fill=False,
            edgecolor=palette.INK,
            linewidth=2.2,
            zorder=4,
            clip_on=False,
        )
    )


def wired_alt(
    x: Tensor,
    weight: Tensor,
    words: Sequence[str],
    num_heads: int,
    word: int,
    feature: int,
    stored: bool = True,
) -> str:
    """Say in words what `draw_wired` shows."""
    check_labels("words", words, len(x))
    products = cell_products(x, weight, word, feature)
    head = feature // head_dim(len(weight), num_heads)
    kind = "row" if stored else "column"
    return (
        f"The input X, the weight and the projection Q. Marked: the row of {words[word]} in X, "
        f"{kind} {feature} of the weight, which belongs to head {head}, and their cell of Q. "
        f"Below, the products {', '.join(number(float(p)) for p in products)} add up to "
        f"{number(float(products.sum()))}."
    )
