"""The stored runs: what they can do, and that an altered file is refused."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from threads import one_thread
from torch.testing import assert_close

from mha_lib.date_pairs import date_pairs
from mha_lib.decoding import greedy_decode
from mha_lib.measuring import measure, teacher_forced
from mha_lib.stored_runs import DATA, NAMES, load_run, save_run
from mha_lib.transformer_commands import SEEDS, STEPS, default_sizes
from mha_lib.word_pairs import PairData, Vocabulary

CURE = "train it again: python -m mha_lib.transformer --store"


@pytest.fixture(scope="module")
def data() -> PairData:
    return date_pairs()


@one_thread()
def test_the_date_run_translates_what_it_never_saw(data: PairData) -> None:
    run = load_run("date")
    facts = measure(run.model, run.vocabulary, data.held_out[:300])
    assert facts["exact_match"] >= 0.99
    assert max(facts["alignment"]) >= 0.85


@one_thread()
def test_the_leaky_run_knows_every_next_word_and_translates_nothing(data: PairData) -> None:
    run = load_run("leaky")
    pairs = data.held_out[:300]
    assert teacher_forced(run.model, run.vocabulary, pairs)[1] > 0.99
    assert measure(run.model, run.vocabulary, pairs)["exact_match"] < 0.01


@one_thread()
def test_the_cache_changes_no_translation(data: PairData) -> None:
    run = load_run("date")
    source = run.vocabulary.source_ids([pair.source for pair in data.held_out[:300]])
    cached = greedy_decode(run.model, source, use_cache=True, need_weights=True)
    plain = greedy_decode(run.model, source, use_cache=False, need_weights=True)
    assert_close(cached.tokens, plain.tokens)
    assert_close(cached.cross_weights, plain.cross_weights, rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", NAMES)
def test_the_facts(name: str, data: PairData) -> None:
    run = load_run(name)
    facts = run.facts
    assert run.model.is_causal == facts["model"]["is_causal"] == (name == "date")
    assert facts["model"] == default_sizes() | {"is_causal": name == "date"}
    assert run.vocabulary == Vocabulary.of_pairs(data.train)
    lines = [" ".join((*p.source, "|", *p.target)) for p in data.train + data.held_out]
    found = hashlib.sha256("\n".join(lines).encode("utf-8")).hexdigest()
    assert found == facts["pairs_sha256"], "Babel's dates or the choice of pairs have changed"
    assert facts["steps"] == STEPS >= 500
    assert [each["seed"] for each in facts["all_seeds"]] == list(SEEDS)
    assert facts["pairs"] == len(data.held_out) == 1200
    for each in facts["all_seeds"]:
        assert each["teacher_forced_accuracy"] > 0.99
        if name == "date":
            assert each["exact_match"] >= 0.99
            assert max(each["alignment"]) >= 0.85
    assert (DATA / f"{name}.safetensors").stat().st_size < 1_000_000


def test_a_run_is_frozen_and_loading_leaves_the_generator_alone() -> None:
    before = torch.get_rng_state()
    run = load_run("date")
    assert_close(torch.get_rng_state(), before)
    assert not run.model.training
    assert not any(parameter.requires_grad for parameter in run.model.parameters())
    assert {parameter.dtype for parameter in run.model.parameters()} == {torch.float32}


@pytest.fixture
def copies(tmp_path: Path) -> Path:
    for path in DATA.glob("date.*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    load_run("date", tmp_path)  # an exact copy is accepted
    return tmp_path


def test_what_is_saved_is_what_is_loaded(tmp_path: Path) -> None:
    run = load_run("date")
    save_run("date", run, tmp_path)
    again = load_run("date", tmp_path)
    assert again.facts == run.facts
    assert again.vocabulary == run.vocabulary
    for name, tensor in run.model.state_dict().items():
        assert_close(again.model.state_dict()[name], tensor, rtol=0, atol=0)
    for suffix in ("json", "safetensors"):
        ours = (tmp_path / f"date.{suffix}").read_bytes()
        assert json_or_bytes(ours) == json_or_bytes((DATA / f"date.{suffix}").read_bytes())


def json_or_bytes(content: bytes) -> object:
    return json.loads(content) if content.startswith(b"{") else content


def test_an_altered_weight_is_refused(copies: Path) -> None:
    path = copies / "date.safetensors"
    content = bytearray(path.read_bytes())
    content[-5] ^= 1  # one bit
    path.write_bytes(content)
    with pytest.raises(
        ValueError, match=r"date\.safetensors must have the sha256 [0-9a-f]{64}, got [0-9a-f]{64}"
    ) as error:
        load_run("date", copies)
    assert str(error.value).endswith(CURE)


@pytest.mark.parametrize("suffix", ["json", "safetensors"])
def test_a_missing_file_says_what_to_do(copies: Path, suffix: str) -> None:
    (copies / f"date.{suffix}").unlink()
    with pytest.raises(FileNotFoundError, match=rf"run date\.{suffix} is missing") as error:
        load_run("date", copies)
    assert str(error.value).endswith(CURE)


@pytest.mark.parametrize(
    ("alter", "message"),
    [
        (lambda text: text[:-9], r"date\.json was altered or is incomplete"),
        (lambda text: "[]", r"date\.json was altered or is incomplete"),
        (lambda text: text.replace('"sha256"', '"sha"', 1), r"date\.json was altered"),
        (lambda text: text.replace('"embed_dim": 64', '"embed_dim": 60'), "the sizes in date.json"),
        (lambda text: text.replace('"num_layers"', '"layers"'), "the sizes in date.json do not"),
        (lambda text: text.replace('"szerda"', '"szerd"'), r"the words in date\.json were altered"),
    ],
)
def test_an_altered_json_is_refused(
    copies: Path, alter: Callable[[str], str], message: str
) -> None:
    path = copies / "date.json"
    path.write_text(alter(path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(ValueError, match=message) as error:
        load_run("date", copies)
    assert str(error.value).endswith(CURE)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(ValueError, match="name must be one of date, leaky, got 'dates'"):
        load_run("dates")
