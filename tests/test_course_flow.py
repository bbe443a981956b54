"""The real nbgrader from end to end on a small class, and what goes wrong on the way."""

import io
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from course_by_hand import hand_in, make_record
from dying_worker import mark_one
from nbgrader.api import Gradebook
from rich.console import Console
from rich.progress import Progress

from mha_course import commands
from mha_course.example_class import make_class
from mha_course.grading import class_run, sandbox
from mha_course.grading.nbgrader_parts import as_html
from mha_course.grading.results import points
from mha_course.grading.work import Work
from mha_course.record import read_record
from mha_course.settings import KEPT
from mha_lib.exercises.mistakes import Mistake
from mha_lib.exercises.registry import find
from mha_lib.exercises.watchdog import TimeUp

pytestmark = [pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")]
bubblewrap = pytest.mark.skipif(
    not sandbox.has_bubblewrap(), reason="bubblewrap (bwrap) is not there or does not work"
)
FIRST, SECOND = "04_splitting_heads", "06_merging_heads"
QUESTION = """
[[question]]
id = "why"
text = "Why divide by √D?"
points = 4
rubric = "THE RUBRIC"
"""
# nbgrader strips ids, and puts them into patterns of its own.
ODD = ("学生-7", " Ångström ", "-rf", 'it is "{student_id}"')
EVIL = "Because. <script>window.wasHere = 1</script><img src=x onerror='window.wasHere = 1'>"
GUIDE = Path(__file__).resolve().parent.parent / "instructor" / "GUIDE.md"
PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])


def typed(course, *words, path=PATH):
    """Run a command as an instructor types it in the course folder."""
    done = subprocess.run(
        words,
        cwd=course,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=570,
    )
    print(done.stdout[-2000:], done.stderr[-4000:])
    return done


def grade(course, *words):
    done = typed(course, "mha-course", "grade", ".", "ps", *words)
    assert done.returncode == 0, done.stderr[-3000:]
    return done


def marks(course):
    """Return student -> cell -> automatic mark, from nbgrader's gradebook."""
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        return {
            submission.student_id: {
                grade.cell.name: grade.auto_score
                for notebook in submission.notebooks
                for grade in notebook.grades
                if grade.cell.name != "why"
            }
            for submission in gradebook.assignment_submissions("ps")
        }


def rows(course):
    with sqlite3.connect(course / "gradebook.db") as base:
        names = [
            row[0] for row in base.execute("select name from sqlite_master where type='table'")
        ]
        return {name: base.execute(f"select count(*) from {name}").fetchone()[0] for name in names}


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory):
    """A course whose class has handed in; nothing is graded."""
    course = tmp_path_factory.mktemp("course")
    (course / "questions.toml").write_text(QUESTION, encoding="utf-8")
    options = ("--lessons", "4", "6", "--questions", "questions.toml", "--due", "2027-01-31T12:00")
    assert typed(course, "mha-course", "build", ".", "--assignment", "ps", *options).returncode == 0
    assert typed(course, "nbgrader", "generate_assignment", "ps").returncode == 0
    made = make_class(course, "ps", 5, seed=3)
    submitted = course / "submitted"
    for student in ODD:
        shutil.copytree(submitted / "s0001", submitted / student)
    shutil.copytree(submitted / "s0002", submitted / "Ångström")  # blank
    folder = submitted / "s0003" / "ps"
    (folder / "timestamp.txt").write_text("2027-01-31 13:00:00 UTC", encoding="utf-8")
    (folder / "data.csv").write_text("1,2", encoding="utf-8")
    (folder / "secret.txt").symlink_to(course / "mha_course.json")
    (folder / "endless").symlink_to("/dev/zero")
    path = folder / f"{SECOND}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    (answer,) = [cell for cell in notebook.cells if cell.id == "why"]
    answer.source = EVIL
    nbformat.write(notebook, path)
    return course, made


@pytest.fixture(scope="module")
def graded(handed_in, tmp_path_factory):
    """The same, graded."""
    course = tmp_path_factory.mktemp("graded") / "course"
    shutil.copytree(handed_in[0], course, symlinks=True)
    return course, handed_in[1], grade(course)


