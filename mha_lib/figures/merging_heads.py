"""Lesson 6: whose numbers stand in a merged row, and what each head adds to the output."""

import math
from collections.abc import Sequence

import ipywidgets as widgets
from IPython.display import HTML
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from torch import Tensor, arange

from mha_lib.figures import palette
from mha_lib.figures.explorers import Explorer, explorer
from mha_lib.figures.grids import draw_grid, side_by_side, stacked
from mha_lib.figures.numbers import check_labels, number
from mha_lib.figures.pictures import new_figure, picture
from mha_lib.merging_heads import merge_heads

Gains = Sequence[float | int]
ROOM = 0.06  # a bar shorter than this share of the axis has no room for its number


def merge_and_reshape(heads: Tensor, words: Sequence[str]) -> HTML:
    """Show the heads, their merge and the bare reshape; hatched where a block is out of place.

    Args:
        heads: The outputs of the heads for one sentence (H, L, D).
        words: One for each of the L rows.

    Returns:
        The picture.
    """
    heads = heads.detach()
    num_heads, length, width = heads.shape
    check_labels("words", words, length)
    # In place of the numbers, where they come from: head * L + word, the same for all D.
    index = arange(num_heads * length).view(num_heads, length, 1).expand_as(heads)
    merged, bare = merge_heads(index), index.reshape(length, num_heads * width)
    wrong = (bare != merged)[:, ::width]
    figure = new_figure(10, 0.62 * length + 0.5)
    axes = side_by_side(figure, [1] * num_heads + [num_heads] * 2)
    for h in range(num_heads):
        rows = words if h == 0 else [""] * length
        draw_blocks(axes[h], heads, index[h, :, ::width], words, rows, f"head {h}")
    for ax, joined, title in ((axes[-2], merged, "swap, then join"), (axes[-1], bare, "reshape")):
        draw_blocks(ax, heads, joined[:, ::width], words, words, title)
    hatch(axes[-1], wrong)
    first = [origin(int(i), length, words) for i in bare[0, ::width]]
    return picture(
        figure,
        f"Left, the {num_heads} heads: one block of {width} numbers for each of the words "
        f"{', '.join(words)}. Then the merge: each row holds the blocks of its own word, one of "
        f"each head. Right, the bare reshape: {int(wrong.sum())} of {num_heads * length} blocks "
        f"are hatched, because they belong elsewhere. Its row for {words[0]} holds "
        f"{' and '.join(first)}.",
    )


def origin(index: int, length: int, words: Sequence[str]) -> str:
    """Name the word and the head that a block comes from.

    >>> origin(5, 4, ["dogs", "chase", "black", "cats"])
    'chase, head 1'
    """
    head, word = divmod(index, length)
    return f"{words[word]}, head {head}"


def draw_blocks(
    ax: Axes,
    heads: Tensor,
    index: Tensor,
    words: Sequence[str],
    rows: Sequence[str],
    title: str,
) -> None:
    """Draw blocks of D numbers, each in its head's colour and with its origin above it.

    Args:
        ax: Where.
        heads: The numbers (H, L, D).
        index: One row a word; head * L + word of the block that stands there.
        words: The words by index.
        rows: A label for each row.
        title: A caption.
    """
    length = heads.shape[1]
    for r, row in enumerate(index.reshape(length, -1).tolist()):
        for c, i in enumerate(row):
            head, word = divmod(i, length)
            draw_edge(ax, r, c, head)
            numbers = "  ".join(number(float(value)) for value in heads[head, word])
            ax.text(c, r - 0.2, origin(i, length, words), ha="center", va="center", size=8)
            ax.text(c, r + 0.2, numbers, ha="center", va="center", size=8)
    ax.set_xlim(-0.52, index.reshape(length, -1).shape[1] - 0.48)
    ax.set_ylim(length - 0.48, -0.52)
    ax.set_xticks([])
    ax.set_yticks(range(length), list(rows))
    ax.tick_params(length=0, labelsize=9, colors=palette.INK)
    ax.spines[:].set_visible(False)
    ax.set_title(title, size=10, color=palette.INK)


def draw_edge(ax: Axes, row: int, column: int, head: int) -> None:
    """Draw a block's frame in the colour and the line of its head."""
    ax.add_patch(
        Rectangle(
            (column - 0.47, row - 0.42),
            0.94,
            0.84,
            fill=False,
            edgecolor=palette.head_colour(head),
            linestyle=palette.head_edge(head),
            linewidth=1.8,
        )
    )


