"""Lesson 7: maps beside their mean, all 72 heads at once, and equal budgets."""

from collections.abc import Mapping, Sequence
from functools import cache

import ipywidgets as widgets
import torch
from IPython.display import HTML
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from mha_lib.figures import palette
from mha_lib.figures.explorers import Explorer, explorer
from mha_lib.figures.grids import draw_grid, side_by_side
from mha_lib.figures.numbers import check_labels, number
from mha_lib.figures.pictures import new_figure, picture
from mha_lib.many_heads import run_encoder
from mha_lib.real_encoder import tokenize

ROOM = 12  # with more pieces there is no room for all numbers
MAX_SHOWN = 24  # more pieces and their labels would overlap
GREY = LinearSegmentedColormap.from_list("mean of heads", [palette.PANEL, "#5A5A5A"])


def maps_in_a_row(maps: Mapping[str, Tensor], words: Sequence[str]) -> HTML:
    """Show some maps of the same words side by side, each with its title.

    Args:
        maps: Weights (L, L) by title; a title that ends in ``head 3`` has that head's colour.
        words: A label for each row and column.

    Returns:
        The picture.
    """
    size = len(words)
    figure = new_figure((0.55 * size + 0.25) * len(maps) + 0.7, 0.36 * size + 1)
    axes = side_by_side(figure, [1] * len(maps))
    for i, (ax, (title, weights)) in enumerate(zip(axes, maps.items(), strict=True)):
        check_labels("words", words, len(weights))
        draw_weights(ax, weights, title, words, words if i == 0 else [""] * size)
    alt = "Maps of weights, side by side; row = the word that asks. "
    return picture(figure, alt + " ".join(map_alt(*item, words) for item in maps.items()))


def draw_weights(
    ax: Axes, weights: Tensor, title: str, columns: Sequence[str], rows: Sequence[str]
) -> None:
    """Draw one map with its numbers, in its head's colour, or grey if the title names no head."""
    draw_grid(ax, weights, rows=rows, columns=columns, title=title)
    fill(ax, weights, [colours_of(title)] * len(weights))
    ax.tick_params(axis="x", labelrotation=90, labelsize=8)


def fill(ax: Axes, weights: Tensor, colours: Sequence[Colormap]) -> None:
    """Fill the cells that `draw_grid` drew, each row in its own colours."""
    cells = [
        colour(float(value)) for colour, row in zip(colours, weights, strict=True) for value in row
    ]
    for patch, text, colour in zip(ax.patches, ax.texts, cells, strict=True):
        patch.set_facecolor(colour)
        text.set(color=palette.ink_on(colour), fontsize=8)


def colours_of(title: str) -> Colormap:
    """Return the colours of the head that a title ends in.

    >>> colours_of("layer 0, head 2").name, colours_of("mean of 72").name
    ('head 2', 'mean of heads')
    """
    before, _, head = title.rpartition("head ")
    return palette.weight_colours(int(head)) if head.isdigit() else GREY


def map_alt(title: str, weights: Tensor, words: Sequence[str]) -> str:
    """Say for each word which it reads most."""
    most = weights.argmax(dim=-1).tolist()
    reads = [
        f"{word} reads {words[i]} ({number(float(row[i]))})"
        for word, i, row in zip(words, most, weights, strict=True)
    ]
    return f"{title}: {', '.join(reads)}."


def rows_of_maps(rows: Mapping[str, Tensor], pieces: Sequence[str]) -> HTML:
    """Show single rows of maps below each other: where one piece looks, by label.

    Args:
        rows: Weights (L,) by label.
        pieces: A label for each of the L columns.

    Returns:
        The picture.
    """
    figure = new_figure(0.66 * len(pieces) + 2.2, 0.42 * len(rows) + 0.7)
    ax = figure.subplots()
    stacked = torch.stack(list(rows.values()))
    draw_grid(ax, stacked, rows=list(rows), columns=pieces)
    fill(ax, stacked, [colours_of(label) for label in rows])
    alt = [
        f"{label}: {', '.join(f'{p} {number(float(w))}' for p, w in zip(pieces, row, strict=True))}"
        for label, row in rows.items()
    ]
    return picture(figure, "Where one piece looks, one row each. " + "; ".join(alt) + ".")


