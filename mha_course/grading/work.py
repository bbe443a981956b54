"""Which notebook of whom, and what the record says of its assignment."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mha_course.record import RECORD, read_record

FOLDER = ".marks"


@dataclass(frozen=True)
class Work:
    """One notebook of one student."""

    course: Path
    assignment: str
    student: str
    stem: str

    @property
    def folder(self) -> Path:
        return self.course / "submitted" / self.student / self.assignment

    @property
    def store(self) -> Path:
        return self.course / FOLDER / self.assignment / self.student / f"{self.stem}.json"


def entry_of(course: Path, assignment: str) -> dict[str, Any]:
    """Return what the record says of an assignment.

    Raises:
        ValueError: There is no such assignment.
    """
    assignments = read_record(course)["assignments"]
    if assignment not in assignments:
        if not (course / RECORD).exists():
            raise ValueError(f"there is no course in {course}: it has no {RECORD}")
        known = ", ".join(sorted(assignments)) or "none"
        raise ValueError(f"there is no assignment {assignment!r} in {course}; there are: {known}")
    entry: dict[str, Any] = assignments[assignment]
    return entry
