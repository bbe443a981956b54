"""Lesson 7's figures: the drawn text is the tensor's, and every control of the browser works."""

import html
import re

import pytest
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mha_lib.figures import many_heads as figures
from mha_lib.figures import palette
from mha_lib.figures.pictures import new_figure
from mha_lib.many_heads import run_encoder
from mha_lib.real_encoder import load_weights, tokenize

WORDS = ("dogs", "chase", "cats")
MAP = torch.tensor([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0], [0.125, 0.125, 0.75]])
SENTENCE = "Dogs chase cats"
PIECES = ["[CLS]", "dogs", "chase", "cats", "[SEP]"]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """Keep every figure that the module makes."""
    kept: list[Figure] = []

    def keep(width: float | int, height: float | int) -> Figure:
        kept.append(new_figure(width, height))
        return kept[-1]

    monkeypatch.setattr(figures, "new_figure", keep)
    return kept


@pytest.fixture(scope="module")
def weights() -> dict[str, torch.Tensor]:
    return load_weights()


@pytest.fixture(scope="module")
def maps(weights: dict[str, torch.Tensor]) -> torch.Tensor:
    return run_encoder(weights, tokenize(SENTENCE)[1])[1][0]


def alt(text: str) -> str:
    found = re.search(r'alt="([^"]*)"', text)
    assert found
    return html.unescape(found.group(1))


