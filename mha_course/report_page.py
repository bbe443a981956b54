"""The class report as one HTML page that needs no other file."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from mha_course import report_parts as parts
from mha_course.class_marks import ClassMarks
from mha_course.report_parts import people

FEW = 5


def page(marks: ClassMarks, with_ids: bool = False) -> str:
    """Return the page.

    Args:
        marks: Of the class.
        with_ids: Name the students whose answers are suspect; else the page holds counts only.
    """
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    text = environment.get_template("report_page.html").render(
        name=marks.assignment,
        marked=marks.marked,
        notes=_notes(marks, with_ids),
        summary=_summary(marks),
        totals=parts.totals(marks),
        exercises=parts.exercises(marks),
        mistakes=parts.mistakes(marks),
        stages=parts.stages(marks),
        suspects=parts.suspects(marks, with_ids),
    )
    return text.strip() + "\n"


def _notes(marks: ClassMarks, with_ids: bool) -> list[str]:
    lines = []
    if with_ids:
        lines.append("This page names students: it is not for showing.")
    if 0 < marks.marked < FEW and not with_ids:
        lines.append(f"With marks of {people(marks.marked)}, counts can tell who did what.")
    return lines


def _summary(marks: ClassMarks) -> list[str]:
    if not marks.handed_in:
        return ["Nobody has handed in yet."]
    whole = len(marks.totals)
    if whole == marks.handed_in:
        return [f"{people(marks.handed_in)} handed in, and all that they handed in is marked."]
    command = f"mha-course grade COURSE {marks.assignment}"
    return [
        f"{people(marks.handed_in)} handed in. All exercises are marked for {whole} of them; "
        f"the rest is not in the totals. To mark it: {command}"
    ]
