"""Our parts inside nbgrader: how a hand-in is read, how marks are made, what feedback shows."""

import copy
import html
import re
from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.preprocessors import NbGraderPreprocessor

from mha_course.grading.hand_ins import learners_notebook
from mha_course.grading.results import Result, points, results_of
from mha_course.grading.sandbox import Limits, shared_folder, weaknesses
from mha_course.grading.work import Work
from mha_course.settings import KEPT

Pair = tuple[NotebookNode, dict[str, Any]]
MOST_KEPT = 200  # bytes of a file that the exchange writes
BESIDE = "counts only beside another stage: an answer without content passes it, too"
INSTEAD = "# The marks of this exercise."


def work_of(resources: dict[str, Any], course: Path) -> Work:
    names = resources["nbgrader"]
    return Work(course, names["assignment"], names["student"], names["notebook"])


class HandInExporter(NotebookExporter):
    """Reads a hand-in as the notebook that was handed out, with the learner's answers put in.

    So whatever happened to the file (copied cells, lost metadata, edited tests, another editor,
    damage), nbgrader sees a sound notebook. Nothing else of the file goes further.
    """

    def __init__(self, **kw: Any) -> None:
        super().__init__(**kw)
        if self.parent is not None:
            # nbgrader copies every other file of a hand-in, also what a link points to, and
            # hands the copies back with the feedback. The settings are shared with other parts.
            self.parent.coursedir = copy.copy(self.parent.coursedir)
            self.parent.coursedir.ignore = ["*"]

    def from_filename(self, filename: str, resources: Any = None, **kw: Any) -> Any:
        assert self.parent is not None  # nbgrader's converter
        coursedir = self.parent.coursedir
        names = resources["nbgrader"]
        folder = coursedir.format_path("submitted", names["student"], names["assignment"])
        if Path(filename).parent != Path(folder):
            return super().from_filename(filename, resources=resources, **kw)
        resources["metadata"] = {"name": names["notebook"], "path": folder}
        target = coursedir.format_path("autograded", names["student"], names["assignment"])
        keep(Path(folder), Path(target))
        notebook = learners_notebook(work_of(resources, Path(coursedir.root)))
        return self.from_notebook_node(notebook, resources=resources, **kw)


def keep(submitted: Path, autograded: Path) -> None:
    """Copy what nbgrader's exchange wrote: later steps read it in the autograded folder."""
    for path in (submitted / name for name in KEPT):
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= MOST_KEPT:
            autograded.mkdir(parents=True, exist_ok=True)
            (autograded / path.name).unlink(missing_ok=True)
            (autograded / path.name).write_bytes(path.read_bytes())


class MakeMarks(NbGraderPreprocessor):
    """Stands where nbgrader would run the notebook: puts the marks under the marks cells."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> Pair:
        for text in weaknesses():
            self.log.warning(text)
        course = Path(self.parent.parent.coursedir.root)
        result = results_of(work_of(resources, course), shared_folder(), Limits())
        for cell in nb.cells:
            if is_marks(cell):
                mark = result["marks"][cell.metadata.mha.exercise]
                most = float(cell.metadata.nbgrader.points)
                cell.outputs = outputs(mark, result["problem"], most)
                cell.execution_count = 1
        return nb, resources


def outputs(mark: Result, problem: str, most: float) -> list[NotebookNode]:
    """Return what stands under a marks cell; nbgrader takes its points from the last of it."""
    earned = points(mark["share"], most)
    text = as_text(mark, problem, earned, most)
    shown = {"text/plain": text, "text/html": as_html(mark, problem, earned, most)}
    result = {"text/plain": repr(earned)}
    return [
        new_output("display_data", data=shown),
        new_output("execute_result", data=result, execution_count=1),
    ]


def as_text(mark: Result, problem: str, earned: float, most: float) -> str:
    lines = [f"Automatic mark: {earned:g} of {most:g} points, {mark['status']}."]
    if why := problem or mark["said"]:
        lines.append(why)
    for title, passed, said in stages_of(mark):
        lines.append(f"  {'✓' if passed else '✗'} {title}{': ' + said if said else ''}")
    return "\n".join([*lines, *([mark["text"]] if mark["text"] else [])])


def stages_of(mark: Result) -> list[tuple[str, bool, str]]:
    """Return title, whether it passed, and what is said of it; also why it earned nothing."""
    nothing = not mark["share"] and not mark["said"]
    return [
        (title, passed, said or (BESIDE if passed and nothing else ""))
        for title, passed, said in mark["stages"]
    ]


def as_html(mark: Result, problem: str, earned: float, most: float) -> str:
    """Return marks, stages and the verdict of the visible check, for the feedback page."""
    points_made = f"{earned:g} of {most:g} points"
    parts = [f"<p><strong>Automatic mark: {points_made}</strong>, {mark['status']}.</p>"]
    if why := problem or mark["said"]:
        parts.append(f"<p><strong>{html.escape(why)}</strong></p>")
    if mark["stages"]:
        parts += ["<p>On inputs that only you got:</p>", "<ul>"]
        for title, passed, said in stages_of(mark):
            words = f"{'passed' if passed else 'failed'}: {title}{' – ' + said if said else ''}"
            parts.append(f"<li>{'✓' if passed else '✗'} {html.escape(words)}</li>")
        parts.append("</ul>")
    if mark["html"] and mark["status"] != "right":
        wide = f'<div style="overflow-x: auto; margin-bottom: 1em">{mark["html"]}</div>'
        parts += ["<p>What the check in your notebook says:</p>", wide]
    if mark["hint"]:
        parts.append(f"<p>A hint of this exercise: {as_code(mark['hint'])}</p>")
    return "\n".join(parts)


class ShowFeedback(NbGraderPreprocessor):
    """Makes the feedback short: tasks, answers, marks. Hidden lines and the lesson's text go."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> Pair:
        nb.cells = [cell for cell in nb.cells if is_feedback(cell)]
        for cell in nb.cells:
            if is_marks(cell):
                cell.source = INSTEAD
                # Without the bare number from which nbgrader took the points.
                cell.outputs = [o for o in cell.outputs if o.output_type == "display_data"]
        return nb, resources


def as_code(text: str) -> str:
    """Return Markdown's `code` as HTML; of Markdown, hints use nothing else."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))


def is_marks(cell: NotebookNode) -> bool:
    name = cell.metadata.get("mha", {}).get("exercise")
    return bool(cell.metadata.get("nbgrader", {}).get("grade_id") == f"{name}-marks")


def is_feedback(cell: NotebookNode) -> bool:
    """Say whether a cell is a title, or belongs to an exercise or a question, but is no check."""
    id = cell.metadata.get("nbgrader", {}).get("grade_id", "")
    return cell.get("id") == "title" or bool(id and not id.endswith("-check"))
