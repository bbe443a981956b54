"""Which known mistake behaves like this answer? Decided by what comes out, never by the text."""

from collections.abc import Sequence

from mha_lib.exercises.comparing import alike
from mha_lib.exercises.exercise import Case, Exercise, Stage
from mha_lib.exercises.mistakes import Mistake, known, mistakes_of
from mha_lib.exercises.running import Outcome, Runner
from mha_lib.exercises.verdict import Known

Seen = list[list[Outcome]]  # the learner's outcomes, stage by stage, case by case


def recognise(exercise: Exercise, stages: Sequence[Stage], seen: Seen, failed: int) -> list[Known]:
    """Return the known mistakes that fit, best first; more than one if they behave alike.

    A mistake fits if it gives the learner's outcomes in the stage that failed and in all stages
    before. Of those that fit, the ones that also agree most often later are kept.
    """
    scores: dict[str, int] = {}
    for mistake in mistakes_of(exercise.name):
        score = _score(mistake, stages, seen, failed)
        if score is not None:
            scores[mistake.id] = max(score, scores.get(mistake.id, 0))
    best = max(scores.values(), default=0)
    return [known(id) for id, score in scores.items() if score == best]


def _score(mistake: Mistake, stages: Sequence[Stage], seen: Seen, failed: int) -> int | None:
    """Count the later cases on which the mistake and the answer agree; None if it does not fit."""
    runner = Runner(mistake.build())

    def agrees(case: Case, outcome: Outcome) -> bool:
        return alike(outcome, runner.ask(case), case.tolerance)

    # The failed stage first: it tells most mistakes apart.
    order = [failed, *range(failed)]
    for number in order:
        if not all(map(agrees, stages[number].cases, seen[number])):
            return None
    later = range(failed + 1, len(seen))
    return sum(agrees(c, o) for n in later for c, o in zip(stages[n].cases, seen[n], strict=False))
