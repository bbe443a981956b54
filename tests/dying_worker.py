"""Stands in for the marking of one hand-in, in processes that are started anew."""

import os
from pathlib import Path

from mha_course.grading.work import Work


def mark_one(work: Work, folder: Path) -> str:
    """End the process at once for students whose id begins with "killer"; note the others."""
    if work.student.startswith("killer"):
        os._exit(1)
    work.store.parent.mkdir(parents=True, exist_ok=True)
    with work.store.open("a", encoding="utf-8") as file:
        file.write("x")
    return "a trouble" if work.student == "unlucky" else ""
