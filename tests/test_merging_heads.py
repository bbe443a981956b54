"""Step 6: the merge, and the whole layer against hand values, NumPy loops and torch's module."""

import copy
import io
import math
import pickle
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
    E,
    H,
    L,
    S,
    array,
    gradients,
    join,
    layer64,
    randn,
    random_bias,
    random_keep,
    run_reference,
    run_torch,
    torch_twin,
)
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap
from torch.testing import assert_close

from mha_lib import (
    InputLayer,
    MultiHeadAttention,
    causal_mask,
    merge_heads,
    padding_mask,
    reference,
    split_heads,
)

MakeMask = tuple[Callable[..., Tensor], tuple[int, ...]] | None
ALL_MASKS = {"no mask": None, **MASKS}
DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
both_paths = pytest.mark.parametrize("need_weights", [False, True], ids=["fused", "weights"])


def words(dtype: torch.dtype = torch.float64) -> Tensor:
    return randn(B, L, E, dtype=dtype)


def other_words(dtype: torch.dtype = torch.float64) -> Tensor:
    return randn(B, S, E, dtype=dtype)


# The merge


def test_merge_by_hand() -> None:
    x = torch.tensor([[[0, 1], [4, 5], [8, 9]], [[2, 3], [6, 7], [10, 11]]])
    assert merge_heads(x).tolist() == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]


def test_merge_equals_the_reference() -> None:
    x = randn(B, H, L, D)
    assert torch.equal(merge_heads(x), torch.from_numpy(reference.merge_heads(array(x))))


def test_merge_of_any_strides_and_axes() -> None:
    x = randn(D, L, H, B).permute(3, 2, 1, 0)
    for tensor in (x, x[0], x[None], x[:0], x[:1].expand(B, H, L, D), x[:, :, :1].expand(x.shape)):
        merged = merge_heads(tensor)
        assert torch.equal(merged, merge_heads(tensor.contiguous()))
        assert torch.equal(split_heads(merged, H), tensor)


def test_merge_copies_only_where_it_must() -> None:
    x = words()
    assert merge_heads(split_heads(x, H)).data_ptr() == x.data_ptr()
    heads = randn(B, H, L, D)
    assert merge_heads(heads).data_ptr() != heads.data_ptr()


def test_merge_gradient_returns_to_its_place() -> None:
    x = randn(B, H, L, D).requires_grad_()
    factors = words()
    (merge_heads(x) * factors).sum().backward()
    assert_close(x.grad, split_heads(factors, H))


@pytest.mark.usefixtures("no_shape_checks")
@pytest.mark.parametrize("shape", [(), (6,), (4, 6)])
def test_merge_of_too_few_axes(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"^x must have axes \(\.\.\., H, L, D\), got shape \("):
        merge_heads(torch.zeros(shape))


# The layer by hand


def identity_layer() -> MultiHeadAttention:
    layer = MultiHeadAttention(2, 2).double()
    eye = torch.eye(2, dtype=torch.float64)
    state = {
        "in_proj_weight": torch.cat([eye, eye, eye]),
        "in_proj_bias": torch.zeros(6),
        "out_proj.weight": torch.tensor([[1.0, 1.0], [1.0, -1.0]]),
        "out_proj.bias": torch.tensor([0.0, 10.0]),
    }
    layer.load_state_dict(state)
    return layer


@both_paths
def test_two_words_two_heads_by_hand(need_weights: bool) -> None:
    x = torch.eye(2, dtype=torch.float64)
    output, weights = identity_layer()(x, need_weights=need_weights)
    # Head h compares feature h: 1 * 1 with itself, else 0. exp(1) / (exp(1) + exp(0)) = p.
    p = math.e / (math.e + 1)
    heads = [[p, 0.5], [0.5, p]]
    expected = [[a + b, a - b + 10] for a, b in heads]
    assert_close(output, torch.tensor(expected, dtype=torch.float64), **EXACT)
    if need_weights:
        by_hand = [[[p, 1 - p], [0.5, 0.5]], [[0.5, 0.5], [1 - p, p]]]
        assert_close(weights, torch.tensor(by_hand, dtype=torch.float64), **EXACT)
    else:
        assert weights is None


# The layer against the reference and torch, forward and gradients

CASES = {
    "self": lambda: (words(),) * 3,
    "cross": lambda: (words(), *(other_words(),) * 2),
    "value of its own": lambda: (words(), other_words(), other_words()),
    "value is query": lambda: (lambda x: (x, randn(B, L, E), x))(words()),
    "key is query": lambda: (lambda x: (x, x, randn(B, L, E)))(words()),
}


def call(layer: nn.Module, inputs: tuple[Tensor, ...], **options: object) -> tuple:
    """Call with as few arguments as say the same: a missing key is the query, and so on."""
    query, key, value = inputs
    if value is key:
        inputs = (query,) if key is query else (query, key)
    return layer(*inputs, **options)


@both_paths
@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
@pytest.mark.parametrize("case", CASES)
def test_forward_equals_reference_and_torch(case: str, bias: bool, need_weights: bool) -> None:
    layer = layer64(bias=bias)
    inputs = CASES[case]()
    output, weights = call(layer, inputs, need_weights=need_weights)
    assert_close(output, run_reference(layer, *inputs, None), **EXACT)
    theirs, their_weights = run_torch(torch_twin(layer), *inputs, None)
    assert_close(output, theirs, **EXACT)
    if need_weights:
        assert_close(weights, their_weights, **EXACT)


