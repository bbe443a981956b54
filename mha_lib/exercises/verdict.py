"""What a check answers: a status, the stages, and two forms for people, text and HTML."""

from dataclasses import dataclass

from mha_lib.exercises.showing import Example

SIGNS = {"passed": "✓", "failed": "✗", "not reached": "·", "not attempted": "·"}


@dataclass(frozen=True)
class StageResult:
    """How one stage went: `outcome` is "passed", "failed" or "not reached"."""

    title: str
    outcome: str


@dataclass(frozen=True)
class Known:
    """A mistake that is known.

    Args:
        id: Short name.
        what: What the learner's code does.
        why: Why that is wrong.
        seen: Public reports of people who made it.
    """

    id: str
    what: str
    why: str
    seen: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class Verdict:
    """The answer of `check`.

    Args:
        exercise: Name of the exercise.
        status: "passed", "failed" or "not attempted".
        stages: What each stage isolates, and how it went.
        problem: What is wrong, in words.
        known: The known mistakes that behave like the answer; they form one group.
        example: The smallest input on which the answer differs.
        printed: The beginning of what the function printed.
    """

    exercise: str
    status: str
    stages: tuple[StageResult, ...] = ()
    problem: str = ""
    known: tuple[Known, ...] = ()
    example: Example | None = None
    printed: str = ""

    @property
    def mistake(self) -> str | None:
        """Id of the known mistake, the first of its group; None if no known one fits."""
        return self.known[0].id if self.known else None

    @property
    def group(self) -> tuple[str, ...]:
        """Ids of all known mistakes that behave like the answer."""
        return tuple(known.id for known in self.known)

    def __str__(self) -> str:
        # Imported here: the two modules need the class above.
        from mha_lib.exercises.as_text import as_text

        return as_text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from mha_lib.exercises.as_html import as_html

        return as_html(self)


HEADLINES = {
    "passed": "passed",
    "failed": "not right yet",
    "not attempted": "not attempted yet",
}
