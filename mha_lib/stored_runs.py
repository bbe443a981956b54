"""Trained models kept as small files beside the library: weights and what is known about them.

The weights are safetensors: loading them runs no code. The JSON file beside says how they were
made, what was measured, and the weights' sha256.
"""

import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors.torch import load, save

from mha_lib.transformer import Transformer
from mha_lib.word_pairs import Vocabulary

DATA = Path(__file__).parent / "data"
NAMES = ("date", "leaky")
CURE = (
    "restore it (git checkout mha_lib/data, or install mha_lib again) "
    "or train it again: python -m mha_lib.transformer --store"
)


class Run(NamedTuple):
    """A trained model, its words, and what its JSON file says about it."""

    model: Transformer
    vocabulary: Vocabulary
    facts: dict[str, Any]


def load_run(name: str, folder: Path = DATA) -> Run:
    """Load a trained model after checking its file.

    >>> run = load_run("date")
    >>> run.facts["pairs"], len(run.vocabulary.words)
    (1200, 266)

    Args:
        name: "date", which translates dates, or "leaky", the same trained without its causal
            mask.
        folder: Where the files lie.

    Returns:
        The model (float32, frozen), its vocabulary, and how it was made and measured.

    Raises:
        FileNotFoundError: A file is missing; the text says what to do.
        ValueError: `name` is unknown, or a file was altered; the text says what to do.
    """
    if name not in NAMES:
        raise ValueError(f"name must be one of {', '.join(NAMES)}, got {name!r}")
    contents = _read(folder / f"{name}.safetensors")
    try:
        facts = json.loads(_read(folder / f"{name}.json"))
        vocabulary = Vocabulary(tuple(facts.pop("words")))
        wanted, sizes = facts["sha256"], facts["model"]
        intact = vocabulary.sha256 == facts["vocabulary_sha256"]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{name}.json was altered or is incomplete; {CURE}") from error
    if not intact:
        raise ValueError(f"the words in {name}.json were altered; {CURE}")
    found = hashlib.sha256(contents).hexdigest()
    if found != wanted:
        raise ValueError(
            f"{name}.safetensors must have the sha256 {wanted}, got {found}: "
            f"the file was altered or is incomplete; {CURE}"
        )
    try:
        with torch.random.fork_rng(devices=[]):  # the start weights are replaced at once
            model = Transformer(len(vocabulary.words), **sizes)
        model.load_state_dict(load(contents))
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"the sizes in {name}.json do not fit the weights; {CURE}") from error
    return Run(model.eval().requires_grad_(False), vocabulary, facts)


def save_run(name: str, run: Run, folder: Path = DATA) -> None:
    """Store a trained model and its facts under `name`.

    Args:
        name: Begins the names of the two files.
        run: `facts` has to hold "model", the keyword arguments of `Transformer`.
        folder: Where to.
    """
    contents = save({key: x.contiguous() for key, x in run.model.state_dict().items()})
    facts = run.facts | {
        "sha256": hashlib.sha256(contents).hexdigest(),
        "vocabulary_sha256": run.vocabulary.sha256,
        "words": run.vocabulary.words,
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.safetensors").write_bytes(contents)
    text = json.dumps(facts, indent=1, ensure_ascii=False) + "\n"
    (folder / f"{name}.json").write_text(text, encoding="utf-8")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise FileNotFoundError(f"the stored run {path.name} is missing; {CURE}") from error
