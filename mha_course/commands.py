"""`mha-course WORD`: what an instructor calls."""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mha_course import build_command, export, report, slides_command
from mha_course.grading import commands as grading


@dataclass(frozen=True)
class Word:
    """One word of the command.

    Args:
        says: What it does, for the help.
        add_arguments: Gives the parser of this word its arguments.
        run: Does it; returns the exit code. A ValueError is shown as one line of text.
    """

    says: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


WORDS = {
    "build": Word(
        "make an assignment from lessons or exercises",
        build_command.add_arguments,
        build_command.run,
    ),
    "grade": Word(
        "mark what was handed in, and book it in nbgrader",
        grading.add_grade_arguments,
        grading.grade,
    ),
    "feedback": Word(
        "write a feedback page for each notebook", grading.add_arguments, grading.feedback
    ),
    "export": Word("write the mark sheet as a file", export.add_arguments, export.run),
    "report": Word("write a page on what the class did", report.add_arguments, report.run),
    "slides": Word("make slides from lessons", slides_command.add_arguments, slides_command.run),
}


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="mha-course", description=__doc__)
    words = made.add_subparsers(dest="word", required=True, metavar="WORD")
    for name, word in WORDS.items():
        word.add_arguments(words.add_parser(name, help=word.says, description=word.says))
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one word; return the exit code."""
    options = parser().parse_args(arguments)
    try:
        return WORDS[options.word].run(options)
    except ValueError as error:
        print(f"mha-course {options.word}: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
