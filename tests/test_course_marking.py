"""Marks: right answers get all, others what they deserve, and nothing outside is touched."""

import os
import time
from pathlib import Path

import pytest

from mha_course.grading import sandbox as sandboxes
from mha_course.grading.hidden_stages import seed_of
from mha_course.grading.library import missing_names
from mha_course.grading.marking import Answer, mark
from mha_course.grading.sandbox import Limits, Sandbox, new_folder
from mha_course.grading.submissions import python
from mha_lib.exercises import check, names, solution
from mha_lib.exercises.mistakes import mistakes_of
from mha_lib.exercises.registry import exercises, find
from tests.hostile_answers import BREAKS, CHEATS, COURSE, FORGE, HIDDEN, HONEST, SURVIVES, body

pytestmark = [
    pytest.mark.usefixtures("no_shape_checks"),
    pytest.mark.skipif(
        not sandboxes.has_bubblewrap() and "CI" not in os.environ,
        reason="bubblewrap (bwrap) is not there or does not work",
    ),
]
IMPORTS = (
    "import math",
    "import torch",
    "from torch import Tensor, nn",
    "from torch.nn import functional as F",
    "import mha_lib",
)
QUICK = Limits(cpu_seconds=2, wall_seconds=5, memory=700_000_000)


@pytest.fixture(scope="module")
def folder():
    return new_folder()


@pytest.fixture(scope="module")
def sandbox(folder):
    """One sandbox for all: every answer gets a fresh process in it."""
    with Sandbox(folder, QUICK) as made:
        yield made


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Make a folder with things that a learner's code must not reach."""
    course = tmp_path_factory.mktemp("course")
    (course / "submitted/other/ps").mkdir(parents=True)
    (course / "submitted/other/ps/04_splitting_heads.ipynb").write_text("{}", encoding="utf-8")
    (course / "mha_course.json").write_text("{}", encoding="utf-8")
    (course / "gradebook.db").write_bytes(b"not empty")
    return course


def marked(sandbox, name, source, seed=5):
    exercise = find(name)
    answer = Answer(exercise, exercise.solution.__name__, python(source), IMPORTS)
    return mark(answer, sandbox, seed)


def everything_said(result):
    stages = " ".join(stage.said for stage in result.stages)
    return f"{result.said} {stages}"


@pytest.mark.parametrize(
    ("name", "source", "share", "said"),
    [pytest.param(*case[1:], id=case[0]) for case in (*CHEATS, *HONEST)],
)
def test_cheats_and_honest_answers(sandbox, name, source, share, said):
    result = marked(sandbox, name, source)
    assert result.share == share, (result.said, result.stages, str(result.verdict))
    assert said in everything_said(result)
    if "ready-made" in result.said:
        assert result.verdict is None  # it would name a mistake that the code does not hold


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "source", "share", "said"), [pytest.param(*c[1:], id=c[0]) for c in BREAKS]
)
def test_answers_that_break_things(sandbox, course, name, source, share, said):
    before = {path: path.stat().st_mtime_ns for path in course.rglob("*")}
    result = marked(sandbox, name, source.replace(COURSE, str(course)))
    assert result.share == share, (result.said, result.stages)
    assert said in everything_said(result)
    assert {path: path.stat().st_mtime_ns for path in course.rglob("*")} == before


@pytest.mark.parametrize(
    "cell",
    [
        body("raise ImportError(f'{x.tolist()} " + HIDDEN + "')"),
        FORGE + body("forge({'value': None, 'graph': [], 'changed': [], 'called': [str(x)]})"),
    ],
)
def test_what_a_learner_says_of_hidden_inputs_is_not_passed_on(sandbox, cell):
    assert marked(sandbox, "split_heads", cell).said == ""


@pytest.mark.slow
def test_an_answer_that_says_it_has_ended_does_not_answer_again(folder):
    with Sandbox(folder, QUICK) as sandbox:
        result = marked(sandbox, "split_heads", SURVIVES)
        assert marked(sandbox, "split_heads", solution("split_heads")).share == 1
    assert result.share == 0
    assert "It has seen 1 tensors" in str(result.verdict), "of the hidden questions none"


@pytest.mark.slow
def test_without_bubblewrap_a_sleeper_is_ended_too(folder):
    with Sandbox(folder, Limits(cpu_seconds=2, wall_seconds=6), wrapped=False) as bare:
        bare.start({"name": "f", "parts": [WITH_NUMBER], "forbidden": [], "library": {}})
        (number,) = bare.ask({**PLAIN, "args": ["tuple"], "kwargs": ["dict"]}, [])[0]["value"][1:]
        assert alive(number)
        with pytest.raises(sandboxes.Ended):
            bare.ask({**PLAIN, "args": ["tuple", 1], "kwargs": ["dict"]}, [])
    time.sleep(0.2)
    assert not alive(number)


