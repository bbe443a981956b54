"""Files that were handed in: honest ones keep their marks, broken ones cost only their own."""

import json
import os
import subprocess
import sys
import time

import nbformat
import pytest

from mha_course.build import build
from mha_course.example_class import SOLVED, handed_in
from mha_course.grading import sandbox
from mha_course.grading.booking import nbgrader_of
from mha_course.grading.free_texts import harmless
from mha_course.grading.hand_ins import master_of, read_all
from mha_course.grading.results import Work, results_of
from mha_course.grading.sandbox import Limits, new_folder
from mha_course.making import WAITING
from mha_course.plan import Plan
from mha_course.questions import Question
from tests.odd_files import ASKED, CASES, FIRST, SECOND, cell, save

# nbgrader 0.9.6 with SQLAlchemy 2: where a gradebook is made here.
pytestmark = [
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
    pytest.mark.usefixtures("no_shape_checks"),
]
bubblewrap = pytest.mark.skipif(
    not sandbox.has_bubblewrap(), reason="bubblewrap (bwrap) is not there or does not work"
)
WHY = Question("why", "Why divide by √D?", 4.0, "Because.", "4")


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Lessons 4 and 5 and a question, released as nbgrader does."""
    folder = tmp_path_factory.mktemp("course")
    build(folder, Plan("ps", lessons=("4", "5"), questions=(WHY,)))
    result = nbgrader_of(folder).generate_assignment("ps")
    assert result["success"], result
    return folder


@pytest.fixture(scope="module")
def solved(course):
    """The notebooks with right answers, as JSON text."""
    made = {}
    for stem, names in ASKED.items():
        release, master = (
            nbformat.read(course / step / "ps" / f"{stem}.ipynb", as_version=4)
            for step in ("release", "source")
        )
        notebook = handed_in(release, master, dict.fromkeys(names, SOLVED))
        made[stem] = json.dumps(notebook)
    return made


@pytest.fixture(scope="module")
def inside():
    return new_folder()


def hand_in(course, solved, student, case=None):
    folder = course / "submitted" / student / "ps"
    folder.mkdir(parents=True)
    save(folder, json.loads(solved[SECOND]), SECOND)
    (case or CASES["perfect"]).write(folder, json.loads(solved[FIRST]))
    return folder


def each(stem_asked=ASKED):
    return [(stem, name) for stem, names in stem_asked.items() for name in names]


def test_a_new_release_is_noticed(tmp_path):
    """Formgrader's process may have read the one before."""
    path = tmp_path / "release" / "ps" / "sheet.ipynb"
    path.parent.mkdir(parents=True)
    for number, text in enumerate(("before", "after")):
        cells = [nbformat.v4.new_markdown_cell(text)]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
        os.utime(path, (number, number))
        assert master_of(tmp_path, "ps", "sheet").cells[0].source == text


# Of the others the quick test below sees that what is marked is the right answer, or nothing.
MARKED = (
    *("perfect", "partial", "magics", "indented", "half a character", "right in the cell below"),
    *("helpers in cells of their own", "a helper beside another answer"),
    *("an import in a cell of ours", "an answer as text", "an answer of 1 MB"),
    *("an answer nested deeply", "thousands of magics", "a null character", "blank", "UTF-16"),
    *("missing", "cells that are no list"),
)


@bubblewrap
@pytest.mark.slow
@pytest.mark.parametrize("id", MARKED)
def test_marks_of_a_file(course, solved, inside, id):
    case = CASES[id]
    hand_in(course, solved, id, case)
    result = results_of(Work(course, "ps", id, FIRST), inside, Limits())
    for name in ASKED[FIRST]:
        mark = result["marks"][name]
        assert mark["share"] == (0 if name in case.lost else 1), (name, mark)
        if name in case.lost:
            assert case.says in f"{mark['said']} {result['problem']}"


ODD_ONLY = [id for id, case in CASES.items() if id not in ("magics", "indented")]


