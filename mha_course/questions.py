"""Free-text questions with a rubric, from a TOML file."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ID = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
TEXT = ((str,), "a text in quotes")
KEYS: dict[str, tuple[tuple[type, ...], str]] = {
    "id": TEXT,
    "text": TEXT,
    "points": ((int, float), "a number, without quotes"),
    "rubric": TEXT,
    "lesson": ((int, str), "a lesson's number or name"),
}


@dataclass(frozen=True)
class Question:
    """One question that is marked by hand.

    Args:
        id: Names its cells.
        text: The question, in Markdown.
        points: For a full answer.
        rubric: How it is marked. Never handed out.
        lesson: The lesson that it stands in; the last notebook by default.
    """

    id: str
    text: str
    points: float
    rubric: str
    lesson: str = ""


def read_questions(path: Path) -> tuple[Question, ...]:
    """Read `[[question]]` tables with id, text, points, rubric and, if you like, lesson.

    Raises:
        ValueError: The file cannot be read, or a question is not complete; the text says which.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"questions: {path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise ValueError(f"questions: {path} is no TOML file: {error}") from None
    tables = data.get("question")
    if set(data) != {"question"} or not isinstance(tables, list):
        raise ValueError(f"questions: {path} must hold [[question]] tables, and nothing else")
    questions = tuple(_question(table, n) for n, table in enumerate(tables, 1))
    ids = [question.id for question in questions]
    for id in ids:
        if ids.count(id) > 1:
            raise ValueError(f"questions: the id {id!r} is used twice")
    return questions


def _question(table: dict[str, Any], n: int) -> Question:
    for key in table:
        if key not in KEYS:
            raise ValueError(f"question {n}: unknown key {key!r}; keys are {', '.join(KEYS)}")
    for key, (kind, words) in KEYS.items():
        if key not in table and key != "lesson":
            raise ValueError(f"question {n}: {key} is missing")
        if key in table and (not isinstance(table[key], kind) or isinstance(table[key], bool)):
            raise ValueError(f"question {n}: {key} must be {words}; got {table[key]!r}")
    if not ID.fullmatch(table["id"]):
        raise ValueError(f"question {n}: id must be small letters, digits and -: {table['id']!r}")
    if not 0 < table["points"] < float("inf"):
        raise ValueError(f"question {n}: points must be more than 0, got {table['points']}")
    for key in ("text", "rubric"):
        if not table[key].strip():
            raise ValueError(f"question {n}: {key} is empty")
    return Question(
        table["id"],
        table["text"].strip(),
        float(table["points"]),
        table["rubric"].strip(),
        str(table.get("lesson", "")),
    )
