"""Do the checks fail what is only nearly right? Each solution is edited in every small way."""

import inspect

import pytest

from mha_course.grading.drawn_inputs import questions
from mha_lib.exercises import check, names, one_check
from mha_lib.exercises.comparing import difference
from mha_lib.exercises.exercise import Case
from mha_lib.exercises.mistakes.wrong import NAMES
from mha_lib.exercises.registry import find
from mha_lib.exercises.running import Runner
from tests.mutants import mutants

# Edits that change what a function does on inputs that its statement excludes, or in a way that
# its statement leaves open: a check must not fail them.
START = "nn.init.xavier_uniform_(self.in_proj_weight)"
NOT_SET = (
    "the weight is then whatever lies in memory: at times zeros, at times numbers like drawn ones"
)
ALLOWED: dict[tuple[str, str], str] = {
    ("MultiHeadAttention", f"statement dropped: {START}"): NOT_SET,
    ("MultiHeadAttention", f"without .xavier_uniform_(): {START}"): NOT_SET,
    ("MultiHeadAttention", f"argument instead of the call: {START}"): NOT_SET,
}


def behaves_alike(exercise, function):
    """Ask right answer and edited answer the same random questions."""
    asked = [Case(args, ask, tolerance=1e-4) for ask, args in questions(exercise.name, 60)]
    right, edited = Runner(exercise.solution, 60), Runner(function, 5)
    return all(difference(right.ask(c), edited.ask(c), c.tolerance) is None for c in asked)


def survivors(name):
    """Return the number of edits that change behaviour, and those that the check passes."""
    exercise = find(name)
    changing, passed = 0, []
    for what, text in mutants(inspect.getsource(exercise.solution)):
        namespace = dict(NAMES)
        exec(text, namespace)
        edited = namespace[exercise.solution.__name__]
        if behaves_alike(exercise, edited):
            continue
        changing += 1
        if check(edited, name).status != "failed":
            passed.append(what)
    return changing, passed


@pytest.fixture
def _no_naming(monkeypatch):
    """Whether an answer is failed does not depend on the known mistakes: leave them out."""
    monkeypatch.setattr(one_check, "recognise", lambda *args: [])


@pytest.mark.proof
@pytest.mark.usefixtures("_no_naming", "no_shape_checks")
@pytest.mark.filterwarnings("ignore")  # Python warns of some edits
@pytest.mark.parametrize("name", names())
def test_edits_that_change_behaviour_are_failed(name):
    changing, passed = survivors(name)
    assert changing >= 7, f"only {changing} edits: too few to say anything"
    unexplained = [what for what in passed if (name, what) not in ALLOWED]
    assert not unexplained
    assert len(passed) <= 0.02 * changing, f"{len(passed)} of {changing} passed: {passed}"
