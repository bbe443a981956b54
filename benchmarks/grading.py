"""How long a made-up class takes to grade, what memory and files it takes, and how that grows."""

import contextlib
import io
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from benchmarks.grade_class import ASSIGNMENT
from benchmarks.process_memory import Peaks, Watch
from mha_course.build import build
from mha_course.example_class import make_class
from mha_course.grading.booking import nbgrader_of
from mha_course.grading.sandbox import weaknesses
from mha_course.plan import Plan
from tools.navigation import ROOT

LESSONS = ("4", "5", "6")
ANSWERS = 7  # exercises of these lessons
INTRODUCTION = """
A made-up class hands in lessons {lessons}, {answers} exercises: half of the answers are right,
four in ten make a known mistake, the rest are blank. {workers} workers at a time{bubblewrap}.
Each class is a course of its own, graded in one run: first all marks, then all bookings.
Memory: the most at once, looked at every half second; shared memory is counted in parts (PSS)."""
# What nbgrader keeps of a class: each table, its rows a student, and what may not occur twice.
TABLES = {
    "student": (1, "id"),
    "submitted_assignment": (1, "assignment_id, student_id"),
    "submitted_notebook": (len(LESSONS), "assignment_id, notebook_id"),
    "grade": (ANSWERS, "notebook_id, cell_id"),
    "comment": (ANSWERS, "notebook_id, cell_id"),
}


class Cost(NamedTuple):
    """What a class takes: `took` is what grade_class prints, `again` the same once more."""

    students: int
    took: dict[str, float]
    again: dict[str, float]
    peaks: Peaks
    gradebook: int
    marks: int

    @property
    def minutes(self) -> float:
        return (self.took["marking"] + self.took["booking"]) / 60


def make_course(folder: Path, students: int) -> None:
    """Build the lessons, release them and hand in."""
    build(folder, Plan(ASSIGNMENT, lessons=LESSONS))
    with contextlib.redirect_stderr(io.StringIO()):
        result = nbgrader_of(folder).generate_assignment(ASSIGNMENT)
    if not result["success"]:
        raise RuntimeError(f"nbgrader made no release: {result}")
    make_class(folder, ASSIGNMENT, students)


def graded(course: Path, workers: int) -> tuple[dict[str, float], Peaks]:
    """Grade a class in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.grade_class", str(course), str(workers)]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    ) as process:
        watch = Watch(process.pid)
        out, error = process.communicate()
        peaks = watch.stop()
    if process.returncode:
        raise RuntimeError(f"grading failed:\n{error[-1500:]}")
    return json.loads(out.splitlines()[-1]), peaks


def measure(students: int, workers: int) -> Cost:
    """Make a class, grade it, grade it again, and count the rows of the gradebook both times.

    Raises:
        RuntimeError: Something failed, or a table holds too many or too few rows.
    """
    with tempfile.TemporaryDirectory(prefix="mha-class-") as name:
        course = Path(name) / "course"
        make_course(course, students)
        took, peaks = graded(course, workers)
        check_rows(course / "gradebook.db", students)
        again, _ = graded(course, workers)
        check_rows(course / "gradebook.db", students)
        gradebook = (course / "gradebook.db").stat().st_size
        marks = sum(p.stat().st_size for p in (course / ".marks").rglob("*") if p.is_file())
    return Cost(students, took, again, peaks, gradebook, marks)


def check_rows(gradebook: Path, students: int) -> None:
    """Raise where a table does not hold one row a student and cell, or one of them twice."""
    with contextlib.closing(sqlite3.connect(gradebook)) as database:
        for table, (each, key) in TABLES.items():
            (rows,) = database.execute(f"SELECT count(*) FROM {table}").fetchone()
            distinct = f"SELECT count(*) FROM (SELECT DISTINCT {key} FROM {table})"
            (different,) = database.execute(distinct).fetchone()
            if not rows == different == students * each:
                raise RuntimeError(
                    f"{table}: {students * each} rows expected for {students} students, "
                    f"got {rows}, {different} of them different"
                )


def line(cost: Cost) -> str:
    """Return one row of the table."""
    took, seen = cost.took, cost.peaks
    megabytes = [x / 1e6 for x in (seen.parent, seen.worker, seen.sandboxes, seen.all)]
    files = [x / 1e6 for x in (cost.gradebook, cost.marks)]
    return (
        f"{cost.students:>8} {took['notebooks']:>9.0f} {took['marking'] / 60:>7.1f} "
        f"{took['booking'] / 60:>7.1f} {took['notebooks'] / cost.minutes:>10.1f} "
        f"{cost.again['marking'] + cost.again['booking']:>7.1f}  "
        + " ".join(f"{x:>9.0f}" for x in megabytes)
        + "  "
        + " ".join(f"{x:>9.2f}" for x in files)
    )


UNITS = (
    "marking, booking: minutes; a minute: notebooks; again: seconds of a second run that finds "
    "nothing to do; the rest: million bytes\n"
)
HEADER = (
    f"{'students':>8} {'notebooks':>9} {'marking':>7} {'booking':>7} {'a minute':>10} "
    f"{'again':>7}  {'parent':>9} {'a worker':>9} {'sandboxes':>9} {'all':>9}  "
    f"{'gradebook':>9} {'marks':>9}"
)


def report(students: int, workers: int) -> None:
    """Print a line for a quarter of the class, for half of it and for all."""
    for text in weaknesses():
        print(f"WARNING: {text}")
    wrapped = "" if weaknesses() else ", each answer in bubblewrap"
    where = f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}"
    said = {"lessons": ", ".join(LESSONS), "answers": ANSWERS, "workers": workers}
    print(INTRODUCTION.format(bubblewrap=wrapped, **said))
    print(where, UNITS, HEADER, sep="\n", flush=True)
    for number in sorted({max(2, students // 4), max(2, students // 2), students}):
        print(line(measure(number, workers)), flush=True)
    print(f"load average at the end {os.getloadavg()[0]:.1f}")
    print("Every table of the gradebook held one row a student and cell, also graded again.")
