"""Shift, loss and training: hand values, torch's cross_entropy, the same numbers twice."""

import math

import pytest
import torch
from threads import one_thread
from torch.nn import functional as F
from torch.testing import assert_close

from mha_lib.training import masked_loss, new_model, shift_targets, train
from mha_lib.transformer import BOS_ID, PAD_ID, Transformer

SOURCE = torch.tensor([[3, 4, 5], [4, 3, 0], [5, 5, 4], [3, 0, 0], [4, 5, 0]])
TARGET = torch.tensor([[6, 7, 2], [7, 2, 0], [8, 6, 2], [8, 2, 0], [6, 2, 0]])


def test_shift_by_hand() -> None:
    tokens = torch.tensor([[5, 6, 7, 2], [8, 2, 0, 0]])
    before = tokens.clone()
    assert_close(shift_targets(tokens, 1), torch.tensor([[1, 5, 6, 7], [1, 8, 2, 0]]))
    assert_close(tokens, before)
    assert_close(shift_targets(torch.tensor([[9]]), 4), torch.tensor([[4]]))


def test_shift_refuses_what_makes_no_sense() -> None:
    with pytest.raises(ValueError, match="bos_id must be at least 0, got -1"):
        shift_targets(TARGET, -1)
    with pytest.raises(ValueError, match=r"tokens must hold at least one word, got shape \(2, 0\)"):
        shift_targets(torch.zeros(2, 0, dtype=torch.long), 1)


def test_loss_by_hand() -> None:
    # Two words, scores 0 and log 3: probabilities 1/4 and 3/4.
    logits = torch.tensor([[[0.0, math.log(3)], [0.0, math.log(3)], [5.0, -7.0]]]).double()
    loss = masked_loss(logits, torch.tensor([[0, 1, 9]]), pad_id=9)
    assert_close(loss, torch.tensor(-(math.log(1 / 4) + math.log(3 / 4)) / 2).double())


def test_loss_and_gradient_equal_torch() -> None:
    logits = torch.randn(3, 5, 7, dtype=torch.float64, requires_grad=True)
    targets = torch.tensor([[1, 2, 3, 4, 5], [6, 2, 0, 0, 0], [3, 0, 0, 0, 0]])
    ours = masked_loss(logits, targets, 0)
    theirs = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=0)
    assert_close(ours, theirs)
    (gradient,) = torch.autograd.grad(ours, logits)
    (expected,) = torch.autograd.grad(theirs, logits)
    assert_close(gradient, expected)
    assert gradient[targets == 0].abs().max() == 0
    assert gradient[targets != 0].abs().amin(-1).min() > 0


def test_loss_of_padding_only_is_zero_with_finite_gradients() -> None:
    logits = torch.randn(2, 3, 5, requires_grad=True)
    loss = masked_loss(logits, torch.zeros(2, 3, dtype=torch.long), 0)
    loss.backward()
    assert_close(loss.detach(), torch.tensor(0.0))
    assert_close(logits.grad, torch.zeros(2, 3, 5))


def small() -> Transformer:
    torch.manual_seed(3)
    return Transformer(9, embed_dim=6, num_heads=2, num_layers=1, dim_feedforward=7)


def trained(seed: int = 0, steps: int = 3) -> tuple[list[float], dict[str, torch.Tensor]]:
    model = small()
    losses = train(model, SOURCE, TARGET, steps=steps, seed=seed, batch_size=2)
    return losses, model.state_dict()


@one_thread()
def test_three_steps_twice_give_equal_numbers() -> None:
    losses, state = trained()
    torch.rand(7)  # the global generator plays no part
    again, same = trained()
    assert losses == again
    for name in state:
        assert_close(same[name], state[name], rtol=0, atol=0)
    other, _ = trained(seed=1)
    assert other != losses


def test_the_first_loss_is_that_of_the_untrained_model() -> None:
    first = torch.randperm(5, generator=torch.Generator().manual_seed(0))[:2]
    model = small()
    logits = model(SOURCE[first], shift_targets(TARGET[first], BOS_ID))
    expected = F.cross_entropy(logits.flatten(0, 1), TARGET[first].flatten(), ignore_index=PAD_ID)
    assert trained()[0][0] == pytest.approx(expected.item(), rel=1e-6)


@one_thread()
def test_training_learns_and_reports_each_step() -> None:
    seen: list[tuple[int, float]] = []
    model = small()
    losses = train(
        model, SOURCE, TARGET, steps=60, batch_size=5, learning_rate=0.02,
        progress=lambda step, loss: seen.append((step, loss)),
    )  # fmt: skip
    assert seen == list(enumerate(losses, start=1))
    assert losses[0] > 1.5
    assert losses[-1] < 0.1
    for row in model.source_input, model.target_input:
        assert_close(row.embedding.weight[PAD_ID], torch.zeros(6))


@one_thread()
def test_new_model_and_train_leave_the_global_generator_alone() -> None:
    before = torch.get_rng_state()
    model = new_model(9, seed=5)
    train(model, SOURCE, TARGET, steps=2)
    assert_close(torch.get_rng_state(), before)
    assert_close(new_model(9, seed=5).output.weight, new_model(9, seed=5).output.weight)
    assert not torch.equal(new_model(9, seed=5).output.weight, new_model(9, seed=6).output.weight)
    assert new_model(9, seed=5, is_causal=False).is_causal is False


@pytest.mark.parametrize("name", ["steps", "batch_size"])
def test_counts_below_one_are_refused(name: str) -> None:
    counts = {"steps": 3, "batch_size": 2} | {name: 0}
    with pytest.raises(ValueError, match=f"{name} must be at least 1, got 0"):
        train(small(), SOURCE, TARGET, **counts)
