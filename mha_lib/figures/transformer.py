"""Lesson 10: where a trained translator looks in the source, word by word."""

import copy
import datetime
from collections.abc import Sequence

import ipywidgets as widgets
import torch
from IPython.display import HTML
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from mha_lib.date_pairs import FIRST_DAY, FORMATS, LANGUAGES, LAST_DAY, Format, date_pair
from mha_lib.decoding import greedy_decode
from mha_lib.figures import palette
from mha_lib.figures.explorers import Explorer, explorer
from mha_lib.figures.grids import draw_grid, outline, side_by_side
from mha_lib.figures.pictures import new_figure, picture
from mha_lib.stored_runs import Run
from mha_lib.transformer import PAD_ID
from mha_lib.word_pairs import Pair

SURE = 0.5  # below this the strongest weight is called doubtful
TRUE_LINK = 1  # the colour and edge of the frame around the true source word
FILLERS = 3  # <pad> words behind the source, so that its mask has something to hide


def alignments(
    weights: Sequence[Tensor], pairs: Sequence[Pair], written: Sequence[Sequence[str]]
) -> HTML:
    """Show cross-attention maps side by side, rows labelled with the word being written.

    Args:
        weights: For each pair the weights (T, S), a mean over heads.
        pairs: The pairs.
        written: The words that were written for each pair, <eos> included.

    Returns:
        The picture.
    """
    tallest = max(len(words) for words in written)
    figure = new_figure(9.4, 0.36 * tallest + 1.4)
    axes = side_by_side(figure, [len(pair.source) + 2 for pair in pairs])
    for ax, w, pair, words in zip(axes, weights, pairs, written, strict=True):
        draw_alignment(ax, w, pair.source, words, pair.links)
    alts = [alignment_alt(*item) for item in zip(weights, pairs, written, strict=True)]
    return picture(figure, " ".join(alts))


def alignment_alt(weights: Tensor, pair: Pair, written: Sequence[str]) -> str:
    """Say in words where each written word looked most."""
    looks = [
        f"{word} at {pair.source[int(row.argmax())]} ({float(row.max()):.2f})"
        for word, row in zip(written, weights, strict=True)
        if row.max() >= SURE
    ]
    doubtful = [w for w, row in zip(written, weights, strict=True) if row.max() < SURE]
    unsure = f" Doubtful: {', '.join(doubtful)}." if doubtful else ""
    return (
        f"Source {' '.join(pair.source)}. Words written and where each looked: "
        f"{', '.join(looks)}.{unsure}"
    )


def draw_alignment(
    ax: Axes,
    weights: Tensor,
    source: Sequence[str],
    written: Sequence[str],
    links: Sequence[int | None] = (),
    hidden: Tensor | None = None,
) -> None:
    """Draw one map; a dashed frame marks the true source word, a question mark a doubtful row."""
    rows = [
        f"{word} ?" if float(row.max()) < SURE else word
        for word, row in zip(written, weights, strict=True)
    ]
    draw_grid(
        ax,
        weights,
        rows=rows,
        columns=source,
        hidden=hidden,
        weights_of_head=palette.MEAN_OF_HEADS,
    )
    for row, place in enumerate(links[: len(written)]):
        if place is not None:
            outline(ax, (row, place), (1, 1), TRUE_LINK)
    ax.tick_params(labelsize=8)
    ax.tick_params(axis="x", rotation=60)


def explore_translation(run: Run, layer: int = -1) -> Explorer:
    """Show a date to type, its language, the step of decoding, and a switch for each mask.

    Args:
        run: The trained model, from `load_run`.
        layer: Whose cross-attention is drawn.

    Returns:
        Controls and the picture.
    """

    def draw(
        date: str, format: Format, language: str, step: int, causal: bool, padding: bool
    ) -> tuple[Figure, str]:
        pair = date_pair(read_date(date), format, language)
        written, weights = translate(run, pair, layer, causal=causal, padding=padding)
        shown = min(step, len(written))
        figure, alt = draw_translation(pair, written[:shown], weights[:shown], padding)
        masked = f"Causal mask {'on' if causal else 'off'}, source padding "
        return figure, f"{masked}{'hidden' if padding else 'open'}. {alt}"

    return explorer(
        draw,
        {
            "date": widgets.Text("2014-09-03", description="date", continuous_update=False),
            "format": widgets.Dropdown(options=FORMATS, description="format"),
            "language": widgets.Dropdown(options=LANGUAGES, value="hu", description="language"),
            "step": widgets.IntSlider(12, 1, 12, description="words written"),
            "causal": widgets.Checkbox(True, description="causal mask"),
            "padding": widgets.Checkbox(True, description="source padding hidden"),
        },
    )


def read_date(text: str) -> datetime.date:
    """Read a date such as 2014-09-03, in the years that the model knows.

    >>> read_date("2014-09-03")
    datetime.date(2014, 9, 3)

    Raises:
        ValueError: The text is no date, or outside those years.
    """
    try:
        date = datetime.date.fromisoformat(text.strip())
    except ValueError as error:
        raise ValueError(f"date must be written as 2014-09-03, got {text!r}: {error}") from error
    if not FIRST_DAY <= date <= LAST_DAY:
        raise ValueError(f"date must lie in {FIRST_DAY} .. {LAST_DAY}, got {date}")
    return date


def translate(
    run: Run, pair: Pair, layer: int, *, causal: bool, padding: bool
) -> tuple[list[str], Tensor]:
    """Translate one source with fillers behind it; return the words and the weights (T, S)."""
    model = copy.copy(run.model)  # the same weights, another switch
    model.is_causal = causal
    ids = run.vocabulary.source_ids([(*pair.source, *["<pad>"] * FILLERS)])
    mask = (
        (ids != PAD_ID)[:, None, None, :] if padding else torch.ones_like(ids).bool()[:, None, None]
    )
    decoded = greedy_decode(model, ids, max_len=12, source_mask=mask, need_weights=True)
    assert decoded.cross_weights is not None
    written = [run.vocabulary.words[i] for i in decoded.tokens[0].tolist()]
    return written, decoded.cross_weights[0, layer].mean(0)


def draw_translation(
    pair: Pair, written: Sequence[str], weights: Tensor, padding: bool
) -> tuple[Figure, str]:
    """Draw the map of the words written so far, the source's fillers included."""
    source = (*pair.source, *["<pad>"] * FILLERS)
    hidden = torch.zeros_like(weights, dtype=torch.bool)
    hidden[:, len(pair.source) :] = padding
    figure = new_figure(9, 0.36 * len(written) + 1.6)
    ax = figure.subplots()
    draw_alignment(ax, weights, source, written, hidden=hidden)
    right = " ".join(pair.target)
    ax.set_xlabel(f"right answer: {right}", size=9)
    looks = [f"{w} at {source[int(r.argmax())]}" for w, r in zip(written, weights, strict=True)]
    return (
        figure,
        f"Right answer: {right}. Written so far, and where each looked most: {', '.join(looks)}.",
    )
