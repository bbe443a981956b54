"""What a class did, in counts."""

from collections import Counter
from dataclasses import dataclass

from mha_course.class_marks import Answer, ClassMarks

STATUSES = ("right", "partly right", "wrong", "not attempted")


@dataclass(frozen=True)
class ExerciseCount:
    """How one exercise went; `statuses` are counts in the order of STATUSES."""

    exercise: str
    marked: int
    statuses: tuple[int, ...]
    mean_share: float
    unknown: int  # wrong or partly right, and no known mistake fits


@dataclass(frozen=True)
class MistakeCount:
    """One known mistake: who made it (counted once each), and how often in which exercise."""

    id: str
    students: int
    exercises: dict[str, int]
    alike: tuple[str, ...]  # other known mistakes that can't be told from it on those inputs


@dataclass(frozen=True)
class StageCount:
    """One stage of one exercise: how many answers failed it, and for how many it was the first."""

    exercise: str
    title: str
    failed: int
    first: int
    ran: int


def exercise_counts(marks: ClassMarks) -> list[ExerciseCount]:
    """Count by exercise, in the order of the assignment. What isn't attempted has share 0."""
    counts = []
    for exercise in marks.most:
        answers = marks.of(exercise)
        found = Counter(answer.mark["status"] for answer in answers)
        shares = [answer.mark["share"] for answer in answers]
        mean = sum(shares) / len(shares) if shares else 0.0
        unknown = sum(
            answer.mark["status"] in ("wrong", "partly right") and not answer.mark["mistakes"]
            for answer in answers
        )
        statuses = tuple(found[status] for status in STATUSES)
        counts.append(ExerciseCount(exercise, len(answers), statuses, mean, unknown))
    return counts


def mistake_counts(marks: ClassMarks) -> list[MistakeCount]:
    """Count the known mistakes, those of most students first."""
    made: dict[str, list[Answer]] = {}
    for answer in marks.answers:
        for id in answer.mark["mistakes"][:1]:
            made.setdefault(id, []).append(answer)
    counts = []
    for id, answers in made.items():
        names = Counter(answer.exercise for answer in answers)
        alike = {other for answer in answers for other in answer.mark["mistakes"][1:]}
        students = len({answer.student for answer in answers})
        ordered = {name: names[name] for name in marks.most if name in names}
        counts.append(MistakeCount(id, students, ordered, tuple(sorted(alike))))
    return sorted(counts, key=lambda m: (-m.students, -sum(m.exercises.values()), m.id))


def stage_counts(marks: ClassMarks) -> list[StageCount]:
    """Count the stages that failed; first those at which most answers began to fail.

    Late stages join all that the early ones look at, so most failures alone say little.
    """
    counts = []
    for exercise in marks.most:
        failed, first, ran = Counter[str](), Counter[str](), Counter[str]()
        for answer in marks.of(exercise):
            if answer.mark["status"] == "not attempted":
                continue
            lost = [title for title, passed, _ in answer.mark["stages"] if not passed]
            ran.update(title for title, _, _ in answer.mark["stages"])
            failed.update(lost)
            first.update(lost[:1])
        counts += [StageCount(exercise, t, n, first[t], ran[t]) for t, n in failed.items()]
    return sorted(counts, key=lambda stage: (-stage.first, -stage.failed))


def suspects(marks: ClassMarks) -> list[Answer]:
    """Return the answers that are right on the visible inputs only."""
    return [answer for answer in marks.answers if answer.mark["suspect"]]