def hatch(ax: Axes, where: Tensor) -> None:
    """Hatch the blocks in which `where` is true, behind the text."""
    for r, c in where.nonzero().tolist():
        box = Rectangle((c - 0.47, r - 0.42), 0.94, 0.84, fill=False, zorder=0.5, linewidth=0)
        box.set(hatch="////", edgecolor=palette.LINE)
        ax.add_patch(box)
    for text in ax.texts:
        text.set_bbox({"facecolor": palette.PANEL, "edgecolor": "none", "pad": 0.6})


def head_sums(parts: Tensor, sentences: Sequence[str], word: str) -> HTML:
    """Show for each output feature what each head adds to it, and the total; one panel a sentence.

    Args:
        parts: What each head adds to the output of one word (N, H, E).
        sentences: One for each of the N panels.
        word: The word.

    Returns:
        The picture.
    """
    check_labels("sentences", sentences, len(parts))
    parts = parts.detach()
    figure = new_figure(9.4, 3.4)
    axes = side_by_side(figure, [1] * len(parts))
    for ax, part, sentence in zip(axes, parts, sentences, strict=True):
        draw_sums(ax, part, limits(parts), f"{word} in “{sentence}”")
    add_legend(axes[0], parts.shape[1])
    return picture(figure, " ".join(sums_alt(*pair) for pair in zip(parts, sentences, strict=True)))


def compare_gains(parts: Tensor, sentences: Sequence[str], gains: Sequence[Gains]) -> HTML:
    """Show `head_sums` for some gains: one row a sentence, one column a choice of gains.

    Args:
        parts: What each head adds to the output of one word (N, H, E).
        sentences: One for each of the N rows.
        gains: The choices: a factor for each of the H heads.

    Returns:
        The picture.
    """
    check_labels("sentences", sentences, len(parts))
    parts = parts.detach()
    figure = new_figure(9.8, 2.3 * len(parts))
    rows = stacked(figure, [1] * len(parts))
    alt = []
    for row, part, sentence in zip(rows, parts, sentences, strict=True):
        row.suptitle(sentence, size=10, weight="bold")
        for ax, choice in zip(side_by_side(row, [1] * len(gains)), gains, strict=True):
            shown = apply_gains(part, choice)
            draw_sums(ax, shown, limits(parts), gain_text(choice), small=True)
            alt.append(f"{sentence}, {gain_text(choice)}: totals {totals_text(shown)}.")
    return picture(figure, " ".join(alt))


def explore_gains(parts: Tensor, sentences: Sequence[str], word: str) -> Explorer:
    """Show a choice of sentences and a gain for each of two heads.

    Args:
        parts: What each head adds to the output of one word (N, 2, E).
        sentences: One for each of the N choices.
        word: The word.

    Returns:
        The box.
    """

    def draw(sentence: int, head_0: float, head_1: float) -> tuple[Figure, str]:
        figure = new_figure(7, 3.4)
        shown = apply_gains(parts[sentence], (head_0, head_1))
        ax = figure.subplots()
        draw_sums(ax, shown, limits(parts), f"{word} in “{sentences[sentence]}”")
        add_legend(ax, 2)
        name = f"{sentences[sentence]}, {gain_text((head_0, head_1))}"
        return figure, sums_alt(shown, name)

    check_labels("sentences", sentences, len(parts))
    parts = parts.detach()
    return explorer(
        draw,
        {
            "sentence": widgets.Dropdown(
                options=[(name, i) for i, name in enumerate(sentences)], description="sentence"
            ),
            "head_0": widgets.FloatSlider(1, min=0, max=1, step=0.25, description="gain, head 0"),
            "head_1": widgets.FloatSlider(1, min=0, max=1, step=0.25, description="gain, head 1"),
        },
    )


def apply_gains(part: Tensor, gains: Gains) -> Tensor:
    """Multiply each head's part (H, E) by its gain."""
    check_labels("gains", gains, len(part))
    return part * part.new_tensor(gains)[:, None]


def gain_text(gains: Gains) -> str:
    """Say the gains in words.

    >>> gain_text((1.0, 0.25))
    'head 0 × 1, head 1 × 0.25'
    """
    return ", ".join(f"head {head} × {gain:g}" for head, gain in enumerate(gains))


