"""The instructor's guide: its commands run in order, and what it claims is so."""

import json
import math
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import nbformat
import pytest
import torch
from nbformat import NotebookNode

import mha_lib
from mha_course import commands
from mha_course.grading import hidden_stages, sandbox
from mha_course.grading.inside import waiting
from mha_course.plan import POINTS_A_STAR
from mha_lib import exercises, running_example
from mha_lib.exercises.mistakes import all_known
from mha_lib.exercises.registry import find
from tools import commands as words_of_run

ROOT = Path(__file__).resolve().parent.parent
GUIDE = (ROOT / "instructor" / "GUIDE.md").read_text(encoding="utf-8")
# What the test leaves out, with the reason that the guide gives.
NOT_RUN = {
    "installs": "make lab",
    "opens a browser": "cd attention\njupyter lab",
    "needs a download": "nbgrader zip_collect ps1",  # run in test_course_collect.py
}
BLOCK = re.compile(r"(?:<!-- not run: (.+?) -->\n)?^```(\w+)\n(.*?)^```$", re.M | re.S)
LESSON = re.compile(r"^### Lesson (\d+): (.+?)\n(.*?)(?=^##)", re.M | re.S)
LESSONS = {int(number): (title, text) for number, title, text in LESSON.findall(GUIDE)}


def blocks() -> list[tuple[str, str, str]]:
    return [(why, kind, text) for why, kind, text in BLOCK.findall(GUIDE) if kind != "python"]


@cache
def lesson(number: int) -> NotebookNode:
    (path,) = (ROOT / "notebooks").glob(f"{number:02}_*.ipynb")
    return nbformat.read(path, as_version=4)


def tagged(number: int, tag: str) -> list[NotebookNode]:
    return [cell for cell in lesson(number).cells if tag in cell.metadata.get("tags", [])]


# ---- the commands


def test_only_these_commands_are_left_out() -> None:
    left_out = {why: text for why, kind, text in blocks() if why}
    assert left_out.keys() == NOT_RUN.keys()
    for why, start in NOT_RUN.items():
        assert left_out[why].startswith(start)
    assert {kind for _, kind, _ in blocks()} == {"console", "text"}


def test_what_is_installed_is_there() -> None:
    (install,) = [text for why, _, text in blocks() if why == "installs"]
    assert re.findall(r"make (\w+)", install) == ["lab"]
    assert "lab" in words_of_run.WORDS
    assert '-e ".[instructor]"' in install
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert 'optional-dependencies.instructor = { file = ["requirements-instructor.txt"] }' in text


def expected(text: str) -> re.Pattern[str]:
    return re.compile(".*".join(re.escape(part) for part in text.split("…")))


