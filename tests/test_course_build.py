"""Assignments for nbgrader: what is built, what is handed out, what is refused."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import torch
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.nbgraderformat import MetadataValidator
from nbgrader.utils import compute_checksum

from mha_course import commands
from mha_course.build import build, make_notebooks
from mha_course.build_command import due, points
from mha_course.cells import answers_of, exercises_of, functions_of, is_stub
from mha_course.example_class import BLANK, SOLVED, make_class
from mha_course.plan import NOTEBOOKS, Plan, lesson_paths
from mha_course.questions import Question, read_questions
from mha_course.record import RECORD, read_record, release
from mha_course.solutions import bodies, code_in, with_solution
from mha_course.variants import worked_case
from mha_lib.exercises import names, solution, statement, stub
from mha_lib.exercises.mistakes import Mistake
from mha_lib.exercises.registry import find
from mha_lib.exercises.showing import written
from tools.store_notebooks import execute

LESSONS = tuple(path.stem for path in lesson_paths(tuple(str(n) for n in range(1, 11))))
WHY = Question("why-scale", "Why divide by √D?", 4.0, "2 for the variance, 2 for the softmax.")
SHEET = Plan("sheet", exercises=("split_heads", "MultiHeadAttention"), questions=(WHY,))


def cell(notebook: NotebookNode, id: str) -> NotebookNode:
    (found,) = [cell for cell in notebook.cells if cell.id == id]
    return found


def one(plan: Plan) -> NotebookNode:
    (notebook,) = make_notebooks(plan).values()
    return notebook


# The cells


def test_the_cells_of_an_exercise_carry_what_nbgrader_asks_for() -> None:
    notebook = one(Plan("hw", exercises=("split_heads",), points={"split_heads": 7.5}))
    flags = {
        c.id: tuple(c.metadata.nbgrader[key] for key in ("grade", "solution", "locked"))
        for c in notebook.cells
        if "nbgrader" in c.metadata
    }
    assert flags == {
        "split_heads-statement": (False, False, True),
        "split_heads": (False, True, False),
        "split_heads-check": (False, False, True),
        "split_heads-marks": (True, False, True),
    }
    for id in flags:
        assert cell(notebook, id).metadata.nbgrader.grade_id == id
        assert cell(notebook, id).metadata.mha == {"exercise": "split_heads", "release": release()}
    assert cell(notebook, "split_heads-marks").metadata.nbgrader.points == 7.5
    assert cell(notebook, "split_heads-check").source == "check(split_heads)"
    assert notebook.metadata.mha["release"] == release()


def test_marks_run_by_nbgrader_alone_give_none() -> None:
    marks = cell(one(SHEET), "split_heads-marks")
    with pytest.raises(RuntimeError, match="grade with mha-course grade"):
        exec(marks.source, {})


@pytest.mark.parametrize("name", names())
def test_the_solution_stands_in_the_stub(name: str) -> None:
    source = with_solution(stub(name), solution(name))
    cut = re.sub(
        r"### BEGIN SOLUTION\n.*?### END SOLUTION", "raise NotImplementedError", source, flags=re.S
    )
    assert cut == stub(name)


def test_a_solution_of_another_function_is_refused() -> None:
    with pytest.raises(ValueError, match="the stub has split_heads, the solution head_dim"):
        with_solution(stub("split_heads"), solution("head_dim"))


@pytest.mark.parametrize("document", ["", '    """What."""\n'])
def test_comments_above_the_first_line_belong_to_the_solution(document: str) -> None:
    answer = f"def f():\n{document}    # secret\n    return 1"
    source = with_solution("def f():\n    raise NotImplementedError", answer)
    assert source.splitlines()[1:] == [
        "    ### BEGIN SOLUTION",
        "    # secret",
        "    return 1",
        "    ### END SOLUTION",
    ]


# Whole lessons


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_keeps_all_that_is_no_solution(lesson: str) -> None:
    notebook = one(Plan("hw", lessons=(lesson,)))
    original = nbformat.read(NOTEBOOKS / f"{lesson}.ipynb", as_version=4)
    dropped = {
        c.id for c in original.cells if {"nav", "solution"} & set(c.metadata.get("tags", []))
    }
    own = [c for c in original.cells if "exercise" not in c.metadata and c.id not in dropped]
    assert len(dropped) >= 2 + 2
    for before in own:
        after = cell(notebook, before.id)
        assert after.source == before.source or "solution" in before.source
        assert "nbgrader" not in after.metadata
        assert after.get("outputs", []) == []
    text = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    assert not re.search(r"(?i)\bsolution\b|\.ipynb|mybinder", text)
    assert MetadataValidator().validate_nb(notebook) is None
    nbformat.validate(notebook)


def test_the_learners_function_may_have_another_name() -> None:
    seventh = one(Plan("hw", lessons=("7",)))
    assert functions_of(seventh) == {"head_rows": "rows_of_head", "MultiHeadAttention": "Attention"}
    assert cell(seventh, "head_rows-check").source == 'check(rows_of_head, "head_rows")'


@pytest.mark.parametrize("plan", [SHEET, Plan("hw", lessons=("4",))], ids=["sheet", "lesson"])
def test_without_hints(plan: Plan) -> None:
    changed = Plan(plan.assignment, plan.lessons, plan.exercises, hints=False)
    assert any("Hint 1" in c.source for c in one(plan).cells)
    assert not any("Hint" in c.source for c in one(changed).cells)


def test_lesson_1_says_what_is_folded() -> None:
    def overview(hints: bool) -> str:
        cells = one(Plan("hw", lessons=("1",), hints=hints)).cells
        return "\n".join(c.source for c in cells if c.cell_type == "markdown")

    assert "Hints are folded below it." in overview(True)
    assert "folded below it" not in overview(False)


# What is asked for


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"assignment": "a+b"}, r"assignment must be letters, digits, - and _.*'a\+b'"),
        ({"assignment": "../x"}, "assignment must be letters"),
        ({"variant": "A b"}, "variant must be small letters, digits and -, got 'A b'"),
        ({"exercises": ()}, "give either lessons or exercises"),
        ({"lessons": ("4",)}, "give either lessons or exercises"),
        ({"exercises": ("split",)}, "no exercise is called 'split'; there are head_dim"),
        ({"exercises": ("head_dim", "head_dim")}, "'head_dim' is named twice"),
        ({"points": {"head_dim": 0}}, "points of head_dim must be more than 0, got 0"),
        ({"points": {"head_dim": float("nan")}}, "must be more than 0, got nan"),
    ],
)
def test_a_plan_that_cannot_be(change: dict[str, object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Plan(**({"assignment": "hw", "exercises": ("head_dim",)} | change))  # type: ignore[arg-type]


def test_lessons_by_number_slug_and_file_name() -> None:
    stems = [
        path.stem for path in lesson_paths(("splitting_heads", "02", "4", "01_hyperparameters"))
    ]
    assert stems == ["01_hyperparameters", "02_input_layers", "04_splitting_heads"]
    with pytest.raises(ValueError, match="no lesson '44'; notebooks/ has 01_hyperparameters, 02_"):
        lesson_paths(("44",))


def test_points_and_date_as_typed() -> None:
    assert points(["split_heads=10", "head_dim=0.5"]) == {"split_heads": 10.0, "head_dim": 0.5}
    with pytest.raises(ValueError, match="EXERCISE=POINTS, got 'split_heads:10'"):
        points(["split_heads:10"])
    assert due("2027-01-31T23:59").isoformat() == "2027-01-31T23:59:00+00:00"
    with pytest.raises(ValueError, match="a date such as 2027-01-31T23:59, got 'Friday'"):
        due("Friday")
    with pytest.raises(ValueError, match="points are given for head_dim, which is not in this"):
        make_notebooks(Plan("hw", lessons=("4",), points={"head_dim": 3}))


def test_an_error_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["build", str(tmp_path / "c"), "--assignment", "hw", "--exercises", "nothing"]
    assert commands.main(words) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("mha-course build: no exercise is called 'nothing'; there are ")
    assert not (tmp_path / "c").exists()


# Free-text questions

COMPLETE = {"id": '"why"', "text": '"Why?"', "points": "4", "rubric": '"Because."'}


def toml(path: Path, table: dict[str, str]) -> Path:
    lines = ["[[question]]", *(f"{key} = {value}" for key, value in table.items())]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_questions_are_read(tmp_path: Path) -> None:
    assert read_questions(toml(tmp_path / "q.toml", COMPLETE | {"lesson": "5"})) == (
        Question("why", "Why?", 4.0, "Because.", "5"),
    )


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"id": '"A b"'}, "question 1: id must be small letters, digits and -: 'A b'"),
        ({"points": "0"}, "question 1: points must be more than 0, got 0"),
        ({"points": "true"}, "question 1: points must be a number, without quotes; got True"),
        ({"points": '"4"'}, "question 1: points must be a number, without quotes; got '4'"),
        ({"rubric": '" "'}, "question 1: rubric is empty"),
        ({"answer": '"x"'}, "question 1: unknown key 'answer'; keys are id, text, points, rubric"),
        ({"rubric": '"x'}, "is no TOML file"),
    ],
)
def test_questions_that_cannot_be(tmp_path: Path, change: dict[str, str], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        read_questions(toml(tmp_path / "q.toml", COMPLETE | change))


def test_questions_that_are_not_complete(tmp_path: Path) -> None:
    path = toml(tmp_path / "q.toml", {k: v for k, v in COMPLETE.items() if k != "rubric"})
    with pytest.raises(ValueError, match="question 1: rubric is missing"):
        read_questions(path)
    with pytest.raises(ValueError, match=r"questions: .*none\.toml cannot be read"):
        read_questions(tmp_path / "none.toml")
    path.write_text(toml(path, COMPLETE).read_text(encoding="utf-8") * 2, encoding="utf-8")
    path.write_text(path.read_text(encoding="utf-8").replace('."[[', '."\n[['), encoding="utf-8")
    with pytest.raises(ValueError, match="the id 'why' is used twice"):
        read_questions(path)
    path.write_text("x = 1", encoding="utf-8")
    with pytest.raises(ValueError, match=r"must hold \[\[question\]\] tables, and nothing else"):
        read_questions(path)


def test_a_question_stands_in_its_lesson_and_is_marked_by_hand() -> None:
    fifth = Question("why", "Why?", 4.0, "Because.", "5")
    made = make_notebooks(Plan("hw", lessons=("4", "5", "6"), questions=(fifth, WHY)))
    assert [stem for stem, nb in made.items() if any(c.id == "why" for c in nb.cells)] == [
        "05_attention_scores"
    ]
    answer = cell(made["06_merging_heads"], "why-scale").metadata.nbgrader
    assert (answer.grade, answer.solution, answer.locked, answer.points) == (True, True, False, 4.0)
    with pytest.raises(ValueError, match="question why: lesson 5 is not in this assignment"):
        make_notebooks(Plan("hw", lessons=("4",), questions=(fifth,)))


# Building


def files(course: Path) -> dict[str, bytes]:
    return {
        path.relative_to(course).as_posix(): path.read_bytes()
        for path in course.rglob("*")
        if path.is_file() and path.name != "gradebook.db"
    }


@pytest.mark.slow
def test_built_twice_it_is_the_same(tmp_path: Path) -> None:
    course = tmp_path / "course"
    plan = Plan(
        "hw", lessons=("4",), points={"split_heads": 9}, questions=(WHY,), due=due("2027-01-31")
    )
    build(course, plan)
    before = files(course)
    build(course, plan)
    assert files(course) == before
    assert set(before) == {
        *("nbgrader_config.py", RECORD, "rubrics/hw.md", "source/hw/04_splitting_heads.ipynb")
    }
    record = json.loads(before[RECORD])
    assert re.fullmatch("[0-9a-f]{64}", record["secret"])
    entry = record["assignments"]["hw"]
    assert entry["notebooks"] == {"04_splitting_heads": ["split_heads", "split_heads_view"]}
    assert entry["points"] == {"split_heads": 9, "split_heads_view": 10}
    assert entry["questions"][0]["rubric"] == WHY.rubric
    assert (entry["variant"], entry["release"]) == ("", release())
    for private in (RECORD, "rubrics/hw.md"):
        assert (course / private).stat().st_mode & 0o777 == 0o600
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        assert gradebook.find_assignment("hw").duedate.isoformat() == "2027-01-31T00:00:00"
    build(course, Plan("other", exercises=("head_dim",)))
    assert read_record(course)["secret"] == record["secret"]
    assert read_record(course)["assignments"]["hw"] == entry


@pytest.mark.slow
def test_nothing_is_lost(tmp_path: Path) -> None:
    build(tmp_path, SHEET)
    other = Plan("sheet", exercises=("split_heads",))
    path = tmp_path / "source/sheet/sheet.ipynb"
    built = path.read_bytes()
    path.write_bytes(built.replace(b"split_heads", b"cut_heads"))
    with pytest.raises(ValueError, match=r"sheet\.ipynb was edited by hand; with --again"):
        build(tmp_path, other)
    path.write_bytes(built)
    with pytest.raises(ValueError, match="sheet was built as variant '', now 'blue'"):
        build(tmp_path, Plan("sheet", exercises=("split_heads",), variant="blue"))
    (tmp_path / "submitted/anna/sheet").mkdir(parents=True)
    with pytest.raises(ValueError, match=r"1 student\(s\) handed in sheet, and it would change"):
        build(tmp_path, other)
    before = files(tmp_path)
    build(tmp_path, SHEET)  # the same again is no change
    assert files(tmp_path) == before
    build(tmp_path, other, again=True)
    assert path.read_bytes() != built


def test_a_damaged_record_is_not_replaced(tmp_path: Path) -> None:
    for text, says in (("{", "is damaged"), ("{}", "lacks secret or assignments")):
        (tmp_path / RECORD).write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match=says):
            build(tmp_path, SHEET)
        assert [p.name for p in tmp_path.iterdir()] == [RECORD]
        assert (tmp_path / RECORD).read_text(encoding="utf-8") == text


# Reading hand-ins


def test_answers_are_found_by_exercise() -> None:
    notebook = one(SHEET)
    found = answers_of(notebook)
    assert list(found) == ["split_heads", "MultiHeadAttention"]
    assert found["split_heads"] == with_solution(stub("split_heads"), solution("split_heads"))
    assert exercises_of(notebook) == list(found)


def stubs() -> NotebookNode:
    notebook = one(SHEET)
    for name in SHEET.exercises:
        cell(notebook, name).source = stub(name)
    return notebook


WRITTEN = "def split_heads(x, num_heads):\n    return 'mine'"


def test_a_copied_cell_costs_nothing() -> None:
    for answered in (0, 1):
        notebook = stubs()
        place = notebook.cells.index(cell(notebook, "split_heads"))
        notebook.cells.insert(place + 1, nbformat.from_dict(notebook.cells[place]))
        notebook.cells[place + answered].source = WRITTEN
        assert answers_of(notebook)["split_heads"] == WRITTEN


def test_answers_are_found_where_marks_are_lost() -> None:
    for lose in ("metadata", "both", "retyped"):
        notebook = stubs()
        answer = cell(notebook, "split_heads")
        answer.source = WRITTEN.replace("\n", "\r\n")
        for c in notebook.cells:
            if lose != "retyped":
                c.metadata = {}
            if lose == "both":
                c.pop("id")
        if lose == "retyped":
            answer.source = stub("split_heads")
            notebook.cells.append(nbformat.v4.new_code_cell(WRITTEN))
        assert answers_of(notebook)["split_heads"] == WRITTEN, lose
    notebook.cells = [
        nbformat.v4.new_code_cell(stub("merge_heads")),
        nbformat.v4.new_code_cell("def merge_heads(x): return 1\n\n" + WRITTEN),
    ]
    assert answers_of(notebook)["split_heads"].endswith(WRITTEN)
    assert answers_of(notebook)["merge_heads"] == stub("merge_heads")
    renamed = {"split_heads": "cut"}
    notebook.cells = [nbformat.v4.new_code_cell("def cut(x): return 1")]
    assert answers_of(notebook, renamed) == {"split_heads": "def cut(x): return 1"}
    assert answers_of(notebook) == {}


@pytest.mark.parametrize(
    "cells",
    [
        [],
        [{}],
        ["text"],
        [{"cell_type": "code"}],
        [{"cell_type": "code", "source": 3, "metadata": []}],
        [{"cell_type": "code", "source": "def", "metadata": {"nbgrader": "x", "mha": 1}}],
        [{"cell_type": "code", "source": "(" * 500, "metadata": {"nbgrader": {"grade_id": []}}}],
        [{"cell_type": "code", "source": "\0", "metadata": {"mha": {"exercise": []}}}],
    ],
)
def test_broken_cells_are_no_answers(cells: list[object]) -> None:
    notebook = nbformat.from_dict({"cells": cells})
    assert answers_of(notebook) == {}
    assert exercises_of(notebook) == []


def test_lines_as_a_list_are_read() -> None:
    cells = [{"cell_type": "code", "source": ["def head_dim(e, h):\n", "    return e // h"]}]
    found = answers_of(nbformat.from_dict({"cells": cells}))
    assert found == {"head_dim": "def head_dim(e, h):\n    return e // h"}


def test_what_is_a_stub() -> None:
    assert all(is_stub(stub(name)) for name in names())
    assert is_stub("")
    assert is_stub("# nothing")
    assert not any(is_stub(solution(name)) for name in names())
    assert not is_stub("def f(:")
    assert not is_stub("f = 1")


# Variants


@pytest.mark.parametrize("name", names())
def test_a_worked_case_is_what_the_solution_does(name: str) -> None:
    seen = set()
    for variant in ("blue", "red", "green-2"):
        text = worked_case(name, variant, "answer")
        assert text == worked_case(name, variant, "answer")
        seen.add(text)
        namespace: dict[str, object] = {"answer": find(name).solution, "torch": torch}
        *lines, last = code_in(text).splitlines()
        exec("\n".join(lines), namespace)
        if name == "head_dim_checked":
            with pytest.raises(ValueError, match="num_heads must divide embed_dim"):
                eval(last, namespace)
        elif name == "MultiHeadAttention":
            exec(last, namespace)
            for made in ("output", "weights"):
                assert f"`{tuple(namespace[made].shape)}`" in text  # type: ignore[attr-defined]
        else:
            value = eval(last, namespace)
            assert f"`{written(value).removesuffix(' (True = may attend)')}`" in text
            if name == "split_heads_view":
                assert f"`{value.stride()}`" in text
    assert len(seen) >= 2


@pytest.mark.parametrize("lessons", [(), ("4",)], ids=["sheet", "lesson"])
def test_a_variant_asks_for_the_same_function(lessons: tuple[str, ...]) -> None:
    exercises = () if lessons else names()
    blue, red = (one(Plan(f"hw-{v}", lessons, exercises, variant=v)) for v in ("blue", "red"))
    differing = {
        a.id for a, b in zip(blue.cells, red.cells, strict=True) if a.source != b.source
    } - {"title"}
    asked = exercises or ("split_heads", "split_heads_view")
    assert differing == {f"{name}-statement" for name in asked}
    for id in differing:
        texts = [cell(nb, id).source.split("A worked case.")[0] for nb in (blue, red)]
        assert texts[0] == texts[1]
        assert len(texts[0]) > 100


def test_a_variant_replaces_the_worked_case_of_a_sheet() -> None:
    for name in names():
        fixed = find(name).worked
        plain = cell(one(Plan("a", exercises=(name,))), f"{name}-statement").source
        varied = cell(one(Plan("b", exercises=(name,), variant="x")), f"{name}-statement").source
        assert statement(name) in plain
        assert "A worked case." not in plain
        assert varied.count("A worked case.") == 1
        assert not fixed or fixed not in varied


# With the real nbgrader

PLANS = {
    "lessons": Plan("lessons", lessons=LESSONS, questions=(WHY,)),
    "sheet": Plan("sheet", exercises=names(), questions=(WHY,), hints=False),
    "varied": Plan("varied", lessons=("1", "4"), variant="blue", questions=(WHY,)),
    "varied-sheet": Plan("varied-sheet", exercises=names(), variant="blue"),
}
# The hint of lesson 10 that gives part of a call away, as hints do.
HINTED = {'logits.flatten(0, 1), targets.flatten(), reduction="none"'}


def nbgrader(course: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *words],
        cwd=course,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build and release everything once, with files in source/ that must stay there."""
    folder = tmp_path_factory.mktemp("class") / "course"
    for name, plan in PLANS.items():
        build(folder, plan)
        source = folder / "source" / name
        (source / "solutions.py").write_text("answer = 42", encoding="utf-8")
        (source / "deep").mkdir()
        (source / "deep" / "marks").write_text("answer = 42", encoding="utf-8")
        nbgrader(folder, "generate_assignment", name)
    return folder


