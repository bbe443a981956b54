"""Lesson 1's figures show what was counted, and hatch what no head owns."""

import re

import pytest
import torch
from matplotlib.patches import Rectangle

import mha_lib
from mha_lib.figures import hyperparameters as figures


def count(embed_dim: int, num_heads: int, length: int) -> tuple[int, int, int]:
    """Count a live layer and live products, as the lesson's own cell does."""
    layer = mha_lib.MultiHeadAttention(embed_dim, num_heads)
    q = torch.ones(num_heads, length, layer.head_dim)
    products = q.unsqueeze(2) * q.unsqueeze(1)
    parameters = sum(p.numel() for p in layer.parameters())
    return parameters, products.numel(), products.sum(-1).numel()


def numbers_in(alt: str, heads: int) -> list[int]:
    """The three counts that the alt text gives for one number of heads."""
    line = re.search(rf"H={heads}: heads of width \d+, (.*?)[;.]", alt)
    assert line, alt
    return [int(n) for n in re.findall(r"\d+", line.group(1))]


@pytest.mark.parametrize(
    ("embed_dim", "num_heads", "length"), [(6, 2, 4), (6, 6, 4), (11, 11, 3), (12, 4, 5)]
)
def test_the_counts_are_those_of_the_formulas_and_of_torch(
    embed_dim: int, num_heads: int, length: int
) -> None:
    theirs = sum(p.numel() for p in torch.nn.MultiheadAttention(embed_dim, num_heads).parameters())
    wanted = (theirs, length * length * embed_dim, num_heads * length * length)
    assert count(embed_dim, num_heads, length) == wanted
    assert theirs == 4 * (embed_dim * embed_dim + embed_dim)


def test_the_bars_show_the_counts() -> None:
    counted = {h: figures.counts_or_none(count, 6, h, 4) for h in (1, 2, 3, 4, 6)}
    figure = figures.sizes_figure(counted, 6, figures.largest(counted))
    strip, *bars = figure.axes
    drawn = [[text.get_text() for text in ax.texts] for ax in bars]
    assert drawn[0] == ["168", "168", "168", "no such layer", "168"]
    assert drawn[1] == ["96", "96", "96", "no such layer", "96"]
    assert drawn[2] == ["16", "32", "48", "no such layer", "96"]
    lengths = [[p.get_width() for p in ax.patches if isinstance(p, Rectangle)] for ax in bars]
    assert lengths == [[168] * 4, [96] * 4, [16, 32, 48, 96]]
    labels = [label.get_text() for label in strip.get_yticklabels()]
    assert labels == ["H 1, D 6", "H 2, D 3", "H 3, D 2", "H 4, no D", "H 6, D 1"]


@pytest.mark.parametrize(
    ("embed_dim", "num_heads", "hatched"), [(6, 2, 0), (6, 4, 2), (7, 3, 1), (3, 5, 3)]
)
def test_columns_that_no_head_owns_are_hatched(
    embed_dim: int, num_heads: int, hatched: int
) -> None:
    figure = figures.sizes_figure({num_heads: None}, embed_dim, [1, 1, 1])
    strip = figure.axes[0]
    marked = [p.get_x() + 0.5 for p in strip.patches if p.get_hatch()]  # type: ignore[attr-defined]
    assert marked == list(range(embed_dim - hatched, embed_dim))
    # One edge a head, all equally wide, none over a hatched column.
    shares = [p for p in strip.patches if not p.get_fill()]
    assert len(shares) == len(strip.texts) == (num_heads if hatched < embed_dim else 0)
    assert {round(p.get_width() + 0.08) for p in shares} <= {embed_dim // num_heads}  # type: ignore[attr-defined]


def test_the_alt_text_names_every_count() -> None:
    picture = figures.compare_heads(count, (1, 4, 6), 6, 4).data
    assert numbers_in(picture, 1) == [168, 96, 16]
    assert numbers_in(picture, 6) == [168, 96, 96]
    assert "H=4: 2 of 6 columns belong to no head and are hatched" in picture


def test_the_widget_follows_every_control() -> None:
    controls, canvas = figures.explore_sizes(count).children
    width, heads, length = controls.children
    assert not any(c.continuous_update for c in controls.children)
    for values in ((1, 1, 1), (12, 12, 6), (6, 3, 4), (5, 12, 1), (12, 5, 6)):
        width.value, heads.value, length.value = values
        assert "role=" not in canvas.value
        assert f"for {values[2]} words" in canvas.value
        if values[0] % values[1] == 0:
            assert numbers_in(canvas.value, values[1]) == list(count(*values))
        else:
            assert f"H={values[1]}: {values[0] % values[1]} of {values[0]} columns" in canvas.value


def test_only_a_refusal_is_taken_as_no_such_layer() -> None:
    def broken(embed_dim: int, num_heads: int, length: int) -> tuple[int, int, int]:
        raise KeyError(embed_dim)

    with pytest.raises(KeyError):
        figures.compare_heads(broken, (1,), 6, 4)
