"""Lesson 4's figures show the tensor's own numbers."""

import pytest
import torch

from mha_lib.figures import splitting_heads as figures

WORDS = ("dogs", "chase", "black", "cats")
X = torch.arange(24).view(4, 6)


def texts(ax: object) -> list[str]:
    return [text.get_text() for text in ax.texts]  # type: ignore[attr-defined]


def test_right_and_wrong_draws_both_splits() -> None:
    figure, alt = figures.draw_right_and_wrong(X, 2, WORDS)
    drawn = [texts(ax) for ax in figure.axes]
    assert drawn[0] == ["0", "1", "2", "6", "7", "8", "12", "13", "14", "18", "19", "20"]
    assert drawn[1] == ["3", "4", "5", "9", "10", "11", "15", "16", "17", "21", "22", "23"]
    assert drawn[2] == [str(n) for n in range(12)]
    assert drawn[3] == [str(n) for n in range(12, 24)]
    assert "18 of 24 cells are hatched" in alt
    hatched = [sum(p.get_hatch() is not None for p in ax.patches) for ax in figure.axes]
    assert hatched == [0, 0, 9, 9]


def test_position_counts_as_the_strides_do() -> None:
    heads = X.view(4, 2, 3).transpose(0, 1)
    for place in range(24):
        word, head, feature = figures.position(X, 2, place)
        assert heads[head, word, feature] == place
        assert 3 * head + 6 * word + feature == place


@pytest.mark.parametrize("place", [0, 7, 23])
@pytest.mark.parametrize("step", [1, 2, 3])
def test_the_widget_follows_every_control(step: int, place: int) -> None:
    box = figures.explore_split(X, 2, WORDS)
    controls, canvas = box.children
    controls.children[0].value = step
    controls.children[1].value = place
    word, head, feature = figures.position(X, 2, place)
    inside = f"head {head}, feature {feature} of that head"
    where = {1: f"feature {head * 3 + feature}", 2: inside, 3: inside}[step]
    frame = {1: "as 4 rows, (L, E)", 2: "cut into 2 heads, (L, H, D)", 3: "2 matrices, (H, L, D)"}
    assert f"place {place} is marked: word {WORDS[word]}, {where}." in canvas.value
    assert frame[step] in canvas.value
    assert not any(c.continuous_update for c in controls.children)


def test_labels_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match=r"rows must have 4 labels, got 2: \['a', 'b'\]"):
        figures.right_and_wrong(X, 2, ["a", "b"])
