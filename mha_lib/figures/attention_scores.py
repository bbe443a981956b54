"""Lesson 5: from one word's query to its output."""

from collections.abc import Sequence

import ipywidgets as widgets
from IPython.display import HTML
from matplotlib.axes import Axes
from matplotlib.figure import Figure, FigureBase
from matplotlib.patches import Rectangle
from torch import Tensor

from mha_lib.attention_scores import attention_scores
from mha_lib.figures import palette
from mha_lib.figures.explorers import Explorer, explorer
from mha_lib.figures.grids import draw_grid, outline, stacked
from mha_lib.figures.numbers import check_labels, number
from mha_lib.figures.pictures import new_figure, picture

FACTORS = {"× ¼": 0.25, "× ½": 0.5, "× 1": 1.0, "× 2": 2.0, "× 4": 4.0}


def one_row(q: Tensor, k: Tensor, v: Tensor, words: Sequence[str], asking: int) -> HTML:
    """Show for each head how one word's query becomes its output.

    Args:
        q: Queries of one sentence (H, L, D).
        k: Keys (H, L, D).
        v: Values (H, L, D).
        words: One for each of the L places.
        asking: Place of the word whose query is followed.

    Returns:
        The picture.
    """
    figure = new_figure(9.4, 3.1 * len(q))
    for head, frame in enumerate(stacked(figure, [1] * len(q))):
        draw_row(frame, (q[head], k[head], v[head]), words, asking, head)
    alts = [row_alt((q[h], k[h], v[h]), words, asking, h) for h in range(len(q))]
    return picture(figure, " ".join(alts))


def explore_row(q: Tensor, k: Tensor, v: Tensor, sentences: Sequence[Sequence[str]]) -> Explorer:
    """Show controls for the sentence, the asking word, the head and a factor on the scores.

    Args:
        q: Queries (B, H, L, D).
        k: Keys (B, H, L, D).
        v: Values (B, H, L, D).
        sentences: The words of each of the B sentences.

    Returns:
        Controls and the picture of one head.
    """

    def draw(sentence: int, asking: int, head: int, factor: float) -> tuple[Figure, str]:
        qkv = q[sentence, head], k[sentence, head], v[sentence, head]
        figure = new_figure(9.4, 3.1)
        draw_row(figure, qkv, sentences[sentence], asking, head, factor)
        return figure, row_alt(qkv, sentences[sentence], asking, head, factor)

    names = [(" ".join(words), i) for i, words in enumerate(sentences)]
    return explorer(
        draw,
        {
            "sentence": widgets.Dropdown(options=names, description="sentence"),
            "asking": widgets.IntSlider(1, 0, q.shape[2] - 1, description="place of the word"),
            "head": widgets.Dropdown(options=range(q.shape[1]), value=1, description="head"),
            "factor": widgets.SelectionSlider(
                options=list(FACTORS.items()), value=1.0, description="scores"
            ),
        },
    )


def row_values(
    qkv: tuple[Tensor, Tensor, Tensor], asking: int, factor: float = 1.0
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return one word's scores (S,), weights (S,), weighted values (S, D) and output (D,).

    Args:
        qkv: Queries, keys and values of one head (L, D).
        asking: Place of the word whose query is followed.
        factor: On the scores, before softmax.

    Returns:
        The four steps from the query to its output.
    """
    q, k, v = qkv
    scores = attention_scores(q[asking : asking + 1], k)[0] * factor
    weights = scores.softmax(-1)
    weighted = weights.unsqueeze(-1) * v
    return scores, weights, weighted, weighted.sum(0)


def draw_row(
    figure: FigureBase,
    qkv: tuple[Tensor, Tensor, Tensor],
    words: Sequence[str],
    asking: int,
    head: int,
    factor: float = 1.0,
) -> None:
    """Draw one head: query over keys, scores, weights, values, weighted values over output."""
    check_labels("words", words, len(qkv[0]))
    scores, weights, weighted, output = row_values(qkv, asking, factor)
    q, k, v = qkv
    length, width = k.shape
    figure.suptitle(f"head {head}: {words[asking]} asks", fontsize=11, fontweight="bold")
    above, axes, below = row_axes(figure, length, width)
    scaled = f"q·k / √{width}" if factor == 1 else f"× {factor:g}"
    query, key, value = (palette.GLYPHS[role] for role in ("query", "key", "value"))
    draw_block(above, q[asking : asking + 1], f"{query} query", [words[asking]], palette.QUERY)
    draw_block(axes[0], k, f"{key} keys", words, palette.KEY)
    draw_block(axes[1], scores[:, None], f"score\n{scaled}")
    draw_block(axes[2], weights[:, None], "weight\nsoftmax", weights_of_head=head)
    draw_block(axes[3], v, f"{value} values", edge=palette.VALUE)
    draw_block(axes[4], weighted, f"weight × {value} value")
    draw_block(below, output[None], "")
    below.text(-0.7, 0, "sum = output", ha="right", va="center", size=9, in_layout=False)
    outline(below, (0, 0), (1, width), head)


def row_axes(figure: FigureBase, length: int, width: int) -> tuple[Axes, list[Axes], Axes]:
    """Return axes for the query above, the five blocks in the middle, the output below."""
    widths = [width, 1.25, 1.25, width, width]
    every = figure.subplots(3, 5, height_ratios=[1, length, 1], width_ratios=widths)
    for ax in [*every[0, 1:], *every[2, :-1]]:
        ax.remove()
    return every[0, 0], list(every[1]), every[2, 4]


def draw_block(
    ax: Axes,
    x: Tensor,
    title: str,
    rows: Sequence[str] | None = None,
    edge: str = "",
    weights_of_head: int | None = None,
) -> None:
    """Draw a grid without column numbers, and an edge in the colour of its role, if any."""
    blank = [""] * x.shape[1]
    draw_grid(ax, x, rows=rows, columns=blank, title=title, weights_of_head=weights_of_head)
    if edge:
        frame_role(ax, (x.shape[0], x.shape[1]), edge)


def frame_role(ax: Axes, size: tuple[int, int], colour: str) -> None:
    """Draw the edge of a block of queries, keys or values in the colour of its role."""
    ax.add_patch(
        Rectangle(
            (-0.5, -0.5),
            size[1],
            size[0],
            fill=False,
            edgecolor=colour,
            linewidth=1.8,
            zorder=3,
            clip_on=False,
        )
    )


def row_alt(
    qkv: tuple[Tensor, Tensor, Tensor],
    words: Sequence[str],
    asking: int,
    head: int,
    factor: float = 1.0,
) -> str:
    """Say in words what `draw_row` shows."""
    _, weights, _, output = row_values(qkv, asking, factor)
    best = int(weights.argmax())
    return (
        f"Head {head}, query of {words[asking]}, from left to right: the query above the keys, one "
        f"score for each key, the weights, the values, and each value times its weight. The "
        f"largest weight, {number(float(weights[best]))}, is on {words[best]} at place {best}. The "
        f"output is {', '.join(number(float(x)) for x in output)}."
    )
