"""Pick the 300 real sentences of lesson 7 from the reference manual that comes with Python.

`python -m tools.make_sentences` reads `pydoc_data.topics`, a module of the standard library that
holds the text behind `help("if")` and its like. The same Python picks the same sentences; the
file in `mha_lib/data` names the version that it was made with. The two halves come from different
pages of the manual, so that no pattern is checked on the page it was found on.
"""

import platform
import re
from pathlib import Path
from pydoc_data.topics import topics

TARGET = Path(__file__).parents[1] / "mha_lib" / "data" / "sentences.txt"
HALF = 150
WORDS = range(6, 26)
HEAD = """\
# 300 sentences from the reference manual of Python {version} (module pydoc_data.topics).
# Copyright (c) 2001-2023 Python Software Foundation. All rights reserved.
# Licence: Python Software Foundation License Version 2, docs.python.org/3/license.html
# Changed: single sentences were picked and their line breaks taken out.
# Made by `python -m tools.make_sentences`. The halves come from different pages of the manual.
"""
# A capital letter, then words with commas, brackets and the like, then a full stop.
PLAIN = re.compile(r"[A-Z][a-z]*( \(?[A-Za-z][a-z]*(['-][a-z]+)*[)]?[,;:]?)+\.")
# A sentence that starts with one of these leans on the sentence before it, or is a heading.
NOT_ALONE = re.compile(r"(Changed|Deprecated|New|Note|See|Added|Called|[A-Z]\w+ (An?|The)) ")


def sentences_of(page: str) -> list[str]:
    """Return the plain sentences of a page, in order.

    >>> sentences_of("Title\\n====\\n\\nA name is bound, or\\nrebound, by many statements. So x=1.")
    ['A name is bound, or rebound, by many statements.']
    """
    found = []
    for paragraph in re.split(r"\n\s*\n", page):
        if re.search(r"^ {4}|::=|[=*\-~]{4}|\*\*|\|", paragraph, re.M):
            continue  # code, grammar, headings, tables
        text = " ".join(paragraph.split())
        for sentence in re.split(r"(?<=[.:?]) (?=[A-Z\"*])", text):
            fits = PLAIN.fullmatch(sentence) and len(sentence.split()) in WORDS
            if fits and not NOT_ALONE.match(sentence):
                found.append(sentence)
    return found


def pick() -> tuple[list[str], list[str]]:
    """Return the two halves; every second page belongs to the second."""
    halves: tuple[list[str], list[str]] = ([], [])
    seen: set[str] = set()  # some pages repeat one another
    for place, name in enumerate(sorted(topics)):
        for sentence in sentences_of(topics[name]):
            if sentence not in seen:
                halves[place % 2].append(sentence)
            seen.add(sentence)
    return evenly(halves[0]), evenly(halves[1])


def evenly(sentences: list[str]) -> list[str]:
    """Take HALF of the sentences, evenly spread over all pages."""
    if len(sentences) < HALF:
        raise ValueError(f"need {HALF} sentences, got {len(sentences)}")
    return [sentences[i * len(sentences) // HALF] for i in range(HALF)]


def main() -> None:
    """Write the file."""
    find, check = pick()
    lines = [HEAD.format(version=platform.python_version()).rstrip(), "[find]", *find]
    TARGET.write_text("\n".join([*lines, "[check]", *check]) + "\n", encoding="utf-8")
    print(f"{TARGET.name}: {len(find)} + {len(check)} sentences")


if __name__ == "__main__":
    main()
