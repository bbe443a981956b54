"""The mark sheet as rows of text: for people, for Canvas, for Moodle."""

import re

from mha_course.mark_sheet import GRADED, NOTHING, Row, Sheet

# A spreadsheet runs a cell that begins like this; some take the full-width signs as well.
_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]|[\t\r\n]")
Table = list[list[str]]


def amount(number: float) -> str:
    """Write points with two digits.

    >>> amount(35.620000000000005), amount(-0.001)
    ('35.62', '0.00')
    """
    return f"{round(number, 2) + 0.0:.2f}"


def is_formula(text: str) -> bool:
    """Say whether a spreadsheet could take a text for a formula."""
    return bool(_FORMULA.match(text))


def harmless(text: str) -> str:
    """Return a text that a spreadsheet shows and does not run.

    >>> harmless("=1+1"), harmless("s0001")
    ("'=1+1", 's0001')
    """
    return f"'{text}" if is_formula(text) else text


def can_be_imported(row: Row) -> bool:
    """Say whether a learning system may get a row.

    It gets no mark that isn't made, and its ids have to be as they are: a quote before one
    that reads like a formula would name nobody.
    """
    return row.state in (GRADED, NOTHING) and not is_formula(row.student)


def csv_rows(sheet: Sheet) -> Table:
    """Return the sheet for people; names and e-mail only where the gradebook has any."""
    known = [key for key in ("last", "first", "email") if any(key in r.names for r in sheet.rows)]
    titles = {"last": "last name", "first": "first name", "email": "e-mail"}
    head = ["student id", *(titles[key] for key in known), "state", *sheet.columns.values()]
    table = [[*map(harmless, head), "penalty", "total", "maximum", "needs manual marking"]]
    for row in sheet.rows:
        texts = [row.student, *(row.names.get(key, "") for key in known), row.state]
        scores = [row.scores.get(cell) for cell in sheet.columns]
        amounts = [*scores, row.penalty if row.state == GRADED else None, row.total, sheet.maximum]
        table.append(
            [
                *map(harmless, texts),
                *("" if number is None else amount(number) for number in amounts),
                "yes" if row.by_hand else "no",
            ]
        )
    return table


def canvas_rows(sheet: Sheet, column: str) -> Table:
    """Return the form that Canvas' gradebook imports.

    Canvas takes ID for its own number and reads only the digits that it begins with: a
    student id there could hit somebody else.
    """
    head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", column]
    table = [head, ["Points Possible", "", "", "", "", amount(sheet.maximum)]]
    for row in filter(can_be_imported, sheet.rows):
        names = [row.names[key] for key in ("last", "first") if key in row.names]
        number = row.names.get("lms", "")
        shown = harmless(", ".join(names) or row.student)
        id = number if number.isdecimal() else ""
        table.append([shown, id, row.student, row.student, "", amount(row.total or 0.0)])
    return table


def moodle_rows(sheet: Sheet, column: str) -> Table:
    """Return the form that Moodle's grade import reads.

    E-mail only where everybody has one that can stand there: at a row without, Moodle would
    give the mark to the student of the row before.
    """
    rows = list(filter(can_be_imported, sheet.rows))
    emails = [row.names.get("email", "") for row in rows]
    mailed = all(email and not is_formula(email) for email in emails)
    table = [["ID number", "Username", *(["Email address"] if mailed else []), column]]
    for row, email in zip(rows, emails, strict=True):
        ids = [row.student, row.student, *([email] if mailed else [])]
        table.append([*ids, amount(row.total or 0.0)])
    return table
