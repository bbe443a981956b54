"""Run one answer through the stages of its exercise, and say what is wrong with it."""

from collections.abc import Callable
from functools import cache
from typing import Any

from mha_lib.exercises.asks import argument_names
from mha_lib.exercises.comparing import Difference, difference
from mha_lib.exercises.exercise import Case, Exercise, Stage
from mha_lib.exercises.mistakes import known
from mha_lib.exercises.outcome import Outcome
from mha_lib.exercises.recognising import recognise
from mha_lib.exercises.registry import exercises
from mha_lib.exercises.running import SECONDS, Runner
from mha_lib.exercises.showing import Example, example
from mha_lib.exercises.verdict import Known, StageResult, Verdict

UNCHANGED = "The inputs are left as they were"
AGAIN = "Asked again, it answers the same"
READY_MADE = (
    "The result is right. But it comes from torch's ready-made `{}`. The exercise is to write what "
    "that does; in a graded course a call of it counts nothing."
)
Finding = tuple[Case, Difference]


@cache
def _stages(name: str) -> tuple[Stage, ...]:
    return exercises()[name].stages()


@cache
def _rights(name: str) -> tuple[tuple[Outcome, ...], ...]:
    """Return the right outcome of every case; worked out once."""
    runner = Runner(exercises()[name].right, seconds=60.0)
    return tuple(tuple(runner.ask(c) for c in stage.cases) for stage in _stages(name))


class OneCheck:
    """One run of one answer, of `seconds` at most."""

    def __init__(
        self, exercise: Exercise, function: Callable[..., Any], seconds: float = SECONDS
    ) -> None:
        self.exercise = exercise
        self.runner = Runner(function, seconds, exercise.forbidden)
        self.stages, self.rights = _stages(exercise.name), _rights(exercise.name)
        self.seen: list[list[Outcome]] = []

    def verdict(self) -> Verdict:
        finding: Finding | None = None
        for stage, rights in zip(self.stages, self.rights, strict=True):
            self.seen.append([self.runner.ask(case) for case in stage.cases])
            finding = self._first_difference(stage, rights, self.seen[-1])
            if finding:
                break
        if finding is None:
            return self._last_stages()
        if finding[1].kind == "not attempted" and self._is_stub():
            return Verdict(self.exercise.name, "not attempted", problem=_NOT_ATTEMPTED)
        failed = len(self.seen) - 1
        if finding[1].kind != "endless":
            self._see_the_rest()
        fits = recognise(self.exercise, self.stages, self.rights, self.seen, failed)
        if not fits and finding[1].kind == "raised" and self._changed_input():
            fits = [known("MASK-19")]  # torch refuses to go back through a changed tensor
        if not fits and finding[1].kind in ("value", "nan"):
            finding = self._broken_property(finding)
        return self._failed(finding, failed, tuple(fits))

    def _first_difference(
        self, stage: Stage, rights: tuple[Outcome, ...], seen: list[Outcome]
    ) -> Finding | None:
        for case, right, got in zip(stage.cases, rights, seen, strict=True):
            found = difference(right, got, case.tolerance)
            if found:
                return case, found
        return None

    def _is_stub(self) -> bool:
        """Does it say `raise NotImplementedError` whatever it is asked?"""
        self._see_the_rest()
        outcomes = [outcome for stage in self.seen for outcome in stage]
        return all(o.trouble is not None and o.trouble.kind == "not attempted" for o in outcomes)

    def _see_the_rest(self) -> None:
        for stage in self.stages[len(self.seen) :]:
            if self.runner.seconds < 3:  # a slow answer: what is known has to do
                return
            self.seen.append([self.runner.ask(case) for case in stage.cases])

    def _last_stages(self) -> Verdict:
        for stage, seen in zip(self.stages, self.seen, strict=True):
            for case, outcome in zip(stage.cases, seen, strict=True):
                if outcome.changed:
                    name = self._names(case)[outcome.changed[0]]
                    text = f"The result is right, but your function changed its input `{name}`."
                    found = Difference("changed", text)
                    return self._failed((case, found), len(self.stages), (known("MASK-19"),))
        case, right = self.stages[0].cases[-1], self.rights[0][-1]
        if difference(right, self.runner.ask(case), case.tolerance):
            text = "Asked the same again, it gave another answer. What does it keep, or draw?"
            return self._failed((case, Difference("again", text)), len(self.stages) + 1, ())
        called = self.runner.noticing.called
        note = READY_MADE.format(called[0]) if called else ""
        results = self._results(len(self.stages) + 2)
        return Verdict(self.exercise.name, "passed", results, note, printed=self._printed())

    def _changed_input(self) -> bool:
        return any(outcome.changed for stage in self.seen for outcome in stage)

    def _broken_property(self, finding: Finding) -> Finding:
        """Say more about an answer that is wrong in no known way: which rule does it break?"""
        right = Runner(self.exercise.right)
        for case in self.exercise.properties():
            got = self.runner.ask(case)
            if got.trouble is None and difference(right.ask(case), got, case.tolerance):
                rule = f"A rule is broken: {case.says}."
                return case, Difference("property", f"{finding[1].sentence}\n{rule}")
        return finding

    def _failed(self, finding: Finding, failed: int, fits: tuple[Known, ...]) -> Verdict:
        case, found = finding
        return Verdict(
            self.exercise.name,
            "failed",
            self._results(failed),
            found.sentence,
            fits,
            self._example(case, found),
            self._printed(),
        )

    def _example(self, case: Case, found: Difference) -> Example:
        """Show the smallest input that fails; the case at hand if no smaller one does."""
        right = Runner(self.exercise.right)
        if found.kind not in ("endless", "changed", "again", "property"):
            case = self._smallest(found, right) or case
        inputs = dict(zip(self._names(case), case.args, strict=False))
        got = Outcome() if found.kind == "endless" else self.runner.ask(case)
        if found.kind in ("endless", "changed", "again"):
            return Example(example(inputs, "", got, got, 1).inputs, "", ())
        says = "" if found.kind == "property" else case.says
        return example(inputs, says, right.ask(case), got, case.tolerance)

    def _smallest(self, found: Difference, right: Runner) -> Case | None:
        """Return the first tiny case that fails in the same way; else one that fails at all."""
        other = None
        for tiny in self.exercise.tiny():
            smaller = difference(right.ask(tiny), self.runner.ask(tiny), tiny.tolerance)
            if smaller and smaller.kind == found.kind:
                return tiny
            if smaller and smaller.kind != "raised":
                other = other or tiny
        return other

    def _names(self, case: Case) -> list[str]:
        return argument_names(case.ask, self.exercise.solution)

    def _results(self, failed: int) -> tuple[StageResult, ...]:
        titles = [*(stage.title for stage in self.stages), UNCHANGED, AGAIN]
        words = ["passed"] * failed + ["failed"] + ["not reached"] * len(titles)
        return tuple(StageResult(t, w) for t, w in zip(titles, words, strict=False))

    def _printed(self) -> str:
        lines = self.runner.printed.getvalue().splitlines()
        return "\n".join([*lines[:5], *(["..."] if len(lines) > 5 else [])])


_NOT_ATTEMPTED = (
    "Write your answer in place of `raise NotImplementedError`, then run the cell again."
)
