"""Pairs of sentences as words, and words as ids."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor

from mha_lib.transformer import EOS_ID, PAD_ID

SPECIAL_WORDS = ("<pad>", "<bos>", "<eos>")  # PAD_ID, BOS_ID, EOS_ID


class Pair(NamedTuple):
    """A source sentence, its translation, and which source word each target word comes from."""

    source: tuple[str, ...]  # the first word names the target language, such as "<fr>"
    target: tuple[str, ...]
    links: tuple[int | None, ...]  # for each target word a place in `source`; None: no such word


class PairData(NamedTuple):
    """Pairs to train on, and pairs to check with whose sources do not occur among the first."""

    train: list[Pair]
    held_out: list[Pair]


def split_text(text: str) -> list[str]:
    """Split a text into lower-case words; each punctuation mark is a word. Accents stay.

    >>> split_text("Miércoles, 3 de sept. de 2014")
    ['miércoles', ',', '3', 'de', 'sept', '.', 'de', '2014']

    Args:
        text: Any text.

    Returns:
        The words in order.
    """
    return re.findall(r"\w+|[^\w\s]", unicodedata.normalize("NFC", text).lower())


@dataclass(frozen=True)
class Vocabulary:
    """The words that a model knows; a word's id is its place.

    >>> vocabulary = Vocabulary.of_pairs([Pair(("<fr>", "cats"), ("chats",), (1,))])
    >>> vocabulary.words
    ('<pad>', '<bos>', '<eos>', '<fr>', 'cats', 'chats')
    >>> vocabulary.ids_of(["cats", "<fr>"])
    [4, 3]
    """

    words: tuple[str, ...]

    @classmethod
    def of_pairs(cls, pairs: Iterable[Pair]) -> "Vocabulary":
        """Take every word of both languages, in alphabetical order behind the special words."""
        found = {word for pair in pairs for word in (*pair.source, *pair.target)}
        return cls((*SPECIAL_WORDS, *sorted(found - set(SPECIAL_WORDS))))

    @cached_property
    def _places(self) -> dict[str, int]:
        return {word: place for place, word in enumerate(self.words)}

    @property
    def sha256(self) -> str:
        """A fingerprint of the words and their order."""
        return hashlib.sha256("\n".join(self.words).encode("utf-8")).hexdigest()

    def ids_of(self, words: Iterable[str]) -> list[int]:
        """Look words up.

        Raises:
            ValueError: A word is not in the vocabulary.
        """
        words = list(words)
        unknown = [word for word in words if word not in self._places]
        if unknown:
            raise ValueError(
                f"words must be in the vocabulary ({len(self.words)} words), "
                f"got the unknown {', '.join(map(repr, unknown))}"
            )
        return [self._places[word] for word in words]

    def words_of(self, ids: Iterable[int]) -> list[str]:
        """Read ids back as words, up to <eos> or the padding."""
        words = []
        for place in ids:
            if place in (EOS_ID, PAD_ID):
                break
            words.append(self.words[place])
        return words

    def source_ids(self, sentences: Sequence[Sequence[str]]) -> Int[Tensor, "B S"]:
        """Make one padded batch of source sentences."""
        return _padded([self.ids_of(sentence) for sentence in sentences])

    def target_ids(self, sentences: Sequence[Sequence[str]]) -> Int[Tensor, "B T"]:
        """Make one padded batch of target sentences, each closed by <eos>."""
        return _padded([[*self.ids_of(sentence), EOS_ID] for sentence in sentences])


def _padded(rows: list[list[int]]) -> Tensor:
    sequences = [torch.tensor(row, dtype=torch.long) for row in rows]
    return torch.nn.utils.rnn.pad_sequence(sequences, batch_first=True, padding_value=PAD_ID)