@both_paths
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("make", MASKS.values(), ids=MASKS.keys())
def test_masks_equal_reference_and_torch(
    make: MakeMask, is_causal: bool, need_weights: bool
) -> None:
    layer = layer64()
    query, key = words(), other_words()
    mask = make[0](*make[1])
    output, weights = layer(query, key, mask=mask, is_causal=is_causal, need_weights=need_weights)
    joined = join(mask, is_causal)
    assert_close(output, run_reference(layer, query, key, key, joined), **EXACT)
    twin = torch_twin(layer)
    assert_close(output, run_torch(twin, query, key, key, joined, need_weights=False)[0], **EXACT)
    if need_weights:
        _, theirs = run_torch(twin, query, key, key, joined)
        empty = (joined if joined.dtype == torch.bool else joined > -torch.inf).sum(-1) == 0
        # Mask and causality together can leave a row empty: there torch's module gives NaN.
        assert_close(weights, theirs.masked_fill(empty.unsqueeze(-1), 0), **EXACT)


@both_paths
@pytest.mark.parametrize("swap", [False, True], ids=["L < S", "L > S"])
def test_is_causal_alone_equals_torch(swap: bool, need_weights: bool) -> None:
    layer = layer64()
    query, key = (other_words(), words()) if swap else (words(), other_words())
    output, weights = layer(query, key, is_causal=True, need_weights=need_weights)
    mask = join(None, True, query.shape[1], key.shape[1])
    theirs, their_weights = run_torch(torch_twin(layer), query, key, key, mask)
    assert_close(output, theirs, **EXACT)
    assert_close(output, run_reference(layer, query, key, key, mask), **EXACT)
    if need_weights:
        assert_close(weights, their_weights, **EXACT)


@both_paths
@pytest.mark.parametrize("make", ALL_MASKS.values(), ids=ALL_MASKS.keys())
@pytest.mark.parametrize("case", ["cross", "value of its own"])
def test_gradients_equal_torch(case: str, make: MakeMask, need_weights: bool) -> None:
    layer = layer64()
    twin = torch_twin(layer)
    inputs = tuple(x.requires_grad_() for x in CASES[case]())
    mask = make[0](*make[1]) if make else None
    mine = gradients(
        call(layer, inputs, mask=mask, need_weights=need_weights)[0],
        [*inputs, *layer.parameters()],
    )
    theirs = gradients(run_torch(twin, *inputs, mask)[0], [*inputs, *twin.parameters()])
    for name, *pair in zip(
        ["query", "key", "value", *dict(layer.named_parameters())], mine, theirs, strict=True
    ):
        assert_close(*pair, rtol=1e-12, atol=1e-12, msg=lambda text, name=name: f"{name}: {text}")


@both_paths
@pytest.mark.parametrize("is_causal", [False, True])
def test_self_attention_gradients_equal_torch(is_causal: bool, need_weights: bool) -> None:
    layer = layer64()
    twin = torch_twin(layer)
    x = words().requires_grad_()
    output, _ = layer(x, is_causal=is_causal, need_weights=need_weights)
    mine = gradients(output, [x, *layer.parameters()])
    output, _ = run_torch(twin, x, x, x, join(None, is_causal, L, L))
    theirs = gradients(output, [x, *twin.parameters()])
    for mine_i, theirs_i in zip(mine, theirs, strict=True):
        assert_close(mine_i, theirs_i, rtol=1e-12, atol=1e-12)


@both_paths
def test_a_trained_mask_gets_its_gradient(need_weights: bool) -> None:
    layer = layer64()
    query, key, mask = words(), other_words(), random_bias(B, H, L, S).requires_grad_()
    (mine,) = gradients(layer(query, key, mask=mask, need_weights=need_weights)[0], [mask])
    (theirs,) = gradients(run_torch(torch_twin(layer), query, key, key, mask)[0], [mask])
    assert_close(mine, theirs, **EXACT)
    assert mine.abs().max() > 0.01


@pytest.mark.parametrize(("batch", "length", "width", "heads"), [(1, 1, 1, 1), (2, 3, 7, 7)])
def test_smallest_sizes(batch: int, length: int, width: int, heads: int) -> None:
    layer = MultiHeadAttention(width, heads).double()
    x = randn(batch, length, width)
    for need_weights in (False, True):
        output, _ = layer(x, need_weights=need_weights)
        assert_close(output, run_reference(layer, x, x, x, None), **EXACT)


def test_ways_to_say_the_same() -> None:
    layer, x, y = layer64(), words(), other_words()
    for a, b in (
        (layer(x), layer(x, x)),
        (layer(x), layer(x, x, x)),
        (layer(x), layer(x, x.clone())),
        (layer(x, y), layer(x, y, y)),
        (layer(x, y), layer(query=x, key=y, value=y.clone())),
    ):
        assert_close(a[0], b[0], **EXACT)


def test_padding_mask_is_key_padding_mask_turned_round() -> None:
    layer, x = layer64(), words()
    lengths = [5, 2, 3]
    output, weights = layer(x, mask=padding_mask(lengths, L), need_weights=True)
    hidden = torch.tensor([[s >= n for s in range(L)] for n in lengths])
    theirs, their_weights = torch_twin(layer)(
        x, x, x, key_padding_mask=hidden, average_attn_weights=False
    )
    assert_close(output, theirs, **EXACT)
    assert_close(weights, their_weights, **EXACT)


