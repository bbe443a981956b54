"""Step 7: measure where each of the 72 heads of the pretrained encoder looks.

A measure is the attention that falls on certain keys, averaged over all queries that have such a
key. Beside each stands its base rate: the same measure of a head that looks at all pieces alike.

Source: Clark et al. 2019, "What Does BERT Look At?", sections 3.1 and 3.2, for the measures.
"""

import string
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from mha_lib.many_heads import run_encoder
from mha_lib.real_encoder import NUM_HEADS, NUM_LAYERS, tokenize

SENTENCES = Path(__file__).parent / "data" / "sentences.txt"
SPECIAL = ("[CLS]", "[SEP]")
MEASURES = ("previous", "next", "same", "punctuation", "[CLS]", "[SEP]", "entropy")


class Measured(NamedTuple):
    """What `measure_heads` returns: one row for each of `MEASURES`."""

    heads: Float[Tensor, "7 6 12"]
    base: Float[Tensor, "7"]
    queries: Int64[Tensor, "7"]


def read_sentences(half: str) -> list[str]:
    """Read one half of the stored sentences, whose file names source and licence.

    >>> len(read_sentences("find")), len(read_sentences("check"))
    (150, 150)

    Args:
        half: "find", to look for patterns, or "check", to see whether they hold.

    Returns:
        150 sentences. No page of the source gave sentences to both halves.

    Raises:
        ValueError: `half` is neither.
    """
    if half not in ("find", "check"):
        raise ValueError(f"half must be 'find' or 'check', got {half!r}")
    text = SENTENCES.read_text(encoding="utf-8")
    first, second = text.split("[find]\n")[1].split("[check]\n")
    return (first if half == "find" else second).splitlines()


class Group(NamedTuple):
    """Sentences of one length, so that none needs padding, and what the encoder made of them."""

    places: list[int]
    pieces: list[list[str]]
    hidden_states: list[Float[Tensor, "B L 384"]]
    maps: Float[Tensor, "B 6 12 L L"]


def encode_groups(weights: dict[str, Tensor], sentences: Sequence[str]) -> Iterator[Group]:
    """Run the encoder on all sentences, those of one length together.

    >>> from mha_lib.real_encoder import load_weights
    >>> groups = encode_groups(load_weights(), ["Dogs chase cats", "cats", "Cats chase dogs"])
    >>> [(group.places, tuple(group.maps.shape)) for group in groups]
    [([1], (1, 6, 12, 3, 3)), ([0, 2], (2, 6, 12, 5, 5))]

    Args:
        weights: from `load_weights`.
        sentences: in any order.

    Yields:
        One group for each length, the shortest first; `places` are indices into `sentences`.
    """
    cut = [tokenize(sentence) for sentence in sentences]
    for length in sorted({len(pieces) for pieces, _ in cut}):
        places = [i for i, (pieces, _) in enumerate(cut) if len(pieces) == length]
        hidden_states, maps = run_encoder(weights, torch.cat([cut[i][1] for i in places]))
        yield Group(places, [cut[i][0] for i in places], hidden_states, maps)


def targets(pieces: Sequence[str]) -> Bool[Tensor, "6 L L"]:
    """Say for each measure but entropy which keys count for which query.

    >>> targets(["[CLS]", "dogs", "dogs", ".", "[SEP]"])[2].int()  # the same piece elsewhere
    tensor([[0, 0, 0, 0, 0],
            [0, 0, 1, 0, 0],
            [0, 1, 0, 0, 0],
            [0, 0, 0, 0, 0],
            [0, 0, 0, 0, 0]], dtype=torch.int32)

    Args:
        pieces: from `tokenize`, with [CLS] first and [SEP] last.

    Returns:
        One mask for each of the first six `MEASURES`: row = query, column = key. [CLS] and [SEP]
        don't ask, and are nobody's previous, next or same piece.
    """
    length = len(pieces)
    real = torch.tensor([piece not in SPECIAL for piece in pieces])
    both = real[:, None] & real
    same = torch.tensor([[a == b for b in pieces] for a in pieces])
    ones, itself = torch.ones(length, length, dtype=torch.bool), torch.eye(length).bool()
    columns = [torch.tensor([piece == special for piece in pieces]) for special in SPECIAL]
    marks = torch.tensor([all(char in string.punctuation for char in p) for p in pieces]) & real
    previous, following = ones.tril(-1) & ones.triu(-1), ones.triu(1) & ones.tril(1)
    masks = [previous & both, following & both, same & both & ~itself]
    return torch.stack([*masks, *(column & real[:, None] for column in (marks, *columns))])


def measure_heads(weights: dict[str, Tensor], sentences: Sequence[str]) -> Measured:
    """Measure all 72 heads on the sentences.

    measure = mean over queries of Σₛ weight[l, s], s over the keys that count for query l;
    entropy = mean over queries of −Σₛ weight[l, s] · log weight[l, s] / log L.

    >>> from mha_lib.real_encoder import load_weights
    >>> measured = measure_heads(load_weights(), ["Dogs chase black cats."])
    >>> bool(measured.heads[0, 0, 2] > 0.9)  # layer 0, head 2 reads the piece before
    True

    Args:
        weights: from `load_weights`.
        sentences: at least one in which each measure has a query.

    Returns:
        The measures of the heads, the base rates, and over how many queries each was taken.
    """
    sums, queries = torch.zeros(len(MEASURES), NUM_LAYERS * NUM_HEADS + 1), torch.zeros(7).long()
    for group in encode_groups(weights, sentences):
        for pieces, maps in zip(group.pieces, group.maps.flatten(1, 2), strict=True):
            level = torch.full_like(maps[:1], 1 / len(pieces))  # looks at all pieces alike
            rows = torch.cat([maps, level])  # (73, L, L)
            mask = targets(pieces)
            sums[:6] += torch.einsum("nls,mls->mn", rows, mask.float())
            entropy = torch.special.entr(rows).sum(-1) / torch.tensor(len(pieces)).log()
            sums[6] += entropy[:, 1:-1].sum(-1)
            queries[:6] += mask.any(-1).sum(-1)
            queries[6] += len(pieces) - 2
    means = sums / queries[:, None]
    return Measured(means[:, :-1].unflatten(1, (NUM_LAYERS, NUM_HEADS)), means[:, -1], queries)
