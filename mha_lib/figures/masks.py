"""Lesson 8: masks, what they do to the scores, and who can still change whom."""

from collections.abc import Mapping, Sequence

import ipywidgets as widgets
import torch
from IPython.display import HTML
from matplotlib.axes import Axes
from matplotlib.figure import Figure, FigureBase
from torch import Tensor

from mha_lib.attention_scores import attention_scores, attention_weights
from mha_lib.behaviour import influence
from mha_lib.figures import palette
from mha_lib.figures.explorers import Explorer, explorer
from mha_lib.figures.grids import draw_grid, side_by_side, stacked
from mha_lib.figures.pictures import new_figure, picture
from mha_lib.masks import causal_mask, padding_mask
from mha_lib.merging_heads import MultiHeadAttention


def masked_maps(
    q: Tensor, k: Tensor, masks: Mapping[str, Tensor], words: Sequence[str], head: int
) -> HTML:
    """Show mask, scores and weights of one head side by side, a row for each mask.

    Args:
        q: Queries of one head (L, D).
        k: Keys of the same head (L, D).
        masks: Name and mask (L, L), True = may attend.
        words: One for each place.
        head: Which head, for its colour.

    Returns:
        The picture.
    """
    figure = new_figure(9, 2.3 * len(masks))
    for part, (name, mask) in zip(stacked(figure, [1] * len(masks)), masks.items(), strict=True):
        draw_masked(part, (q, k), mask, words, head, name)
    alts = [f"{name}: {hidden_in_words(mask, words)}" for name, mask in masks.items()]
    return picture(
        figure,
        "For each mask the mask itself, the scores and the weights; hidden cells are hatched and "
        f"show a dot. {' '.join(alts)} The weights of each row still sum to 1.",
    )


def hidden_in_words(mask: Tensor, words: Sequence[str]) -> str:
    """Say for each query which keys are hidden.

    >>> hidden_in_words(causal_mask(2, 2), ["dogs", "chase"])
    'dogs may not read chase.'
    """
    parts = []
    for row, word in zip(mask, words, strict=True):
        unseen = [w for w, seen in zip(words, row, strict=True) if not seen]
        if unseen:
            parts.append(f"{word} may not read {', '.join(unseen)}")
    return "; ".join(parts) + "." if parts else "nothing is hidden."


def draw_masked(
    part: FigureBase,
    qk: tuple[Tensor, Tensor],
    mask: Tensor,
    words: Sequence[str],
    head: int,
    name: str,
) -> None:
    """Draw one row: mask, scores, weights."""
    axes = side_by_side(part, [1, 1.15, 1.15])
    blank = [""] * len(words)
    draw_mask(axes[0], mask, words, name)
    scores, weights = attention_scores(*qk), attention_weights(*qk, mask)
    draw_grid(axes[1], scores, rows=blank, columns=words, title="scores", hidden=~mask)
    draw_grid(
        axes[2],
        weights,
        rows=blank,
        columns=words,
        title=f"weights, head {head}",
        hidden=~mask,
        weights_of_head=head,
    )
    for ax in axes:
        ax.tick_params(labelsize=8)


def draw_mask(ax: Axes, mask: Tensor, words: Sequence[str], name: str) -> None:
    """Draw a mask: 1 = may attend, hatched = hidden. Queries down, keys across."""
    draw_grid(ax, mask.int(), rows=words, columns=words[: mask.shape[1]], title=name, hidden=~mask)
    ax.set_ylabel("▸ query", color=palette.QUERY, size=9)


def mask_gallery(masks: Mapping[str, Tensor]) -> HTML:
    """Show masks of any shape side by side, places as numbers.

    Args:
        masks: Name and mask (L, S), True = may attend.

    Returns:
        The picture.
    """
    figure = new_figure(9, 2.7)
    widths = [mask.shape[1] for mask in masks.values()]
    for ax, (name, mask) in zip(side_by_side(figure, widths), masks.items(), strict=True):
        rows = [str(r) for r in range(mask.shape[0])]
        draw_grid(ax, mask.int(), rows=rows, title=name, hidden=~mask)
    seen = [
        f"{name}: query {r} may read keys {', '.join(map(str, row.nonzero().flatten().tolist()))}."
        for name, mask in masks.items()
        for r, row in enumerate(mask)
    ]
    return picture(
        figure, "Masks, queries down, keys across, hidden cells hatched. " + " ".join(seen)
    )


def explore_masks(
    layer: MultiHeadAttention, x: Tensor, sentences: Sequence[Sequence[str]], lengths: Tensor
) -> Explorer:
    """Show switches for each mask, the map they give, and who can change whose output.

    Args:
        layer: The attention layer.
        x: Inputs (B, L, E).
        sentences: The words of each of the B sentences.
        lengths: Real words of each sentence (B,).

    Returns:
        Controls and the picture.
    """
    size = x.shape[1]

    def draw(
        sentence: int, head: int, causal: bool, padding: bool, window: int, flipped: bool
    ) -> tuple[Figure, str]:
        mask = window_mask(size, window)
        if causal:
            mask = mask & causal_mask(size, size)
        if padding:
            mask = mask & padding_mask(lengths, size)[sentence, 0]
        mask = ~mask if flipped else mask
        return draw_laboratory(layer, x[sentence], mask, sentences[sentence], head)

    names = [(" ".join(words), i) for i, words in enumerate(sentences)]
    return explorer(
        draw,
        {
            "sentence": widgets.Dropdown(options=names, value=4, description="sentence"),
            "head": widgets.Dropdown(options=range(layer.num_heads), value=1, description="head"),
            "causal": widgets.Checkbox(False, description="causal"),
            "padding": widgets.Checkbox(False, description="padding"),
            "window": widgets.IntSlider(size, 1, size, description="window"),
            "flipped": widgets.Checkbox(False, description="polarity inverted"),
        },
    )


def window_mask(size: int, window: int) -> Tensor:
    """Let each word read the words less than `window` places away: True = may attend.

    >>> window_mask(3, 2).int()
    tensor([[1, 1, 0],
            [1, 1, 1],
            [0, 1, 1]], dtype=torch.int32)
    """
    place = torch.arange(size)
    return (place[:, None] - place).abs() < window


def draw_laboratory(
    layer: MultiHeadAttention, x: Tensor, mask: Tensor, words: Sequence[str], head: int
) -> tuple[Figure, str]:
    """Draw mask and weights of one head, and whose output each word can change."""
    with torch.no_grad():
        _, weights = layer(x, mask=mask, need_weights=True)
    reach = influence(lambda batch: layer(batch, mask=mask)[0], x.unsqueeze(0))
    figure = new_figure(9, 2.6)
    axes = side_by_side(figure, [1, 1.15, 1])
    blank = [""] * len(words)
    draw_mask(axes[0], mask, words, "mask")
    draw_grid(
        axes[1],
        weights[head],
        rows=blank,
        columns=words,
        title=f"weights, head {head}",
        hidden=~mask,
        weights_of_head=head,
    )
    draw_grid(axes[2], reach.int(), rows=blank, columns=words, title="1: column can change row")
    for ax in axes:
        ax.tick_params(labelsize=8)
    changes = []
    for word, row in zip(words, reach, strict=True):
        sources = [w for w, moves in zip(words, row, strict=True) if moves]
        changes.append(f"{word}'s output can be changed by {', '.join(sources) or 'no word'}")
    empty = [word for word, row in zip(words, mask, strict=True) if not row.any()]
    rows = f" Nothing to attend to: {', '.join(empty)}." if empty else ""
    return figure, f"Mask: {hidden_in_words(mask, words)}{rows} {'; '.join(changes)}."
