"""Which known mistake behaves like this answer? Decided by what comes out, never by the text."""

from collections.abc import Sequence
from functools import cache

from mha_lib.exercises.comparing import alike, difference
from mha_lib.exercises.exercise import Case, Exercise, Stage
from mha_lib.exercises.mistakes import Mistake, known, mistakes_of
from mha_lib.exercises.outcome import Outcome
from mha_lib.exercises.running import Runner
from mha_lib.exercises.verdict import Known

Seen = Sequence[Sequence[Outcome]]  # outcomes, stage by stage, case by case
Score = tuple[bool, int]


def recognise(
    exercise: Exercise, stages: Sequence[Stage], rights: Seen, seen: Seen, failed: int
) -> list[Known]:
    """Return the known mistakes that fit, best first; more than one if they behave alike.

    A mistake fits if it gives the learner's outcomes in the stage that failed and in all stages
    before. Of those that fit, the ones that also agree most often later are kept.

    Args:
        exercise: The exercise.
        stages: Its stages.
        rights: The right outcomes.
        seen: The learner's outcomes; of late stages there may be none.
        failed: Number of the first stage that failed.
    """
    wrong = [
        difference(right, got, case.tolerance) is not None
        for case, right, got in zip(stages[failed].cases, rights[failed], seen[failed], strict=True)
    ]
    scores: dict[str, Score] = {}
    for mistake in mistakes_of(exercise.name):
        score = _score(_Behaviour.of(mistake), stages, seen, failed, wrong)
        if score is not None:
            scores[mistake.id] = max(score, scores.get(mistake.id, score))
    best = max(scores.values(), default=None)
    return [known(id) for id, score in scores.items() if score == best]


class _Behaviour:
    """What one mistake does; every case is tried once."""

    def __init__(self, mistake: Mistake) -> None:
        self.runner = Runner(mistake.build(), seconds=60)
        self.outcomes: dict[int, Outcome] = {}

    @staticmethod
    @cache
    def of(mistake: Mistake) -> "_Behaviour":
        return _Behaviour(mistake)

    def at(self, case: Case) -> Outcome:
        # The stages are made once and kept, so a case's id stays its own.
        if id(case) not in self.outcomes:
            self.outcomes[id(case)] = self.runner.ask(case)
        return self.outcomes[id(case)]


def _score(
    behaviour: _Behaviour, stages: Sequence[Stage], seen: Seen, failed: int, wrong: list[bool]
) -> Score | None:
    """Say how well a mistake fits: (the same to the letter?, later cases that agree); or None.

    An error alone says little: many mistakes end in the same one, and two ways to write one
    mistake end in different ones. So where no wrong value agrees, the text of the errors must be
    the same, and everything later must agree, too.
    """
    exact, evidence = True, False
    for case, outcome, is_wrong in zip(stages[failed].cases, seen[failed], wrong, strict=True):
        theirs = behaviour.at(case)
        same = alike(outcome, theirs, case.tolerance)
        if not same and not (_raised(outcome) and _raised(theirs)):
            return None
        exact = exact and same
        evidence = evidence or (is_wrong and not _raised(outcome))
    if not evidence and not exact:
        return None
    for number in range(failed):
        for case, outcome in zip(stages[number].cases, seen[number], strict=True):
            if not alike(outcome, behaviour.at(case), case.tolerance):
                return None
    later = [
        alike(outcome, behaviour.at(case), case.tolerance)
        or (_raised(outcome) and _raised(behaviour.at(case)))
        for number in range(failed + 1, len(seen))
        for case, outcome in zip(stages[number].cases, seen[number], strict=True)
    ]
    return None if not evidence and not all(later) else (exact, sum(later))


def _raised(outcome: Outcome) -> bool:
    return outcome.trouble is not None and outcome.trouble.kind == "raised"
