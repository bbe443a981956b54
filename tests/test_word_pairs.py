"""Words, ids, padding."""

import pytest
import torch
from torch.testing import assert_close

from mha_lib.transformer import BOS_ID, EOS_ID, PAD_ID
from mha_lib.word_pairs import SPECIAL_WORDS, Pair, Vocabulary, split_text

PAIRS = [
    Pair(("<fr>", "black", "cats"), ("chats", "noirs"), (2, 1)),
    Pair(("<fr>", "cats"), ("chats",), (1,)),
]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("2014. szeptember 3., szerda", ["2014", ".", "szeptember", "3", ".", ",", "szerda"]),
        ("03.09.2014", ["03", ".", "09", ".", "2014"]),
        ("MIÉRCOLES\u202f3\xa0Março", ["miércoles", "3", "março"]),
        ("fe\u0301vrier", ["f\xe9vrier"]),  # a letter and its accent become one character
        ("", []),
    ],
)
def test_split_text(text: str, words: list[str]) -> None:
    assert split_text(text) == words


def test_special_words_have_the_ids_that_the_model_uses() -> None:
    vocabulary = Vocabulary.of_pairs(PAIRS)
    assert vocabulary.words == (*SPECIAL_WORDS, "<fr>", "black", "cats", "chats", "noirs")
    assert vocabulary.ids_of(["<pad>", "<bos>", "<eos>"]) == [PAD_ID, BOS_ID, EOS_ID]
    assert Vocabulary.of_pairs(PAIRS[::-1]) == vocabulary  # the order of the pairs plays no part


def test_batches_by_hand() -> None:
    vocabulary = Vocabulary.of_pairs(PAIRS)
    source = vocabulary.source_ids([pair.source for pair in PAIRS])
    target = vocabulary.target_ids([pair.target for pair in PAIRS])
    assert_close(source, torch.tensor([[3, 4, 5], [3, 5, 0]]))
    assert_close(target, torch.tensor([[6, 7, 2], [6, 2, 0]]))
    assert vocabulary.words_of(target[1].tolist()) == ["chats"]
    assert vocabulary.words_of([6, 6]) == ["chats", "chats"]  # no <eos>: up to the end
    assert vocabulary.words_of([6, 2, 7]) == ["chats"]


def test_an_unknown_word_is_named() -> None:
    with pytest.raises(ValueError, match=r"\(8 words\), got the unknown 'chiens', 'dogs'"):
        Vocabulary.of_pairs(PAIRS).ids_of(["cats", "chiens", "dogs"])


def test_the_fingerprint_sees_words_and_order() -> None:
    words = Vocabulary.of_pairs(PAIRS).words
    others = [words, words[::-1], words[:-1], (*words[:-1], "x")]
    assert len({Vocabulary(other).sha256 for other in others}) == 4
