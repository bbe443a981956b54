"""Lesson 9's maps show the weights that they are given."""

import pytest
import torch

from mha_lib import MultiHeadAttention, embed_tokens, running_example, sinusoidal_positions
from mha_lib.figures import encoder_decoder_attention as figures

X = embed_tokens(running_example.IDS, running_example.TABLE, sinusoidal_positions(4, 6))
FRENCH, ENGLISH = running_example.FRENCH, running_example.SENTENCES[0]


@pytest.fixture
def cross() -> MultiHeadAttention:
    layer = MultiHeadAttention(6, 2).requires_grad_(False)
    layer.load_state_dict(running_example.cross_state_dict())
    return layer


def test_the_example_reads_the_words_it_was_typed_to_read(cross: MultiHeadAttention) -> None:
    _, weights = cross(running_example.FRENCH_STATES, X[0], need_weights=True)
    assert weights is not None
    noirs = FRENCH.index("noirs")
    torch.testing.assert_close(
        weights[:, noirs].round(decimals=2),
        torch.tensor([[0.0, 0.0, 1.0, 0.0], [0.0, 0.03, 0.03, 0.94]]),
    )
    torch.testing.assert_close(weights[0, 0], torch.full((4,), 0.25))


def test_drawn_numbers_are_the_weights(cross: MultiHeadAttention) -> None:
    _, weights = cross(running_example.FRENCH_STATES, X[0], need_weights=True)
    assert weights is not None
    figure, alt = figures.draw_cross_maps(weights, FRENCH, ENGLISH)
    for head, ax in enumerate(figure.axes):
        drawn = [t.get_text() for t in ax.texts]
        assert drawn == [f"{float(w):.2f}" for w in weights[head].flatten()]
    assert "noirs looks at black (1.00)" in alt
    assert "les at no word in particular" in alt


def test_labels_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="columns must have 3 labels, got 2"):
        figures.cross_maps(torch.full((1, 1, 3), 1 / 3), ["a"], ["b", "c"])


def test_every_setting_of_the_widget_works(cross: MultiHeadAttention) -> None:
    box = figures.explore_cross(
        cross,
        running_example.FRENCH_STATES,
        X,
        FRENCH,
        running_example.SENTENCES,
        running_example.LENGTHS,
    )
    controls, canvas = box.children
    sentence, padding, swapped = controls.children
    for number in range(5):
        sentence.value = number
        for hide in (True, False):
            padding.value, swapped.value = hide, False
            assert "7 target words down, 4 source words" in canvas.value
        swapped.value = True
        assert "4 target words down, 7 source words" in canvas.value


def test_three_kinds_hides_the_decoders_later_words() -> None:
    square = torch.eye(4)
    labels = [f"a{i}→b{i}" for i in range(7)]
    html = figures.three_kinds(
        (square, ENGLISH), (torch.eye(7), labels), (torch.full((7, 4), 0.25), FRENCH), head=0
    )
    assert "7 by 7, all cells above the diagonal hatched" in html.data