@both_paths
def test_unbatched(need_weights: bool) -> None:
    layer = layer64()
    query, key = words(), other_words()
    keep = random_keep(L, S)
    for mask in (None, keep, random_bias(L, S)):
        whole, whole_weights = layer(query, key, mask=mask, need_weights=need_weights)
        one, weights = layer(query[1], key[1], mask=mask, need_weights=need_weights)
        assert_close(one, whole[1], **EXACT)
        if need_weights:
            assert_close(weights, whole_weights[1], **EXACT)
        k, v = layer.project_kv(key[1])
        assert_close(layer.attend(query[1], k, v, mask=mask)[0], whole[1], **EXACT)
    one, _ = layer(query[1], is_causal=True, need_weights=need_weights)
    twin = torch_twin(layer)
    theirs, _ = twin(*(query[1],) * 3, attn_mask=~keep.new_ones(L, L).tril())
    assert_close(one, theirs, **EXACT)


# Keys and values projected once


@both_paths
@pytest.mark.parametrize("make", ALL_MASKS.values(), ids=ALL_MASKS.keys())
def test_project_kv_and_attend_equal_forward(make: MakeMask, need_weights: bool) -> None:
    layer = layer64()
    query, key, value = words(), other_words(), other_words()
    mask = make[0](*make[1]) if make else None
    options = {"mask": mask, "need_weights": need_weights}
    for inputs in ((key,), (key, value), (key, key)):
        expected = layer(query, *inputs, **options)
        result = layer.attend(query, *layer.project_kv(*inputs), **options)
        assert_close(result[0], expected[0], **EXACT)
        assert (result[1] is None) == (not need_weights)
        if need_weights:
            assert_close(result[1], expected[1], **EXACT)


def test_word_by_word_with_a_cache_equals_the_causal_pass() -> None:
    layer, x = layer64(), words()
    expected, _ = layer(x, is_causal=True)
    keys, values = [], []
    for position in range(L):
        word = x[:, position : position + 1]
        k, v = layer.project_kv(word)
        keys.append(k)
        values.append(v)
        output, _ = layer.attend(word, torch.cat(keys, 2), torch.cat(values, 2))
        assert_close(output, expected[:, position : position + 1], **EXACT)


def test_attend_takes_any_strides() -> None:
    layer, query = layer64(), words()
    k, v = layer.project_kv(other_words())
    expected, _ = layer.attend(query, k, v)
    turned = [x.mT.contiguous().mT for x in (k, v)]
    assert_close(layer.attend(query, *turned)[0], expected, **EXACT)
    one = [x[:1].expand(x.shape) for x in (k, v)]
    copied = [x.contiguous() for x in one]
    assert_close(layer.attend(query, *one)[0], layer.attend(query, *copied)[0], **EXACT)


# Weights: names, start, copies


@pytest.mark.parametrize("bias", [True, False])
def test_state_loads_strictly_in_both_directions(bias: bool) -> None:
    theirs = nn.MultiheadAttention(E, H, bias=bias, batch_first=True).double()
    ours = MultiHeadAttention(E, H, bias=bias).double()
    assert list(ours.state_dict()) == list(theirs.state_dict())
    x = words()
    assert not torch.allclose(ours(x)[0], theirs(x, x, x)[0])

    ours.load_state_dict(theirs.state_dict(), strict=True)
    assert_close(ours(x)[0], theirs(x, x, x)[0], **EXACT)

    again = nn.MultiheadAttention(E, H, bias=bias, batch_first=True).double()
    again.load_state_dict(ours.state_dict(), strict=True)
    assert_close(again(x, x, x)[0], ours(x)[0], **EXACT)


def test_state_with_and_without_bias_do_not_mix() -> None:
    with pytest.raises(RuntimeError, match=r"Missing key.*in_proj_bias"):
        MultiHeadAttention(E, H).load_state_dict(MultiHeadAttention(E, H, bias=False).state_dict())
    with pytest.raises(RuntimeError, match=r"Unexpected key.*in_proj_bias"):
        MultiHeadAttention(E, H, bias=False).load_state_dict(MultiHeadAttention(E, H).state_dict())


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("seed", [0, 1, 99])
def test_same_seed_same_start_as_torch(seed: int, bias: bool) -> None:
    torch.manual_seed(seed)
    ours = MultiHeadAttention(E, H, bias=bias)
    after_ours = torch.rand(1)
    torch.manual_seed(seed)
    theirs = nn.MultiheadAttention(E, H, bias=bias)
    after_theirs = torch.rand(1)
    for name, tensor in theirs.state_dict().items():
        assert torch.equal(ours.state_dict()[name], tensor), name
    assert torch.equal(after_ours, after_theirs)
    assert {n for n, p in ours.named_parameters() if p.requires_grad} == set(ours.state_dict())


def test_copies_are_equal_and_independent() -> None:
    layer, x = layer64(dropout=0.25).eval(), words()
    expected, _ = layer(x)
    buffer = io.BytesIO()
    torch.save(layer.state_dict(), buffer)
    buffer.seek(0)
    loaded = layer64().eval()
    loaded.load_state_dict(torch.load(buffer, weights_only=True), strict=True)
    copies = [loaded, copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))]
    for twin in copies:
        assert torch.equal(twin(x)[0], expected)
        with torch.no_grad():
            twin.in_proj_weight.zero_()
        assert not torch.allclose(twin(x)[0], expected)
    assert copies[1].dropout == copies[2].dropout == 0.25
    assert torch.equal(layer(x)[0], expected)


