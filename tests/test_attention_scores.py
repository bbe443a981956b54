"""Step 5: scores, weights and outputs against hand values, NumPy loops and torch's own function."""

import math
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import (
    EXACT,
    MASKS,
    B,
    D,
    H,
    L,
    S,
    array,
    gradients,
    join,
    randn,
    random_bias,
    random_keep,
)
from torch import Tensor
from torch.nn import functional as F
from torch.testing import assert_close

from mha_lib import (
    attention_scores,
    attention_weights,
    causal_mask,
    reference,
    scaled_dot_product_attention,
)

V = 13  # width of a value; it may differ from D
DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
ALL_MASKS = {"no mask": None, **MASKS}
MakeMask = tuple[Callable[..., Tensor], tuple[int, ...]] | None


def example(dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor, Tensor]:
    return (
        randn(B, H, L, D, dtype=dtype),
        randn(B, H, S, D, dtype=dtype),
        randn(B, H, S, V).to(dtype),
    )


# By hand


def test_scores_by_hand() -> None:
    query = torch.tensor([[2.0, 0.0, 0.0, 4.0], [0.0, 6.0, 0.0, 0.0]])
    key = torch.tensor([[1.0, 0.0, 9.0, 1.0], [0.0, 1.0, 9.0, 0.0], [-1.0, -1.0, 9.0, 0.0]])
    # Products 6, 0, -2 and 0, 6, -6, each divided by sqrt(4).
    expected = torch.tensor([[3.0, 0.0, -1.0], [0.0, 3.0, -3.0]])
    assert_close(attention_scores(query, key), expected)
    assert_close(attention_scores(query, key, scale=5.0), 10 * expected)


def test_weights_by_hand() -> None:
    query, key = torch.tensor([[1.0]]), torch.tensor([[0.0], [math.log(3.0)], [math.log(4.0)]])
    # Exponentials 1, 3, 4.
    assert_close(attention_weights(query, key), torch.tensor([[1 / 8, 3 / 8, 4 / 8]]))
    keep = torch.tensor([[True, True, False]])
    assert_close(attention_weights(query, key, keep), torch.tensor([[1 / 4, 3 / 4, 0.0]]))
    bias = torch.tensor([[math.log(4.0), 0.0, -math.inf]])
    assert_close(attention_weights(query, key, bias), torch.tensor([[4 / 7, 3 / 7, 0.0]]))
    assert_close(attention_weights(query, key, is_causal=True), torch.tensor([[1.0, 0.0, 0.0]]))
    squared = torch.tensor([[1 / 26, 9 / 26, 16 / 26]])
    assert_close(attention_weights(query, key, scale=2.0), squared)


def test_output_by_hand() -> None:
    query, key = torch.tensor([[1.0]]), torch.tensor([[0.0], [math.log(3.0)]])
    value = torch.tensor([[4.0, -8.0], [8.0, 0.0]])
    assert_close(scaled_dot_product_attention(query, key, value), torch.tensor([[7.0, -2.0]]))


# Against the reference and torch


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("make", ALL_MASKS.values(), ids=ALL_MASKS.keys())
def test_forward_equals_all_oracles(make: MakeMask, is_causal: bool) -> None:
    query, key, value = example()
    mask = make[0](*make[1]) if make else None
    weights = attention_weights(query, key, mask, is_causal)
    output = scaled_dot_product_attention(query, key, value, mask, 0.0, is_causal)

    arrays = array(query), array(key)
    by_loops = reference.attention_weights(*arrays, array(mask), is_causal)
    assert_close(weights, torch.from_numpy(by_loops), **EXACT)
    by_loops = reference.scaled_dot_product_attention(*arrays, array(value), array(mask), is_causal)
    assert_close(output, torch.from_numpy(by_loops), **EXACT)

    theirs = F.scaled_dot_product_attention(query, key, value, join(mask, is_causal))
    assert_close(output, theirs, **EXACT)
    identity = torch.eye(S, dtype=torch.float64).expand(B, H, S, S)
    theirs = F.scaled_dot_product_attention(query, key, identity, join(mask, is_causal))
    assert_close(weights, theirs, **EXACT)


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("make", ALL_MASKS.values(), ids=ALL_MASKS.keys())
def test_gradients_equal_torch(make: MakeMask, is_causal: bool) -> None:
    inputs = [x.requires_grad_() for x in example()]
    mask = make[0](*make[1]) if make else None
    output = scaled_dot_product_attention(*inputs, mask, 0.0, is_causal)
    theirs = F.scaled_dot_product_attention(*inputs, join(mask, is_causal))
    for mine, other in zip(gradients(output, inputs), gradients(theirs, inputs), strict=True):
        assert_close(mine, other, **EXACT)