def solution_lines() -> set[str]:
    """Return the lines inside every solution that say something: ours, and the lessons' own."""
    sources = [solution(name) for name in names()]
    for path in NOTEBOOKS.glob("*.ipynb"):
        for c in nbformat.read(path, as_version=4).cells:
            if "solution" in c.metadata.get("tags", []):
                sources.append(code_in(c.source))
    found = {line.strip() for text in sources for body in bodies(text).values() for line in body}
    return {line for line in found if len(line) > 12}


@pytest.mark.slow
def test_nothing_of_an_answer_is_handed_out(course: Path) -> None:
    secret = read_record(course)["secret"]
    released = [path for path in (course / "release").rglob("*") if path.is_file()]
    assert {path.suffix for path in released} == {".ipynb"}
    assert len(released) == len(LESSONS) + 1 + 2 + 1
    lines = solution_lines()
    assert len(lines) > 100
    for path in released:
        text = path.read_text(encoding="utf-8")
        for word in (
            *("BEGIN SOLUTION", "END SOLUTION", "HIDDEN TESTS", "no marks made", "mha-course"),
            *(secret, secret[:16], WHY.rubric, "answer = 42", "<summary>Solution"),
        ):
            assert word not in text, f"{word} in {path.name}"
        for c in nbformat.reads(text, as_version=4).cells:
            assert c.get("outputs", []) == []
            assert c.get("execution_count") is None
            found = {line for line in lines if line in c.source}
            assert found <= (HINTED if c.id == "hints-loss" else set()), (path.name, c.id)