@bubblewrap
@pytest.mark.slow
def test_everybody_gets_what_the_answers_deserve(graded):
    course, made, _ = graded
    found, most = marks(course), read_record(course)["assignments"]["ps"]["points"]
    full = {f"{name}-marks": value for name, value in most.items()}
    assert found["s0001"] == full
    assert set(found["s0002"].values()) == {0}
    assert {student: found[student] for student in ODD} == dict.fromkeys(ODD, full)
    assert found["Ångström"] == found["s0002"]
    assert set(found) == {*made, *ODD, "Ångström"}
    mistakes = 0
    for student, notebooks in made.items():
        for stem, answers in notebooks.items():
            path = course / ".marks" / "ps" / student / f"{stem}.json"
            stored = json.loads(path.read_text(encoding="utf-8"))["marks"]
            for name, answer in answers.items():
                booked = found[student][f"{name}-marks"]
                assert booked == points(stored[name]["share"], most[name])
                if isinstance(answer, Mistake):
                    mistakes += 1
                    passed = [stage[1] for stage in stored[name]["stages"]]
                    assert booked < most[name]
                    assert booked in (
                        0,
                        pytest.approx(most[name] * sum(passed) / len(passed), abs=0.01),
                    )
    assert mistakes >= 3


@bubblewrap
@pytest.mark.slow
def test_only_notebooks_go_further(graded):
    course, _, done = graded
    for student in ("s0003", "s0001", *ODD):
        names = {path.name for path in (course / "autograded" / student / "ps").iterdir()}
        assert names - set(KEPT) == {f"{FIRST}.ipynb", f"{SECOND}.ipynb"}
    assert "def split_heads" not in done.stdout + done.stderr


@bubblewrap
@pytest.mark.slow
def test_late_work_is_known_as_late(graded):
    course = graded[0]
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        assert gradebook.find_submission("ps", "s0003").total_seconds_late == 3600
        assert gradebook.find_submission("ps", "s0001").total_seconds_late == 0
    stamp = course / "submitted" / "s0003" / "ps" / "timestamp.txt"
    stamp.write_text("2027-01-31 11:00:00 UTC", encoding="utf-8")
    grade(course, "--students", "s0003")
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        assert gradebook.find_submission("ps", "s0003").total_seconds_late == 0


@bubblewrap
@pytest.mark.slow
def test_a_penalty_comes_and_goes_with_settings_and_due_date(graded, tmp_path):
    """Also for work that is booked already; the line is the guide's."""
    course = tmp_path / "course"
    shutil.copytree(graded[0], course, symlinks=True)
    (line,) = re.findall(r"`(c\.\w+\.penalty_method = .*?)`", GUIDE.read_text(encoding="utf-8"))
    stamp = course / "submitted" / "s0001" / "ps" / "timestamp.txt"
    stamp.write_text("2027-01-31 13:00:00 UTC", encoding="utf-8")

    def penalty():
        grade(course, "--students", "s0001")
        with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
            submission = gradebook.find_submission("ps", "s0001")
            return submission.late_submission_penalty, submission.score

    nothing, score = penalty()
    assert nothing == 0 < score
    with open(course / "nbgrader_config.py", "a", encoding="utf-8") as config:
        config.write(f"{line}\n")
    assert penalty() == (score, score)
    options = ("--lessons", "4", "6", "--questions", "questions.toml", "--due", "2027-02-01T12:00")
    assert typed(course, "mha-course", "build", ".", "--assignment", "ps", *options).returncode == 0
    assert penalty() == (0, score)


@bubblewrap
@pytest.mark.slow
def test_marks_may_be_made_on_another_machine(handed_in, graded, tmp_path):
    """As the guide says: copy the course, mark some there, copy their marks back."""
    here, there = tmp_path / "here", tmp_path / "there"
    for course in (here, there):
        shutil.copytree(handed_in[0], course, symlinks=True)
    some = ("s0001", "s0004")
    grade(there, "--students", *some)
    shutil.copytree(there / ".marks" / "ps", here / ".marks" / "ps")
    made = {path: path.stat().st_mtime_ns for path in here.glob(".marks/ps/*/*.json")}
    assert len(made) == 4
    grade(here, "--students", *some)
    assert {path: path.stat().st_mtime_ns for path in made} == made  # booked, not marked again
    everybody = marks(graded[0])
    assert marks(here) == {student: everybody[student] for student in some}


