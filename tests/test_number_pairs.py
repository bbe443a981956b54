"""Number words: read back as numbers, links that a reader of German would draw, clear errors."""

import importlib.util
import sys

import pytest

from mha_lib import number_pairs
from mha_lib.number_pairs import number_pair, number_words

needs_num2words = pytest.mark.skipif(
    importlib.util.find_spec("num2words") is None, reason="num2words is optional"
)
UNITS = ["null", "ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun"]
TEENS = ["zehn", "elf", "zwölf", "dreizehn", "vierzehn", "fünfzehn", "sechzehn", "siebzehn"]
TENS = ["zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"]
VALUES = (
    {word: value for value, word in enumerate([*UNITS, *TEENS, "achtzehn", "neunzehn"])}
    | {word: 10 * value for value, word in enumerate(TENS, start=2)}
    | {"eins": 1, "und": 0}
)


def read_german(words: list[str]) -> int:
    """The number that German parts say: an independent way back."""
    total = part = 0
    for word in words:
        if word == "tausend":
            total, part = part * 1000, 0
        elif word == "hundert":
            part *= 100
        else:
            part += VALUES[word]
    return total + part


NUMBERS = [*range(0, 1300), *range(1999, 100_000, 997), *range(102_002, 1_000_000, 9973)]
NUMBERS = [number for number in NUMBERS if number < 100_000 or number // 1000 % 100 != 1]


@needs_num2words
def test_german_parts_read_back_as_the_number() -> None:
    for number in NUMBERS:
        assert read_german(number_words(number, "de")) == number


@needs_num2words
def test_english_and_french_by_hand() -> None:
    english = "five hundred and eighty thousand , three hundred and ninety two"
    assert " ".join(number_words(580_392, "en")) == english
    french = "cinq cent quatre vingt mille trois cent quatre vingt douze"
    assert " ".join(number_words(580_392, "fr")) == french


@needs_num2words
def test_links_by_hand() -> None:
    pair = number_pair(58_092, "de")
    assert pair.source == ("<de>", "fifty", "eight", "thousand", "and", "ninety", "two")
    assert pair.target == ("acht", "und", "fünfzig", "tausend", "zwei", "und", "neunzig")
    assert pair.links == (2, None, 1, 3, 6, None, 5)
    # "two" and "hundred" occur twice here: which one is meant cannot be told from the word.
    assert number_pair(202_200, "de").links == (None, None, None, 5, None, None)
    assert set(number_pair(58_092, "fr").links) == {None}


@needs_num2words
def test_no_held_out_number_is_trained_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(number_pairs, "NUM_SOURCES", 700)  # a tenth, to be quick
    monkeypatch.setattr(number_pairs, "NUM_HELD_OUT", 60)
    data = number_pairs.number_pairs()
    trained = {pair.source[1:] for pair in data.train}
    assert not trained & {pair.source[1:] for pair in data.held_out}
    assert (len(data.train), len(data.held_out)) == (1280, 120)
    assert max(len(pair.source) for pair in data.train) < 20
    assert all("eins" not in pair.target[:-1] for pair in data.train)  # the misspelt ones


@pytest.mark.parametrize("number", [-1, 1_000_000, 101_000, 901_999])
def test_numbers_out_of_range_or_misspelt_are_refused(number: int) -> None:
    with pytest.raises(ValueError, match=f"number must lie in 0 .. 999,999 .* got {number:,}$"):
        number_pair(number, "de")


def test_without_num2words_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "num2words", None)
    with pytest.raises(ModuleNotFoundError, match=r"run: pip install num2words==0\.5\.14$"):
        number_pair(7, "fr")