def budget_dots(right: Mapping[str, Sequence[float]], chance: float) -> HTML:
    """Show the share of right answers, one dot for each seed, by number of heads.

    Args:
        right: Shares by number of heads.
        chance: The share that guessing gets.

    Returns:
        The picture.
    """
    figure = new_figure(6.6, 3.2)
    ax = figure.subplots()
    for i, shares in enumerate(right.values()):
        spread = [(n - (len(shares) - 1) / 2) * 0.06 for n in range(len(shares))]
        ax.plot([i + s for s in spread], shares, "o", ms=5, mec=palette.INK, color="#BDBDBD")
        mean = sum(shares) / len(shares)
        ax.plot([i - 0.32, i + 0.32], [mean, mean], color=palette.INK, lw=1.6)
        ax.text(i + 0.35, mean, number(mean), va="center", size=9, color=palette.INK)
    ax.axhline(chance, color=palette.FAINT, ls=":")
    ax.text(len(right) - 0.35, chance + 0.02, "chance", ha="right", size=9, color=palette.INK)
    ax.set(ylim=(-0.03, 1.06), xlim=(-0.5, len(right) - 0.3), ylabel="share of questions right")
    ax.set_xticks(range(len(right)), [f"{heads} head{'s' * (heads != '1')}" for heads in right])
    ax.spines[["top", "right"]].set_visible(False)
    alt = [
        f"{heads} heads: {number(min(shares))} to {number(max(shares))} over {len(shares)} seeds."
        for heads, shares in right.items()
    ]
    return picture(figure, "Share of questions right, one dot a seed. " + " ".join(alt))


def head_browser(sentence: str, maps: Tensor, layer: int, head: int) -> HTML:
    """Show all 72 maps of a sentence small, and one large.

    Args:
        sentence: Any text.
        maps: Its weights (6, 12, L, L), from `run_encoder`.
        layer, head: Which map is drawn large.

    Returns:
        The picture.
    """
    return picture(*browse(tokenize(sentence)[0], maps, layer, head))


def explore_heads(weights: dict[str, Tensor], sentence: str, layer: int, head: int) -> Explorer:
    """Show the maps of any sentence: choose layer and head, pin a word, hide [CLS].

    Args:
        weights: Of the pretrained encoder, from `load_weights`.
        sentence: What the text field holds at first.
        layer, head: The first choice.

    Returns:
        The box.
    """

    @cache
    def run(text: str) -> tuple[list[str], Tensor]:
        pieces, ids = tokenize(text)
        if len(pieces) > MAX_SHOWN:
            raise ValueError(
                f"the picture has room for {MAX_SHOWN} pieces, got {len(pieces)}: shorten it"
            )
        return pieces, run_encoder(weights, ids)[1][0]

    def draw(text: str, layer: int, head: int, pin: str, cls: bool) -> tuple[Figure, str]:
        pieces, maps = run(text)
        return browse(pieces, maps, layer, head, pin, cls)

    wide = widgets.Layout(width="30em")
    return explorer(
        draw,
        {
            "text": widgets.Text(sentence, description="sentence", layout=wide),
            "layer": widgets.IntSlider(layer, min=0, max=5, description="layer"),
            "head": widgets.IntSlider(head, min=0, max=11, description="head"),
            "pin": widgets.Text("", description="pin a word", placeholder="chase"),
            "cls": widgets.Checkbox(True, description="show [CLS]"),
        },
    )


