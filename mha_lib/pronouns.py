"""Step 7: does a head find the name that "she" or "he" stands for?

"John told Mary that she would be late": two names, one of them fits. Each pair of names comes in
both orders and with both pronouns, so a head that always prefers the first name, or the nearer
one, is right in half of the sentences. Templates and names come in two halves that share nothing.

Source: the idea of such balanced sentences, Rudinger et al. 2018 (Winogender schemas), section 2.
"""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from mha_lib.head_measures import encode_groups

TEMPLATES = {
    "find": (
        "{} told {} that {} would be late.",
        "{} called {} because {} needed help.",
        "{} met {} when {} was in town.",
        "{} asked {} if {} had the key.",
    ),
    "check": (
        "{} wrote to {} after {} moved away.",
        "{} saw {} before {} left the house.",
        "{} thanked {} although {} was angry.",
        "{} helped {} while {} was ill.",
    ),
}
HE = {"find": ("John", "David", "Peter", "Paul"), "check": ("James", "Robert", "Thomas", "George")}
SHE = {"find": ("Mary", "Anna", "Sarah", "Alice"), "check": ("Emma", "Susan", "Helen", "Laura")}


class PronounSentence(NamedTuple):
    """A sentence, its pronoun, the name that it stands for and the other name."""

    text: str
    pronoun: str
    right: str
    wrong: str


def pronoun_sentences(half: str) -> list[PronounSentence]:
    """Fill the templates of one half with its names: 4 templates, 16 pairs, 2 orders, 2 pronouns.

    >>> pronoun_sentences("find")[0]  # doctest: +NORMALIZE_WHITESPACE
    PronounSentence(text='John told Mary that he would be late.', pronoun='he', right='john',
                    wrong='mary')

    Args:
        half: "find" or "check".

    Returns:
        256 sentences; the names in lower case, as the pieces are.

    Raises:
        ValueError: `half` is neither.
    """
    if half not in TEMPLATES:
        raise ValueError(f"half must be 'find' or 'check', got {half!r}")
    sentences = []
    for template, he, she in product(TEMPLATES[half], HE[half], SHE[half]):
        for first, second in ((he, she), (she, he)):
            for pronoun, right, wrong in (("he", he, she), ("she", she, he)):
                text = template.format(first, second, pronoun)
                sentences.append(PronounSentence(text, pronoun, right.lower(), wrong.lower()))
    return sentences


def attention_to_names(
    weights: dict[str, Tensor], sentences: Sequence[PronounSentence]
) -> Float[Tensor, "N 6 12 2"]:
    """Return for each sentence and head the attention from the pronoun to each of the two names.

    >>> from mha_lib.real_encoder import load_weights
    >>> attention_to_names(load_weights(), pronoun_sentences("find")[:3]).shape
    torch.Size([3, 6, 12, 2])

    Args:
        weights: from `load_weights`.
        sentences: from `pronoun_sentences`, or made alike: each name and the pronoun one piece.

    Returns:
        Attention to the right name, then to the wrong one.

    Raises:
        ValueError: A name or the pronoun is not exactly one piece of its sentence.
    """
    result = torch.empty(len(sentences), 6, 12, 2)
    for group in encode_groups(weights, [sentence.text for sentence in sentences]):
        for place, pieces, maps in zip(group.places, group.pieces, group.maps, strict=True):
            _, *words = sentences[place]
            pronoun, right, wrong = (_place_of(word, pieces) for word in words)
            result[place] = maps[:, :, pronoun, [right, wrong]]
    return result


def _place_of(word: str, pieces: list[str]) -> int:
    if pieces.count(word) != 1:
        raise ValueError(f"{word!r} must be exactly one piece of the sentence, got {pieces}")
    return pieces.index(word)
