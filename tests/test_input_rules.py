"""Which masks fit which scores, and what is said about those that don't."""

import re
from itertools import product

import pytest
import torch
from oracles import B, E, H, L, S, layer64, randn
from torch import nn

from mha_lib.input_rules import (
    check_ids,
    check_mask,
    check_query_key,
    check_value,
    check_whole_numbers,
    check_width,
    join_causal,
    refuse_torch_masks,
)

pytestmark = pytest.mark.usefixtures("no_shape_checks")

FOUR = (B, H, L, S)
SHAPES = "(L, S), (B, 1, 1, S), (B, 1, L, S) or (B, H, L, S)"


def ones(*shape: int, dtype: torch.dtype = torch.bool) -> torch.Tensor:
    return torch.ones(shape, dtype=dtype)


# Shapes


@pytest.mark.parametrize(
    "shape", [(L, S), *((b, h, length, S) for b, h, length in product((1, B), (1, H), (1, L)))]
)
def test_shapes_that_fit(shape: tuple[int, ...]) -> None:
    check_mask(ones(*shape), FOUR)
    check_mask(ones(*shape, dtype=torch.float16), FOUR)
    query, key = randn(B, L, E), randn(B, S, E)
    layer = layer64()
    for need_weights in (False, True):
        expected, _ = layer(query, key, need_weights=need_weights)
        output, _ = layer(query, key, mask=ones(*shape), need_weights=need_weights)
        torch.testing.assert_close(output, expected)


