"""The whole table: which mistakes an exercise can meet, and what is said about each."""

import json
from functools import cache
from importlib import import_module, resources
from typing import Any

from mha_lib.exercises.mistakes.wrong import Mistake, Wrong
from mha_lib.exercises.verdict import Known

LESSONS = (
    "hyperparameters",
    "input_layers",
    "linear_layers",
    "splitting_heads",
    "attention_scores",
    "merging_heads",
    "many_heads",
    "masks",
    "encoder_decoder_attention",
    "transformer",
)


@cache
def table() -> tuple[Mistake, ...]:
    """Return all wrong code, in lesson order. Imported here only: a right answer needs none."""
    found: list[Mistake] = []
    for lesson in LESSONS:
        wrong: Wrong = import_module(f"mha_lib.exercises.mistakes.{lesson}").WRONG
        found += wrong.table
    return tuple(found)


def mistakes_of(exercise: str) -> list[Mistake]:
    """Return the mistakes of one exercise."""
    return [mistake for mistake in table() if mistake.exercise == exercise]


@cache
def all_known() -> dict[str, dict[str, Any]]:
    """Return the messages: what known.json says about each id."""
    file = resources.files(__package__) / "known.json"
    entries = json.loads(file.read_text(encoding="utf-8"))
    return {entry["id"]: entry for entry in entries}


def known(id: str) -> Known:
    """Return what is said to a learner about one mistake."""
    entry = all_known()[id]
    return Known(id, entry["what"], entry["why"], tuple(entry.get("seen", ())))
