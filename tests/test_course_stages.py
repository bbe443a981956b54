"""Each known mistake loses the marks of its own stages, and no others."""

import json

import pytest
import torch

import mha_lib
from mha_course.grading.hidden_stages import OTHER, by_heart, given_away, hidden_stages
from mha_course.grading.marking import judged, stage_marks
from mha_lib.exercises import check, names
from mha_lib.exercises.comparing import difference
from mha_lib.exercises.one_check import UNCHANGED
from mha_lib.exercises.registry import find
from mha_lib.exercises.running import Runner
from tests.right_answers import right_answers
from tools.make_failing_stages import TARGET, failing, labelled

STORED = json.loads(TARGET.read_text(encoding="utf-8"))
NEW_SEED = 4_444
SEEDS = {1: pytest.mark.slow} | dict.fromkeys((10**6, 10**12 + 7, 99, 123_456), pytest.mark.proof)
pytestmark = pytest.mark.usefixtures("no_shape_checks")


class NothingNoticed:
    called: tuple[str, ...] = ()
    refused = ""


def test_every_known_mistake_is_stored_and_loses_something():
    assert list(STORED) == list(names())
    for name, rows in STORED.items():
        assert list(rows) == list(labelled(name)), name
        for label, row in rows.items():
            assert row["always"] or row.get("some"), (name, label)


def test_hardly_a_mistake_depends_on_the_seed():
    rows = [row for rows in STORED.values() for row in rows.values()]
    some = [row["some"] for row in rows if "some" in row]
    assert len(some) <= 0.03 * len(rows)


def test_a_mistake_that_no_hidden_input_shows_still_costs_its_stage():
    """The visible check names it: then it can't be worth full marks."""
    name, label = next(
        (name, label)
        for name, rows in STORED.items()
        for label, row in rows.items()
        if not row["always"]
    )
    mistake = labelled(name)[label]
    verdict = check(mistake.build(), name)
    assert verdict.status == "failed"
    for seed in (1, 2, 3):
        stages = stage_marks(find(name), mistake.build(), seed)
        assert judged(find(name), stages, verdict, NothingNoticed()).share < 1


def in_parts(every):
    """Yield (exercise, label) for every so many-th mistake."""
    return [(name, label) for name, rows in STORED.items() for label in list(rows)[::every]]


def check_stages(name, label):
    row, mistake = STORED[name][label], labelled(name)[label]
    failed = failing(mistake, NEW_SEED)
    assert set(row["always"]) <= set(failed) <= set(row["always"]) | set(row.get("some", []))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "label"), in_parts(9))
def test_exactly_the_stored_stages_fail(name, label):
    check_stages(name, label)


@pytest.mark.proof
@pytest.mark.parametrize(("name", "label"), in_parts(1))
def test_exactly_the_stored_stages_fail_for_every_mistake(name, label):
    check_stages(name, label)


@pytest.mark.parametrize("name", ["head_dim", "split_heads", "causal_mask"])
def test_the_share_is_that_of_the_stages_that_passed(name):
    exercise = find(name)
    for label, mistake in labelled(name).items():
        stages = stage_marks(exercise, mistake.build(), NEW_SEED)
        mark = judged(exercise, stages, check(mistake.build(), name), NothingNoticed())
        passed = {stage.title for stage in stages} - set(STORED[name][label]["always"])
        ordinary = passed - given_away(name) - {UNCHANGED}
        wanted = len(passed) / len(stages) if ordinary else 0
        assert mark.share == pytest.approx(wanted), label
        assert mark.share < 1


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize(
    "seed", [pytest.param(s, marks=m) for s, m in SEEDS.items()], ids=lambda seed: f"seed-{seed}"
)
def test_right_answers_keep_all_marks_on_the_inputs_of_many_students(name, seed):
    exercise = find(name)
    answers = [answer for exercise_, answer in right_answers() if exercise_ == name]
    for answer in answers:
        failed = [stage for stage in stage_marks(exercise, answer, seed) if not stage.passed]
        assert not failed, (answer, failed)


@pytest.mark.parametrize("name", names())
def test_two_students_get_different_inputs(name):
    def inputs(seed):
        return [repr(c.args) for stage, _ in hidden_stages(find(name), seed) for c in stage.cases]

    assert inputs(1) == inputs(1)
    assert inputs(1) != inputs(2)


