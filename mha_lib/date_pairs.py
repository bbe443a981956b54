"""Real dates in five languages, from the Unicode CLDR, as the Babel package carries it.

English to French, German, Spanish and Hungarian, in CLDR's formats full, long and medium.
Word order differs, every source has one right translation, and it is known which source word
each target word comes from, because a date is put together from its fields.
"""

import datetime
import random
from typing import Literal

from babel.dates import format_date, get_date_format, tokenize_pattern

from mha_lib.word_pairs import Pair, PairData, split_text

LANGUAGES = ("fr", "de", "es", "hu")
Format = Literal["full", "long", "medium"]
FORMATS: tuple[Format, ...] = ("full", "long", "medium")
FIRST_DAY, LAST_DAY = datetime.date(1950, 1, 1), datetime.date(2049, 12, 31)
NUM_SOURCES, NUM_HELD_OUT = 3500, 300  # each in four languages: 12,800 pairs and 1,200 pairs


def date_words(date: datetime.date, format: Format, locale: str) -> tuple[list[str], list[str]]:
    """Write a date as words, and name the field that each word comes from.

    >>> date_words(datetime.date(2014, 9, 3), "long", "hu")
    (['2014', '.', 'szeptember', '3', '.'], ['y', '', 'M', 'd', ''])

    Args:
        date: The day.
        format: "full", "long" or "medium".
        locale: "en", "fr", "de", "es" or "hu".

    Returns:
        The words, and for each "E" (weekday), "d", "M", "y", or "" for what is no field.

    Source:
        Unicode Technical Standard #35, part 4: dates.
    """
    words, fields = [], []
    for _, part in tokenize_pattern(get_date_format(format, locale).pattern):
        if isinstance(part, str):  # text between the fields
            letter, text = "", part
        else:  # a field: its letter, and how often it is written
            letter, text = part[0], format_date(date, part[0] * part[1], locale)
        for word in split_text(text):
            words.append(word)
            # The full stop of an abbreviation such as "sept." is no field of its own.
            fields.append(letter if word.isalnum() else "")
    return words, fields


def date_pair(date: datetime.date, format: Format, language: str) -> Pair:
    """Pair an English date with its translation.

    >>> pair = date_pair(datetime.date(2014, 9, 3), "medium", "de")
    >>> pair.source, pair.target
    (('<de>', 'sep', '3', ',', '2014'), ('03', '.', '09', '.', '2014'))
    >>> pair.links
    (2, None, 1, None, 4)

    Args:
        date: The day.
        format: "full", "long" or "medium", used on both sides.
        language: "fr", "de", "es" or "hu".

    Returns:
        The pair. The first source word names the language, as in Johnson et al. 2017.
    """
    words, fields = date_words(date, format, "en")
    target, target_fields = date_words(date, format, language)
    places = {field: place for place, field in enumerate(fields, start=1) if field}
    links = tuple(places.get(field) for field in target_fields)
    return Pair((f"<{language}>", *words), tuple(target), links)


def date_pairs() -> PairData:
    """Make the pairs, always the same: 3,500 sources, each in four languages.

    A source is an English date in one format. The 300 sources of the held-out pairs occur in
    training in no language.

    >>> data = date_pairs()
    >>> len(data.train), len(data.held_out)
    (12800, 1200)

    Returns:
        Pairs to train on and held-out pairs.
    """
    sources = _all_sources()
    chosen = random.Random(0).sample(sources, NUM_SOURCES)
    pairs = [date_pair(*source, language) for source in chosen for language in LANGUAGES]
    held_out = NUM_HELD_OUT * len(LANGUAGES)
    return PairData(pairs[held_out:], pairs[:held_out])


def _all_sources() -> list[tuple[datetime.date, Format]]:
    """Every day in every format whose English text says which format it is."""
    days = range(FIRST_DAY.toordinal(), LAST_DAY.toordinal() + 1)
    dates = [datetime.date.fromordinal(day) for day in days]
    # "May 3, 2014" is both the long and the medium format, which some languages tell apart.
    return [
        (date, format)
        for date in dates
        for format in FORMATS
        if not (date.month == 5 and format == "medium")
    ]
