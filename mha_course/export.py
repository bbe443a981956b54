"""The word `export`: the mark sheet as a file."""

import argparse
import csv
import io
import sys

from mha_course.arguments import add_assignment, add_out
from mha_course.export_forms import (
    Table,
    can_be_imported,
    canvas_rows,
    csv_rows,
    is_formula,
    moodle_rows,
)
from mha_course.mark_sheet import WAITING, Sheet, read_sheet
from mha_course.out_file import save

FORMS = ("csv", "canvas", "moodle")
MOST_IN_MOODLE = 100
EPILOG = """\
csv: for spreadsheets; one row a student, one column an exercise.
canvas: the student id stands in the columns SIS User ID and SIS Login ID; ID holds the number in
Canvas where the gradebook has one (lms_user_id), else nothing.
moodle: the student id stands in the columns ID number and Username, and Email address is there
where the gradebook has one for everybody: choose one of them as the column to map from.
Students who handed in nothing get 0. Whoever is not graded yet has no total, and no row in
canvas and moodle.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    add_assignment(parser)
    parser.add_argument("--format", choices=FORMS, default="csv", help="csv by default")
    parser.add_argument(
        "--column", help="for canvas and moodle: heading of the marks, by default ASSIGNMENT"
    )
    add_out(parser, "COURSE/ASSIGNMENT-marks.csv, -canvas.csv or -moodle.csv")


def run(options: argparse.Namespace) -> int:
    """Write the file; return 1 where a student had to be left out of it."""
    if options.column is not None and (options.format == "csv" or not options.column.strip()):
        raise ValueError(f"--column is a heading for canvas or moodle, got {options.column!r}")
    course = options.course.resolve()
    sheet = read_sheet(course, options.assignment)
    kind = "marks" if options.format == "csv" else options.format
    usual = course / f"{options.assignment}-{kind}.csv"
    said = save(text_of(sheet, options.format, options.column), usual, options.out, options.again)
    imported = options.format != "csv"
    for line in warnings_of(sheet, options.format):
        print(line, file=sys.stderr)
    rows = [row for row in sheet.rows if can_be_imported(row)] if imported else sheet.rows
    print(f"{len(rows)} of {len(sheet.rows)} students: {said}")
    return 1 if imported and len(rows) < len(sheet.rows) else 0


def text_of(sheet: Sheet, form: str, column: str | None = None) -> str:
    """Return the file's text.

    csv begins with a byte order mark: without one, Excel reads names in another alphabet than
    UTF-8. Canvas stumbles over the mark, so the import forms have none.
    """
    heading = column or sheet.assignment
    if form == "canvas":
        return as_text(canvas_rows(sheet, heading))
    if form == "moodle":
        return as_text(moodle_rows(sheet, heading))
    return "\ufeff" + as_text(csv_rows(sheet))


def as_text(table: Table) -> str:
    file = io.StringIO(newline="")
    csv.writer(file, quoting=csv.QUOTE_ALL).writerows(table)
    return file.getvalue()


def warnings_of(sheet: Sheet, form: str) -> list[str]:
    """Return what an instructor should know before the marks go out."""
    waiting = [row.student for row in sheet.rows if row.state == WAITING]
    by_hand = sum(row.by_hand for row in sheet.rows)
    lines = []
    if waiting:
        lines.append(f"WARNING: not graded yet, so without a total: {', '.join(waiting)}")
    if by_hand:
        lines.append(
            f"WARNING: {by_hand} of {len(sheet.rows)} students have answers that wait for you in "
            "formgrader; an answer without a mark counts as 0"
        )
    if form == "csv":
        return lines
    for row in sheet.rows:
        if is_formula(row.student):
            lines.append(
                f"WARNING: {row.student!r} is left out: a spreadsheet would run this id as a "
                "formula; enter this mark by hand"
            )
    if form == "moodle" and any((row.total or 0) > MOST_IN_MOODLE for row in sheet.rows):
        lines.append(
            f"WARNING: there are totals above {MOST_IN_MOODLE}; Moodle takes those only where "
            "its site settings allow it"
        )
    return lines