def limits(parts: Tensor) -> tuple[float, float]:
    """Return the same axis for every panel: the highest and the lowest stack fit."""
    up, down = parts.clamp(min=0).sum(-2).max(), parts.clamp(max=0).sum(-2).min()
    margin = 0.19 * float(up - down)
    return float(down) - margin, float(up) + margin


def draw_sums(
    ax: Axes, part: Tensor, bounds: tuple[float, float], title: str, small: bool = False
) -> None:
    """Stack each head's part of each feature, up where positive and down where negative.

    Args:
        ax: Where.
        part: What each head adds (H, E).
        bounds: Lower and upper end of the axis.
        title: A caption.
        small: One of many panels: numbers for the totals only.
    """
    room = math.inf if small else ROOM * (bounds[1] - bounds[0])
    for feature, column in enumerate(part.T.tolist()):
        ends = {True: 0.0, False: 0.0}
        for head, value in enumerate(column):
            draw_bar(ax, feature, ends[value >= 0], value, head, room)
            ends[value >= 0] += value
        total = sum(column)
        ax.plot([feature - 0.42, feature + 0.42], [total] * 2, color=palette.INK, lw=2.2, zorder=4)
        above = total >= 0
        place = max(ends[True], total) if above else min(ends[False], total)
        ax.annotate(
            number(total),
            (feature, place),
            xytext=(0, 4 if above else -4),
            textcoords="offset points",
            ha="center",
            va="bottom" if above else "top",
            size=9,
            weight="bold",
        )
    ax.axhline(0, color=palette.INK, linewidth=0.8)
    ax.set_ylim(*bounds)
    ax.set_xticks(range(part.shape[1]))
    ax.tick_params(length=0, labelsize=9, colors=palette.INK)
    ax.spines[["top", "right", "bottom"]].set_visible(False)
    if not small:
        ax.set_xlabel("output feature", size=9)
    ax.set_title(title, size=10, color=palette.INK)


def draw_bar(ax: Axes, feature: int, bottom: float, value: float, head: int, room: float) -> None:
    """Draw one head's part, with its number where there is room for it."""
    bar = ax.bar(feature, value, 0.74, bottom, color=palette.PANEL, linewidth=1.4)[0]
    bar.set(
        facecolor=palette.head_colour(head),
        edgecolor=palette.PANEL,
        hatch=palette.HATCHES[head % len(palette.HATCHES)],
    )
    if abs(value) >= room:
        ax.text(
            feature,
            bottom + value / 2,
            number(value),
            ha="center",
            va="center",
            size=8,
            bbox={"facecolor": palette.PANEL, "edgecolor": "none", "pad": 1},
        )


def sums_alt(part: Tensor, name: str) -> str:
    """Say in words what `draw_sums` shows."""
    first = " and ".join(
        f"{number(float(value))} from head {head}" for head, value in enumerate(part[:, 0])
    )
    return f"{name}: totals {totals_text(part)}; the first is {first}."


def totals_text(part: Tensor) -> str:
    """Write the sums over the heads of a part (H, E)."""
    return ", ".join(number(float(total)) for total in part.sum(0))


def add_legend(ax: Axes, num_heads: int) -> None:
    """Say which bar is which head, and what the black line is."""
    keys: list[Patch | Line2D] = [
        Patch(
            facecolor=palette.head_colour(h),
            edgecolor=palette.PANEL,
            hatch=palette.HATCHES[h % len(palette.HATCHES)],
            label=f"head {h}",
        )
        for h in range(num_heads)
    ]
    keys.append(Line2D([], [], color=palette.INK, linewidth=2.2, label="total"))
    ax.legend(handles=keys, frameon=False, fontsize=9, loc="upper right")


def head_map(weights: Tensor, words: Sequence[str], head: int, title: str) -> HTML:
    """Show the attention weights of one head: queries down, keys across.

    Args:
        weights: (L, S), each row sums to 1.
        words: One for each query and each key.
        head: Which head: its colour and edge.
        title: A caption.

    Returns:
        The picture.
    """
    figure = new_figure(5.2, 3.7)
    caption = (
        f"{title}: queries {palette.GLYPHS['query']} down, keys {palette.GLYPHS['key']} across"
    )
    ax = figure.subplots()
    draw_grid(ax, weights, rows=words, columns=words, title=caption, weights_of_head=head)
    most = [f"{word} to {words[int(i)]}" for word, i in zip(words, weights.argmax(1), strict=True)]
    return picture(
        figure, f"Attention weights, {title}. The largest of each row: {', '.join(most)}."
    )
