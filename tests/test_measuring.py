"""Scores by hand: which rows count, which column is the right one."""

import math

import pytest
import torch
from threads import one_thread

from mha_lib.measuring import alignment_scores, measure, teacher_forced
from mha_lib.training import masked_loss, new_model, shift_targets, train
from mha_lib.transformer import BOS_ID
from mha_lib.word_pairs import Pair, Vocabulary

PAIRS = [
    Pair(("<fr>", "black", "cats"), ("chats", "noirs"), (2, 1)),
    Pair(("<fr>", "black", "dogs"), ("chiens", "noirs"), (2, 1)),
    Pair(("<fr>", "cats"), ("les", "chats"), (None, 1)),
]


def weights() -> torch.Tensor:
    """(3 pairs, 2 layers, 2 heads, 3 target words, 3 source words); zero unless set."""
    x = torch.zeros(3, 2, 2, 3, 3)
    x[0, 0, :, 0, 2] = 1.0  # layer 1: chats looks at cats: right
    x[0, 0, :, 1, 0] = 1.0  # noirs at <fr>: wrong
    x[2, 0, :, 0, 2] = 1.0  # les: has no source word, is not counted
    x[2, 0, :, 1, 1] = 1.0  # chats: right
    x[0, 1, 0, 0] = torch.tensor([0.0, 0.6, 0.4])  # layer 2: one head says black ...
    x[0, 1, 1, 0] = torch.tensor([0.5, 0.0, 0.5])  # ... their mean says cats: right
    x[0, 1, :, 1, 1] = 1.0  # noirs: right
    x[2, 1, :, 1, 1] = 1.0  # chats: right
    x[1, 1, :, :, 0] = 1.0  # all wrong, but not a correct translation
    return x


def test_alignment_by_hand() -> None:
    scores, words = alignment_scores(weights(), PAIRS, torch.tensor([True, False, True]))
    assert words == 3
    assert scores == pytest.approx([2 / 3, 1.0])
    scores, words = alignment_scores(weights(), PAIRS, torch.tensor([True, True, True]))
    assert words == 5
    assert scores == pytest.approx([2 / 5, 3 / 5])


def test_alignment_of_nothing() -> None:
    scores, words = alignment_scores(weights(), PAIRS, torch.zeros(3, dtype=torch.bool))
    assert words == 0
    assert all(math.isnan(score) for score in scores)


def test_teacher_forced_counts_real_words_and_eos() -> None:
    vocabulary = Vocabulary.of_pairs(PAIRS)
    model = new_model(len(vocabulary.words), seed=0)
    with torch.no_grad():  # always "noirs": right in 2 of 9 places, <eos> being a place
        model.output.weight.zero_()
        model.output.bias[vocabulary.ids_of(["noirs"])[0]] = 9.0
    loss, accuracy = teacher_forced(model, vocabulary, PAIRS)
    assert accuracy == pytest.approx(2 / 9)
    source = vocabulary.source_ids([pair.source for pair in PAIRS])
    target = vocabulary.target_ids([pair.target for pair in PAIRS])
    expected = masked_loss(model(source, shift_targets(target, BOS_ID)), target)
    assert loss == pytest.approx(expected.item())


@one_thread()
def test_measure_before_and_after_learning_three_pairs() -> None:
    vocabulary = Vocabulary.of_pairs(PAIRS)
    model = new_model(len(vocabulary.words), seed=0)
    assert measure(model, vocabulary, PAIRS)["correct"] == 0
    source = vocabulary.source_ids([pair.source for pair in PAIRS])
    target = vocabulary.target_ids([pair.target for pair in PAIRS])
    train(model, source, target, steps=40, batch_size=3)
    facts = measure(model, vocabulary, PAIRS)
    assert (facts["pairs"], facts["correct"], facts["exact_match"]) == (3, 3, 1.0)
    assert facts["teacher_forced_accuracy"] == 1.0
    assert facts["alignment_words"] == 5
    # Two right and one answer exchanged: only that one counts as wrong.
    wrong = [PAIRS[0], PAIRS[1]._replace(target=PAIRS[0].target), PAIRS[2]]
    assert measure(model, vocabulary, wrong)["correct"] == 2