def test_repr_names_the_sizes() -> None:
    text = repr(MultiHeadAttention(6, 2, dropout=0.1))
    assert text.startswith("MultiHeadAttention(\n  embed_dim=6, num_heads=2, dropout=0.1\n")


# Dropout


@both_paths
def test_no_dropout_in_evaluation(need_weights: bool) -> None:
    layer, x = layer64(dropout=0.5).eval(), words()
    plain = layer64()
    plain.load_state_dict(layer.state_dict())
    expected = plain(x, need_weights=need_weights)[0]
    for _ in range(3):
        assert torch.equal(layer(x, need_weights=need_weights)[0], expected)


@both_paths
def test_dropout_in_training_is_random_and_right_on_average(need_weights: bool) -> None:
    layer = layer64(dropout=0.3).eval()
    x = words()[:1].expand(3000, L, E)
    with torch.no_grad():
        expected = layer(x[:1])[0][0]
        draws = layer.train()(x, need_weights=need_weights)[0]
    assert not torch.allclose(draws[0], draws[1])
    # Six spreads of the mean of 3000 draws; 110 numbers are compared.
    spread = draws.std(0) / math.sqrt(len(draws))
    assert ((draws.mean(0) - expected).abs() < 6 * spread).all()
    assert spread.max() < 0.05


def test_weights_are_returned_before_dropout() -> None:
    layer, x = layer64(dropout=0.5).eval(), words()
    expected, weights = layer(x, need_weights=True)
    output, in_training = layer.train()(x, need_weights=True)
    assert_close(in_training, weights, **EXACT)
    assert not torch.allclose(output, expected)


def test_all_dropped_leaves_the_bias() -> None:
    layer, x = layer64(dropout=1.0), words()
    for need_weights in (False, True):
        output, _ = layer(x, need_weights=need_weights)
        assert_close(output, layer.out_proj.bias.expand(B, L, E), **EXACT)


# Nothing to attend to