def test_a_trained_mask_gets_its_gradient() -> None:
    inputs, mask = example(), random_bias(B, 1, L, S).requires_grad_()
    (mine,) = gradients(scaled_dot_product_attention(*inputs, mask), [mask])
    (other,) = gradients(F.scaled_dot_product_attention(*inputs, mask), [mask])
    assert_close(mine, other, **EXACT)
    assert mine.abs().max() > 0.01


@pytest.mark.parametrize(("length", "keys"), [(2, 7), (7, 2), (1, 5), (5, 1), (3, 3)])
def test_is_causal_is_top_left_as_in_torch(length: int, keys: int) -> None:
    query, key, value = randn(B, H, length, D), randn(B, H, keys, D), randn(B, H, keys, V)
    output = scaled_dot_product_attention(query, key, value, is_causal=True)
    theirs = F.scaled_dot_product_attention(query, key, value, is_causal=True)
    assert_close(output, theirs, **EXACT)
    same = scaled_dot_product_attention(query, key, value, causal_mask(length, keys))
    assert_close(output, same, **EXACT)


@pytest.mark.parametrize("scale", [0.0, 0.25, 3.0, -1.5])
def test_scale_equals_torch(scale: float) -> None:
    query, key, value = example()
    output = scaled_dot_product_attention(query, key, value, scale=scale)
    theirs = F.scaled_dot_product_attention(query, key, value, scale=scale)
    assert_close(output, theirs, **EXACT)
    by_loops = reference.attention_scores(array(query), array(key), scale)
    scores = attention_scores(query, key, scale=scale)
    assert_close(scores, torch.from_numpy(by_loops), **EXACT)


def test_any_leading_axes() -> None:
    query, key, value = example()
    whole = scaled_dot_product_attention(query, key, value, is_causal=True)
    for index in ((0,), (1, 1), (None,), (slice(0, 0),)):
        parts = [x[index] for x in (query, key, value)]
        assert_close(scaled_dot_product_attention(*parts, is_causal=True), whole[index], **EXACT)


def test_masks_of_two_axes_fit_inputs_of_any_axes() -> None:
    query, key, _ = example()
    keep = random_keep(L, S)
    whole = attention_weights(query, key, keep)
    assert_close(attention_weights(query[0, 1], key[0, 1], keep), whole[0, 1], **EXACT)
    assert_close(attention_weights(query[0], key[0], keep), whole[0], **EXACT)
    assert_close(attention_weights(query[None], key[None], keep), whole[None], **EXACT)


def test_masks_with_axes_of_one() -> None:
    query, key, _ = example()
    for shape in ((1, 1, 1, S), (1, 1, L, S), (1, H, L, S), (B, H, 1, S), (1, H, 1, S)):
        keep = random_keep(*shape)
        expected = attention_weights(query, key, keep.expand(B, H, L, S).contiguous())
        assert_close(attention_weights(query, key, keep), expected, **EXACT)


def test_first_and_second_derivatives() -> None:
    inputs = [x[:1, :, :2].clone().requires_grad_() for x in example()]
    keep = random_keep(2, 2)
    assert torch.autograd.gradcheck(
        lambda *x: scaled_dot_product_attention(*x, keep), inputs, fast_mode=True
    )
    assert torch.autograd.gradgradcheck(
        lambda *x: scaled_dot_product_attention(*x, keep), inputs, fast_mode=True
    )


