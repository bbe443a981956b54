"""The dates: Babel's own text, links known from the fields, no held-out source in training."""

import datetime

import pytest
from babel.dates import format_date

from mha_lib.date_pairs import FORMATS, LANGUAGES, date_pair, date_pairs, date_words
from mha_lib.word_pairs import Pair, PairData, Vocabulary, split_text

# A year of days has every month, day and weekday.
YEAR = [datetime.date(2024, 1, 1) + datetime.timedelta(days) for days in range(366)]


@pytest.fixture(scope="module")
def data() -> PairData:
    return date_pairs()


@pytest.mark.parametrize("locale", ["en", *LANGUAGES])
def test_the_words_are_those_of_the_whole_date(locale: str) -> None:
    for format in FORMATS:
        for date in YEAR:
            words, fields = date_words(date, format, locale)
            assert words == split_text(format_date(date, format, locale))
            wanted = ["E", "M", "d", "y"] if format == "full" else ["M", "d", "y"]
            assert sorted(filter(None, fields)) == wanted


@pytest.mark.parametrize(
    ("format", "language", "source", "target", "links"),
    [
        ("full", "hu", "<hu> wednesday , september 3 , 2014",
         "2014 . szeptember 3 . , szerda", (6, None, 3, 4, None, None, 1)),
        ("full", "fr", "<fr> wednesday , september 3 , 2014",
         "mercredi 3 septembre 2014", (1, 4, 3, 6)),
        ("long", "es", "<es> september 3 , 2014",
         "3 de septiembre de 2014", (2, None, 1, None, 4)),
        ("medium", "hu", "<hu> sep 3 , 2014", "2014 . szept . 3 .", (4, None, 1, None, 2, None)),
    ],
)  # fmt: skip
def test_pairs_by_hand(
    format: str, language: str, source: str, target: str, links: tuple[int | None, ...]
) -> None:
    pair = date_pair(datetime.date(2014, 9, 3), format, language)
    assert pair == Pair(tuple(source.split()), tuple(target.split()), links)


def test_a_day_twice_in_a_text_is_linked_by_field() -> None:
    # 20 is the day and stands in the year, 10 is day and month: the fields tell them apart.
    pair = date_pair(datetime.date(2010, 10, 10), "medium", "de")
    assert pair.target == ("10", ".", "10", ".", "2010")
    assert [pair.source[link] for link in pair.links if link is not None] == ["10", "oct", "2010"]


def test_no_held_out_source_is_trained_on_in_any_language(data: PairData) -> None:
    trained = {pair.source[1:] for pair in data.train}
    held_out = {pair.source[1:] for pair in data.held_out}
    assert not trained & held_out
    assert (len(trained), len(held_out)) == (3200, 300)
    assert (len(data.train), len(data.held_out)) == (12800, 1200)
    for pairs in data:
        assert len(set(pairs)) == len(pairs)
        assert {pair.source[0] for pair in pairs} == {f"<{name}>" for name in LANGUAGES}


def test_every_source_has_one_right_answer(data: PairData) -> None:
    answers: dict[tuple[str, ...], tuple[str, ...]] = {}
    for pair in data.train + data.held_out:
        assert answers.setdefault(pair.source, pair.target) == pair.target


def test_linked_source_words_occur_once(data: PairData) -> None:
    for pair in data.train + data.held_out:
        links = [link for link in pair.links if link is not None]
        assert len(links) == len(set(links)) == (4 if len(pair.source) == 7 else 3)
        assert all(pair.source.count(pair.source[link]) == 1 for link in links)


def test_the_pairs_hold_all_formats_and_the_vocabulary_all_held_out_words(data: PairData) -> None:
    vocabulary = Vocabulary.of_pairs(data.train)
    assert len(vocabulary.words) == 266
    for pair in data.held_out:
        vocabulary.ids_of((*pair.source, *pair.target))
    for word in ("wednesday", "september", "sep", "may", "1950", "2049"):
        assert any(word in pair.source for pair in data.train)


def test_the_pairs_do_not_depend_on_a_generator(data: PairData) -> None:
    # All of them are compared by their hash in test_stored_runs.py.
    assert data.held_out[1].target == ("10", ".", "juni", "1997")
