"""The command: what it prints and stores, on a few pairs; and one whole training (slow)."""

import importlib.util
from pathlib import Path

import pytest
import torch
from threads import one_thread

from mha_lib import stored_runs, transformer_commands
from mha_lib.date_pairs import date_pairs
from mha_lib.measuring import measure
from mha_lib.transformer_commands import main, train_on
from mha_lib.word_pairs import Pair, PairData

PAIRS = [
    Pair(("<fr>", "black", "cats"), ("chats", "noirs"), (2, 1)),
    Pair(("<fr>", "black", "dogs"), ("chiens", "noirs"), (2, 1)),
]


@pytest.fixture
def few_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transformer_commands, "make_pairs", lambda data: PairData(PAIRS, PAIRS[:1]))


@pytest.mark.usefixtures("few_pairs")
@one_thread()
def test_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--seeds", "0", "7", "--steps", "40"])
    out, err = capsys.readouterr()
    for seed in (0, 7):
        assert f"seed {seed}: 2 pairs, 40 steps, " in out
    assert out.count("held out: 1 of 1 right (100.00%), loss 0.") == 2
    assert out.count("of 2 words look most at their source word") == 4
    assert out.count("(the best layer)") >= 2
    assert "step 20/40, loss " in err
    assert "[" + "#" * 30 + "] step 40/40" in err


@pytest.mark.usefixtures("few_pairs")
@one_thread()
def test_storing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(transformer_commands, "STEPS", 3)
    monkeypatch.setattr(transformer_commands, "DATA", tmp_path)
    main(["--store"])
    for name, is_causal in (("date", True), ("leaky", False)):
        run = stored_runs.load_run(name, tmp_path)
        assert run.model.is_causal == is_causal
        assert run.facts["seed"] == transformer_commands.STORED_SEED
        assert [each["seed"] for each in run.facts["all_seeds"]] == [0, 1, 2, 3, 4]
        measured = measure(run.model, run.vocabulary, PAIRS[:1])
        assert {key: run.facts[key] for key in ("pairs", "correct")} == {
            key: measured[key] for key in ("pairs", "correct")
        }
        again, _, _ = train_on(
            PairData(PAIRS, PAIRS), seed=run.facts["seed"], steps=3, is_causal=is_causal
        )
        for key, tensor in again.state_dict().items():
            assert torch.equal(run.model.state_dict()[key], tensor)


def test_make_pairs_makes_what_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mha_lib.date_pairs.date_pairs", lambda: PairData([], PAIRS))
    monkeypatch.setattr("mha_lib.number_pairs.number_pairs", lambda: PairData(PAIRS, []))
    assert transformer_commands.make_pairs("dates") == PairData([], PAIRS)
    assert transformer_commands.make_pairs("numbers") == PairData(PAIRS, [])


@pytest.mark.parametrize("argument", ["--data=times", "--seeds=x"])
def test_wrong_arguments_are_refused(argument: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([argument])
    assert "invalid" in capsys.readouterr().err


@pytest.mark.slow
@one_thread()
def test_a_whole_training_on_dates() -> None:
    data = date_pairs()
    model, vocabulary, losses = train_on(data, seed=0)
    facts = measure(model, vocabulary, data.held_out)
    assert len(losses) == 600
    assert facts["exact_match"] >= 0.99
    assert max(facts["alignment"]) >= 0.85


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("num2words") is None, reason="num2words is optional")
@one_thread()
def test_a_whole_training_on_number_words() -> None:
    data = transformer_commands.make_pairs("numbers")
    model, vocabulary, _ = train_on(data, seed=0)
    assert measure(model, vocabulary, data.held_out)["exact_match"] >= 0.97