def alive(number):
    """A process that has ended, but that nobody asked about, still has a folder."""
    stat = Path(f"/proc/{number}/stat")
    return stat.exists() and stat.read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z"


WITH_NUMBER = """
import os, time
def f(*sleeps):
    if sleeps: time.sleep(1000)
    return (os.getpid(),)
"""
PLAIN = {"op": "call", "leaves": [], "module": None, "seed": 1, "grad": False, "number": 1}
WITHOUT = ("a fork bomb", "a process that stays", "the network", "kills the marking process")
WRITES = ("writes a file", "writes to the gradebook", "fills the memory", "loops in C")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "source", "share", "said"),
    [pytest.param(*c[1:], id=c[0]) for c in BREAKS if c[0] in (*WITHOUT, *WRITES)],
)
def test_without_bubblewrap_the_limits_still_hold(folder, course, name, source, share, said):
    with Sandbox(folder, QUICK, wrapped=False) as bare:
        result = marked(bare, name, source.replace(COURSE, str(course)))
    assert (result.share, said in everything_said(result)) == (share, True), result
    assert (course / "gradebook.db").read_bytes() == b"not empty"
    assert not (course / "mha_was_here").exists()


def test_bubblewrap_is_there():
    assert sandboxes.has_bubblewrap(), "the tests below would run without its walls"


def test_python_itself_may_lie_in_a_temporary_folder(folder):
    """The empty folder for temporary files must not cover it: it is put up first."""
    words = sandboxes.command(folder, wrapped=True)
    empty = next(i for i, word in enumerate(words) if words[i - 1 : i + 1] == ["--tmpfs", "/tmp"])
    binds = [i for i, word in enumerate(words) if word == "--ro-bind"]
    assert binds
    assert all(empty < i for i in binds)


def test_without_bubblewrap_there_is_a_loud_warning(monkeypatch):
    monkeypatch.setattr(sandboxes, "has_bubblewrap", lambda: False)
    (text,) = sandboxes.weaknesses()
    assert "can READ every file" in text
    monkeypatch.setattr(sandboxes.seccomp, "available", lambda: False)
    assert "Do not grade here" in sandboxes.weaknesses()[0]


def test_without_a_cell_there_is_nothing_to_mark(sandbox):
    result = mark(Answer(find("split_heads"), "split_heads", None), sandbox, 1)
    assert (result.share, result.status) == (0, "not attempted")
    assert "no such cell" in result.said


@pytest.mark.slow
@pytest.mark.parametrize("name", names())
def test_the_solution_gets_all_points_and_twice_the_same(sandbox, name):
    one, two = (marked(sandbox, name, solution(name), seed=3) for _ in range(2))
    assert one.share == 1, one.stages
    assert one.status == "right"
    assert one.stages == two.stages


def named_alike(sandbox, mistakes):
    """See that the verdict over the wire is that of the learner's own kernel."""
    for mistake in mistakes:
        result, inside = marked(sandbox, mistake.exercise, mistake.text), built_and_checked(mistake)
        assert result.share < 1, mistake
        assert result.verdict is not None
        assert result.verdict.group == inside.group, mistake
        assert result.verdict.stages == inside.stages, mistake


def built_and_checked(mistake):
    return check(mistake.build(), mistake.exercise)


@pytest.mark.slow
@pytest.mark.parametrize("name", names())
def test_a_known_mistake_is_named_from_outside_too(sandbox, name):
    named_alike(sandbox, mistakes_of(name)[::30])


@pytest.mark.proof
@pytest.mark.parametrize("name", names())
def test_every_third_known_mistake_is_named_from_outside_too(sandbox, name):
    named_alike(sandbox, mistakes_of(name)[::3])


def test_hidden_seeds_differ_by_student_and_need_the_secret():
    seeds = {
        seed_of(secret * 32, assignment, student, exercise)
        for secret in ("aa", "bb")
        for assignment in ("ps1", "ps2")
        for student in ("ann", "bob")
        for exercise in ("head_dim", "split_heads")
    }
    assert len(seeds) == 16
    assert seed_of("aa" * 32, "ps1", "ann", "head_dim") in seeds


def test_an_answer_never_sees_itself_or_what_comes_later():
    everything = list(exercises().values())
    for position, exercise in enumerate(everything):
        missing = missing_names(exercise)
        assert exercise.right.__name__ in missing
        assert "MultiHeadAttention" in missing or position > names().index("MultiHeadAttention")
        if exercise.name == "attention_weights":
            assert {"attention_weights", "scaled_dot_product_attention"} <= missing
            assert "attention_scores" not in missing
            assert "split_heads" not in missing
    assert "causal_mask" not in missing_names(find("MultiHeadAttention"))
