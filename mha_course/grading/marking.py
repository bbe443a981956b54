"""Mark one answer: run it in its sandbox, compare from outside, share out the points by stage."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mha_course.grading.hidden_stages import OTHER, by_heart, given_away, hidden_stages, is_visible
from mha_course.grading.library import reduced_library
from mha_course.grading.remote import GoneError, Learner, as_class, as_function
from mha_course.grading.sandbox import Sandbox
from mha_lib.exercises.comparing import difference
from mha_lib.exercises.exercise import Exercise, Stage
from mha_lib.exercises.inputs import shifted
from mha_lib.exercises.one_check import UNCHANGED, OneCheck
from mha_lib.exercises.running import Runner
from mha_lib.exercises.verdict import Verdict
from mha_lib.exercises.watchdog import TimeUp

SECONDS = 60.0  # for all questions together; the sandbox limits each one
WORDS = {
    "value": "wrong numbers",
    "nan": "NaN (not a number)",
    "shape": "a wrong shape",
    "dtype": "a wrong dtype",
    "type": "something else than was asked for",
    "raised": "an error",
    "endless": "it did not come back",
    "not attempted": "not attempted",
    "wrong kind": "something that can't be looked into",
}


@dataclass(frozen=True)
class Answer:
    """What was handed in for one exercise.

    Args:
        exercise: Which.
        function: Name of the learner's function or class.
        source: Of the learner's cell; None where no such cell was handed in.
        before: Code to run first: imports, helpers, earlier answers. What fails is left out.
    """

    exercise: Exercise
    function: str
    source: str | None
    before: tuple[str, ...] = ()


@dataclass(frozen=True)
class StageMark:
    """How one stage went.

    Args:
        title: The stage.
        passed: All its questions were answered right.
        said: What went wrong, in a few words.
        counts: It may earn points.
    """

    title: str
    passed: bool
    said: str = ""
    counts: bool = True


@dataclass(frozen=True)
class Mark:
    """What one answer gets.

    Args:
        share: Of the points, 0 to 1.
        status: "right", "partly right", "wrong" or "not attempted".
        said: Why it gets nothing, or what else there is to say.
        stages: Each with how it went.
        verdict: Of the visible check; None where nothing ran.
        suspect: An instructor should look at it.
    """

    share: float
    status: str
    said: str = ""
    stages: tuple[StageMark, ...] = ()
    verdict: Verdict | None = None
    suspect: bool = False


NOT_ATTEMPTED = Mark(0.0, "not attempted", "Nothing was written here.")
MISSING = Mark(0.0, "not attempted", "There is no such cell in what was handed in.")
BY_HEART = (
    "It answers the inputs of the visible check, and no others. Please ask your instructor if you "
    "think that this is a mistake."
)


def mark(answer: Answer, sandbox: Sandbox, seed: int) -> Mark:
    """Mark one answer.

    Args:
        answer: What was handed in.
        sandbox: Runs it.
        seed: Of the hidden inputs.
    """
    if answer.source is None:
        return MISSING
    learner = _learner(answer, sandbox)
    try:
        said = learner.load()
    except (TimeUp, GoneError) as error:
        text = "The cell did not come back." if isinstance(error, TimeUp) else str(error)
        return Mark(0.0, "wrong", f"{text} So there is nothing to mark.")
    if said.get("found") not in ("function", "class"):
        return Mark(0.0, "wrong", _nothing_found(answer.function, said.get("error")))
    stages = stage_marks(answer.exercise, _callable(answer.exercise, learner, said), seed)
    again = _learner(answer, sandbox)  # a fresh process: nothing is left of the hidden inputs
    try:
        seen = again.load()
    except (TimeUp, GoneError):
        seen = said
    verdict = OneCheck(answer.exercise, _callable(answer.exercise, again, seen), SECONDS).verdict()
    return judged(answer.exercise, stages, verdict, learner)


def _learner(answer: Answer, sandbox: Sandbox) -> Learner:
    head = {"name": answer.function, "parts": [*answer.before, answer.source]}
    head |= {"forbidden": list(answer.exercise.forbidden)}
    return Learner(sandbox, {**head, "library": reduced_library(answer.exercise.name)})


def _callable(exercise: Exercise, learner: Learner, said: dict[str, Any]) -> Callable[..., Any]:
    # Where a function was asked for, a class is called like one: its calls are looked at as well.
    both = said.get("found") == "class" and isinstance(exercise.solution, type)
    return as_class(learner) if both else as_function(learner)


def _nothing_found(function: str, error: Any) -> str:
    if not error:
        return f"The cell does not define {function}."
    where = f", in your line: {error['line']}" if error["line"] else ""
    return f"The cell raised {error['name']}: {error['message']}{where}"


def stage_marks(
    exercise: Exercise, function: Callable[..., Any], seed: int
) -> tuple[StageMark, ...]:
    """Put the hidden questions, stage by stage."""
    mine, theirs = Runner(exercise.right, SECONDS), Runner(function, SECONDS)
    stages, changed, seen = hidden_stages(exercise, seed), list[bool](), by_heart(exercise.name)
    marks = []
    for stage, shift in stages:
        with shifted(shift):
            marks.append(_stage_mark(stage, mine, theirs, changed))
    for number, (stage, shift) in enumerate(stages):
        with shifted(shift):
            if marks[number].passed:
                marks[number] = _again(stage, mine, theirs)
            elif stage.title == OTHER and not _any_right(exercise, stage, mine, theirs):
                marks = [_known(mark) if mark.title in seen else mark for mark in marks]
    said = "an input was changed" if any(changed) else ""
    return (*marks, StageMark(UNCHANGED, not said, said))


def _stage_mark(stage: Stage, mine: Runner, theirs: Runner, changed: list[bool]) -> StageMark:
    """Put the questions of one stage; the first that is answered wrong decides."""
    for case in stage.cases:
        got = theirs.ask(case)
        changed.append(bool(got.changed))
        found = difference(mine.ask(case), got, case.tolerance)
        if found:
            named = f"{found.kind}" if got.trouble is None else got.trouble.kind
            return StageMark(stage.title, False, WORDS.get(named, "a wrong answer"))
    return StageMark(stage.title, True)


def _any_right(exercise: Exercise, stage: Stage, mine: Runner, theirs: Runner) -> bool:
    """Say whether a question of a stage is answered right that the visible check does not put."""
    others = (case for case in stage.cases if not is_visible(exercise.name, case))
    return any(not difference(mine.ask(c), theirs.ask(c), c.tolerance) for c in others)


def _known(mark: StageMark) -> StageMark:
    """Return a stage that the answer may know by heart: it was right nowhere else."""
    said = "right on these inputs only, which the check shows, too" if mark.passed else mark.said
    return replace(mark, said=said, counts=False)


def _again(stage: Stage, mine: Runner, theirs: Runner) -> StageMark:
    """Ask the first question of a stage once more: what worked once must work again."""
    case = stage.cases[0]
    if difference(mine.ask(case), theirs.ask(case), case.tolerance):
        return StageMark(stage.title, False, "asked again, another answer")
    return StageMark(stage.title, True)


def _with_the_visible(stages: Sequence[StageMark], verdict: Verdict) -> Sequence[StageMark]:
    seen = {stage.title for stage in verdict.stages if stage.outcome == "failed"}
    said = "wrong on the visible inputs"
    return [
        replace(s, passed=False, said=said) if s.passed and s.title in seen else s for s in stages
    ]


def judged(
    exercise: Exercise, stages: Sequence[StageMark], verdict: Verdict, learner: Learner
) -> Mark:
    """Share out the points: every stage the same.

    A stage that some answer without content passes counts only beside one that none passes. An
    answer that is right on no other inputs than the visible ones may know these by heart. The
    stage at which the visible check fails earns nothing, even where no hidden input shows why.
    """
    stages = _with_the_visible(stages, verdict)
    called = sorted(learner.called)
    if called:
        text = f"It calls torch's ready-made {called[0]}. The statement asks you to write that."
        return Mark(0.0, "wrong", text, tuple(stages))  # what the check says is not about this
    if verdict.status == "not attempted":
        return Mark(0.0, "not attempted", NOT_ATTEMPTED.said, tuple(stages), verdict)
    passed = {stage.title for stage in stages if stage.passed and stage.counts}
    known = [stage for stage in stages if stage.passed and not stage.counts]
    if (verdict.status == "passed" and OTHER not in passed) or 2 * len(known) > len(stages):
        return Mark(0.0, "wrong", BY_HEART, tuple(stages), verdict, suspect=True)
    earned = passed if passed - given_away(exercise.name) - {UNCHANGED} else set()
    share = len(earned) / len(stages)
    status = "right" if share == 1 else "partly right" if share else "wrong"
    said = learner.refused if status == "wrong" else ""
    return Mark(share, status, said, tuple(stages), verdict)
