"""The bench of a class: it counts rows, sees memory, and grades. How fast, is not tested."""

import argparse
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks import __main__ as command
from benchmarks.grading import ANSWERS, LESSONS, TABLES, check_rows, line, measure
from benchmarks.process_memory import Watch
from mha_course.plan import lesson_paths
from mha_lib.exercises.registry import exercises

STUDENTS = 3


def gradebook(path: Path) -> sqlite3.Connection:
    """As many rows as a class of three has in nbgrader's tables."""
    database = sqlite3.connect(path)
    for table, (each, key) in TABLES.items():
        columns = key.split(", ")
        database.execute(f"CREATE TABLE {table} ({key})")
        for student in range(STUDENTS):
            for n in range(each):
                row = [f"{student}-{n}", *["x"] * (len(columns) - 1)]
                marks = ", ".join("?" * len(columns))
                database.execute(f"INSERT INTO {table} VALUES ({marks})", row)
    database.commit()
    return database


def test_one_row_a_student_and_cell_is_right(tmp_path: Path) -> None:
    gradebook(tmp_path / "db").close()
    check_rows(tmp_path / "db", STUDENTS)
    with pytest.raises(RuntimeError, match="student: 4 rows expected for 4 students, got 3"):
        check_rows(tmp_path / "db", STUDENTS + 1)


@pytest.mark.parametrize("table", TABLES)
def test_a_row_too_many_or_twice_is_found(table: str, tmp_path: Path) -> None:
    database = gradebook(tmp_path / "db")
    database.execute(f"INSERT INTO {table} SELECT * FROM {table} LIMIT 1")
    database.commit()
    with pytest.raises(RuntimeError, match=rf"{table}: (\d+) rows expected .*, \1 of them"):
        check_rows(tmp_path / "db", STUDENTS)
    # As many rows as there should be, and one of them twice.
    database.execute(f"DELETE FROM {table} WHERE rowid = 2")
    database.commit()
    database.close()
    with pytest.raises(RuntimeError, match=rf"{table}: (\d+) rows expected .*, got \1,"):
        check_rows(tmp_path / "db", STUDENTS)


def test_the_answers_are_those_of_the_lessons() -> None:
    slugs = [path.stem[3:] for path in lesson_paths(LESSONS)]
    assert sum(exercise.lesson in slugs for exercise in exercises().values()) == ANSWERS


@pytest.mark.skipif(sys.platform != "linux", reason="PSS is Linux's")
def test_memory_of_a_process_and_of_those_below_it_is_seen() -> None:
    hold = "held = bytearray({}); {}; print('ready', flush=True); input()"
    start = "import subprocess, sys; child = subprocess.Popen([sys.executable, '-c', {!r}])"
    below = hold.format(150_000_000, "pass")
    worker = hold.format(80_000_000, start.format(below))
    parent = hold.format(20_000_000, start.format(worker))
    with subprocess.Popen(
        [sys.executable, "-c", parent], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(3):
            process.stdout.readline()
        watch = Watch(process.pid)
        while not watch.peaks.looks:
            time.sleep(0.01)
        peaks = watch.stop()
        process.stdin.write(b"\n\n\n")
        process.stdin.flush()
        process.kill()
    assert 20e6 < peaks.parent < 60e6
    assert 80e6 < peaks.worker < 120e6
    assert 150e6 < peaks.sandboxes < 190e6
    assert 250e6 < peaks.all < 370e6


@pytest.mark.parametrize("text", ["7", "-8", "many", "8.5"])
def test_a_class_that_is_none(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="a class has at least 8 students, got"):
        command.students(text)


@pytest.mark.slow
def test_a_class_is_graded_and_counted() -> None:
    cost = measure(students=2, workers=2)
    assert cost.took["notebooks"] == 2 * len(LESSONS)
    assert cost.minutes > 0
    assert cost.again["marking"] + cost.again["booking"] < cost.minutes * 60
    assert cost.peaks.worker > 100e6
    assert cost.peaks.all > cost.peaks.parent > 100e6
    assert line(cost).split()[:2] == ["2", "6"]