@pytest.mark.slow
def test_the_commands_run_in_order_and_print_what_the_guide_says(tmp_path: Path) -> None:
    script, wanted = ["set -euo pipefail"], []
    for why, kind, text in blocks():
        if kind == "console" and not why:
            script += [f"echo '#### {len(wanted)}'", text]
            wanted.append([])
        elif kind == "text":
            wanted[-1] += text.splitlines()
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)],
        cwd=tmp_path,
        env=os.environ | {"PATH": path, "COLUMNS": "200", "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=1500,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    printed = re.split(r"^#### \d+\n", done.stdout, flags=re.M)[1:]
    assert len(printed) == len(wanted) > 10
    for lines, output in zip(wanted, printed, strict=True):
        for text in lines:
            assert any(expected(text).fullmatch(line) for line in output.splitlines()), (
                f"{text!r} is not in:\n{output}"
            )
    sheet = (tmp_path / "teaching/attention/ps1-marks.csv").read_text(encoding="utf-8-sig")
    totals = {row.split(",")[0]: row.split(",")[-3] for row in sheet.splitlines()[1:]}
    assert totals['"s0001"'] == '"41.00"'  # all right, and a free question that waits
    assert totals['"s0002"'] == totals['"s0004"'] == '"0.00"'


def test_options_in_the_text_are_there() -> None:
    parser = commands.parser()
    (actions,) = [a.choices for a in parser._actions if a.choices]
    known = {text for word in actions.values() for a in word._actions for text in a.option_strings}
    named = set(re.findall(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*", GUIDE))
    others = {"--class", "--paths", "--force", "--collector", "--update"}  # of other programs
    assert named - known == others
    assert set(re.findall(r"mha-course (\w+)", GUIDE)) == set(commands.WORDS)


# ---- lesson by lesson


def test_every_lesson_is_there_under_its_title() -> None:
    titles = {n: lesson(n).cells[0].source.splitlines()[0] for n in range(1, 11)}
    assert {n: f"# {n} · {title}" for n, (title, _) in LESSONS.items()} == titles


@pytest.mark.parametrize("number", LESSONS)
def test_minutes_are_those_of_words_and_exercises(number: int) -> None:
    _, text = LESSONS[number]
    cells = [c for c in lesson(number).cells if c.cell_type == "markdown"]
    left_out = {"nav", "hint", "solution"}
    read = [c.source for c in cells if not left_out & set(c.metadata.get("tags", []))]
    plain = [re.sub(r"<details>.*?</details>", "", source, flags=re.S) for source in read]
    reading = 5 * math.ceil(sum(len(source.split()) for source in plain) / 100 / 5)
    asked = [re.search(r"★ (\d+) min", c.source) for c in tagged(number, "exercise")]
    doing = sum(int(found.group(1)) for found in asked if found)
    said = f"\n{reading + doing} minutes: {reading} reading, {doing} exercises."
    assert text.startswith(said), said


@pytest.mark.parametrize("number", LESSONS)
def test_goals_are_tested_by_what_there_is(number: int) -> None:
    _, text = LESSONS[number]
    goals = re.findall(r"^\| .+ \| (exercise|cell) `([\w-]+)` \|$", text, re.M)
    cells = {cell.id for cell in lesson(number).cells}
    assert {name for kind, name in goals if kind == "cell"} <= cells
    named = [name for kind, name in goals if kind == "exercise"]
    assert named == [cell.metadata.exercise for cell in tagged(number, "stub")]
    assert len(goals) > len(named)


@pytest.mark.parametrize("number", LESSONS)
def test_each_open_question_has_its_answer(number: int) -> None:
    (part,) = [
        found.group(1)
        for cell in lesson(number).cells
        if (
            found := re.search(r"^### On your own\n\n(.*?)(?=\n\n###|\Z)", cell.source, re.M | re.S)
        )
    ]
    _, text = LESSONS[number]
    answers = text.split("**On your own.** ")[1]
    questions = [line for line in part.splitlines() if line.startswith("- ")]
    assert [f"({n + 1})" for n in range(len(questions))] == re.findall(
        r"\(\d\)(?= [A-Z\d*`])", answers
    )


def test_catalogue_ids_and_their_reports() -> None:
    cited = re.findall(r"\(([A-Z]+-\d+), (\d+) reports?\)", GUIDE)
    assert len(cited) > 30
    for id, count in cited:
        assert len(all_known()[id]["seen"]) == int(count), id
    every = set(re.findall(r"\b(?:[A-Z]{2,6}-\d{2})\b", GUIDE)) - {"UTF-08"}
    assert every == {id for id, _ in cited}


# ---- plans


def meetings() -> list[list[tuple[str, ...]]]:
    tables = re.findall(r"^\| minutes \| what \| lesson .*\n\|.*\n((?:\|.*\n)+)", GUIDE, re.M)
    split = [
        [tuple(c.strip() for c in r.strip("|\n").split("|")) for r in t.splitlines()]
        for t in tables
    ]
    return split


def test_each_meeting_has_90_minutes() -> None:
    assert [sum(int(row[0]) for row in rows) for rows in meetings()] == [90, 180, 360]
    for rows in meetings():
        total = 0
        for minutes, what, *_ in rows:
            assert total % 90 == 0 or "Meeting" not in what
            total += int(minutes)
        assert sum("Meeting" in row[1] for row in rows) in (0, 2, 4)


def test_figures_and_exercises_of_the_plans_stand_in_their_lesson() -> None:
    for _, _, number, figure, exercise in (row for rows in meetings() for row in rows):
        code = "\n".join(c.source for c in lesson(int(number)).cells if c.cell_type == "code")
        assert re.search(rf"\b{figure.strip('`')}\(", code), figure
        if exercise != "–":
            stubs = [cell.metadata.exercise for cell in tagged(int(number), "stub")]
            assert exercise.strip("`") in stubs
    after = re.findall(r"^(?:For a class .*|After meeting 1: .*)$", GUIDE, re.M)
    for name in re.findall(r"`(\w+)`", "\n".join(after)):
        assert name in exercises.names(), name


# ---- numbers and texts


def test_limits_and_marks_are_those_of_the_program() -> None:
    limits = sandbox.Limits()
    assert f"{limits.cpu_seconds} seconds of processor time an answer" in GUIDE
    assert f"{limits.wall_seconds:g} seconds a question" in GUIDE
    assert f"{limits.memory / 1e9:g} GB of memory and {waiting.MOST_THREADS} threads" in GUIDE
    assert f"*{hidden_stages.OTHER}*, with {hidden_stages.DRAWN} questions" in GUIDE
    assert f"{POINTS_A_STAR} for each star" in GUIDE
    assert find("split_heads_view").stars * POINTS_A_STAR == 10
    pin = (ROOT / "requirements-instructor.txt").read_text(encoding="utf-8")
    assert f"nbgrader=={re.findall('pinned to ([0-9.]+[0-9])', GUIDE)[0]}\n" in pin


def test_links_inside_the_guide_lead_somewhere() -> None:
    heads = re.findall(r"^#{2,3} (.+)$", GUIDE, re.M)
    anchors = {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}
    assert set(re.findall(r"\]\(#([\w-]+)\)", GUIDE)) <= anchors


def test_the_readme_and_contributing_point_to_the_guide() -> None:
    for name in ("README.md", "CONTRIBUTING.md"):
        assert "instructor/GUIDE.md" in (ROOT / name).read_text(encoding="utf-8")


# ---- answers to the open questions, worked out in another way than in the lessons


def answer(number: int) -> str:
    return LESSONS[number][1].split("**On your own.** ")[1]


def test_answers_that_are_counts() -> None:
    layer = mha_lib.MultiHeadAttention(512, 8)
    assert f"{sum(p.numel() for p in layer.parameters()):,} parameters" in answer(1)
    wide = mha_lib.MultiHeadAttention(12, 2)
    assert f"{sum(p.numel() for p in wide.parameters())} parameters" in answer(2)
    angle = mha_lib.sinusoidal_positions(11, 6)[10, 2].asin()
    assert f"{float(angle.rad2deg()):.1f} degrees" in answer(2)
    memory = torch.arange(24)
    right = mha_lib.split_heads(memory.view(4, 6).float(), 3)
    places = (memory.view(3, 4, 2) == right).nonzero().tolist()
    assert places == [[0, 0, 0], [0, 0, 1], [2, 3, 0], [2, 3, 1]]
    assert "Four of 24" in answer(4)


def test_answers_from_the_running_example() -> None:
    (output,) = (running_example.W_O[:, 3:] == 0).all(1).nonzero().flatten().tolist()
    assert f"Output {output}." in answer(6)
    positions = mha_lib.sinusoidal_positions(4, 6)
    x = mha_lib.embed_tokens(running_example.IDS, running_example.TABLE, positions)[0]
    q, k = (mha_lib.split_heads(x @ w.T, 2) for w in (running_example.W_Q, running_example.W_K))
    sums = (mha_lib.attention_weights(q, k)[1] * mha_lib.causal_mask(4, 4)).sum(-1)
    first, second, third, last = (f"{s:.2f}".removeprefix("0") for s in sums.tolist())
    assert f"{first}, {second}, {third} and {last}" in answer(8)
    chase = mha_lib.attention_weights(k, q)[1, 1]
    assert f"gives {float(chase[0]):.2f} to".replace(" 0.", " .") in answer(5)


def test_the_rubric_in_the_first_course_is_read(tmp_path: Path) -> None:
    (toml,) = re.findall(r"> questions\.toml <<'END'\n(.*?)END", GUIDE, re.S)
    path = tmp_path / "questions.toml"
    path.write_text(toml, encoding="utf-8")
    from mha_course.questions import read_questions

    (question,) = read_questions(path)
    assert question.text in GUIDE.split("## Marking free text")[1]
    assert json.dumps(question.points) == "3.0"
