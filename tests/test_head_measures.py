"""Measures of heads: against loops written from their definition, one cell at a time."""

import math
import string

import pytest
import torch
from torch.testing import assert_close

from mha_lib import head_measures
from mha_lib.head_measures import (
    MEASURES,
    SENTENCES,
    encode_groups,
    measure_heads,
    read_sentences,
    targets,
)
from mha_lib.many_heads import run_encoder
from mha_lib.real_encoder import load_weights, tokenize

PIECES = ["[CLS]", "a", "b", ",", "a", ".", "a", "[SEP]"]
TEXTS = ["The dogs, the cats.", "Dogs chase cats!", "No, no: no dogs.", "Cats sleep, dogs don't."]


@pytest.fixture(scope="module")
def weights() -> dict[str, torch.Tensor]:
    return load_weights()


def counts(measure: str, query: int, key: int, pieces: list[str]) -> bool:
    """The definition, one cell at a time."""
    last = len(pieces) - 1
    if query in (0, last):
        return False
    special = key in (0, last)
    return {
        "previous": key == query - 1 and not special,
        "next": key == query + 1 and not special,
        "same": key != query and pieces[key] == pieces[query],
        "punctuation": all(c in string.punctuation for c in pieces[key]) and not special,
        "[CLS]": key == 0,
        "[SEP]": key == last,
    }[measure]


@pytest.mark.parametrize("m", range(6), ids=MEASURES[:6])
def test_targets_by_definition(m: int) -> None:
    size = range(len(PIECES))
    expected = [[counts(MEASURES[m], q, k, PIECES) for k in size] for q in size]
    assert_close(targets(PIECES)[m], torch.tensor(expected))


def test_measures_by_loop(weights: dict[str, torch.Tensor]) -> None:
    measured = measure_heads(weights, TEXTS)
    for m, name in enumerate(MEASURES):
        total, base, queries = torch.zeros(6, 12, dtype=torch.float64), 0.0, 0
        for text in TEXTS:
            pieces, ids = tokenize(text)
            maps = run_encoder(weights, ids)[1][0].double()
            size = len(pieces)
            for query in range(1, size - 1):
                if name == "entropy":
                    row = maps[:, :, query]
                    total -= (row * row.clamp(min=1e-30).log()).sum(-1) / math.log(size)
                    base, queries = base + 1, queries + 1
                    continue
                keys = [k for k in range(size) if counts(name, query, k, pieces)]
                if keys:
                    total += maps[:, :, query, keys].sum(-1)
                    base, queries = base + len(keys) / size, queries + 1
        assert int(measured.queries[m]) == queries > 0
        assert_close(measured.heads[m].double(), total / queries, atol=1e-5, rtol=0)
        assert_close(float(measured.base[m]), base / queries, atol=1e-5, rtol=0)


def test_order_of_sentences_does_not_matter(weights: dict[str, torch.Tensor]) -> None:
    first, second = measure_heads(weights, TEXTS), measure_heads(weights, TEXTS[::-1])
    assert_close(first.heads, second.heads)
    assert_close(first.queries, second.queries)


def test_groups_hold_each_sentence_alone(weights: dict[str, torch.Tensor]) -> None:
    seen = []
    for group in encode_groups(weights, TEXTS):
        for place, pieces, maps in zip(group.places, group.pieces, group.maps, strict=True):
            seen.append(place)
            assert pieces == tokenize(TEXTS[place])[0]
            assert_close(maps, run_encoder(weights, tokenize(TEXTS[place])[1])[1][0])
    assert sorted(seen) == [0, 1, 2, 3]


def test_sentences_are_real_named_and_in_two_halves() -> None:
    find, check = read_sentences("find"), read_sentences("check")
    assert len(find) == len(check) == 150
    assert len({*find, *check}) == 300
    for sentence in (*find, *check):
        assert 6 <= len(sentence.split()) <= 25
        assert sentence[0].isupper()
        assert sentence.endswith(".")
        assert "[UNK]" not in tokenize(sentence)[0]
    head = SENTENCES.read_text(encoding="utf-8").split("[find]")[0]
    assert all(line.startswith("# ") for line in head.splitlines())
    for word in ("Python Software Foundation License", "pydoc_data.topics", "Copyright"):
        assert word in head


def test_an_unknown_half_is_refused() -> None:
    with pytest.raises(ValueError, match="half must be 'find' or 'check', got 'all'"):
        read_sentences("all")


def test_what_the_lesson_says(weights: dict[str, torch.Tensor]) -> None:
    """On a tenth of the check half: the heads the lesson names are above the base rate."""
    measured = measure_heads(weights, read_sentences("check")[::10])
    for name, place in (("previous", (0, 2)), ("next", (1, 8)), ("[CLS]", (2, 7))):
        m = MEASURES.index(name)
        assert measured.heads[m][place] > 10 * measured.base[m]
    sep = MEASURES.index("[SEP]")
    assert measured.heads[sep].mean() < measured.base[sep]
    assert head_measures.SPECIAL == ("[CLS]", "[SEP]")
