"""Pronoun sentences: balanced, in halves that share nothing, and read off the right cells."""

import re

import pytest
import torch
from torch.testing import assert_close

from mha_lib.many_heads import run_encoder
from mha_lib.pronouns import (
    HE,
    SHE,
    TEMPLATES,
    PronounSentence,
    attention_to_names,
    pronoun_sentences,
)
from mha_lib.real_encoder import load_weights, tokenize


@pytest.fixture(scope="module")
def weights() -> dict[str, torch.Tensor]:
    return load_weights()


def first_name(sentence: PronounSentence) -> str:
    return re.findall(r"[a-z]+", sentence.text.lower())[0]


@pytest.mark.parametrize("half", ["find", "check"])
def test_a_rule_without_grammar_is_right_in_half_of_the_sentences(half: str) -> None:
    sentences = pronoun_sentences(half)
    assert len(set(sentences)) == 256
    assert sum(first_name(s) == s.right for s in sentences) == 128  # always the first name
    assert sum(s.pronoun == "she" for s in sentences) == 128
    men = {name.lower() for name in HE[half]}
    assert sum(s.right in men for s in sentences) == 128  # always the man
    assert all((s.right in men) == (s.pronoun == "he") for s in sentences)
    assert all((s.right in men) != (s.wrong in men) for s in sentences)


@pytest.mark.parametrize("half", ["find", "check"])
def test_names_and_pronouns_are_single_pieces(half: str) -> None:
    for sentence in pronoun_sentences(half):
        pieces = tokenize(sentence.text)[0]
        assert [pieces.count(word) for word in sentence[1:]] == [1, 1, 1]


def test_halves_share_no_name_and_no_template() -> None:
    for table in (HE, SHE, TEMPLATES):
        assert not set(table["find"]) & set(table["check"])


def test_attention_is_read_from_the_pronoun_to_each_name(weights: dict[str, torch.Tensor]) -> None:
    sentences = pronoun_sentences("check")[::37]
    found = attention_to_names(weights, sentences)
    for sentence, values in zip(sentences, found, strict=True):
        pieces, ids = tokenize(sentence.text)
        maps = run_encoder(weights, ids)[1][0]
        row, right, wrong = (pieces.index(word) for word in sentence[1:])
        assert_close(values[..., 0], maps[:, :, row, right])
        assert_close(values[..., 1], maps[:, :, row, wrong])


def test_a_word_of_several_pieces_is_refused(weights: dict[str, torch.Tensor]) -> None:
    sentence = PronounSentence("Mary saw Mary before she left.", "she", "mary", "john")
    with pytest.raises(ValueError, match="'mary' must be exactly one piece of the sentence"):
        attention_to_names(weights, [sentence])


def test_an_unknown_half_is_refused() -> None:
    with pytest.raises(ValueError, match="half must be 'find' or 'check', got 'both'"):
        pronoun_sentences("both")


def test_what_the_lesson_says(weights: dict[str, torch.Tensor]) -> None:
    values = attention_to_names(weights, pronoun_sentences("check"))
    right = (values[..., 0] > values[..., 1]).float().mean(0)
    assert right[1, 3] > 0.9
    mean = values.mean((1, 2))
    assert 0.4 < (mean[:, 0] > mean[:, 1]).float().mean() < 0.65