@pytest.mark.slow
def test_what_is_handed_out_holds_the_stubs_and_passes_nbgraders_checks(course: Path) -> None:
    for path in (course / "release").rglob("*.ipynb"):
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        MetadataValidator().validate_nb(notebook)
        for c in notebook.cells:
            if "nbgrader" in c.metadata:
                assert c.metadata.nbgrader.checksum == compute_checksum(c)
        answers = answers_of(notebook, functions_of(notebook))
        assert all(is_stub(source) for source in answers.values())
        if "sheet" in path.stem:
            assert answers == {name: stub(name) for name in names()}
        else:
            assert answers == stubs_of_lesson(path.name)


def stubs_of_lesson(name: str) -> dict[str, str]:
    lesson = nbformat.read(NOTEBOOKS / name, as_version=4)
    cells = [c for c in lesson.cells if "stub" in c.metadata.get("tags", [])]
    return {c.metadata.exercise: c.source for c in cells}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["lessons/01_hyperparameters", "lessons/04_splitting_heads", "varied-sheet/varied-sheet"],
)
def test_what_is_handed_out_runs_to_its_end(course: Path, name: str) -> None:
    notebook = nbformat.read(course / "release" / f"{name}.ipynb", as_version=4)
    execute(notebook)  # raises where a cell fails
    for c in notebook.cells:
        if c.get("id", "").endswith("-check"):
            assert "not attempted yet" in c.outputs[0].data["text/plain"]


