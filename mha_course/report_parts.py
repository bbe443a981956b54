"""What stands in the sections of the class report: sentences, rows of tables, pictures."""

import statistics
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from mha_course import class_counts as counts
from mha_course import report_plots as plots
from mha_course.class_counts import MistakeCount, StageCount
from mha_course.class_marks import ClassMarks
from mha_course.grading.nbgrader_parts import as_code
from mha_lib.exercises.mistakes import all_known

IN_PLOT = 12
Row = Sequence[object]


def people(number: int) -> str:
    return "1 student" if number == 1 else f"{number} students"


def answers(number: int) -> str:
    return "1 answer" if number == 1 else f"{number} answers"


def totals(marks: ClassMarks) -> dict[str, object] | None:
    if not marks.totals or not marks.maximum:
        return None
    mean, median = statistics.fmean(marks.totals), statistics.median(marks.totals)
    low, high, full = min(marks.totals), max(marks.totals), marks.maximum
    best = sum(round(total, 2) == round(full, 2) for total in marks.totals)
    line = (
        f"{people(len(marks.totals))}, of {full:g} points for exercises: mean {mean:.2f}, "
        f"median {median:.2f}, lowest {low:.2f}, highest {high:.2f}. Full marks: {best}."
    )
    return {"lines": [line], "plot": plots.totals_plot(marks)}


def exercises(marks: ClassMarks) -> dict[str, object] | None:
    if not marks.marked:
        return None
    found = counts.exercise_counts(marks)
    heads = ("Exercise", "Points", "Marked", *map(str.capitalize, counts.STATUSES), "Mean share")
    rows = [
        (e.exercise, f"{marks.most[e.exercise]:g}", e.marked, *e.statuses, _share(e)) for e in found
    ]
    return {"plot": plots.exercises_plot(found), "heads": heads, "rows": rows}


def _share(count: counts.ExerciseCount) -> str:
    return f"{100 * count.mean_share:.0f} %" if count.marked else "–"


def mistakes(marks: ClassMarks) -> dict[str, object]:
    found = counts.mistake_counts(marks)
    unknown = sum(count.unknown for count in counts.exercise_counts(marks))
    made = sum(sum(m.exercises.values()) for m in found)
    line = f"{answers(made)} showed a known mistake; {answers(unknown)} lost points without one."
    if len(found) > IN_PLOT:
        line += f" The picture shows {IN_PLOT} of {len(found)} mistakes, the table all."
    shown = {m.id: m.students for m in found[:IN_PLOT]}
    return {
        "line": line,
        "plot": plots.mistakes_plot(shown, {id: _said(id)["what"] for id in shown})
        if shown
        else "",
        "heads": ("Mistake", "Students", "Answers", "Exercises"),
        "rows": [_mistake_row(m) for m in found],
        "each": [_mistake_item(m) for m in found[:IN_PLOT]],
        "others": [_mistake_item(m) for m in found[IN_PLOT:]],
    }


def _mistake_row(mistake: MistakeCount) -> Row:
    where = ", ".join(f"{name} {count}" for name, count in mistake.exercises.items())
    return mistake.id, mistake.students, sum(mistake.exercises.values()), where


def _mistake_item(mistake: MistakeCount) -> dict[str, object]:
    said = _said(mistake.id)
    return {
        "id": mistake.id,
        "count": people(mistake.students),
        "what": Markup(as_code(said["what"])),
        "why": Markup(as_code(said["why"])),
        "alike": [(id, Markup(as_code(_said(id)["what"]))) for id in mistake.alike],
        "seen": ", ".join(said["seen"]),
    }


def _said(id: str) -> dict[str, Any]:
    """Return what is known of a mistake; marks of another release may name one that is not."""
    nothing = {"what": "This release does not describe it.", "why": "", "seen": ()}
    return nothing | all_known().get(id, {})


def stages(marks: ClassMarks) -> dict[str, object]:
    found = counts.stage_counts(marks)
    return {
        "caption": f"{min(len(found), IN_PLOT)} of {len(found)} stages that failed",
        "heads": ("Stage", "Exercise", "Failed", "Failed first"),
        "rows": [_stage_row(stage) for stage in found[:IN_PLOT]],
        "others": [_stage_row(stage) for stage in found[IN_PLOT:]],
    }


def _stage_row(stage: StageCount) -> Row:
    return stage.title, stage.exercise, f"{stage.failed} of {stage.ran}", stage.first


def suspects(marks: ClassMarks, with_ids: bool) -> dict[str, object]:
    found = counts.suspects(marks)
    verb = "is" if len(found) == 1 else "are"
    line = (
        f"{answers(len(found))} {verb} right on the inputs of the visible check and wrong on "
        "others, so without points."
    )
    if found and not with_ids:
        line += " Which: mha-course report with --ids."
    names: dict[str, list[str]] = {}
    for answer in found:
        names.setdefault(answer.exercise, []).append(answer.student)
    rows = [(exercise, ", ".join(ids)) for exercise, ids in names.items()]
    return {"line": line, "rows": rows if with_ids else []}
