"""The tests from outside find what they claim to find."""

import pytest
import torch
from torch import nn

from mha_lib import MultiHeadAttention, causal_mask, padding_mask
from mha_lib.behaviour import batch_mates_matter, changed, influence

B, L, E, H = 3, 5, 14, 7


@pytest.fixture
def layer() -> MultiHeadAttention:
    torch.manual_seed(0)
    return MultiHeadAttention(E, H)


@pytest.fixture
def x() -> torch.Tensor:
    return torch.randn(B, L, E, generator=torch.Generator().manual_seed(1))


def test_hand_case() -> None:
    shift = lambda x: torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], 1)  # noqa: E731
    assert influence(shift, torch.zeros(1, 3, 2)).tolist() == [
        [False, False, False],
        [True, False, False],
        [False, True, False],
    ]


def test_attention_without_a_mask_reads_everything(layer: nn.Module, x: torch.Tensor) -> None:
    assert influence(lambda x: layer(x)[0], x, sentence=2).all()


def test_causal_attention_gives_the_mask_itself(layer: nn.Module, x: torch.Tensor) -> None:
    found = influence(lambda x: layer(x, is_causal=True)[0], x)
    assert torch.equal(found, causal_mask(L, L))


def test_padding_is_seen_as_hidden_but_for_its_own_row(layer: nn.Module, x: torch.Tensor) -> None:
    mask = padding_mask([2, 5, 3], L)
    found = influence(lambda x: layer(x, mask=mask)[0], x, sentence=0)
    expected = torch.zeros(L, L, dtype=torch.bool)
    expected[:, :2] = True
    expected |= torch.eye(L, dtype=torch.bool)
    assert torch.equal(found, expected)


def test_an_output_of_nan_counts_as_unmoved_only_if_it_was_nan_before() -> None:
    def model(x: torch.Tensor) -> torch.Tensor:
        return torch.where(x > 0, torch.nan, x)

    x = torch.tensor([[[-9.0, -9.0], [1.0, 1.0]]])
    assert influence(model, x).tolist() == [[True, False], [False, True]]


def test_batch_mates(layer: nn.Module, x: torch.Tensor) -> None:
    assert not batch_mates_matter(lambda x: layer(x)[0], x)
    assert batch_mates_matter(lambda x: layer(x.transpose(0, 1))[0].transpose(0, 1), x)
    assert batch_mates_matter(nn.BatchNorm1d(L), x)


def test_inputs_are_left_as_they_were(layer: nn.Module, x: torch.Tensor) -> None:
    before = x.clone()
    influence(lambda x: layer(x)[0], x)
    batch_mates_matter(lambda x: layer(x)[0], x)
    changed(x, 0, 0)
    assert torch.equal(x, before)


def test_errors_name_the_rule(x: torch.Tensor) -> None:
    with pytest.raises(ValueError, match=r"sentence must lie in 0 \.\. 2, got 3"):
        influence(lambda x: x, x, sentence=3)
    with pytest.raises(ValueError, match=r"at least two sentences, got shape \(1, 5, 14\)"):
        batch_mates_matter(lambda x: x, x[:1])