@pytest.mark.slow
def test_the_source_runs_and_is_right(course: Path) -> None:
    notebook = nbformat.read(course / "source" / "sheet" / "sheet.ipynb", as_version=4)
    notebook.cells = [c for c in notebook.cells if not c.id.endswith("-marks")]
    execute(notebook)
    checks = [c for c in notebook.cells if c.id.endswith("-check")]
    assert len(checks) == len(names())
    for c in checks:
        assert "passed, every stage" in c.outputs[0].data["text/plain"]


@pytest.mark.slow
def test_nbgrader_alone_gives_no_marks_in_silence(course: Path, tmp_path: Path) -> None:
    make_class(course, "varied", 1)
    alone = shutil.copytree(course, tmp_path / "alone")
    (alone / "nbgrader_config.py").unlink()
    nbgrader(alone, "autograde", "varied", "--student", "s0001")
    with Gradebook(f"sqlite:///{alone / 'gradebook.db'}") as gradebook:
        submission = gradebook.find_submission("varied", "s0001")
        assert submission.code_score == 0
        assert submission.max_score == 5 + 5 + 5 + 10 + WHY.points
        assert submission.needs_manual_grade


@pytest.mark.slow
def test_a_class_hands_in_what_it_is_said_to(course: Path) -> None:
    made = make_class(course, "sheet", 6, seed=1)
    assert made == make_class(course, "sheet", 6, seed=1)
    assert list(made) == [f"s000{n}" for n in range(1, 7)]
    kinds = set()
    for student, notebooks in made.items():
        path = course / "submitted" / student / "sheet" / "sheet.ipynb"
        answers = answers_of(nbformat.read(path, as_version=4))
        for exercise, kind in notebooks["sheet"].items():
            assert is_stub(answers[exercise]) == (kind == BLANK)
            if kind == SOLVED:
                body = solution(exercise).splitlines()[-1]
                assert body in answers[exercise]
            if isinstance(kind, Mistake):
                assert kind.text in answers[exercise]
            kinds.add(type(kind).__name__ + (kind if isinstance(kind, str) else ""))
    assert kinds == {"Mistake", "strsolved", "strblank"}
    assert set(made["s0001"]["sheet"].values()) == {SOLVED}
    assert set(made["s0002"]["sheet"].values()) == {BLANK}