@bubblewrap
@pytest.mark.slow
def test_graded_again_it_is_the_same_and_a_manual_mark_stays(graded):
    course = graded[0]
    before, counts = marks(course), rows(course)
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        for cell, stem in (("why", SECOND), ("split_heads-marks", FIRST)):
            by_hand = gradebook.find_grade(cell, stem, "ps", "s0001")
            by_hand.manual_score, by_hand.needs_manual_grade = 2.5, False
        gradebook.find_comment("why", SECOND, "ps", "s0001").manual_comment = "Nice."
        gradebook.db.commit()
    booked = course / "autograded" / "s0002" / "ps" / f"{FIRST}.ipynb"
    time_before = booked.stat().st_mtime_ns
    grade(course)
    assert booked.stat().st_mtime_ns == time_before  # nothing to do, so nothing done
    shutil.rmtree(course / ".marks")
    grade(course)
    assert booked.stat().st_mtime_ns > time_before
    assert marks(course) == before
    assert rows(course) == counts
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        assert gradebook.find_grade("why", SECOND, "ps", "s0001").score == 2.5
        assert gradebook.find_grade("split_heads-marks", FIRST, "ps", "s0001").score == 2.5
        assert gradebook.find_comment("why", SECOND, "ps", "s0001").comment == "Nice."


@bubblewrap
@pytest.mark.slow
def test_a_changed_text_reaches_the_grader_and_a_lost_booking_is_made_good(graded):
    course = graded[0]
    path = course / "submitted" / "s0004" / "ps" / f"{SECOND}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    (answer,) = [cell for cell in notebook.cells if cell.id == "why"]
    answer.source = "My second thoughts."
    nbformat.write(notebook, path)
    before = marks(course)
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        gradebook.remove_submission("ps", "s0005")
    grade(course)
    assert marks(course) == before
    seen = course / "autograded" / "s0004" / "ps" / f"{SECOND}.ipynb"
    assert "My second thoughts." in seen.read_text(encoding="utf-8")


@bubblewrap
@pytest.mark.slow
def test_nbgrader_autograde_typed_by_hand_gives_the_same(graded):
    course = graded[0]
    before = marks(course)
    assert (
        typed(course, "nbgrader", "autograde", "ps", "--student=s0003", "--force").returncode == 0
    )
    assert marks(course) == before


@bubblewrap
@pytest.mark.slow
def test_feedback_teaches_and_shows_nothing_hidden(graded):
    course, made, _ = graded
    assert typed(course, "mha-course", "feedback", ".", "ps").returncode == 0
    secret = read_record(course)["secret"]
    pages = list((course / "feedback").rglob("*.html"))
    assert len(pages) == 2 * (len(made) + len(ODD) + 1)
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for word in (
            "BEGIN HIDDEN",
            "RuntimeError",
            secret,
            "THE RUBRIC",
            "<script>window.wasHere",
        ):
            assert word not in text, word
    others = {path.name for path in (course / "feedback").rglob("*") if path.is_file()}
    assert others <= {f"{FIRST}.html", f"{SECOND}.html", "timestamp.txt"}
    student, stem, name = next(
        (student, stem, name)
        for student, notebooks in made.items()
        for stem, answers in notebooks.items()
        for name, answer in answers.items()
        if isinstance(answer, Mistake)
    )
    path = course / ".marks" / "ps" / student / f"{stem}.json"
    mark = json.loads(path.read_text(encoding="utf-8"))["marks"][name]
    text = (course / "feedback" / student / "ps" / f"{stem}.html").read_text(encoding="utf-8")
    assert f'<span class="nf">{name}</span>' in text
    assert words_of(mark["html"]) in words_of(text)
    for stage in mark["stages"]:
        assert stage[0] in text
    hints = [hint.split("`")[0] for hint in find(name).hints]
    assert any(hint in text for hint in hints)


@bubblewrap
@pytest.mark.slow
def test_both_exports_have_everybody(graded):
    course, made, _ = graded
    assert typed(course, "nbgrader", "export", "--to", "all.csv").returncode == 0
    assert typed(course, "mha-course", "export", ".", "ps", "--out", "sheet.csv").returncode == 0
    ours = (course / "sheet.csv").read_text(encoding="utf-8-sig").splitlines()
    theirs = (course / "all.csv").read_text(encoding="utf-8").splitlines()
    assert len(ours) == len(theirs) == 1 + len(made) + len(ODD) + 1


