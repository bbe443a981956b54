"""Lesson 3's figures: the drawn numbers are right, and every control works."""

import pytest
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import mha_lib
from mha_lib import running_example
from mha_lib.figures import explorers, palette
from mha_lib.figures import linear_layers as figures
from mha_lib.figures.numbers import number

WORDS = running_example.SENTENCES[0]
X = mha_lib.embed_tokens(
    running_example.IDS[0], running_example.TABLE, mha_lib.sinusoidal_positions(4, 6)
)
W = torch.arange(36.0).view(6, 6)


def texts(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def ringed(ax: Axes) -> list[tuple[float, float, float, float]]:
    """Left, top, width and height of every black edge without a fill."""
    boxes = [p for p in ax.patches if isinstance(p, Rectangle) and not p.get_fill()]
    black = [p for p in boxes if p.get_edgecolor()[:3] == (17 / 255,) * 3]
    return [(*p.get_xy(), p.get_width(), p.get_height()) for p in black]


def drawn(word: int, feature: int, stored: bool) -> list[Axes]:
    figure = Figure()
    figures.draw_wired(figure, X, W, WORDS, 2, word, feature, stored)
    return figure.axes


def test_input_weight_projection_products_and_sum_are_the_right_numbers() -> None:
    left, middle, right, steps, total = drawn(1, 3, stored=True)
    x, w = X.double(), W.double()
    projected = [
        [sum(float(a * b) for a, b in zip(row, out, strict=True)) for out in w] for row in x
    ]
    products = [float(a * b) for a, b in zip(x[1], w[3], strict=True)]
    assert texts(left) == [number(v) for v in X.flatten().tolist()]
    assert texts(middle) == [*(str(n) for n in range(36)), "head 0", "head 1"]
    assert texts(right) == [*(number(v) for row in projected for v in row), "head 0", "head 1"]
    assert texts(steps)[12:] == [number(p) for p in products]
    assert texts(total) == [number(sum(products)), "Q[chase, 3]"]


def test_the_stored_weight_is_marked_by_rows_the_formula_by_columns() -> None:
    left, middle, right, *_ = drawn(1, 3, stored=True)
    assert ringed(left) == [(-0.5, 0.5, 6, 1)]
    assert ringed(middle) == [(-0.5, 2.5, 6, 1)]
    assert ringed(right) == [(2.5, 0.5, 1, 1)]
    _, middle, *_ = drawn(1, 3, stored=False)
    assert ringed(middle) == [(2.5, -0.5, 1, 6)]
    assert texts(middle)[:7] == ["0", "6", "12", "18", "24", "30", "1"]


def test_both_views_outline_each_head() -> None:
    figure, alt = figures.draw_views(W, 3)
    for ax, upright in zip(figure.axes, (False, True), strict=True):
        for head in range(3):
            edges = [
                p
                for p in ax.patches
                if isinstance(p, Rectangle)
                and p.get_edgecolor()[:3] == pytest.approx(rgb(palette.head_colour(head)))
            ]
            assert len(edges) == 1
            corner, size = edges[0].get_xy(), (edges[0].get_width(), edges[0].get_height())
            along = 0 if upright else 1
            assert corner[along] == pytest.approx(2 * head - 0.46)
            assert size[along] == pytest.approx(1.92)
            assert size[1 - along] == pytest.approx(5.92)
    assert "head 0 owns 0 to 1; head 1 owns 2 to 3; head 2 owns 4 to 5" in alt


def rgb(colour: str) -> tuple[float, ...]:
    return tuple(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))


@pytest.fixture
def unrendered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a widget draw its figure and show the alt text; turning every one into PNG takes long."""
    monkeypatch.setattr(explorers, "picture_html", lambda figure, alt: alt)


@pytest.mark.usefixtures("unrendered")
def test_the_widget_follows_every_control() -> None:
    box = figures.explore_projection(X, running_example.W_Q, WORDS, 2)
    (word, feature, stored), canvas = box.children[0].children, box.children[1]
    assert not feature.continuous_update
    assert "add up to 3.05." in canvas.value
    projected = X.double() @ running_example.W_Q.double().T
    for w, f, s in zip((0, 1, 2, 3, 0, 1), range(6), (True, False) * 3, strict=True):
        word.value, feature.value, stored.value = w, f, s
        kind = "row" if s else "column"
        assert f"Marked: the row of {WORDS[w]} in X, {kind} {f} of the weight" in canvas.value
        assert f"belongs to head {f // 3}" in canvas.value
        assert f"add up to {number(float(projected[w, f]))}." in canvas.value


def test_labels_and_heads_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match=r"rows must have 4 labels, got 1: \['dogs'\]"):
        figures.wire_cell(X, W, ["dogs"], 2, word=0, feature=3)
    with pytest.raises(ValueError, match="num_heads must divide embed_dim"):
        figures.both_views(W, 4)


def test_the_widget_shows_a_picture() -> None:
    box = figures.explore_projection(X, running_example.W_Q, WORDS, 2)
    assert box.children[1].value.startswith('<img alt="The input X, the weight and')
