"""What a check answers: a status, the stages, and a text for people."""

import html
from dataclasses import dataclass, field

SIGNS = {"passed": "✓", "failed": "✗", "not reached": "·"}


@dataclass(frozen=True)
class StageResult:
    """How one stage went: `outcome` is "passed", "failed" or "not reached"."""

    title: str
    outcome: str


@dataclass(frozen=True, repr=False)
class Verdict:
    """The answer of `check`.

    Args:
        exercise: Name of the exercise.
        status: "passed", "failed" or "not attempted".
        mistake: Id of the known mistake, or None.
        stages: What each stage isolates, and how it went.
        text: Everything in words.
    """

    exercise: str
    status: str
    mistake: str | None = None
    stages: tuple[StageResult, ...] = ()
    text: str = field(default="", compare=False)

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"
