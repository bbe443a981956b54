"""mha_course.json: what only the instructor has. The secret, the points, the rubrics."""

import hashlib
import json
import os
import secrets
from dataclasses import asdict
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

import mha_lib.exercises
from mha_course.cells import exercises_of, functions_of
from mha_course.plan import Plan

RECORD = "mha_course.json"


def read_record(course: Path) -> dict[str, Any]:
    """Return the record of a course, or a new one with a new secret.

    Raises:
        ValueError: There is a record, but it is damaged. It is never replaced by a new one: with
            the secret the hidden inputs of everything that was handed out would be lost.
    """
    path = course / RECORD
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {"secret": secrets.token_hex(32), "assignments": {}}
    except ValueError as error:
        raise ValueError(f"{path} is damaged ({error}); put a copy of it back") from None
    if not isinstance(record, dict) or not {"secret", "assignments"} <= set(record):
        raise ValueError(f"{path} lacks secret or assignments; put a copy of it back")
    return record


def write_record(course: Path, record: dict[str, Any]) -> None:
    """Write the record so that nobody else on this machine can read it."""
    write_private(course / RECORD, json.dumps(record, indent=1, ensure_ascii=False) + "\n")


def write_private(path: Path, text: str) -> None:
    """Write a file in one step, readable for its owner only."""
    part = path.with_name(f".{path.name}.part")
    part.unlink(missing_ok=True)
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(handle, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
    part.replace(path)


def entry_of(
    plan: Plan, notebooks: dict[str, NotebookNode], texts: dict[str, str]
) -> dict[str, Any]:
    """Return what the record says about one assignment.

    Keys: variant; notebooks (stem -> exercises in order); functions (stem -> exercise -> name of
    the learner's function); points; questions (with rubric); release; files (name -> hash).
    """
    exercises = {stem: exercises_of(notebook) for stem, notebook in notebooks.items()}
    return {
        "variant": plan.variant,
        "notebooks": exercises,
        "functions": {stem: functions_of(notebook) for stem, notebook in notebooks.items()},
        "points": {name: plan.points_of(name) for names in exercises.values() for name in names},
        "questions": [asdict(question) for question in plan.questions],
        "release": release(),
        "files": {name: digest(text) for name, text in texts.items()},
    }


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


@cache
def release() -> str:
    """Return the version of the exercises: the package's, and a hash of their files."""
    folder = Path(mha_lib.exercises.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".py", ".json"):
            digest.update(path.relative_to(folder).as_posix().encode())
            digest.update(path.read_bytes().replace(b"\r\n", b"\n"))
    return f"{version('mha_lib')}+{digest.hexdigest()[:12]}"
