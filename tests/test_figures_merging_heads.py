"""Lesson 6's figures: the drawn text is the tensor's, the bars add up, every control works."""

import html
import re
from itertools import product

import pytest
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mha_lib.figures import merging_heads as figures
from mha_lib.figures import palette
from mha_lib.figures.pictures import new_figure

WORDS = ("dogs", "chase", "black", "cats", "home")
# 3 heads, 5 words, width 2: 2.31 is head 2, word 3, feature 1.
HEADS = torch.tensor(
    [[[h + w / 10, h + w / 10 + 0.01] for w in range(5)] for h in range(3)], dtype=torch.float64
)
PARTS = torch.tensor(
    [
        [[1.5, -0.5, 0.25, 2.0], [0.5, -1.25, -1.0, 0.0]],
        [[-1.5, 0.75, 0.0, 1.0], [2.5, -0.25, -1.0, 0.5]],
    ]
)  # (2 sentences, 2 heads, 4 features)
SENTENCES = ("dogs chase cats", "cats chase dogs")


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """Keep every figure that the module makes."""
    kept: list[Figure] = []

    def keep(width: float | int, height: float | int) -> Figure:
        kept.append(new_figure(width, height))
        return kept[-1]

    monkeypatch.setattr(figures, "new_figure", keep)
    return kept


def alt(text: str) -> str:
    found = re.search(r'alt="([^"]*)"', text)
    assert found
    return html.unescape(found.group(1))