@pytest.mark.parametrize("name", names())
def test_an_answer_without_content_gets_nothing(name):
    """What a stage gives away alone is worth nothing."""
    exercise = find(name)
    answers = (lambda *a, **k: None, lambda *a, **k: a[0], lambda *a, **k: 0)
    for answer in answers:
        stages = stage_marks(exercise, answer, NEW_SEED)
        mark = judged(exercise, stages, check(answer, name), NothingNoticed())
        assert mark.share == 0, stages


def test_knowing_the_visible_inputs_is_noticed():
    """An answer that is right on them alone gets nothing, and is shown to the instructor."""
    exercise = find("causal_mask")
    known = {case.args for stage in exercise.stages() for case in stage.cases}

    def by_heart(*args):
        return exercise.right(*args) if args in known else exercise.right(1, 1)

    verdict = check(by_heart, "causal_mask")
    assert verdict.status == "passed"
    mark = judged(exercise, stage_marks(exercise, by_heart, 5), verdict, NothingNoticed())
    assert (mark.share, mark.suspect) == (0, True)
    assert {stage.title for stage in mark.stages if not stage.passed} == {OTHER}


def test_the_last_stage_asks_for_more_than_the_first():
    """It is not made of the visible cases: other sizes are drawn."""
    exercise = find("head_dim")
    visible = {case.args for stage in exercise.stages() for case in stage.cases}
    last, _ = hidden_stages(exercise, 5)[-1]
    drawn = {case.args for case in last.cases}
    assert len(drawn - visible) > 10
    right, mine = Runner(exercise.right), Runner(exercise.solution)
    for case in last.cases:
        assert difference(right.ask(case), mine.ask(case), case.tolerance) is None


def changed_module(**methods):
    """Return the library's class with another forward."""
    return type("MultiHeadAttention", (mha_lib.MultiHeadAttention,), methods)


def mask_lost_with_a_key(self, query, key=None, value=None, mask=None, is_causal=False, **more):
    mask = mask if key is None or not is_causal else None
    return mha_lib.MultiHeadAttention.forward(
        self, query, key, value, mask=mask, is_causal=is_causal, **more
    )


def mask_lost_in_training(self, query, key=None, value=None, mask=None, is_causal=False, **more):
    mask = None if self.training and is_causal else mask
    return mha_lib.MultiHeadAttention.forward(
        self, query, key, value, mask=mask, is_causal=is_causal, **more
    )


def weights_without_the_causal_mask(
    self, query, key=None, value=None, mask=None, is_causal=False, need_weights=False
):
    forward = mha_lib.MultiHeadAttention.forward
    output, _ = forward(self, query, key, value, mask=mask, is_causal=is_causal)
    if not need_weights:
        return output, None
    return output, forward(self, query, key, value, mask=mask, need_weights=True)[1]


def no_dropout_with_weights(self, query, key=None, value=None, need_weights=False, **more):
    was, self.dropout = self.dropout, 0.0 if need_weights else self.dropout
    try:
        return mha_lib.MultiHeadAttention.forward(
            self, query, key, value, need_weights=need_weights, **more
        )
    finally:
        self.dropout = was


@pytest.mark.parametrize(
    "forward",
    [
        mask_lost_with_a_key,
        mask_lost_in_training,
        weights_without_the_causal_mask,
        no_dropout_with_weights,
    ],
)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_module_wrong_for_some_arguments_only_fails_the_last_stage(forward, seed):
    stages = stage_marks(find("MultiHeadAttention"), changed_module(forward=forward), seed)
    assert OTHER in {stage.title for stage in stages if not stage.passed}


def test_stages_that_cannot_be_shifted_are_known():
    assert by_heart("split_heads") == frozenset()
    assert by_heart("head_dim") == {stage.title for stage in find("head_dim").stages()}
    assert by_heart("attention_scores") < {s.title for s in find("attention_scores").stages()}


def test_what_is_right_on_visible_inputs_only_earns_nothing():
    """Also in part, and also where it spoils the visible check on purpose."""
    table = {
        case.args: find("padding_mask").right(*case.args)
        for stage in find("padding_mask").stages()
        for case in stage.cases
    }
    asked = []

    def padding_mask(lengths, size):
        asked.append(size)
        for (known, length), mask in table.items():
            if torch.equal(known, lengths) and length == size and len(asked) % 9:
                return mask
        raise KeyError(size)

    stages = stage_marks(find("padding_mask"), padding_mask, 3)
    passed = [stage for stage in stages if stage.passed and stage.title != UNCHANGED]
    assert len(passed) >= 3
    assert not any(stage.counts for stage in passed)
