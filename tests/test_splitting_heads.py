"""Step 4: which number goes where, and that nothing moves."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import B, D, E, H, L, array, randn
from torch import Tensor
from torch.testing import assert_close

from mha_lib import merge_heads, reference, split_heads

small = st.integers(1, 5)
no_clock = settings(deadline=None, derandomize=True, max_examples=30)


def test_two_words_by_hand() -> None:
    x = torch.tensor([[0, 1, 2, 3], [4, 5, 6, 7]])
    assert split_heads(x, 2).tolist() == [[[0, 1], [4, 5]], [[2, 3], [6, 7]]]


def test_four_words_strides_and_memory() -> None:
    x = torch.arange(24).view(4, 6)
    heads = split_heads(x, 2)
    assert heads.shape == (2, 4, 3)
    assert heads.stride() == (3, 6, 1)
    assert heads.data_ptr() == x.data_ptr()
    assert heads[0].tolist() == [[0, 1, 2], [6, 7, 8], [12, 13, 14], [18, 19, 20]]
    assert heads[1].tolist() == [[3, 4, 5], [9, 10, 11], [15, 16, 17], [21, 22, 23]]


def test_a_bare_reshape_keeps_six_of_24_in_place() -> None:
    x = torch.arange(24).view(4, 6)
    same = split_heads(x, 2) == x.reshape(2, 4, 3)
    assert same.sum() == 6
    assert same[0, 0].all()
    assert same[1, 3].all()


def test_equals_the_reference() -> None:
    x = randn(B, L, E)
    expected = torch.from_numpy(reference.split_heads(array(x), H))
    assert torch.equal(split_heads(x, H), expected)


def test_the_definition_cell_by_cell() -> None:
    x = randn(B, L, E)
    out = split_heads(x, H)
    for h in range(H):
        for d in range(D):
            assert torch.equal(out[:, h, :, d], x[:, :, h * D + d])


@no_clock
@given(st.lists(small, max_size=3), small, small, small)
def test_merge_after_split_is_the_identity(
    leading: list[int], length: int, heads: int, width: int
) -> None:
    x = torch.arange(torch.Size([*leading, length, heads * width]).numel())
    x = x.view(*leading, length, heads * width)
    split = split_heads(x, heads)
    assert split.shape == (*leading, heads, length, width)
    assert torch.equal(merge_heads(split), x)


@no_clock
@given(st.lists(small, max_size=3), small, small, small)
def test_split_after_merge_is_the_identity(
    leading: list[int], length: int, heads: int, width: int
) -> None:
    x = torch.arange(torch.Size([*leading, heads, length, width]).numel())
    x = x.view(*leading, heads, length, width)
    assert torch.equal(split_heads(merge_heads(x), heads), x)


def strange_strides() -> dict[str, Tensor]:
    x = randn(B, L, E)
    return {
        "transposed": randn(E, L, B).permute(2, 1, 0),
        "every other column": randn(B, L, 2 * E)[..., ::2],
        "one sentence for all": x[:1].expand(B, L, E),
        "one word for all": x[:, :1].expand(B, L, E),
        "one number for all": torch.tensor(2.5).expand(B, L, E),
        "no batch": x[:0],
        "no words": x[:, :0],
    }


@pytest.mark.parametrize("name", strange_strides())
def test_strange_strides_are_split_without_a_copy(name: str) -> None:
    x = strange_strides()[name]
    heads = split_heads(x, H)
    assert torch.equal(heads, split_heads(x.contiguous(), H))
    assert heads.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()


@pytest.mark.parametrize("dtype", [torch.bool, torch.int64, torch.bfloat16, torch.complex64])
def test_any_dtype(dtype: torch.dtype) -> None:
    x = torch.arange(24).view(4, 6).to(dtype)
    assert torch.equal(split_heads(x, 3), split_heads(torch.arange(24).view(4, 6), 3).to(dtype))


def test_gradient_returns_to_its_place() -> None:
    x = randn(B, L, E).requires_grad_()
    factors = randn(B, H, L, D)
    (split_heads(x, H) * factors).sum().backward()
    assert_close(x.grad, merge_heads(factors))


@pytest.mark.usefixtures("no_shape_checks")
class TestBadInput:
    @pytest.mark.parametrize("shape", [(), (6,)])
    def test_too_few_axes(self, shape: tuple[int, ...]) -> None:
        with pytest.raises(ValueError, match=r"^x must have axes \(\.\.\., L, E\), got shape \("):
            split_heads(torch.zeros(shape), 2)

    def test_heads_do_not_divide(self) -> None:
        with pytest.raises(ValueError, match="num_heads must divide embed_dim: got embed_dim=6, n"):
            split_heads(torch.zeros(4, 6), 4)

    def test_heads_are_no_int(self) -> None:
        with pytest.raises(TypeError, match=r"^num_heads must be an int, got 2\.0 of type float$"):
            split_heads(torch.zeros(4, 6), 2.0)  # type: ignore[arg-type]