@pytest.mark.parametrize(
    "shape",
    [
        (),
        (S,),
        (1, S),
        (L, 1),
        (1, 1),
        (S, L),
        (L, L),
        (B, 1, L, 1),
        (B, 1, S, L),
        (H, B, L, S),
        (2 * B, 1, L, S),
        (B, 5, L, S),
        (B, H, L, L),
        (1, B, 1, L, S),
        (1, 1, 1, 1),
    ],
    ids=str,
)
def test_shapes_that_do_not_fit(shape: tuple[int, ...]) -> None:
    message = (
        f"mask must have shape {SHAPES}; the scores have shape (3, 2, 5, 7), "
        f"got mask of shape {shape}"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        check_mask(ones(*shape), FOUR)
    for need_weights in (False, True):
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            layer64()(randn(B, L, E), randn(B, S, E), mask=ones(*shape), need_weights=need_weights)


@pytest.mark.parametrize("shape", [(B, L, S), (H, L, S), (1, L, S), (B * H, L, S), (B, 1, S)])
def test_three_axes_are_refused_with_a_cure(shape: tuple[int, ...]) -> None:
    message = (
        f"mask must not have three axes, got shape {shape}: the first could be the batch or the "
        "heads; write mask.unsqueeze(1) for one mask a sentence, mask.unsqueeze(0) for one a head"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        check_mask(ones(*shape), FOUR)


def test_the_cures_for_three_axes_work() -> None:
    layer, query, key = layer64(), randn(B, L, E), randn(B, S, E)
    a_sentence, a_head = torch.rand(B, L, S) > 0.3, torch.rand(H, L, S) > 0.3
    output, weights = layer(query, key, mask=a_sentence.unsqueeze(1), need_weights=True)
    assert torch.equal(weights[1, 0] > 0, a_sentence[1])
    assert torch.equal(weights[1, 1] > 0, a_sentence[1])
    output, weights = layer(query, key, mask=a_head.unsqueeze(0), need_weights=True)
    assert torch.equal(weights[0, 1] > 0, a_head[1])
    assert torch.equal(weights[2, 1] > 0, a_head[1])


@pytest.mark.parametrize("shape", [(H, L, S), (1, 1, L, S), (1, H, L, S), (S,), (S, L)], ids=str)
def test_without_a_batch_only_two_axes_fit(shape: tuple[int, ...]) -> None:
    message = (
        f"mask must have shape (L, S); the scores have shape (2, 5, 7), got mask of shape {shape}"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        layer64()(randn(L, E), randn(S, E), mask=ones(*shape))
    check_mask(ones(L, S), (H, L, S))
    check_mask(ones(L, S), (L, S))


def test_key_masks_of_torch_do_not_pass_as_masks() -> None:
    # (B, S) is the shape of a key_padding_mask. Where B happens to equal L it cannot be told
    # from (L, S); everywhere else it is refused.
    with pytest.raises(ValueError, match=r"got mask of shape \(3, 7\)$"):
        layer64()(randn(B, L, E), randn(B, S, E), mask=ones(B, S))


# Kinds


@pytest.mark.parametrize(
    "dtype", [torch.int64, torch.int32, torch.uint8, torch.int8, torch.complex64], ids=str
)
def test_masks_of_another_type(dtype: torch.dtype) -> None:
    message = (
        "mask must be bool (True = may attend) or floating point (added to the scores), "
        f"got dtype {dtype}; if 1 means 'may attend', write mask.bool()"
    )
    for need_weights in (False, True):
        with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
            layer64()(randn(B, L, E), mask=ones(L, L, dtype=dtype), need_weights=need_weights)


def test_the_cure_for_an_int_mask_works() -> None:
    mask = torch.tensor([[1, 0], [1, 1]])
    _, weights = layer64()(randn(B, 2, E), mask=mask.bool(), need_weights=True)
    assert torch.equal(weights[0, 0] > 0, mask.bool())


@pytest.mark.parametrize(
    ("mask", "name"), [([[True]], "list"), (True, "bool"), ("causal", "str"), (3, "int")]
)
def test_masks_that_are_no_tensors(mask: object, name: str) -> None:
    with pytest.raises(TypeError, match=f"^mask must be a Tensor, got {name}$"):
        layer64()(randn(B, L, E), mask=mask)


# torch's names


@pytest.mark.parametrize(
    ("keyword", "cure"),
    [
        ("attn_mask", "mask=~attn_mask"),
        ("key_padding_mask", "mask=~key_padding_mask[:, None, None, :]"),
    ],
)
def test_torch_keywords_are_refused(keyword: str, cure: str) -> None:
    message = (
        f"{keyword} is not accepted here: in nn.MultiheadAttention True means 'must not attend', "
        f"in this library True means 'may attend'; for a bool mask write {cure}"
    )
    with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
        layer64()(randn(B, L, E), **{keyword: ones(L, L)})
    with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
        refuse_torch_masks(**{"attn_mask": None, "key_padding_mask": None, keyword: ones(1)})
    refuse_torch_masks(None, None)


def test_the_cures_for_torch_keywords_work() -> None:
    layer, x = layer64(), randn(B, L, E)
    theirs = nn.MultiheadAttention(E, H, batch_first=True).double()
    theirs.load_state_dict(layer.state_dict())
    attn_mask = ~ones(L, L).tril()
    key_padding_mask = torch.arange(L) >= torch.tensor([[5], [3], [1]])
    expected, _ = theirs(x, x, x, attn_mask=attn_mask)
    torch.testing.assert_close(layer(x, mask=~attn_mask)[0], expected)
    expected, _ = theirs(x, x, x, key_padding_mask=key_padding_mask)
    torch.testing.assert_close(layer(x, mask=~key_padding_mask[:, None, None, :])[0], expected)


# Joining with causality


def test_join_causal_by_hand() -> None:
    like = torch.zeros(1, dtype=torch.float64)
    assert join_causal(None, False, 2, 3, like) is None
    causal = torch.tensor([[True, False, False], [True, True, False]])
    assert torch.equal(join_causal(None, True, 2, 3, like), causal)
    keep = torch.tensor([[False, True, True], [True, False, True]])
    expected = torch.tensor([[False, False, False], [True, False, False]])
    assert torch.equal(join_causal(keep, True, 2, 3, like), expected)
    assert torch.equal(join_causal(keep, False, 2, 3, like), keep)
    bias = torch.tensor([[1.0, 2.0, 3.0], [4.0, -torch.inf, 6.0]])
    inf = torch.inf
    joined = join_causal(bias, True, 2, 3, like)
    assert joined.dtype == torch.float64
    assert joined.tolist() == [[1.0, -inf, -inf], [4.0, -inf, -inf]]
    assert bias.tolist() == [[1.0, 2.0, 3.0], [4.0, -inf, 6.0]]


# The other rules, called directly


def test_rules_accept_what_is_right() -> None:
    check_query_key(ones(L, E), ones(S, E))
    check_query_key(ones(0, H, L, E), ones(0, H, S, E))
    check_value(ones(B, H, S, E), ones(B, H, S, 1))
    check_width("query", ones(B, L, E), E)
    check_width("query", ones(0, L, E), E)
    check_width("query", ones(1, E), E)
    check_whole_numbers("lengths", torch.tensor([0, 4]), 4, "max_len")
    check_ids(torch.tensor([0, 12]), torch.zeros(13, E), torch.zeros(2, E))


def test_whole_numbers_name_their_limit() -> None:
    with pytest.raises(ValueError, match=r"^lengths must lie in 0 \.\. 4 \(max_len\), got 5$"):
        check_whole_numbers("lengths", torch.tensor([5, 0]), 4, "max_len")
    with pytest.raises(TypeError, match=r"^ids must be whole numbers, got dtype torch\.float64$"):
        check_whole_numbers("ids", torch.zeros(1, dtype=torch.float64), 4, "the table")


def test_value_may_not_broadcast() -> None:
    with pytest.raises(ValueError, match="^value must have one row for each key"):
        check_value(ones(B, H, S, E), ones(1, H, S, E))
    with pytest.raises(ValueError, match="^value must have one row for each key"):
        check_value(ones(B, H, S, E), ones(H, S, E))
