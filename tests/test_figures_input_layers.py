"""Lesson 2's figures show the tensors' own numbers, and join the rows that are equal."""

import math
import re

import numpy as np
import pytest
import torch

import mha_lib
from mha_lib import running_example
from mha_lib.figures import input_layers as figures
from mha_lib.figures.numbers import number

SENTENCES = running_example.SENTENCES
P = mha_lib.sinusoidal_positions(4, 6)
SCALED = running_example.TABLE[running_example.IDS] * math.sqrt(6)


def drawn(ax: object) -> list[str]:
    return [text.get_text() for text in ax.texts]  # type: ignore[attr-defined]


def shared(gain: float, other: int) -> list[tuple[int, int]]:
    """The pairs of equal rows, told from the words: the tensors are not looked at."""
    return [
        (i, j)
        for i, a in enumerate(SENTENCES[0])
        for j, b in enumerate(SENTENCES[other])
        if a == b and (gain == 0 or i == j)
    ]


def test_the_sum_shows_three_grids_that_add_up() -> None:
    figure, alt = figures.draw_sum(SCALED[0], P, SCALED[0] + P, SENTENCES[0])
    words, plus, positions, equals, total = (drawn(ax) for ax in figure.axes)
    assert (plus, equals) == (["+"], ["="])
    assert words[:6] == ["0", "0", "2", "0", "0", "1"]
    for row in range(4):
        for column in range(6):
            angle = row / 10000 ** (column // 2 * 2 / 6)
            wave = math.sin(angle) if column % 2 == 0 else math.cos(angle)
            cell = 6 * row + column
            assert positions[cell] == number(wave)
            assert total[cell] == number(wave + int(words[cell].replace("−", "-")))
    assert "dogs, chase, black, cats" in alt


def test_the_sum_refuses_labels_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match=r"rows must have 4 labels, got 1: \['dogs'\]"):
        figures.show_sum(SCALED[0], P, SCALED[0] + P, ["dogs"])


@pytest.mark.parametrize("pair", [0, 1, 2])
def test_the_hand_points_where_the_angle_says(pair: int) -> None:
    figure, alt = figures.draw_clocks(P, pair)
    speed = 10000 ** (-2 * pair / 6)
    assert len(figure.axes) == 4
    for row, ax in enumerate(figure.axes):
        tip = ax.texts[0].xy  # type: ignore[attr-defined]
        torch.testing.assert_close(
            torch.tensor(tip), torch.tensor([math.sin(row * speed), math.cos(row * speed)])
        )
        assert ax.get_title().splitlines() == [
            f"row {row}",
            f"column {2 * pair}: {number(tip[0])}",
            f"column {2 * pair + 1}: {number(tip[1])}",
        ]
        assert f"{math.degrees(row * speed):.0f}° from the top" in alt


def test_clocks_refuse_what_they_cannot_show() -> None:
    with pytest.raises(ValueError, match=r"pair must lie in 0 \.\. 2, got 3"):
        figures.clock_hands(P, pair=3)
    with pytest.raises(ValueError, match="positions must have at most 6 rows, got 7"):
        figures.clock_hands(mha_lib.sinusoidal_positions(7, 6))


@pytest.mark.parametrize("other", [1, 2, 3, 4])
@pytest.mark.parametrize("gain", [0.0, 0.25, 1.0])
def test_lines_join_the_same_word_in_the_same_place(gain: float, other: int) -> None:
    left, right = SCALED[0] + gain * P, SCALED[other] + gain * P
    assert figures.equal_rows(left, right) == shared(gain, other)
    frame = ("x", left, right)
    figure, alt = figures.draw_rows([frame], SENTENCES[0], SENTENCES[other])
    a, between, b = figure.subfigs[0].axes
    joined = [tuple(np.asarray(line.get_ydata()).tolist()) for line in between.lines]
    assert joined == shared(gain, other)
    known = {j for _, j in joined}
    labels = [label.get_text() for label in b.get_yticklabels()]
    assert labels == [w if j in known else f"{w}, new" for j, w in enumerate(SENTENCES[other])]
    assert f"{4 - len(known)} rows on the right are new" in alt
    whole = gain == 0
    assert drawn(a) == [number(float(v), whole) for v in left.flatten()]
    assert drawn(b) == [number(float(v), whole) for v in right.flatten()]


def test_the_two_answers_of_the_lesson() -> None:
    frames = [(str(g), SCALED[0] + g * P, SCALED[1] + g * P) for g in (0, 0.5, 1)]
    alt = figures.compare_rows(frames, *SENTENCES[:2]).data
    assert re.findall(r"(\d) rows on the right are new", alt) == ["0", "2", "2"]


def test_the_widget_follows_every_control() -> None:
    box = figures.explore_positions(
        running_example.IDS, running_example.TABLE, P, running_example.SENTENCES
    )
    controls, canvas = box.children
    gain, scale, other = controls.children
    assert not gain.continuous_update
    for values in ((0.0, True, 1), (0.25, True, 3), (2.0, False, 4), (0.0, False, 2)):
        gain.value, scale.value, other.value = values
        assert "role=" not in canvas.value
        dogs = math.sqrt(5) if values[1] else math.sqrt(5 / 6)
        lengths = f"length of dogs: {dogs:.2f}, of a position: {values[0] * math.sqrt(3):.2f}"
        assert lengths in canvas.value
        new = 4 - len({j for _, j in shared(values[0], values[2])})
        assert f"{new} rows on the right are new" in canvas.value
        assert f"right those of {' '.join(SENTENCES[values[2]])}" in canvas.value.replace(
            "&lt;", "<"
        ).replace("&gt;", ">")
