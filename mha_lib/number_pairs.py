"""Number words, English to French and German, from the num2words package: a second data set.

num2words is not installed with this library; without it `number_pairs` says what to install.
"""

import importlib
import random
import re
from functools import cache

from mha_lib.word_pairs import Pair, PairData, split_text

INSTALL = "pip install num2words==0.5.14"
LANGUAGES = ("fr", "de")
NUM_SOURCES, NUM_HELD_OUT = 7000, 600  # each in two languages: 12,800 pairs and 1,200 pairs


def number_words(number: int, language: str) -> list[str]:
    """Write a number as words; compounds are cut into their parts.

    >>> number_words(92, "de"), number_words(92, "fr")
    (['zwei', 'und', 'neunzig'], ['quatre', 'vingt', 'douze'])

    Args:
        number: 0 .. 999,999.
        language: "en", "fr" or "de".

    Returns:
        The words; hyphens are dropped, and German parts stand alone.

    Raises:
        ModuleNotFoundError: num2words is not installed.
    """
    words = split_text(_num2words(number, language).replace("-", " "))
    if language == "de":
        parts = sorted(_german_parts(), key=len, reverse=True)
        words = re.findall("|".join(parts), words[0])
    return words


def number_pair(number: int, language: str) -> Pair:
    """Pair an English number with its translation.

    >>> pair = number_pair(92, "de")
    >>> pair.source, pair.target, pair.links
    (('<de>', 'ninety', 'two'), ('zwei', 'und', 'neunzig'), (2, None, 1))

    Args:
        number: 0 .. 999,999, but no thousand-and-one such as 101,000, which num2words spells
            wrongly in German.
        language: "fr" or "de".

    Returns:
        The pair. Links are known in German, for source words that occur once. French has none:
        "quatre vingt douze" is ninety two, and no word of the three is ninety.

    Raises:
        ModuleNotFoundError: num2words is not installed.
        ValueError: `number` is out of range, or one that num2words spells wrongly.
    """
    if not 0 <= number < 1_000_000 or _is_misspelt(number):
        raise ValueError(
            "number must lie in 0 .. 999,999 and not be one of 101,000 .. 901,999 whose thousands "
            f"end in 01 (num2words writes those wrongly in German), got {number:,}"
        )
    source = [f"<{language}>", *number_words(number, "en")]
    target = number_words(number, language)
    english = {word for word in source if source.count(word) == 1}
    meanings = _german_parts() if language == "de" else {}
    known = [meanings.get(word) for word in target]
    links = tuple(source.index(word) if word in english else None for word in known)
    return Pair(tuple(source), tuple(target), links)


def number_pairs() -> PairData:
    """Make the pairs, always the same: 7,000 numbers below a million, in two languages.

    Returns:
        Pairs to train on, and held-out pairs whose numbers occur in training in no language.

    Raises:
        ModuleNotFoundError: num2words is not installed.
    """
    drawn = random.Random(0).sample(range(1_000_000), 2 * NUM_SOURCES)
    chosen = [number for number in drawn if not _is_misspelt(number)][:NUM_SOURCES]
    pairs = [number_pair(number, language) for number in chosen for language in LANGUAGES]
    held_out = NUM_HELD_OUT * len(LANGUAGES)
    return PairData(pairs[held_out:], pairs[:held_out])


def _is_misspelt(number: int) -> bool:
    """101,000 comes out as "einhunderteinstausend"; right is "einhunderteintausend"."""
    return number >= 100_000 and number // 1000 % 100 == 1


@cache
def _german_parts() -> dict[str, str | None]:
    """Each part of a German number word, and the English word that it means, if one does."""
    numbers = [*range(21), *range(30, 100, 10)]
    parts: dict[str, str | None] = {_num2words(n, "de"): _num2words(n, "en") for n in numbers}
    return parts | {"ein": "one", "hundert": "hundred", "tausend": "thousand", "und": None}


def _num2words(number: int, language: str) -> str:
    try:
        convert = importlib.import_module("num2words").num2words
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"number words need num2words; run: {INSTALL}") from error
    return str(convert(number, lang=language))