def browse(
    pieces: Sequence[str], maps: Tensor, layer: int, head: int, pin: str = "", cls: bool = True
) -> tuple[Figure, str]:
    """Draw the browser: thumbnails on the left, the chosen map on the right.

    Args:
        pieces: A label for each of the L positions.
        maps: Weights (6, 12, L, L).
        layer, head: Which map is large.
        pin: A word whose row is framed in every map; nothing if empty or not there.
        cls: False leaves row and column of [CLS] out; the weights stay as they are.

    Returns:
        The figure and its alt text.
    """
    check_labels("pieces", pieces, maps.shape[-1])
    if not cls:
        pieces, maps = pieces[1:], maps[..., 1:, 1:]
    row = pieces.index(pin.strip().lower()) if pin.strip().lower() in pieces else None
    figure = new_figure(11, 5)
    left, right = side_by_side(figure, [1.45, 1])
    draw_thumbnails(left, maps, layer, head, row)
    draw_large(right, maps[layer, head], pieces, head, row)
    right.set_xlabel(f"layer {layer}, head {head}{'' if cls else ', without [CLS]'}", size=10)
    if not pin.strip():
        note = ""
    elif row is None:
        note = f" “{pin.strip()}” is no piece of this sentence."
    else:
        note = f" Pinned: each small map shows the row of “{pieces[row]}”."
    left.set_title("layers 0 to 5 down, heads 0 to 11 across", size=10, color=palette.INK)
    left.set_xlabel(note.strip(), size=9, color=palette.INK)
    alt = f"72 small maps, one for each head; large, layer {layer}, head {head}.{note} "
    return figure, alt + map_alt("In the large map", maps[layer, head], pieces)


def draw_thumbnails(ax: Axes, maps: Tensor, layer: int, head: int, row: int | None) -> None:
    """Draw all maps as one image, one of them framed; with a pinned row that row alone, high."""
    layers, heads, size, _ = maps.shape
    if row is not None:
        maps = maps[:, :, row : row + 1].expand_as(maps)
    step = size + max(1, size // 6)  # a margin between maps
    image = torch.ones(layers * step, heads * step, 3)
    for h in range(heads):
        colours = torch.tensor(palette.weight_colours(h)(maps[:, h].numpy()))[..., :3]
        for at in range(layers):
            image[at * step : at * step + size, h * step : h * step + size] = colours[at]
    ax.imshow(image.numpy(), interpolation="nearest", aspect="equal")
    for at in range(layers):
        for h in range(heads):
            chosen = (at, h) == (layer, head)
            edge, width = (palette.INK, 2.4) if chosen else (palette.LINE, 0.6)
            corner = (h * step - 0.5, at * step - 0.5)
            frame(ax, corner, size, size, edge, width)
    middle = (size - 1) / 2
    ax.set_xticks([h * step + middle for h in range(heads)], [str(h) for h in range(heads)])
    ax.set_yticks([at * step + middle for at in range(layers)], [str(at) for at in range(layers)])
    ax.tick_params(length=0, labelsize=9, colors=palette.INK)
    ax.spines[:].set_visible(False)


def draw_large(
    ax: Axes, weights: Tensor, pieces: Sequence[str], head: int, row: int | None
) -> None:
    """Draw one map, with numbers where there is room; the pinned row always has its own."""
    size, colours = len(pieces), palette.weight_colours(head)
    ax.imshow(weights.numpy(), cmap=colours, vmin=0, vmax=1, aspect="equal")
    for r in range(size):
        for c in range(size):
            value = float(weights[r, c])
            if value >= 0.05 and (r == row or (row is None and size <= ROOM)):
                ink = palette.ink_on(colours(value))
                points = 7 if size <= 14 else 5
                ax.text(c, r, number(value), ha="center", va="center", size=points, color=ink)
    frame(ax, (-0.5, -0.5), size, size, palette.LINE, 0.8)
    if row is not None:
        frame(ax, (-0.5, row - 0.5), size, 1, palette.INK, 1.6)
    labels = 9 if size <= 14 else 7
    short = [p if len(p) <= 11 else p[:10] + "…" for p in pieces]  # no room above for more
    ax.set_xticks(range(size), short, rotation=90)
    ax.set_yticks(range(size), list(pieces))
    ax.xaxis.tick_top()
    ax.tick_params(length=0, labelsize=labels, colors=palette.INK)
    ax.spines[:].set_visible(False)


def frame(
    ax: Axes, corner: tuple[float, float], width: int, height: int, edge: str, line: float
) -> None:
    """Draw an empty rectangle."""
    ax.add_patch(Rectangle(corner, width, height, fill=False, ec=edge, lw=line, zorder=3))