# What goes wrong


@bubblewrap
@pytest.mark.slow
def test_killed_half_way_and_run_again_it_ends_with_all(handed_in, tmp_path):
    course = shutil.copytree(handed_in[0], tmp_path / "course", symlinks=True)
    for student in ODD:
        shutil.rmtree(course / "submitted" / student)
    words = ("mha-course", "grade", ".", "ps", "--workers", "2")
    env = os.environ | {"PATH": PATH}
    with subprocess.Popen(words, cwd=course, env=env, start_new_session=True) as running:
        end = time.monotonic() + 120
        while len(done := list((course / ".marks").rglob("*.json"))) < 3:
            assert time.monotonic() < end
            assert running.poll() is None
            time.sleep(0.05)
        running.send_signal(signal.SIGKILL)
        running.wait(30)
    for _ in range(100):
        if not left_behind(running.pid):
            break
        time.sleep(0.2)
    assert left_behind(running.pid) == []
    before = {path: path.stat().st_mtime_ns for path in done}
    grade(course)
    assert {path: path.stat().st_mtime_ns for path in done} == before
    assert len(list((course / ".marks").rglob("*.json"))) == 2 * (5 + 1)
    assert len(marks(course)) == 5 + 1


def words_of(html):
    """Return a page's words: nbgrader writes its tags and signs in another way."""
    return BeautifulSoup(html, "html.parser").get_text(" ", strip=True)


