"""The word `build`: its options, and what it prints."""

import argparse
from datetime import UTC, datetime
from pathlib import Path

from mha_course.build import build
from mha_course.plan import Plan
from mha_course.questions import read_questions


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("course", type=Path, help="the course folder; made where it is missing")
    parser.add_argument("--assignment", required=True, help="its name, as nbgrader will know it")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--lessons", nargs="+", default=[], help="whole lessons: 4 splitting_heads")
    what.add_argument("--exercises", nargs="+", default=[], help="one sheet of these exercises")
    parser.add_argument("--points", nargs="+", default=[], metavar="EXERCISE=POINTS")
    parser.add_argument("--due", help="2027-01-31T23:59, in UTC; or with +01:00 behind it")
    parser.add_argument("--variant", default="", help="a word: other worked cases and inputs")
    parser.add_argument("--no-hints", action="store_true", help="leave the hints out")
    parser.add_argument("--questions", type=Path, help="a TOML file with free-text questions")
    parser.add_argument(
        "--again", action="store_true", help="write over files that were handed out or edited"
    )


def run(options: argparse.Namespace) -> int:
    plan = Plan(
        assignment=options.assignment,
        lessons=tuple(options.lessons),
        exercises=tuple(options.exercises),
        points=points(options.points),
        due=due(options.due) if options.due else None,
        variant=options.variant,
        hints=not options.no_hints,
        questions=read_questions(options.questions) if options.questions else (),
    )
    for line in build(options.course, plan, again=options.again):
        print(line)
    return 0


def points(texts: list[str]) -> dict[str, float]:
    """Read the points of exercises.

    >>> points(["split_heads=10"])
    {'split_heads': 10.0}
    """
    found = {}
    for text in texts:
        name, _, number = text.partition("=")
        try:
            found[name] = float(number)
        except ValueError:
            raise ValueError(f"--points takes EXERCISE=POINTS, got {text!r}") from None
    return found


def due(text: str) -> datetime:
    """Read a date; without an offset it is UTC, as everywhere in nbgrader.

    >>> due("2027-01-31T23:59+01:00")
    datetime.datetime(2027, 1, 31, 22, 59, tzinfo=datetime.timezone.utc)
    """
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"--due takes a date such as 2027-01-31T23:59, got {text!r}") from None
    return (read if read.tzinfo else read.replace(tzinfo=UTC)).astimezone(UTC)