def texts(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def blocks(*cells: tuple[int, int]) -> list[str]:
    """What stands in the blocks of (head, word), written from the pattern of HEADS."""
    return [text for h, w in cells for text in (f"{WORDS[w]}, head {h}", f"{h}.{w}0  {h}.{w}1")]


def test_blocks_stand_where_merge_and_reshape_put_them(drawn: list[Figure]) -> None:
    text = alt(figures.merge_and_reshape(HEADS, WORDS).data)
    axes = drawn[0].axes
    for h in range(3):
        assert texts(axes[h]) == blocks(*((h, w) for w in range(5)))
    assert texts(axes[3]) == blocks(*((h, w) for w in range(5) for h in range(3)))
    assert texts(axes[4]) == blocks(*((h, w) for h in range(3) for w in range(5)))
    assert [[t.get_text() for t in ax.get_yticklabels()] for ax in axes] == [
        *(list(WORDS), [""] * 5, [""] * 5, list(WORDS), list(WORDS))
    ]
    # In order of memory, block n is head n // 5, word n % 5; its place wants head n % 3, word
    # n // 3. They agree for n = 0, 7 and 14 only.
    right = [n for n in range(15) if (n // 5, n % 5) == (n % 3, n // 3)]
    assert right == [0, 7, 14]
    hatched = [p for p in axes[4].patches if p.get_hatch()]
    places = {round(p.get_y() + 0.42) * 3 + round(p.get_x() + 0.47) for p in hatched}
    assert places == set(range(15)) - {0, 7, 14}
    assert not any(p.get_hatch() for ax in axes[:4] for p in ax.patches)
    assert "12 of 15 blocks are hatched" in text
    assert "row for dogs holds dogs, head 0 and chase, head 0 and black, head 0." in text


def test_frames_have_the_colour_and_the_line_of_their_head(drawn: list[Figure]) -> None:
    figures.merge_and_reshape(HEADS, WORDS)
    merged = drawn[0].axes[3].patches
    for n, frame in enumerate(merged):
        assert tuple(frame.get_edgecolor()) == pytest.approx(rgba(palette.HEADS[n % 3]))
        assert frame.get_linestyle() == palette.EDGES[n % 3]


def rgba(colour: str) -> tuple[float, ...]:
    return (*(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)), 1.0)


def test_bars_stack_to_the_totals(drawn: list[Figure]) -> None:
    text = alt(figures.head_sums(PARTS, SENTENCES, "chase").data)
    first, second = drawn[0].axes
    assert first.get_title() == "chase in “dogs chase cats”"
    # Feature by feature, head by head: bottom and height, worked out by hand.
    expected = [
        *((0, 1.5), (1.5, 0.5)),
        *((0, -0.5), (-0.5, -1.25)),
        *((0, 0.25), (0, -1)),
        *((0, 2), (2, 0)),
    ]
    bars = [(bar.get_y(), bar.get_height()) for bar in first.patches]
    assert bars == [pytest.approx(pair) for pair in expected]
    assert [bar.get_hatch() for bar in first.patches] == ["", "//"] * 4
    totals = [line.get_ydata()[0] for line in first.lines if len(line.get_xdata()) == 2][:4]
    assert totals == pytest.approx([2, -1.75, -0.75, 2])
    shown = set(texts(first))
    assert {"2.00", "−1.75", "−0.75", "1.50", "0.50", "−0.50", "−1.25", "−1.00"} <= shown
    assert "0.25" not in shown  # that bar is too short for a number: the axis spans 6.9
    assert {"1.00", "0.50", "−1.00", "1.50"} <= set(texts(second))  # totals of the other sentence
    assert first.get_ylim() == second.get_ylim()
    low, high = first.get_ylim()
    assert low < -1.75
    assert high > 2.5
    assert "dogs chase cats: totals 2.00, −1.75, −0.75, 2.00; the first is 1.50 from head 0" in text
    assert "cats chase dogs: totals 1.00, 0.50, −1.00, 1.50; the first is −1.50 from head 0" in text


def test_gains_scale_each_head_alone(drawn: list[Figure]) -> None:
    text = alt(figures.compare_gains(PARTS, SENTENCES, [(1, 1), (0, 2)]).data)
    panels = [texts(ax) for ax in drawn[0].axes]
    assert panels == [
        ["2.00", "−1.75", "−0.75", "2.00"],
        ["1.00", "−2.50", "−2.00", "0.00"],
        ["1.00", "0.50", "−1.00", "1.50"],
        ["5.00", "−0.50", "−2.00", "1.00"],
    ]
    assert "cats chase dogs, head 0 × 0, head 1 × 2: totals 5.00, −0.50, −2.00, 1.00." in text
    with pytest.raises(ValueError, match=r"gains must have 2 labels, got 1: \[1\]"):
        figures.compare_gains(PARTS, SENTENCES, [(1,)])


def test_the_widget_follows_every_control() -> None:
    box = figures.explore_gains(PARTS, SENTENCES, "chase")
    controls, canvas = box.children
    sentence, head_0, head_1 = controls.children
    assert [name for name, _ in sentence.options] == list(SENTENCES)
    for n, a, b in product((0, 1), (0, 0.5, 1), (0, 0.25, 1)):
        sentence.value, head_0.value, head_1.value = n, a, b
        total = float(PARTS[n, 0, 0]) * a + float(PARTS[n, 1, 0]) * b
        found = re.match(
            rf"{SENTENCES[n]}, head 0 × {a:g}, head 1 × {b:g}: totals (\S+),", alt(canvas.value)
        )
        assert found
        assert float(found.group(1).replace("−", "-")) == pytest.approx(total, abs=0.0051)
    assert not any(c.continuous_update for c in (head_0, head_1))


def test_the_map_shows_the_weights(drawn: list[Figure]) -> None:
    weights = torch.tensor([[0.25, 0.75, 0.0], [0.5, 0.125, 0.375], [0.0, 0.0, 1.0]])
    text = alt(figures.head_map(weights, WORDS[:3], head=2, title="layer 0, head 2").data)
    ax = drawn[0].axes[0]
    assert texts(ax) == ["0.25", "0.75", "0.00", "0.50", "0.12", "0.38", "0.00", "0.00", "1.00"]
    assert tuple(ax.patches[8].get_facecolor()) == pytest.approx(rgba(palette.HEADS[2]), abs=0.01)
    assert text.endswith("row: dogs to chase, chase to dogs, black to black.")


def test_labels_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match=r"words must have 5 labels, got 2: \['a', 'b'\]"):
        figures.merge_and_reshape(HEADS, ["a", "b"])
    for call in (
        lambda: figures.head_sums(PARTS, ["a"], "chase"),
        lambda: figures.compare_gains(PARTS, ["a"], [(1, 1)]),
        lambda: figures.explore_gains(PARTS, ["a"], "chase"),
    ):
        with pytest.raises(ValueError, match=r"sentences must have 2 labels, got 1: \['a'\]"):
            call()
    with pytest.raises(ValueError, match=r"rows must have 2 labels, got 5"):
        figures.head_map(torch.eye(2), WORDS, 0, "a")


def test_tensors_that_carry_a_gradient_are_drawn_too() -> None:
    """A warning would fail this test, and in a lesson it would stand below the figure."""
    heads, parts = HEADS.clone().requires_grad_(), PARTS.clone().requires_grad_()
    same = figures.merge_and_reshape(heads, WORDS).data
    assert same == figures.merge_and_reshape(HEADS, WORDS).data
    assert figures.explore_gains(parts, SENTENCES, "chase").children[1].value == (
        figures.explore_gains(PARTS, SENTENCES, "chase").children[1].value
    )
    figures.head_sums(parts, SENTENCES, "chase")
    figures.compare_gains(parts, SENTENCES, [(1, 0)])
    figures.head_map(torch.eye(2).requires_grad_(), ("a", "b"), 0, "a")
