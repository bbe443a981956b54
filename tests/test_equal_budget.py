"""The task of two look-ups: its questions, its models, its stored results."""

import json
from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

from mha_lib import equal_budget
from mha_lib.equal_budget import HEADS, TwoLookUps, draw_questions, load_results, share_right, train


def test_questions_by_loop() -> None:
    questions = draw_questions(211, torch.Generator().manual_seed(3))
    for b in range(211):
        table = dict(zip(questions.names[b].tolist(), questions.numbers[b].tolist(), strict=True))
        assert sorted(table) == list(range(8))
        first, second = questions.asked[b].tolist()
        assert first != second
        assert questions.answers[b].tolist() == [table[first], table[second]]
    assert set(questions.numbers.flatten().tolist()) == set(range(8))
    assert questions.asked[:, 0].unique().numel() == questions.asked[:, 1].unique().numel() == 8


def test_the_order_of_the_notes_does_not_matter() -> None:
    model = TwoLookUps(2)
    questions = draw_questions(5, torch.Generator().manual_seed(0))
    order = torch.tensor([3, 1, 7, 0, 2, 6, 5, 4])
    names, numbers = questions.names[:, order], questions.numbers[:, order]
    shuffled = questions._replace(names=names, numbers=numbers)
    assert_close(model(shuffled), model(questions))


@pytest.mark.parametrize("heads", HEADS)
def test_every_choice_has_the_same_parameters(heads: int) -> None:
    assert sum(p.numel() for p in TwoLookUps(heads).parameters()) == 472


def test_share_right_counts_both_answers() -> None:
    class Half(TwoLookUps):
        """Knows the first answer, and says 0 for the second."""

        def forward(self, questions):  # type: ignore[no-untyped-def]
            answers = questions.answers.clone()
            answers[:, 1] = 0
            return torch.nn.functional.one_hot(answers, 8).float()

    assert abs(share_right(Half(1), 8000) - 1 / 8) < 0.02


def test_training_learns_and_repeats() -> None:
    before = torch.random.get_rng_state()
    first, second = train(2, seed=1, steps=60), train(2, seed=1, steps=60)
    assert_close(torch.random.get_rng_state(), before)
    assert_close(dict(first.state_dict()), dict(second.state_dict()))
    assert share_right(first, 1000) > 2 / 64


def test_stored_results_say_what_the_lesson_says() -> None:
    right = load_results()["right"]
    assert list(right) == [str(h) for h in HEADS]
    assert {len(shares) for shares in right.values()} == {equal_budget.SEEDS}
    assert min(*right["2"], *right["3"]) > 2 * max(*right["1"], *right["6"])


def test_the_command_writes_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "results.json"
    equal_budget.main(["--seeds", "1", "--steps", "3", "--to", str(path)])
    results = json.loads(path.read_text(encoding="utf-8"))
    assert results == load_results(path)
    assert (results["seeds"], results["steps"], results["chance"]) == (1, 3, 1 / 64)
    assert all(len(shares) == 1 for shares in results["right"].values())
    assert "6 heads, seed 0:" in capsys.readouterr().out


def test_missing_file_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"run: python -m mha_lib\.equal_budget"):
        load_results(tmp_path / "none.json")
