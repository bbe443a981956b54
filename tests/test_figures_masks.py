"""Lesson 8's figures show the masks and weights that they are given."""

import itertools

import pytest
import torch

from mha_lib import (
    MultiHeadAttention,
    causal_mask,
    embed_tokens,
    running_example,
    sinusoidal_positions,
)
from mha_lib.figures import masks as figures
from mha_lib.figures.pictures import new_figure

WORDS = running_example.SENTENCES[4]
X = embed_tokens(running_example.IDS, running_example.TABLE, sinusoidal_positions(4, 6))


@pytest.fixture
def layer() -> MultiHeadAttention:
    layer = MultiHeadAttention(6, 2).requires_grad_(False)
    layer.load_state_dict(running_example.state_dict())
    return layer


def test_drawn_weights_are_those_of_the_layer(layer: MultiHeadAttention) -> None:
    mask = causal_mask(4, 4)
    figure, alt = figures.draw_laboratory(layer, X[4], mask, WORDS, head=1)
    _, weights = layer(X[4], mask=mask, need_weights=True)
    drawn = [t.get_text() for t in figure.axes[1].texts]
    rows, columns = range(4), range(4)
    expected = [f"{float(weights[1, r, c]):.2f}" if c <= r else "·" for r in rows for c in columns]
    assert drawn == expected
    reach = [t.get_text() for t in figure.axes[2].texts]
    assert reach == [str(int(c <= r)) for r in rows for c in columns]
    assert "dogs may not read chase, cats, <pad>" in alt
    assert "chase's output can be changed by dogs, chase;" in alt


def test_an_empty_row_is_named(layer: MultiHeadAttention) -> None:
    _, alt = figures.draw_laboratory(layer, X[4], ~causal_mask(4, 4), WORDS, head=0)
    assert "Nothing to attend to: <pad>." in alt
    assert "<pad>'s output can be changed by no word." in alt


def test_every_setting_of_the_widget_works(layer: MultiHeadAttention) -> None:
    box = figures.explore_masks(layer, X, running_example.SENTENCES, running_example.LENGTHS)
    controls, canvas = box.children
    _, _, causal, padding, window, flipped = controls.children
    seen = set()
    for a, b, c, d in itertools.product([0, 1], [0, 1], [1, 4], [0, 1]):
        causal.value, padding.value, window.value, flipped.value = bool(a), bool(b), c, bool(d)
        assert "<img" in canvas.value
        seen.add(canvas.value)
    assert len(seen) >= 10


def test_scores_and_mask_are_hidden_alike() -> None:
    q, k = X[4, :, :3], X[4, :, 3:]
    part = new_figure(9, 2)
    figures.draw_masked(part, (q, k), causal_mask(4, 4), WORDS, 0, "causal")
    dots = [[t.get_text() for t in ax.texts].count("·") for ax in part.axes]
    assert dots == [6, 6, 6]


def test_window_mask_by_hand() -> None:
    assert figures.window_mask(4, 1).equal(torch.eye(4, dtype=torch.bool))
    assert figures.window_mask(3, 3).all()