# Nothing to attend to


@pytest.mark.parametrize("additive", [False, True], ids=["bool", "additive"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_empty_row_is_zero_with_finite_gradients(dtype: torch.dtype, additive: bool) -> None:
    inputs = [x.requires_grad_() for x in example(dtype)]
    keep = random_keep(B, 1, L, S)
    keep[1, :, 2] = False
    mask = torch.zeros(keep.shape, dtype=dtype).masked_fill(~keep, -math.inf) if additive else keep
    weights = attention_weights(inputs[0], inputs[1], mask)
    output = scaled_dot_product_attention(*inputs, mask)
    assert torch.equal(weights[1, :, 2], torch.zeros(H, S, dtype=dtype))
    assert torch.equal(output[1, :, 2], torch.zeros(H, V, dtype=dtype))
    theirs = F.scaled_dot_product_attention(*inputs, mask)
    tolerance = {torch.bfloat16: 0.03, torch.float16: 4e-3, torch.float32: 1e-5}.get(dtype, 1e-12)
    assert_close(output, theirs, rtol=tolerance, atol=tolerance)
    mine = gradients(output, inputs)
    for gradient in mine:
        assert gradient.isfinite().all()
        assert gradient.dtype == dtype
        assert gradient.abs().max() > 0
    assert torch.equal(mine[0][1, :, 2], torch.zeros(H, D, dtype=dtype))


def test_all_rows_empty() -> None:
    inputs = [x.requires_grad_() for x in example()]
    output = scaled_dot_product_attention(*inputs, torch.zeros(L, S, dtype=torch.bool))
    assert torch.equal(output, torch.zeros(B, H, L, V, dtype=torch.float64))
    for gradient in gradients(output, inputs):
        assert torch.equal(gradient, torch.zeros_like(gradient))


# Precision and special numbers


@pytest.mark.parametrize("magnitude", [1, 30, 300, 1000])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_half_precision_is_as_good_as_its_input(dtype: torch.dtype, magnitude: int) -> None:
    query, key, value = example(dtype)
    query, key = query * magnitude, key * magnitude
    exact = attention_weights(query.double(), key.double())
    weights = attention_weights(query, key)
    assert weights.dtype == dtype
    # The scores of large magnitudes reach 3e6; float16 ends at 65504.
    assert_close(weights.double(), exact, rtol=0, atol=torch.finfo(dtype).eps)
    theirs = F.scaled_dot_product_attention(query, key, value)
    output = scaled_dot_product_attention(query, key, value)
    assert output.isfinite().all()
    assert_close(output, theirs, rtol=0, atol=8 * torch.finfo(dtype).eps)


def test_large_scores_in_float32() -> None:
    query, key, value = (x.float() for x in example())
    output = scaled_dot_product_attention(query * 1e9, key * 1e9, value)
    nearest = (query @ key.mT).argmax(-1)
    expected = value.gather(2, nearest.unsqueeze(-1).expand(B, H, L, V))
    assert_close(output, expected)


def test_a_constant_on_all_scores_changes_nothing() -> None:
    query, key, _ = example()
    shifted = attention_weights(query, key, torch.full((L, S), 1e6, dtype=torch.float64))
    assert_close(shifted, attention_weights(query, key), rtol=0, atol=1e-9)


def test_a_mask_too_low_for_float16_is_minus_infinity_there() -> None:
    query, key, value = example(torch.float16)
    low = torch.zeros(L, S)
    low[0] = -1e9
    low[1, 0] = -1e9
    output = scaled_dot_product_attention(query, key, value, low)
    assert torch.equal(output[:, :, 0], torch.zeros(B, H, V, dtype=torch.float16))
    theirs = F.scaled_dot_product_attention(query, key, value, low.half())
    assert_close(output, theirs, rtol=0, atol=4e-3)


@pytest.mark.parametrize("mask_dtype", DTYPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_mask_and_query_of_different_dtypes(dtype: torch.dtype, mask_dtype: torch.dtype) -> None:
    query, key, value = example(dtype)
    mask = random_bias(L, S).mul(4).round().div(4)  # exact in every dtype
    output = scaled_dot_product_attention(query, key, value, mask.to(mask_dtype))
    assert output.dtype == dtype
    assert attention_weights(query, key, mask.to(mask_dtype)).dtype == dtype
    assert_close(output, scaled_dot_product_attention(query, key, value, mask.to(dtype)))


def test_nan_is_not_swallowed() -> None:
    query, key, value = example()
    query[0, 1, 3, 2] = torch.nan
    weights = attention_weights(query, key)
    assert weights[0, 1, 3].isnan().all()
    assert weights.isnan().sum() == S
    output = scaled_dot_product_attention(query, key, value, random_keep(L, S))
    assert output[0, 1, 3].isnan().all()
    assert output.isnan().sum() == V

    query, key, value = example()
    key[2, 0, 4, 1] = torch.nan
    assert attention_weights(query, key)[2, 0].isnan().all()
    value[1, 1, 0, 5] = torch.nan
    output = scaled_dot_product_attention(query, example()[1], value)
    assert output[1, 1, :, 5].isnan().all()
    assert output.isnan().sum() == L


def test_nan_in_a_mask_is_not_swallowed() -> None:
    query, key, _ = example()
    mask = torch.zeros(L, S, dtype=torch.float64)
    mask[2, 3] = torch.nan
    weights = attention_weights(query, key, mask)
    assert weights[:, :, 2].isnan().all()
    assert weights.isnan().sum() == B * H * S


# Dropout


def test_dropout_keeps_or_drops_each_weight() -> None:
    query, key, _ = example()
    identity = torch.eye(S, dtype=torch.float64).expand(B, H, S, S)
    weights = attention_weights(query, key)
    dropped = scaled_dot_product_attention(query, key, identity, None, 0.25)
    kept = dropped != 0
    assert_close(dropped[kept], weights[kept] / 0.75)
    # 210 weights, each dropped with probability 0.25: 53, with a spread of 6.
    assert 20 < (~kept).sum() < 86


def test_dropout_changes_nothing_on_average() -> None:
    query, key, value = (x[:1, :1].expand(4000, 1, -1, -1) for x in example())
    output = scaled_dot_product_attention(query, key, value, None, 0.3).mean(0)
    expected = scaled_dot_product_attention(query[:1], key[:1], value[:1])[0]
    # Five spreads of the mean: each weighs at most 0.3 / 0.7 * sum of (w * v)^2 over 4000 draws.
    spread = (value.abs().max() ** 2 * 0.3 / 0.7 / 4000).sqrt()
    assert_close(output, expected, rtol=0, atol=5 * float(spread))


def test_dropout_of_zero_and_one() -> None:
    inputs = example()
    assert torch.equal(
        scaled_dot_product_attention(*inputs, None, 0.0), scaled_dot_product_attention(*inputs)
    )
    nothing = scaled_dot_product_attention(*inputs, None, 1.0)
    assert torch.equal(nothing, torch.zeros_like(nothing))


# Inputs of every kind


def test_inputs_are_not_changed() -> None:
    inputs = [*example(), random_bias(B, H, L, S)]
    copies = [x.clone() for x in inputs]
    scaled_dot_product_attention(*inputs, is_causal=True)
    keep = random_keep(L, S)
    keep_copy = keep.clone()
    attention_weights(inputs[0], inputs[1], keep, is_causal=True)
    for x, copy in zip([*inputs, keep], [*copies, keep_copy], strict=True):
        assert torch.equal(x, copy)


def test_strange_strides() -> None:
    query, key, value = example()
    keep = random_keep(B, H, L, S)
    expected = scaled_dot_product_attention(query, key, value, keep)
    strange = [x.mT.contiguous().mT for x in (query, key, value)]
    strange_keep = keep.permute(3, 1, 0, 2).contiguous().permute(2, 1, 3, 0)
    assert_close(scaled_dot_product_attention(*strange, strange_keep), expected, **EXACT)

    one = [x[:1, :1].expand(x.shape) for x in (query, key, value)]
    row = keep[0, 0, :1].expand(L, S)
    expected = scaled_dot_product_attention(*(x.contiguous() for x in one), row.contiguous())
    assert_close(scaled_dot_product_attention(*one, row), expected, **EXACT)


@pytest.mark.parametrize("mask", [None, (L, S), (0, 1, 1, S), (0, H, L, S)])
def test_no_sentences(mask: tuple[int, ...] | None) -> None:
    query, key, value = (x[:0] for x in example())
    keep = None if mask is None else torch.ones(mask, dtype=torch.bool)
    assert scaled_dot_product_attention(query, key, value, keep).shape == (0, H, L, V)


@pytest.mark.usefixtures("no_shape_checks")
def test_compile_vmap_and_export() -> None:
    inputs, keep = example(), random_keep(L, S)
    expected = scaled_dot_product_attention(*inputs, keep, is_causal=True)

    def run(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        return scaled_dot_product_attention(query, key, value, keep, is_causal=True)

    compiled = torch.compile(run, fullgraph=True, backend="aot_eager")
    assert_close(compiled(*inputs), expected, **EXACT)
    assert_close(torch.func.vmap(run)(*inputs), expected, **EXACT)
    assert_close(torch.func.vmap(torch.func.vmap(run))(*inputs), expected, **EXACT)


# Properties

sizes = st.integers(1, 5)
no_clock = settings(deadline=None, derandomize=True, max_examples=25)


@no_clock
@given(sizes, sizes, sizes, st.integers(0, 999), st.booleans())
def test_rows_sum_to_one(length: int, keys: int, width: int, seed: int, is_causal: bool) -> None:
    torch.manual_seed(seed)
    query, key = 10 * randn(2, length, width), randn(2, keys, width)
    weights = attention_weights(query, key, is_causal=is_causal)
    assert (weights >= 0).all()
    assert_close(weights.sum(-1), torch.ones(2, length, dtype=torch.float64), **EXACT)
    keep = torch.rand(length, keys) > 0.5
    sums = attention_weights(query, key, keep).sum(-1)
    assert_close(sums, keep.any(-1).double().expand(2, length), **EXACT)


@no_clock
@given(sizes, sizes, st.integers(0, 999))
def test_order_of_keys_does_not_matter_order_of_queries_is_kept(
    length: int, keys: int, seed: int
) -> None:
    torch.manual_seed(seed)
    query, key, value = randn(2, length, 3), randn(2, keys, 3), randn(2, keys, 2)
    keep = random_keep(length, keys)
    output = scaled_dot_product_attention(query, key, value, keep)
    order = torch.randperm(keys)
    mixed = scaled_dot_product_attention(query, key[:, order], value[:, order], keep[:, order])
    assert_close(mixed, output, **EXACT)
    order = torch.randperm(length)
    mixed = scaled_dot_product_attention(query[:, order], key, value, keep[order])
    assert_close(mixed, output[:, order], **EXACT)


@no_clock
@given(sizes, sizes, st.integers(0, 999))
def test_output_lies_between_the_values_that_may_be_read(length: int, keys: int, seed: int) -> None:
    torch.manual_seed(seed)
    query, key, value = randn(length, 3), randn(keys, 3), randn(keys, 2)
    keep = random_keep(length, keys)
    output = scaled_dot_product_attention(query, key, value, keep)
    for row in range(length):
        seen = value[keep[row]]
        assert (output[row] >= seen.min(0).values - 1e-12).all()
        assert (output[row] <= seen.max(0).values + 1e-12).all()


# Bad input


@pytest.mark.usefixtures("no_shape_checks")
class TestBadInput:
    def test_widths(self) -> None:
        query, _, value = example()
        message = (
            r"^query and key must have the same width: got 11 and 13, "
            r"shapes \(3, 2, 5, 11\) and \(3, 2, 7, 13\)$"
        )
        for call in (attention_scores, attention_weights):
            with pytest.raises(ValueError, match=message):
                call(query, value)
        with pytest.raises(ValueError, match=message):
            scaled_dot_product_attention(query, value, value)

    def test_leading_axes(self) -> None:
        query, key, _ = example()
        message = (
            r"^query and key must agree on all axes before the last two: "
            r"got shapes \(3, 2, 5, 11\) and \(2, 2, 7, 11\)$"
        )
        with pytest.raises(ValueError, match=message):
            attention_scores(query, key[:2])
        with pytest.raises(ValueError, match="must agree on all axes before the last two"):
            attention_scores(query, key[0])

    @pytest.mark.parametrize("shape", [(), (D,)])
    def test_too_few_axes(self, shape: tuple[int, ...]) -> None:
        message = r"must have axes \(\.\.\., length, width\), got \("
        with pytest.raises(ValueError, match="^query " + message):
            attention_scores(torch.zeros(shape), torch.zeros(S, D))
        with pytest.raises(ValueError, match="^key " + message):
            attention_scores(torch.zeros(L, D), torch.zeros(shape))

    def test_empty(self) -> None:
        message = r"must hold a word and a feature, got shape \(2, 0, 11\)$"
        with pytest.raises(ValueError, match="^query " + message):
            attention_weights(torch.zeros(2, 0, D), torch.zeros(2, S, D))
        with pytest.raises(ValueError, match="^key " + message):
            attention_weights(torch.zeros(2, L, D), torch.zeros(2, 0, D))
        with pytest.raises(ValueError, match=r"must hold a word and a feature, got shape \(5, 0\)"):
            attention_weights(torch.zeros(L, 0), torch.zeros(S, 0))

    def test_values(self) -> None:
        query, key, value = example()
        message = (
            r"^value must have one row for each key: "
            r"got value \(3, 2, 6, 13\) and key \(3, 2, 7, 11\)$"
        )
        with pytest.raises(ValueError, match=message):
            scaled_dot_product_attention(query, key, value[:, :, :6])
        with pytest.raises(ValueError, match="^value must have one row for each key"):
            scaled_dot_product_attention(query, key, value[0])

    @pytest.mark.parametrize("call", [attention_weights, scaled_dot_product_attention])
    def test_masks_are_called_by_their_name_here(self, call: Callable[..., Tensor]) -> None:
        inputs = example()[: 2 if call is attention_weights else 3]
        with pytest.raises(TypeError, match=r"^attn_mask must be bool .* got dtype torch\.int64"):
            call(*inputs, torch.ones(L, S, dtype=torch.long))
        with pytest.raises(ValueError, match="^attn_mask must not have three axes"):
            call(*inputs, torch.ones(B, L, S, dtype=torch.bool))
        with pytest.raises(ValueError, match=r"^attn_mask must have shape \(L, S\), "):
            call(*inputs, torch.ones(S, L, dtype=torch.bool))
        with pytest.raises(TypeError, match="^attn_mask must be a Tensor, got list$"):
            call(*inputs, [[True]])

    @pytest.mark.parametrize("share", [-0.1, 1.5])
    def test_dropout(self, share: float) -> None:
        with pytest.raises(ValueError, match=rf"^dropout_p must lie in 0 \.\. 1, got {share}$"):
            scaled_dot_product_attention(*example(), None, share)

    def test_dtypes_of_query_and_key_differ(self) -> None:
        # torch's own error: the two are not silently brought to one dtype.
        query, key, _ = example()
        with pytest.raises(RuntimeError, match="expected scalar type Double but found Float"):
            attention_weights(query, key.float())
