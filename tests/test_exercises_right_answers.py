"""However a right answer is written, its check passes it."""

from collections import Counter

import pytest

from mha_lib.exercises import check, names
from tests.right_answers import right_answers

RIGHT = right_answers()


@pytest.mark.usefixtures("no_shape_checks")
@pytest.mark.parametrize(("name", "answer"), RIGHT, ids=lambda x: getattr(x, "__name__", x))
def test_right_answer_passes(name, answer):
    verdict = check(answer, name)
    assert verdict.status == "passed", str(verdict)


def test_every_exercise_has_six_right_answers():
    counted = Counter(name for name, _ in RIGHT)
    assert set(counted) == set(names())
    assert min(counted.values()) >= 6, counted