@both_paths
@pytest.mark.parametrize("unbatched", [False, True], ids=["batch", "unbatched"])
@pytest.mark.parametrize("additive", [False, True], ids=["bool", "additive"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_empty_row_gives_the_bias_and_finite_gradients(
    dtype: torch.dtype, additive: bool, unbatched: bool, need_weights: bool
) -> None:
    layer = layer64().to(dtype)
    keep = random_keep(L, S)
    keep[2] = False
    mask = torch.zeros(L, S, dtype=dtype).masked_fill(~keep, -torch.inf) if additive else keep
    query, key = words(dtype).requires_grad_(), other_words(dtype).requires_grad_()
    inputs = (query[0], key[0]) if unbatched else (query, key)
    output, weights = layer(*inputs, mask=mask, need_weights=need_weights)
    assert torch.equal(output[..., 2, :], layer.out_proj.bias.expand_as(output[..., 2, :]))
    assert output.isfinite().all()
    if need_weights:
        assert torch.equal(weights[..., 2, :], torch.zeros_like(weights[..., 2, :]))
    mine = gradients(output, [query, key, *layer.parameters()])
    for gradient in mine:
        assert gradient.isfinite().all()
        assert gradient.abs().max() > 0
    assert torch.equal(mine[0][..., 2, :], torch.zeros_like(mine[0][..., 2, :]))


@both_paths
def test_a_sentence_of_length_zero_disturbs_no_other(need_weights: bool) -> None:
    layer, x = layer64(), words().requires_grad_()
    output, _ = layer(x, mask=padding_mask([5, 0, 3], L), need_weights=need_weights)
    assert_close(output[1], layer.out_proj.bias.expand(L, E), **EXACT)
    alone, _ = layer(x[2:, :3], need_weights=need_weights)
    assert_close(output[2:, :3], alone, **EXACT)
    gradient = gradients(output[:1], [x])[0]
    assert torch.equal(gradient[1], torch.zeros(L, E, dtype=torch.float64))
    twin = torch_twin(layer)
    keep = padding_mask([5, 0, 3], L)
    # torch's module gives NaN here with need_weights=True, and agrees without.
    theirs, _ = run_torch(twin, x, x, x, keep, need_weights=False)
    assert_close(output, theirs, **EXACT)


# Precision and special numbers


@both_paths
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("magnitude", [1.0, 100.0])
def test_half_precision_stays_near_the_exact_result(
    dtype: torch.dtype, magnitude: float, need_weights: bool
) -> None:
    layer = layer64().to(dtype)
    x = words(dtype) * magnitude
    exact = copy.deepcopy(layer).double()(x.double(), is_causal=True)[0]
    output, _ = layer(x, is_causal=True, need_weights=need_weights)
    assert output.dtype == dtype
    assert output.isfinite().all()
    # At magnitude 100 the scores reach 1e5: what float16 cannot hold, though torch's fused form
    # copes. Rounded inputs of the softmax then move weights, so only most numbers stay near.
    near = (output - exact).abs() <= 20 * torch.finfo(dtype).eps * magnitude
    assert near.double().mean() > 0.9
    theirs, _ = run_torch(torch_twin(layer), x, x, x, join(None, True, L, L), need_weights=False)
    assert theirs.isfinite().all()


@both_paths
def test_nan_spreads_as_in_torch(need_weights: bool) -> None:
    layer, x, y = layer64(), words(), other_words()
    twin = torch_twin(layer)
    x[0, 3, 2] = torch.nan
    for mask in (None, random_keep(L, L)):
        output, _ = layer(x, mask=mask, need_weights=need_weights)
        assert output[0].isnan().all()
        assert not output[1:].isnan().any()

    y[1, 6, 0] = torch.nan
    output, weights = layer(words(), y, need_weights=need_weights)
    assert output[1].isnan().all()
    assert not output[[0, 2]].isnan().any()
    if need_weights:
        assert weights[1].isnan().all()

    # A query with NaN that reads clean keys: torch's fused CPU kernel takes a row of NaN scores
    # for an empty row and gives zeros. The fused path is that kernel; the other path shows NaN.
    output, _ = layer(x, other_words(), need_weights=need_weights)
    if need_weights:
        assert output[0, 3].isnan().all()
        assert output.isnan().sum() == E
    theirs, _ = run_torch(twin, x, *(other_words(),) * 2, None, need_weights)
    assert torch.equal(output.isnan(), theirs.isnan())


@pytest.mark.parametrize("mask_dtype", DTYPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_mask_and_layer_of_different_dtypes(dtype: torch.dtype, mask_dtype: torch.dtype) -> None:
    layer = layer64().to(dtype)
    query, key = words(dtype), other_words(dtype)
    mask = random_bias(L, S).mul(4).round().div(4)  # exact in every dtype
    for need_weights in (False, True):
        options = {"is_causal": True, "need_weights": need_weights}
        output, _ = layer(query, key, mask=mask.to(mask_dtype), **options)
        assert output.dtype == dtype
        assert_close(output, layer(query, key, mask=mask.to(dtype), **options)[0])


def test_both_paths_agree_on_a_mask_too_low_for_float16() -> None:
    layer = layer64().half()
    query, key = words(torch.float16), other_words(torch.float16)
    low = torch.zeros(L, S).masked_fill(~random_keep(L, S), -1e9)
    low[2] = -1e9
    fused, _ = layer(query, key, mask=low)
    output, _ = layer(query, key, mask=low, need_weights=True)
    assert_close(output, fused, rtol=0, atol=4e-3)
    assert torch.equal(fused[:, 2], layer.out_proj.bias.expand(B, E))
    assert torch.equal(output[:, 2], layer.out_proj.bias.expand(B, E))


# Inputs of every kind


@both_paths
@pytest.mark.parametrize("make", ALL_MASKS.values(), ids=ALL_MASKS.keys())
def test_nothing_that_was_given_is_changed(make: MakeMask, need_weights: bool) -> None:
    layer = layer64(dropout=0.5)
    given = [words(), other_words(), other_words()]
    mask = make[0](*make[1]) if make else None
    watched = [*given, *layer.state_dict().values(), *([] if mask is None else [mask])]
    before = [x.clone() for x in watched]
    for x in given:
        x.requires_grad_()
    output, _ = layer(*given, mask=mask, is_causal=True, need_weights=need_weights)
    output.sum().backward()
    for x, copied in zip(watched, before, strict=True):
        assert torch.equal(x, copied)


@both_paths
def test_strange_strides(need_weights: bool) -> None:
    layer = layer64()
    x = words()
    keep = random_keep(B, H, L, L)
    for query in (
        randn(E, L, B).permute(2, 1, 0),
        randn(B, L, 2 * E)[..., ::2],
        x[:1].expand(B, L, E),
        x[:, :1].expand(B, L, E),
    ):
        for mask in (
            keep.permute(3, 1, 0, 2).contiguous().permute(2, 1, 3, 0),
            keep[:1, :1, :1].expand(B, H, L, L),
            keep[0, 0].mT,
            random_bias(L, B, L, H).permute(1, 3, 0, 2),
        ):
            output, _ = layer(query, mask=mask, need_weights=need_weights)
            expected, _ = layer(query.contiguous(), mask=mask.contiguous(), need_weights=True)
            assert_close(output, expected, **EXACT)


@both_paths
@pytest.mark.parametrize("mask", [None, (L, L), (0, 1, 1, L), (0, H, L, L)], ids=str)
def test_no_sentences(mask: tuple[int, ...] | None, need_weights: bool) -> None:
    layer = layer64()
    x = words()[:0].requires_grad_()
    keep = None if mask is None else torch.ones(mask, dtype=torch.bool)
    output, weights = layer(x, mask=keep, need_weights=need_weights)
    assert output.shape == (0, L, E)
    assert weights is None or weights.shape == (0, H, L, L)
    output.sum().backward()
    assert torch.equal(layer.in_proj_weight.grad, torch.zeros_like(layer.in_proj_weight))


# Properties

no_clock = settings(deadline=None, derandomize=True, max_examples=15)
sizes = st.integers(1, 5)
seeds = st.integers(0, 999)


@no_clock
@given(st.integers(2, 5), seeds, st.booleans(), st.data())
def test_a_later_word_cannot_change_an_earlier_output(
    length: int, seed: int, need_weights: bool, data: st.DataObject
) -> None:
    changed = data.draw(st.integers(1, length - 1))
    torch.manual_seed(seed)
    layer, x = layer64(), randn(2, length, E)
    before, _ = layer(x, is_causal=True, need_weights=need_weights)
    x[:, changed] = 100 * randn(2, E)
    after, _ = layer(x, is_causal=True, need_weights=need_weights)
    assert_close(after[:, :changed], before[:, :changed], **EXACT)
    assert not torch.allclose(after[:, changed], before[:, changed])


@no_clock
@given(st.lists(sizes, min_size=1, max_size=3), st.integers(0, 3), seeds, st.booleans())
def test_padding_changes_nothing_real(
    lengths: list[int], extra: int, seed: int, need_weights: bool
) -> None:
    torch.manual_seed(seed)
    layer, longest = layer64(), max(lengths) + extra
    x = randn(len(lengths), longest, E)
    mask = padding_mask(lengths, longest)
    output, _ = layer(x, mask=mask, need_weights=need_weights)
    for row, n in enumerate(lengths):
        alone, _ = layer(x[row : row + 1, :n])
        assert_close(output[row : row + 1, :n], alone, **EXACT)


@no_clock
@given(st.integers(2, 4), sizes, seeds, st.booleans())
def test_batch_mates_do_not_matter(batch: int, length: int, seed: int, need_weights: bool) -> None:
    torch.manual_seed(seed)
    layer, x = layer64(), randn(batch, length, E)
    keep = random_keep(batch, H, length, length)
    output, _ = layer(x, mask=keep, need_weights=need_weights)
    for row in range(batch):
        alone, _ = layer(x[row : row + 1], mask=keep[row : row + 1], need_weights=need_weights)
        assert_close(output[row : row + 1], alone, **EXACT)


@no_clock
@given(sizes, seeds, st.booleans())
def test_reordered_words_give_reordered_outputs(length: int, seed: int, need_weights: bool) -> None:
    torch.manual_seed(seed)
    layer, x, order = layer64(), randn(2, length, E), torch.randperm(length)
    output, _ = layer(x, need_weights=need_weights)
    mixed, _ = layer(x[:, order], need_weights=need_weights)
    assert_close(mixed, output[:, order], **EXACT)


@no_clock
@given(sizes, sizes, seeds)
def test_rows_of_each_head_sum_to_one(length: int, keys: int, seed: int) -> None:
    torch.manual_seed(seed)
    _, weights = layer64()(randn(2, length, E), randn(2, keys, E), need_weights=True)
    assert (weights >= 0).all()
    assert_close(weights.sum(-1), torch.ones(2, H, length, dtype=torch.float64), **EXACT)


def test_output_is_a_sum_with_one_term_a_head() -> None:
    layer, x = layer64(), words()
    _, weights = layer(x, need_weights=True)
    _, v = layer.project_kv(x)
    terms = [
        weights[:, h] @ v[:, h] @ layer.out_proj.weight[:, h * D : (h + 1) * D].T for h in range(H)
    ]
    assert_close(layer(x)[0], sum(terms) + layer.out_proj.bias, **EXACT)


# torch's tools


class Decoder(nn.Module):
    """Masks are made from lengths inside the model."""

    def __init__(self) -> None:
        super().__init__()
        self.inputs = InputLayer(13, E, 64).double()
        self.attention = layer64()

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        length = ids.shape[1]
        mask = padding_mask(lengths, length) & causal_mask(length, length)
        return self.attention(self.inputs(ids), mask=mask)[0]


@pytest.mark.usefixtures("no_shape_checks")
# torch maps its fused CPU kernel in a loop, and says so.
@pytest.mark.filterwarnings("ignore:There is a performance drop:UserWarning")
class TestTools:
    @pytest.mark.parametrize(
        ("backend", "dynamic"),
        [
            ("aot_eager", False),
            pytest.param("aot_eager", True, marks=pytest.mark.slow),
            pytest.param(
                "inductor",
                None,
                marks=[
                    pytest.mark.slow,
                    # Inductor itself still uses what torch has deprecated.
                    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
                    pytest.mark.filterwarnings("ignore::FutureWarning"),
                    pytest.mark.filterwarnings("ignore::UserWarning"),
                ],
            ),
        ],
    )
    @both_paths
    def test_compile_in_one_graph(
        self, backend: str, dynamic: bool | None, need_weights: bool
    ) -> None:
        torch._dynamo.reset()
        layer, query, key = layer64(), words().requires_grad_(), other_words()
        compiled = torch.compile(layer, fullgraph=True, backend=backend, dynamic=dynamic)
        keep = random_keep(B, 1, L, S)
        options = {"mask": keep, "is_causal": True, "need_weights": need_weights}
        output, weights = compiled(query, key, **options)
        expected, expected_weights = layer(query, key, **options)
        assert_close(output, expected, **EXACT)
        if need_weights:
            assert_close(weights, expected_weights, **EXACT)
        mine = gradients(output, [query, *layer.parameters()])
        for a, b in zip(mine, gradients(expected, [query, *layer.parameters()]), strict=True):
            assert_close(a, b, rtol=1e-12, atol=1e-12)
        assert_close(compiled(query)[0], layer(query)[0], **EXACT)

    @pytest.mark.parametrize("strict", [False, True])
    def test_export_with_any_batch_and_length(self, strict: bool) -> None:
        layer, x = layer64(), words()
        axes = {0: torch.export.Dim("batch", max=64), 1: torch.export.Dim("length", max=64)}
        program = torch.export.export(layer, (x,), dynamic_shapes=(axes,), strict=strict).module()
        for shape in ((B, L), (2, 13), (1, 1), (7, 2)):
            x = randn(*shape, E)
            assert_close(program(x)[0], layer(x)[0], **EXACT)

    @both_paths
    def test_export_of_cross_attention_with_a_mask(self, need_weights: bool) -> None:
        class Reader(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.attention = layer64()

            def forward(self, query: Tensor, key: Tensor, mask: Tensor) -> Tensor:
                return self.attention(query, key, mask=mask, need_weights=need_weights)[0]

        reader = Reader()
        names = ("batch", "length", "keys")
        batch, length, keys = (torch.export.Dim(name, min=2, max=64) for name in names)
        inputs = (words(), other_words(), random_keep(B, 1, 1, S))
        axes = ({0: batch, 1: length}, {0: batch, 1: keys}, {0: batch, 3: keys})
        program = torch.export.export(reader, inputs, dynamic_shapes=axes).module()
        for b, l_, s in ((B, L, S), (2, 11, 3)):
            inputs = (randn(b, l_, E), randn(b, s, E), random_keep(b, 1, 1, s))
            assert_close(program(*inputs), reader(*inputs), **EXACT)

    @pytest.mark.parametrize("strict", [False, pytest.param(True, marks=pytest.mark.slow)])
    def test_masks_are_made_inside_an_exported_model(self, strict: bool) -> None:
        decoder = Decoder()
        batch = torch.export.Dim("batch", min=2, max=64)
        length = torch.export.Dim("length", min=2, max=64)
        inputs = (torch.randint(13, (B, L)), torch.tensor([5, 1, 3]))
        other = (torch.randint(13, (2, 11)), torch.tensor([0, 11]))
        program = torch.export.export(
            decoder, inputs, dynamic_shapes=({0: batch, 1: length}, {0: batch}), strict=strict
        ).module()
        assert_close(program(*other), decoder(*other), **EXACT)

    @pytest.mark.slow
    def test_masks_are_made_inside_a_compiled_model(self) -> None:
        decoder = Decoder()
        compiled = torch.compile(decoder, fullgraph=True, backend="aot_eager", dynamic=True)
        for b, length in ((2, 11), (B, L), (7, 2)):
            inputs = (torch.randint(13, (b, length)), torch.randint(length + 1, (b,)))
            with torch.compiler.set_stance("fail_on_recompile" if b != 2 else "default"):
                assert_close(compiled(*inputs), decoder(*inputs), **EXACT)

    @both_paths
    @pytest.mark.parametrize(
        "make", [None, *(MASKS[f"{kind} LS"] for kind in ("bool", "additive"))]
    )
    def test_vmap_over_a_leading_axis(self, make: MakeMask, need_weights: bool) -> None:
        layer, x = layer64(), randn(4, B, L, E)
        mask = make[0](L, L) if make else None

        def run(one: Tensor) -> Tensor:
            return layer(one, mask=mask, is_causal=True, need_weights=need_weights)[0]

        expected = torch.stack([run(one) for one in x])
        assert_close(vmap(run)(x), expected, **EXACT)
        # Over the batch itself: inside, there is no batch axis at all.
        assert_close(vmap(run)(x[0]), expected[0], **EXACT)

    def test_vmap_over_masks(self) -> None:
        layer, x, keep = layer64(), words(), random_keep(B, L, L)
        mapped = vmap(lambda one, mask: layer(one, mask=mask)[0])(x, keep)
        assert_close(mapped, layer(x, mask=keep.unsqueeze(1))[0], **EXACT)

    def test_vmap_over_stacked_layers(self) -> None:
        layers, x = [layer64() for _ in range(4)], words()
        parameters, buffers = stack_module_state(layers)

        def run(parameter: dict[str, Tensor], buffer: dict[str, Tensor]) -> Tensor:
            return functional_call(layers[0], (parameter, buffer), (x,))[0]

        expected = torch.stack([layer(x)[0] for layer in layers])
        assert_close(vmap(run)(parameters, buffers), expected, **EXACT)

    def test_gradients_of_each_sentence(self) -> None:
        layer, x = layer64(), words()
        parameters = dict(layer.named_parameters())

        def loss(parameters: dict[str, Tensor], one: Tensor) -> Tensor:
            return functional_call(layer, parameters, (one,))[0].square().sum()

        each = vmap(torch.func.grad(loss), (None, 0))(parameters, x)
        for row in range(B):
            whole = torch.autograd.grad(layer(x[row])[0].square().sum(), parameters.values())
            for name, gradient in zip(parameters, whole, strict=True):
                assert_close(each[name][row], gradient, rtol=1e-11, atol=1e-11)

    def test_second_derivatives_with_weights(self) -> None:
        layer, x = layer64(), words()[:1, :2].requires_grad_()
        assert torch.autograd.gradgradcheck(
            lambda one: layer(one, need_weights=True)[0], (x,), fast_mode=True
        )

    @both_paths
    @pytest.mark.parametrize("make", ALL_MASKS.values(), ids=ALL_MASKS.keys())
    def test_autocast(self, make: MakeMask, need_weights: bool) -> None:
        layer, query, key = layer64().float(), words(torch.float32), other_words(torch.float32)
        mask = make[0](*make[1]) if make else None
        options = {"mask": mask, "is_causal": True, "need_weights": need_weights}
        expected, _ = layer(query, key, **options)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            output, weights = layer(query, key, **options)
            output.sum().backward()
        assert output.dtype == torch.bfloat16
        assert_close(output.float(), expected, rtol=0.05, atol=0.05)
        if need_weights:
            assert weights.dtype == torch.bfloat16
        for parameter in layer.parameters():
            assert parameter.grad.dtype == torch.float32
            assert parameter.grad.isfinite().all()

    def test_autocast_with_keys_projected_outside(self) -> None:
        layer, query, key = layer64().float(), words(torch.float32), other_words(torch.float32)
        k, v = layer.project_kv(key)
        expected, _ = layer(query, key)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            output, _ = layer.attend(query, k, v)
            slow, _ = layer.attend(query, k, v, need_weights=True)
        assert_close(output.float(), expected, rtol=0.05, atol=0.05)
        assert_close(slow.float(), expected, rtol=0.05, atol=0.05)

    def test_meta_device_and_inference_mode(self) -> None:
        with torch.device("meta"):
            layer = MultiHeadAttention(E, H)
            x, keep = torch.zeros(B, L, E), torch.ones(L, L, dtype=torch.bool)
            output, weights = layer(x, mask=keep, is_causal=True, need_weights=True)
        assert output.device.type == weights.device.type == "meta"
        layer64_, x = layer64(), words()
        with torch.inference_mode():
            assert_close(layer64_(x)[0], layer64_(x, need_weights=True)[0], **EXACT)


# Bad input (that of masks is in test_input_rules.py)


@pytest.mark.usefixtures("no_shape_checks")
class TestBadInput:
    def test_sizes(self) -> None:
        with pytest.raises(
            ValueError, match="^num_heads must divide embed_dim: got embed_dim=22, "
        ):
            MultiHeadAttention(22, 3)
        with pytest.raises(TypeError, match=r"^embed_dim must be an int, got 22\.0 of type float$"):
            MultiHeadAttention(22.0, 2)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="^num_heads must be at least 1, got 0$"):
            MultiHeadAttention(22, 0)

    @pytest.mark.parametrize("dropout", [-0.1, 1.1, 2])
    def test_dropout(self, dropout: float) -> None:
        with pytest.raises(ValueError, match=rf"^dropout must lie in 0 \.\. 1, got {dropout}$"):
            MultiHeadAttention(22, 2, dropout=dropout)
        with pytest.raises(TypeError, match="^dropout must be a number, got '0.1' of type str$"):
            MultiHeadAttention(22, 2, dropout="0.1")  # type: ignore[arg-type]

    def test_positional_options_are_refused(self) -> None:
        # nn.MultiheadAttention's third argument is dropout, its fourth input a padding mask.
        with pytest.raises(TypeError, match="positional"):
            MultiHeadAttention(22, 2, 0.1)  # type: ignore[misc]
        with pytest.raises(TypeError, match="positional"):
            layer64()(*(words(),) * 3, torch.ones(B, L, dtype=torch.bool))

    @pytest.mark.parametrize("shape", [(B, L, 13), (E,), (), (2, B, L, E), (B, 0, E), (0, E)])
    def test_query(self, shape: tuple[int, ...]) -> None:
        message = (
            r"^query must have shape \(B, length, 22\) or \(length, 22\) with at least one word "
            rf"\(embed_dim=22\), got \({', '.join(map(str, shape))}"
        )
        layer, wrong = layer64(), torch.zeros(shape, dtype=torch.float64)
        for attempt in (
            lambda: layer(wrong),
            lambda: layer(wrong, other_words()),
            lambda: layer.attend(wrong, *layer.project_kv(other_words())),
        ):
            with pytest.raises(ValueError, match=message):
                attempt()

    @pytest.mark.parametrize("shape", [(B, S, 13), (E,), (), (2, B, S, E), (B, 0, E)])
    def test_key_and_value(self, shape: tuple[int, ...]) -> None:
        layer, wrong = layer64(), torch.zeros(shape, dtype=torch.float64)
        message = r" must have shape \(B, length, 22\) or \(length, 22\) with at least one word "
        for attempt in (
            lambda: layer(words(), wrong),
            lambda: layer.project_kv(wrong),
        ):
            with pytest.raises(ValueError, match="^key" + message):
                attempt()
        for attempt in (
            lambda: layer(words(), other_words(), wrong),
            lambda: layer.project_kv(other_words(), wrong),
        ):
            with pytest.raises(ValueError, match="^value" + message):
                attempt()

    def test_value_without_key(self) -> None:
        with pytest.raises(ValueError, match="^value needs a key: got value but key=None$"):
            layer64()(words(), value=words())

    def test_batches_differ(self) -> None:
        layer, x, y = layer64(), words(), other_words()
        message = (
            r"^query and key must have the same batch: "
            r"got shapes \(3, 5, 22\) and \(2, 7, 22\)$"
        )
        with pytest.raises(ValueError, match=message):
            layer(x, y[:2])
        for one, other in ((x[0], y), (x, y[0]), (x[:1], y)):
            with pytest.raises(ValueError, match="^query and key must have the same batch"):
                layer(one, other)

    def test_key_and_value_lengths_differ(self) -> None:
        message = (
            r"^value must have one row for each key: got value \(3, 5, 22\) and key \(3, 7, 22\)$"
        )
        with pytest.raises(ValueError, match=message):
            layer64()(words(), other_words(), words())
        with pytest.raises(ValueError, match="^value must have one row for each key"):
            layer64()(words(), other_words(), other_words()[0])

    def test_attend_with_keys_that_do_not_fit(self) -> None:
        layer, x = layer64(), words()
        k, v = layer.project_kv(other_words())
        with pytest.raises(ValueError, match="^query and key must have the same width: got 11 and"):
            layer.attend(x, *MultiHeadAttention(E, 11).double().project_kv(other_words()))
        with pytest.raises(ValueError, match="^query and key must agree on all axes before the la"):
            layer.attend(x[0], k, v)
        with pytest.raises(ValueError, match="^value must have one row for each key"):
            layer.attend(x, k, v[:, :, :5])
