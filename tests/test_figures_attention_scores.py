"""Lesson 5's figures: the drawn numbers are right, and every control works."""

import math

import pytest
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import mha_lib
from mha_lib import running_example
from mha_lib.figures import attention_scores as figures
from mha_lib.figures import explorers, score_scales
from mha_lib.figures.numbers import number

SENTENCES = running_example.SENTENCES
WORDS = SENTENCES[0]
X = mha_lib.embed_tokens(
    running_example.IDS, running_example.TABLE, mha_lib.sinusoidal_positions(4, 6)
)
Q, K, V = (
    mha_lib.split_heads(X @ weight.T, 2)
    for weight in (running_example.W_Q, running_example.W_K, running_example.W_V)
)


def texts(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def written(values: list[float]) -> list[str]:
    return [number(value) for value in values]


def by_loops(sentence: int, head: int, asking: int, factor: float) -> list[list[float]]:
    """Scores, weights, weighted values (flat) and output of one query, without tensors."""
    query = Q[sentence, head, asking].tolist()
    keys, values = K[sentence, head].tolist(), V[sentence, head].tolist()
    scores = [factor * sum(a * b for a, b in zip(query, key, strict=True)) for key in keys]
    scores = [score / math.sqrt(3) for score in scores]
    total = sum(math.exp(score) for score in scores)
    weights = [math.exp(score) / total for score in scores]
    weighted = [[w * x for x in value] for w, value in zip(weights, values, strict=True)]
    output = [sum(column) for column in zip(*weighted, strict=True)]
    return [scores, weights, [x for row in weighted for x in row], output]


@pytest.mark.parametrize("factor", [0.25, 1.0, 4.0])
@pytest.mark.parametrize(("head", "asking"), [(0, 1), (1, 1), (1, 3)])
def test_the_row_is_that_of_plain_loops(head: int, asking: int, factor: float) -> None:
    got = figures.row_values((Q[0, head], K[0, head], V[0, head]), asking, factor)
    for ours, right in zip(got, by_loops(0, head, asking, factor), strict=True):
        torch.testing.assert_close(ours.flatten(), torch.tensor(right), rtol=1e-5, atol=1e-5)


def test_every_block_shows_its_numbers() -> None:
    figure = Figure()
    figures.draw_row(figure, (Q[0, 1], K[0, 1], V[0, 1]), WORDS, 1, head=1)
    above, keys, scores, weights, values, weighted, below = figure.axes
    assert texts(above) == written(Q[0, 1, 1].tolist())
    assert texts(keys) == written(K[0, 1].flatten().tolist())
    assert texts(scores) == ["1.58", "0.08", "2.11", "5.86"]
    assert texts(weights) == ["0.01", "0.00", "0.02", "0.96"]
    assert texts(values) == written(V[0, 1].flatten().tolist())
    assert texts(weighted) == written(by_loops(0, 1, 1, 1.0)[2])
    assert texts(below) == ["2.08", "0.05", "0.05", "sum = output"]
    assert [label.get_text() for label in keys.get_yticklabels()] == list(WORDS)


def test_one_row_says_what_both_heads_find() -> None:
    alt = figures.one_row(Q[0], K[0], V[0], WORDS, asking=1).data
    assert "0.94, is on dogs at place 0. The output is 1.89, 1.12, 1.94." in alt
    assert "0.96, is on cats at place 3. The output is 2.08, 0.05, 0.05." in alt


@pytest.fixture
def unrendered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a widget draw its figure and show the alt text; turning every one into PNG takes long."""
    monkeypatch.setattr(explorers, "picture_html", lambda figure, alt: alt)


@pytest.mark.usefixtures("unrendered")
def test_the_widget_follows_every_control() -> None:
    box = figures.explore_row(Q[:4], K[:4], V[:4], SENTENCES[:4])
    (sentence, asking, head, factor), canvas = box.children[0].children, box.children[1]
    assert not any(c.continuous_update for c in (asking, factor))
    assert "place 3. The output is 2.08, 0.05, 0.05." in canvas.value
    for s, a, h in ((0, 3, 0), (1, 2, 1), (2, 1, 0), (3, 0, 1), (1, 1, 0), (2, 2, 1)):
        sentence.value, asking.value, head.value = s, a, h
        _, weights, _, output = by_loops(s, h, a, 1.0)
        best = weights.index(max(weights))
        assert f"Head {h}, query of {SENTENCES[s][a]}" in canvas.value
        assert f"is on {SENTENCES[s][best]} at place {best}." in canvas.value
        assert f"output is {', '.join(written(output))}." in canvas.value
    sentence.value, asking.value, head.value = 0, 1, 1
    for value, share in zip(figures.FACTORS.values(), (0.51, 0.75, 0.96, 1.0, 1.0), strict=True):
        factor.value = value
        assert f"largest weight, {number(share)}, is on cats" in canvas.value


def test_scales_shows_the_scaled_scores_and_their_softmax() -> None:
    scores = torch.tensor([0.0, math.log(3.0)])
    figure, alt = score_scales.draw_scales(scores, [0, 1, 2], ["dogs", "cats"], head=0)
    left, right = figure.axes
    assert texts(left) == ["0.00", "0.00", "0.00", "1.10", "0.00", "2.20"]
    assert texts(right) == ["0.50", "0.50", "0.25", "0.75", "0.10", "0.90"]
    assert [label.get_text() for label in left.get_yticklabels()] == ["× 0", "× 1", "× 2"]
    assert "cats is first and its weight is 0.50, 0.75, 0.90" in alt


def test_lines_carry_their_numbers_and_their_trend() -> None:
    variances = {"plain": [1.0, 4.0], "scaled": [1.0, 1.01]}
    bits = {"plain": [1.7, 0.25], "scaled": [1.7, 1.6]}
    figure, alt = score_scales.draw_size((1, 4), variances, bits)
    left, right = figure.axes
    assert texts(left) == ["1.00", "4.00", "1.00", "1.01"]
    assert texts(right) == ["1.70", "0.25", "1.70", "1.60"]
    assert [line.get_ydata().tolist() for line in left.lines] == list(variances.values())
    assert "variance of plain rises; the variance of scaled stays about level" in alt
    assert "softmax of plain falls; the entropy of the softmax of scaled stays about level" in alt


def test_labels_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match=r"words must have 4 labels, got 1: \['dogs'\]"):
        figures.one_row(Q[0], K[0], V[0], ["dogs"], asking=1)
    with pytest.raises(ValueError, match="columns must have 4 labels, got 1"):
        score_scales.at_scales(torch.zeros(4), [1], ["dogs"], head=0)
    with pytest.raises(ValueError, match="plain must have 2 labels, got 1"):
        score_scales.scale_and_size((1, 4), {"plain": [1.0], "scaled": [1.0]}, {})


def test_the_widget_shows_a_picture() -> None:
    box = figures.explore_row(Q[:4], K[:4], V[:4], SENTENCES[:4])
    assert box.children[1].value.startswith('<img alt="Head 1, query of chase')
