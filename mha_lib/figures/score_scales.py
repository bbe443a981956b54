"""Lesson 5: what the size of the scores does to the weights."""

from collections.abc import Sequence

import torch
from IPython.display import HTML
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from mha_lib.figures import palette
from mha_lib.figures.grids import draw_grid, side_by_side
from mha_lib.figures.numbers import check_labels, number
from mha_lib.figures.pictures import new_figure, picture


def at_scales(
    scores: Tensor, factors: Sequence[float | int], words: Sequence[str], head: int
) -> HTML:
    """Show one word's scores times some factors, and the weights that they give.

    Args:
        scores: One for each key (S,).
        factors: One for each row of the picture.
        words: One for each key.
        head: Whose colour the weights get.

    Returns:
        The picture.
    """
    return picture(*draw_scales(scores, factors, words, head))


def draw_scales(
    scores: Tensor, factors: Sequence[float | int], words: Sequence[str], head: int
) -> tuple[Figure, str]:
    """Draw the figure of `at_scales` and say in words what it shows."""
    scaled = torch.tensor(factors, dtype=scores.dtype).unsqueeze(-1) * scores
    weights = scaled.softmax(-1)
    rows = [f"× {factor:g}" for factor in factors]
    figure = new_figure(8, 0.42 * len(rows) + 0.9)
    left, right = side_by_side(figure, [1, 1])
    draw_grid(left, scaled, rows=rows, columns=words, title="scores × factor")
    draw_grid(right, weights, rows=rows, columns=words, title="their softmax", weights_of_head=head)
    best = int(scores.argmax())
    shares = ", ".join(number(float(row[best])) for row in weights)
    return figure, (
        f"The scores of head {head} times {', '.join(f'{f:g}' for f in factors)}, and the softmax "
        f"of each row. In every row the order of the words is the same; {words[best]} is first and "
        f"its weight is {shares}."
    )


def scale_and_size(
    sizes: Sequence[int], variances: dict[str, list[float]], bits: dict[str, list[float]]
) -> HTML:
    """Show how the spread of products and the entropy of weights change with head_dim.

    Args:
        sizes: Values of head_dim.
        variances: Names of two lines, and a variance for each size.
        bits: Names of two lines, and a mean entropy in bits for each size.

    Returns:
        The picture.
    """
    return picture(*draw_size(sizes, variances, bits))


def draw_size(
    sizes: Sequence[int], variances: dict[str, list[float]], bits: dict[str, list[float]]
) -> tuple[Figure, str]:
    """Draw the figure of `scale_and_size` and say in words what it shows."""
    figure = new_figure(9, 3.2)
    left, right = side_by_side(figure, [1, 1])
    draw_lines(left, sizes, variances, "variance of the products")
    left.set_yscale("symlog", linthresh=1, base=2)
    left.set_ylim(0, max(map(max, variances.values())) * 2)
    left.set_yticks([0, *sizes], ["0", *map(str, sizes)])
    left.set_yticks([], minor=True)
    draw_lines(right, sizes, bits, "mean entropy of the weights, in bits")
    right.set_ylim(0, 2.1)
    said = "; ".join(
        f"the {what} of {name} {trend(line)}"
        for what, lines in (("variance", variances), ("entropy of the softmax", bits))
        for name, line in lines.items()
    )
    return figure, f"Two plots over head_dim {', '.join(map(str, sizes))}: {said}."


def draw_lines(ax: Axes, sizes: Sequence[int], lines: dict[str, list[float]], title: str) -> None:
    """Draw two lines over evenly spaced sizes, each point with its number."""
    styles = zip(lines.items(), ("o-", "s--"), (palette.INK, palette.FAINT), strict=True)
    for (name, line), style, colour in styles:
        check_labels(name, line, len(sizes))
        ax.plot(range(len(sizes)), line, style, color=colour, label=name, clip_on=False)
        for x, y in enumerate(line):
            ax.annotate(number(y), (x, y), (0, 6), textcoords="offset points", ha="center", size=8)
    ax.set_xticks(range(len(sizes)), [str(size) for size in sizes])
    ax.set_xlabel("head_dim", size=9)
    ax.set_title(title, size=10)
    ax.tick_params(labelsize=9)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.legend(fontsize=8, frameon=False, handlelength=3)


def trend(line: Sequence[float]) -> str:
    """Say where a line goes, in words that drawing other random numbers does not change.

    >>> trend([1.0, 4.0, 9.0]), trend([1.7, 1.65, 1.6]), trend([1.7, 0.3])
    ('rises', 'stays about level', 'falls')
    """
    if max(line) < 1.2 * min(line):
        return "stays about level"
    return "rises" if line[-1] > line[0] else "falls"