@pytest.mark.parametrize("id", ODD_ONLY)
def test_what_is_read_of_a_file(course, solved, id):
    """The quick half of the test above: which answers are found, and what is said."""
    case = CASES[id]
    hand_in(course, solved, f"read {id}", case)
    read = read_all(course, "ps", f"read {id}")
    for stem, name in each():
        found = read[stem].answers.get(name, "")
        if name not in case.lost:
            assert f"def {name}(" in found
            assert "raise NotImplementedError" not in found
            assert "return x\n" not in found + "\n"
    if case.lost == ASKED[FIRST] and case.says.split()[0] not in ("Nothing", "There"):
        assert case.says in read[FIRST].problem
        assert read[FIRST].answers == {}
    assert read[SECOND].problem == ""


@pytest.mark.parametrize("place", ["student", "assignment"])
def test_a_linked_folder_is_not_followed(course, solved, place):
    hand_in(course, solved, f"owner of {place}")
    submitted = course / "submitted"
    if place == "student":
        (submitted / "thief").symlink_to(submitted / "owner of student")
    else:
        (submitted / "eve").mkdir()
        (submitted / "eve" / "ps").symlink_to(submitted / "owner of assignment" / "ps")
    read = read_all(course, "ps", "thief" if place == "student" else "eve")
    assert {one.problem for one in read.values()} == {"The folder is a link. It was not followed."}
    assert all(one.answers == {} and one.texts == {} for one in read.values())


@pytest.mark.slow
def test_outputs_of_100_mb(course, solved):
    """Read in a process of its own, for its memory."""
    folder = course / "submitted" / "loud" / "ps"
    folder.mkdir(parents=True)
    book = json.loads(solved[FIRST])
    lines = [f"tensor([{n}, 0.5])\n" * 50 for n in range(110_000)]
    output = {"output_type": "stream", "name": "stdout", "text": lines}
    cell(book, "split_heads-check")["outputs"] = [output]
    save(folder, book)
    assert (folder / f"{FIRST}.ipynb").stat().st_size > 100_000_000
    script = f"""
from pathlib import Path
from mha_course.grading.hand_ins import read_all
def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
before = peak()
read = read_all(Path({str(course)!r}), "ps", "loud")[{FIRST!r}]
assert set(read.answers) == {set(ASKED[FIRST])!r}, read.problem
print(peak() - before)
"""
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=200, check=True
    )
    print(f"{int(done.stdout) // 1000} MB more, {time.monotonic() - start:.1f} s with its start")
    assert int(done.stdout) < 1_000_000  # kilobytes: ten times the file


# Free texts


def texts(course, solved, change, student):
    book = json.loads(solved[FIRST])
    change(book)
    folder = course / "submitted" / student / "ps"
    folder.mkdir(parents=True)
    save(folder, book)
    return read_all(course, "ps", student)[FIRST].texts


def _strip(book):
    for one in book["cells"]:
        one["metadata"] = {}
        del one["id"]


def _copy(book):
    answer = cell(book, "why")
    answer["source"] = "mine"
    book["cells"].append({**answer, "source": WAITING})


def test_a_free_text_is_found_without_ids_and_beside_a_copy(course, solved):
    plain = texts(course, solved, lambda book: None, "text 1")
    assert plain == {"why": "An answer in words of my own."}
    assert texts(course, solved, _strip, "text 2") == plain
    assert texts(course, solved, _copy, "text 3") == {"why": "mine"}


def test_a_free_text_in_a_renamed_notebook_is_found(course, solved):
    hand_in(course, solved, "text 4", CASES["renamed"])
    assert read_all(course, "ps", "text 4")[FIRST].texts == {"why": "An answer in words of my own."}


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("0 < 1, a<b>c, x <= y", "0 < 1, a< b>c, x <= y"),
        ("<script>steal()</script>", "< script>steal()< /script>"),
        ("<<img src=x onerror=steal()>", "<< img src=x onerror=steal()>"),
        ("![](https://example.org/seen.png)", "![] (https://example.org/seen.png)"),
        ("[a](javascript:steal())", "[a] (javascript:steal())"),
        ("[a][b]\n\n[b]: data:x", "[a][b]\n\n[b] : data:x"),
        ("<javascript:steal()>", "< javascript:steal()>"),
        ("great! [1] says so", "great! [1] says so"),
    ],
)
def test_a_free_text_runs_nothing_where_it_is_shown(written, shown):
    assert harmless(written) == shown
