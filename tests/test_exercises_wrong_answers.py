"""Wrong answers that the table does not hold word for word are failed, and named."""

import pytest

from mha_lib.exercises import check
from mha_lib.exercises.mistakes import all_known
from tests.wrong_answers import WRONG

BIG = {"multi_head_attention", "MultiHeadAttention", "cross_attention"}
CASES = [
    pytest.param(*case, id=f"{case[0]}-{case[1]}", marks=[pytest.mark.proof] * (case[1] in BIG))
    for case in WRONG
]


@pytest.mark.usefixtures("no_shape_checks")
@pytest.mark.parametrize(("id", "exercise", "answer"), CASES)
def test_wrong_answer_is_named(id, exercise, answer):
    verdict = check(answer, exercise)
    assert verdict.status == "failed"
    assert id in verdict.group, str(verdict)
    assert all_known()[id]["why"].split()[0] in str(verdict)


def test_the_public_reports_are_here():
    public = {id for id, _, _ in WRONG if "title" in all_known()[id]}
    assert len(public) >= 60, sorted(public)