def texts(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def labels(ax: Axes) -> tuple[list[str], list[str]]:
    return [t.get_text() for t in ax.get_yticklabels()], [
        t.get_text() for t in ax.get_xticklabels()
    ]


def test_a_row_of_maps_shows_the_numbers(drawn: list[Figure]) -> None:
    text = alt(figures.maps_in_a_row({"head 1": MAP, "mean of 2": MAP.T}, WORDS).data)
    first, second = drawn[0].axes
    assert texts(first) == ["0.50", "0.25", "0.25", "0.00", "1.00", "0.00", "0.12", "0.12", "0.75"]
    assert texts(second) == ["0.50", "0.00", "0.12", "0.25", "1.00", "0.12", "0.25", "0.00", "0.75"]
    assert labels(first) == (list(WORDS), list(WORDS))
    assert labels(second) == ([""] * 3, list(WORDS))
    assert "head 1: dogs reads dogs (0.50), chase reads chase (1.00), cats reads cats" in text


def test_a_cell_has_its_heads_colour(drawn: list[Figure]) -> None:
    figures.maps_in_a_row({"layer 3, head 1": MAP, "mean of 72": MAP}, WORDS)
    for ax, colours in zip(drawn[0].axes, (palette.weight_colours(1), figures.GREY), strict=True):
        faces = [patch.get_facecolor() for patch in ax.patches]
        assert faces == [colours(float(value)) for value in MAP.flatten()]


def test_single_rows(drawn: list[Figure]) -> None:
    rows = {"he: layer 1, head 3": MAP[0], "he: mean of 72": MAP[2]}
    text = alt(figures.rows_of_maps(rows, WORDS).data)
    (ax,) = drawn[0].axes
    assert texts(ax) == ["0.50", "0.25", "0.25", "0.12", "0.12", "0.75"]
    assert labels(ax) == (list(rows), list(WORDS))
    faces = [patch.get_facecolor() for patch in ax.patches]
    assert faces[0] == palette.weight_colours(3)(0.5)
    assert faces[5] == figures.GREY(0.75)
    assert "he: mean of 72: dogs 0.12, chase 0.12, cats 0.75." in text


def test_dots_stand_at_the_shares(drawn: list[Figure]) -> None:
    right = {"1": [0.1, 0.2, 0.3], "6": [0.75, 0.25]}
    text = alt(figures.budget_dots(right, 1 / 64).data)
    (ax,) = drawn[0].axes
    dots = [list(line.get_ydata()) for line in ax.lines if line.get_marker() == "o"]
    means = [line.get_ydata()[0] for line in ax.lines if line.get_marker() != "o"]
    assert dots == list(right.values())
    assert means == pytest.approx([0.2, 0.5, 1 / 64])
    assert texts(ax) == ["0.20", "0.50", "chance"]
    assert labels(ax)[1] == ["1 head", "6 heads"]
    assert "1 heads: 0.10 to 0.30 over 3 seeds. 6 heads: 0.25 to 0.75 over 2 seeds." in text


def test_labels_that_do_not_fit(maps: torch.Tensor) -> None:
    with pytest.raises(ValueError, match="words must have 3 labels, got 2"):
        figures.maps_in_a_row({"head 0": MAP}, WORDS[:2])
    with pytest.raises(ValueError, match="columns must have 3 labels, got 2"):
        figures.rows_of_maps({"head 0": MAP[0]}, WORDS[:2])
    with pytest.raises(ValueError, match="pieces must have 5 labels, got 3"):
        figures.browse(WORDS, maps, 0, 0)


def test_the_browser_draws_each_map_in_its_place(drawn: list[Figure], maps: torch.Tensor) -> None:
    text = alt(figures.head_browser(SENTENCE, maps, layer=4, head=7).data)
    left, right = drawn[0].axes
    image = torch.tensor(left.images[0].get_array())
    for layer in range(6):
        for head in range(12):
            block = image[6 * layer : 6 * layer + 5, 6 * head : 6 * head + 5]
            expected = palette.weight_colours(head)(maps[layer, head].numpy())[..., :3]
            torch.testing.assert_close(block.double(), torch.tensor(expected), atol=1e-6, rtol=0)
    torch.testing.assert_close(torch.tensor(right.images[0].get_array()), maps[4, 7])
    assert texts(right) == [f"{v:.2f}" for v in maps[4, 7].flatten().tolist() if v >= 0.05]
    assert labels(right) == (PIECES, PIECES)
    assert "large, layer 4, head 7" in text
    framed = [p.get_xy() for p in left.patches if p.get_linewidth() > 2]
    assert framed == [(6 * 7 - 0.5, 6 * 4 - 0.5)]


def test_a_pinned_word_fills_the_small_maps(drawn: list[Figure], maps: torch.Tensor) -> None:
    _, text = figures.browse(PIECES, maps, 3, 1, pin=" Chase ")
    left, right = drawn[0].axes
    image = torch.tensor(left.images[0].get_array())
    expected = palette.weight_colours(8)(maps[1, 8, 2].numpy())[..., :3]  # 2 = chase
    for r in range(5):
        row = image[6 + r, 48:53].double()
        torch.testing.assert_close(row, torch.tensor(expected), atol=1e-6, rtol=0)
    assert texts(right) == [f"{v:.2f}" for v in maps[3, 1, 2].tolist() if v >= 0.05]
    assert "each small map shows the row of “chase”" in text


def test_cls_can_be_left_out(drawn: list[Figure], maps: torch.Tensor) -> None:
    figures.browse(PIECES, maps, 3, 1, cls=False)
    right = drawn[0].axes[1]
    torch.testing.assert_close(torch.tensor(right.images[0].get_array()), maps[3, 1, 1:, 1:])
    assert labels(right) == (PIECES[1:], PIECES[1:])
    assert right.get_xlabel() == "layer 3, head 1, without [CLS]"


def test_every_control_of_the_widget(weights: dict[str, torch.Tensor]) -> None:
    box = figures.explore_heads(weights, SENTENCE, layer=1, head=3)
    text, layer, head, pin, cls = box.children[0].children
    canvas = box.children[1]
    assert (text.value, layer.value, head.value) == (SENTENCE, 1, 3)
    for i in range(6):
        layer.value = i
        assert f"large, layer {i}, head 3" in alt(canvas.value)
    for i in range(12):
        head.value = i
        assert f"large, layer 5, head {i}" in alt(canvas.value)
    pin.value = "cats"
    assert "the row of “cats”" in alt(canvas.value)
    cls.value = False
    assert "[CLS] reads" not in alt(canvas.value)
    pin.value = "[CLS]"
    assert "“[CLS]” is no piece of this sentence" in alt(canvas.value)
    text.value = "Black cats sleep"
    assert "black reads" in alt(canvas.value)
    pin.value = "horses"
    assert "“horses” is no piece of this sentence" in alt(canvas.value)


@pytest.mark.parametrize(
    ("sentence", "answer"),
    [("", "at least one word"), ("dogs " * 40, "room for 24 pieces, got 42: shorten it")],
)
def test_a_sentence_that_does_not_fit_is_answered(
    weights: dict[str, torch.Tensor], sentence: str, answer: str
) -> None:
    box = figures.explore_heads(weights, SENTENCE, layer=1, head=3)
    box.children[0].children[0].value = sentence
    assert 'role="alert"' in box.children[1].value or sentence == ""
    assert answer in html.unescape(box.children[1].value)
