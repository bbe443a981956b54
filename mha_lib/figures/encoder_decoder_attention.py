"""Lesson 9: the map of a French sentence over an English one, and the two maps beside it."""

from collections.abc import Sequence

import ipywidgets as widgets
import torch
from IPython.display import HTML
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from mha_lib.figures.explorers import Explorer, explorer
from mha_lib.figures.grids import draw_grid, side_by_side
from mha_lib.figures.pictures import new_figure, picture
from mha_lib.masks import padding_mask
from mha_lib.merging_heads import MultiHeadAttention


def cross_maps(weights: Tensor, target: Sequence[str], source: Sequence[str]) -> HTML:
    """Show the weights of each head: target words down, source words across.

    Args:
        weights: Weights of one pair of sentences (H, T, S).
        target: The words that ask.
        source: The words that are read.

    Returns:
        The picture.
    """
    return picture(*draw_cross_maps(weights, target, source))


def draw_cross_maps(
    weights: Tensor, target: Sequence[str], source: Sequence[str]
) -> tuple[Figure, str]:
    """Return the figure of `cross_maps` and its alt text."""
    figure = new_figure(9, 0.36 * len(target) + 0.9)
    axes = side_by_side(figure, [1] * len(weights))
    for head, ax in enumerate(axes):
        draw_map(ax, weights[head], head, target if head == 0 else None, source)
    parts = [f"Head {h}: {strongest(weights[h], target, source)}." for h in range(len(weights))]
    return figure, (
        f"One map for each head, {len(target)} target words down, {len(source)} source words "
        f"across. {' '.join(parts)}"
    )


def strongest(weights: Tensor, target: Sequence[str], source: Sequence[str]) -> str:
    """Say where each word looks most, and leave out the words that look nowhere in particular.

    >>> strongest(torch.tensor([[0.9, 0.1], [0.5, 0.5]]), ["chats", "les"], ["cats", "black"])
    'chats looks at cats (0.90); les at no word in particular'
    """
    parts = []
    for word, row in zip(target, weights, strict=True):
        place = int(row.argmax())
        if row[place] > 0.5:
            parts.append(f"{word} looks at {source[place]} ({float(row[place]):.2f})")
        else:
            parts.append(f"{word} at no word in particular")
    return "; ".join(parts)


def draw_map(
    ax: Axes,
    weights: Tensor,
    head: int,
    rows: Sequence[str] | None,
    columns: Sequence[str],
    hidden: Tensor | None = None,
    title: str = "",
) -> None:
    """Draw one map of weights with its head's colour and edge."""
    rows = [""] * len(weights) if rows is None else rows
    title = title or f"head {head}"
    draw_grid(
        ax, weights, rows=rows, columns=columns, title=title, hidden=hidden, weights_of_head=head
    )
    ax.tick_params(labelsize=8)
    if len(columns) > 4:
        ax.tick_params(axis="x", rotation=35)


def three_kinds(
    encoder: tuple[Tensor, Sequence[str]],
    decoder: tuple[Tensor, Sequence[str]],
    cross: tuple[Tensor, Sequence[str]],
    head: int,
) -> HTML:
    """Show one head of each kind of attention side by side.

    Args:
        encoder: Weights (S, S) and the source words.
        decoder: Weights (T, T) and a label for each row: what is fed and what is written.
        cross: Weights (T, S) and the target words.
        head: Which head, for its colour.

    Returns:
        The picture.
    """
    figure = new_figure(9.6, 3.6)
    axes = side_by_side(figure, [len(encoder[0]), len(decoder[0]) + 0.5, len(encoder[0])])
    source, labels = encoder[1], decoder[1]
    fed = [label.split("→")[0] for label in labels]
    later = torch.ones(len(fed), len(fed), dtype=torch.bool).triu(1)
    draw_map(axes[0], encoder[0], head, source, source, title="encoder: reads itself")
    draw_map(axes[1], decoder[0], head, labels, fed, hidden=later, title="decoder: earlier words")
    draw_map(axes[2], cross[0], head, cross[1], source, title="decoder reads encoder")
    return picture(
        figure,
        f"Three maps of head {head}. Encoder self-attention: {len(source)} by {len(source)}, no "
        f"cell hidden. Decoder self-attention: {len(fed)} by {len(fed)}, all cells above the "
        "diagonal hatched; each row is labelled with the word that is fed and the word that is "
        f"written. Encoder-decoder attention: {len(fed)} by {len(source)}, no cell hidden.",
    )


def explore_cross(
    layer: MultiHeadAttention,
    states: Tensor,
    x: Tensor,
    target: Sequence[str],
    sentences: Sequence[Sequence[str]],
    lengths: Tensor,
) -> Explorer:
    """Show controls for the source sentence, its padding mask, and swapped roles.

    Args:
        layer: The cross-attention.
        states: Decoder states of one sentence (T, E).
        x: Encoder output of each source sentence (B, S, E).
        target: The words of the target sentence.
        sentences: The words of each of the B source sentences.
        lengths: Real words of each source sentence (B,).

    Returns:
        Controls and the picture.
    """

    def draw(sentence: int, padding: bool, swapped: bool) -> tuple[Figure, str]:
        source = sentences[sentence]
        mask = padding_mask(lengths, x.shape[1])[sentence, 0]  # (1, S)
        with torch.no_grad():
            if swapped:
                _, weights = layer(x[sentence], states, need_weights=True)
                return draw_cross_maps(weights, source, target)
            keep = mask.expand(len(states), -1) if padding else None
            _, weights = layer(states, x[sentence], mask=keep, need_weights=True)
        return draw_cross_maps(weights, target, source)

    names = [(" ".join(words), i) for i, words in enumerate(sentences)]
    return explorer(
        draw,
        {
            "sentence": widgets.Dropdown(options=names, description="source"),
            "padding": widgets.Checkbox(True, description="source padding hidden"),
            "swapped": widgets.Checkbox(False, description="roles swapped"),
        },
    )
