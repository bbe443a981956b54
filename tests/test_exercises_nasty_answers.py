"""Answers that are wrong in one hidden place only are failed."""

from collections import Counter

import pytest

from mha_lib.exercises import check
from tests.nasty_answers import NASTY


@pytest.mark.slow
@pytest.mark.usefixtures("no_shape_checks")
@pytest.mark.parametrize(("exercise", "answer"), NASTY, ids=lambda x: getattr(x, "__name__", x))
def test_nasty_answer_is_failed(exercise, answer):
    verdict = check(answer, exercise)
    assert verdict.status == "failed", str(verdict)
    assert verdict.example is not None


def test_there_are_enough_of_them():
    assert min(Counter(exercise for exercise, _ in NASTY).values()) >= 3
