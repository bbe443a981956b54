"""Lesson 10's maps show what the stored model really wrote and where it looked."""

import datetime

import pytest
import torch

from mha_lib.date_pairs import date_pair
from mha_lib.decoding import greedy_decode
from mha_lib.figures import transformer as figures
from mha_lib.figures.pictures import new_figure
from mha_lib.stored_runs import Run, load_run

DAY = datetime.date(2014, 9, 3)


@pytest.fixture(scope="module")
def run() -> Run:
    return load_run("date")


def test_fillers_change_nothing_while_their_mask_is_on(run: Run) -> None:
    pair = date_pair(DAY, "full", "hu")
    written, weights = figures.translate(run, pair, -1, causal=True, padding=True)
    assert tuple(written[:-1]) == pair.target
    assert written[-1] == "<eos>"
    plain = greedy_decode(run.model, run.vocabulary.source_ids([pair.source]), need_weights=True)
    assert plain.cross_weights is not None
    torch.testing.assert_close(
        weights[:, : len(pair.source)], plain.cross_weights[0, -1].mean(0), rtol=1e-4, atol=1e-5
    )
    assert (weights[:, len(pair.source) :] == 0).all()


def test_without_the_mask_the_fillers_are_read(run: Run) -> None:
    pair = date_pair(DAY, "full", "hu")
    _, weights = figures.translate(run, pair, -1, causal=True, padding=False)
    assert weights[:, len(pair.source) :].max() > 0.1
    assert run.model.is_causal is True


def test_drawn_rows_carry_the_word_that_is_written_and_doubt() -> None:
    ax = new_figure(3, 2).subplots()
    weights = torch.tensor([[0.9, 0.1, 0.0], [0.4, 0.3, 0.3]])
    figures.draw_alignment(ax, weights, ["a", "b", "c"], ["x", "y"], links=(0, None))
    assert [t.get_text() for t in ax.get_yticklabels()] == ["x", "y ?"]
    assert [t.get_text() for t in ax.texts] == ["0.90", "0.10", "0.00", "0.40", "0.30", "0.30"]
    frames = [
        p for p in ax.patches if p.get_edgecolor()[:3] == pytest.approx((0.835, 0.369, 0), abs=0.01)
    ]
    assert [(round(p.get_x() + 0.46), round(p.get_y() + 0.46)) for p in frames] == [(0, 0)]


def test_every_control_of_the_widget_works(run: Run) -> None:
    box = figures.explore_translation(run)
    controls, canvas = box.children
    date, format, language, step, causal, padding = controls.children
    for name in ("fr", "de", "es", "hu"):
        language.value = name
        for kind in ("full", "long", "medium"):
            format.value = kind
            right = " ".join(date_pair(DAY, kind, name).target)
            assert f"Right answer: {right}." in canvas.value
    step.value = 1
    assert "Written so far, and where each looked most: " in canvas.value
    causal.value = padding.value = False
    assert "<img" in canvas.value
    date.value = "2014-13-01"
    assert "date must be written as 2014-09-03, got &#x27;2014-13-01&#x27;" in canvas.value
    date.value = "1850-01-01"
    assert "date must lie in 1950-01-01 .. 2049-12-31, got 1850-01-01" in canvas.value
    date.value = "1999-12-31"
    assert "<img" in canvas.value


def test_the_step_shows_only_what_is_written_by_then(run: Run) -> None:
    pair = date_pair(DAY, "full", "de")
    written, weights = figures.translate(run, pair, -1, causal=True, padding=True)
    figure, alt = figures.draw_translation(pair, written[:2], weights[:2], padding=True)
    source = (*pair.source, "<pad>", "<pad>", "<pad>")
    looks = [
        f"{written[t]} at {source[weights[t].tolist().index(max(weights[t]))]}" for t in (0, 1)
    ]
    assert alt.endswith(f"where each looked most: {looks[0]}, {looks[1]}.")
    assert len(figure.axes[0].get_yticklabels()) == 2