def left_behind(session):
    """Return the processes of a session that still run."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(path)
    return found


@bubblewrap
@pytest.mark.slow
def test_what_cannot_be_graded_stops_nobody_else(handed_in, tmp_path):
    course = shutil.copytree(handed_in[0], tmp_path / "course", symlinks=True)
    submitted = course / "submitted"
    for student in (*ODD, "Ångström", "s0004", "s0005"):
        shutil.rmtree(submitted / student)
    shutil.copytree(submitted / "s0001", submitted / "clock")
    (submitted / "clock" / "ps" / "timestamp.txt").symlink_to("/dev/zero")
    shutil.copytree(submitted / "s0001", submitted / "[a]")  # to nbgrader: the folder of "a"
    shutil.copytree(submitted / "s0002", submitted / "a")
    (submitted / "file").mkdir()
    (submitted / "file" / "ps").write_text("no folder", encoding="utf-8")
    (submitted / "thief").symlink_to(submitted / "s0001")
    (submitted / "empty" / "ps").mkdir(parents=True)
    broken = submitted / "s0003" / "ps" / f"{FIRST}.ipynb"
    broken.write_bytes(broken.read_bytes()[:-500])
    done = typed(course, "mha-course", "grade", ".", "ps")
    assert done.returncode == 1
    assert "clock: not booked: ValueError: timestamp.txt is no plain file" in done.stderr
    assert "file: not booked: " in done.stderr
    assert "[a]: not booked: ValueError: nbgrader takes *, ? and [ in an id" in done.stderr
    assert "Traceback" not in done.stderr.split("clock: not booked")[0]
    found = marks(course)
    assert min(found["s0001"].values()) > 0
    for student in ("s0002", "thief", "empty", "a"):
        assert set(found[student].values()) == {0}
    assert sum(found["s0003"].values()) > 0  # the other notebook's
    seen = (course / "autograded" / "s0003" / "ps" / f"{FIRST}.ipynb").read_text(encoding="utf-8")
    assert "it is empty or damaged" in seen
    assert f"s0003 {FIRST}: The file is no notebook: it is empty or damaged." in done.stdout
    assert f"empty {SECOND}: The notebook was not handed in." in done.stdout
    assert "not handed in" in (course / "autograded/empty/ps" / f"{FIRST}.ipynb").read_text("utf-8")
    assert not (submitted / "s0001" / "ps" / "timestamp.txt").exists()


@pytest.mark.slow
def test_a_hand_in_that_ends_its_process_stops_nobody_else(tmp_path, monkeypatch):
    monkeypatch.setattr(class_run, "_mark_one", mark_one)
    ids = ["killer 1", *(f"s{n}" for n in range(5)), "killer 2", "unlucky", "s5", "killer 3"]
    todo = [Work(tmp_path, "ps", student, "one") for student in ids]
    with Progress(console=Console(file=io.StringIO())) as progress:
        troubles = class_run.mark_all(todo, 2, progress)
        assert progress.tasks[0].completed == len(todo)
    assert {work.student: text for work, text in troubles.items()} == {
        **dict.fromkeys(("killer 1", "killer 2", "killer 3"), class_run.ENDED),
        "unlucky": "a trouble",
    }
    assert all(work.store.exists() for work in todo if not work.student.startswith("killer"))


@pytest.mark.slow
def test_without_bubblewrap_the_warning_is_loud(handed_in, tmp_path):
    course = shutil.copytree(handed_in[0], tmp_path / "course", symlinks=True)
    words = ("mha-course", "grade", ".", "ps", "--students", "s0002")
    done = typed(course, *words, path=str(Path(sys.executable).parent))
    assert done.returncode == 0
    assert "WARNING: bubblewrap (bwrap) is not there or does not work" in done.stderr
    assert "can READ every file" in done.stderr
    assert set(marks(course)["s0002"].values()) == {0}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["ps1", "--workers", "0"], "workers must be at least 1, got 0"),
        (["ps2"], "there is no assignment 'ps2' in "),
        (["ps1", "--students", "ann", "bob"], "student 'bob' did not hand in 'ps1'"),
        (["ps1", "--students", ".."], "student '..' did not hand in 'ps1'"),
        (["ps1"], "make it with: nbgrader generate_assignment ps1"),
    ],
)
def test_what_is_asked_wrong_is_said_in_one_line(tmp_path, capsys, words, says):
    make_record(tmp_path)
    hand_in(tmp_path, "ann")
    assert commands.main(["grade", str(tmp_path), *words]) == 2
    said = capsys.readouterr()
    assert said.err.startswith("mha-course grade: ") or "WARNING" in said.err
    assert says in said.err


@pytest.mark.usefixtures("no_shape_checks")
@pytest.mark.parametrize("broken", [False, True])
def test_a_sandbox_that_does_not_work_is_noticed_before_it_costs_marks(monkeypatch, broken):
    if not broken:
        class_run.check_sandbox()
        return
    monkeypatch.setattr(sandbox, "SCRIPT", "not_there.py")
    with pytest.raises(RuntimeError, match="the right answer to head_dim got 0% .*nothing was gr"):
        class_run.check_sandbox()


def test_a_late_alarm_is_a_trouble_of_one_notebook_only(monkeypatch, tmp_path):
    def rings(*args):
        raise TimeUp

    monkeypatch.setattr(class_run, "results_of", rings)
    assert class_run._mark_one(Work(tmp_path, "ps", "ann", "one"), tmp_path) == "TimeUp: "


def test_there_is_no_course(tmp_path, capsys):
    assert commands.main(["grade", str(tmp_path / "c2"), "ps1"]) == 2
    said = f"there is no course in {tmp_path / 'c2'}: it has no mha_course.json"
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "problem", "says"),
    [
        ({}, "", ""),
        ({"share": 0.0}, "", ""),
        ({"share": 0.0, "said": "It imports <the answer>."}, "", "It imports &lt;the answer&gt;."),
        ({"share": 0.0, "said": "No such cell."}, "The file is damaged.", "The file is damaged."),
    ],
)
def test_the_page_says_why(change, problem, says):
    stages = [["one", True, ""], ["two", False, "NaN"]]
    mark = {"share": 0.5, "status": "wrong", "said": "", "stages": stages, "hint": "", "html": ""}
    page = as_html(mark | change, problem, 2.5, 5.0)
    assert page.startswith("<p><strong>Automatic mark: 2.5 of 5 points</strong>, wrong.</p>")
    assert ("<p><strong>" + says in page.splitlines()[1]) == bool(says)
    assert "No such cell" not in page
    assert ("one – counts only beside another stage" in page) == (change == {"share": 0.0})


def test_nobody_handed_in(tmp_path, capsys):
    make_record(tmp_path)
    for word in ("grade", "feedback"):
        assert commands.main([word, str(tmp_path), "ps1"]) == 2
        assert "nobody handed in 'ps1': submitted/ has no such folder" in capsys.readouterr().err
