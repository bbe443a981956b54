"""The reference itself, by hand and by formulas it does not use: an oracle must not be believed."""

import ast
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.testing import assert_array_equal
from torch.nn import functional as F
from torch.testing import assert_close

from mha_lib import reference

B, H, L, S, D = 2, 3, 5, 7, 11
GENERATOR = np.random.default_rng(0)


def randn(*shape: int) -> reference.Array:
    return GENERATOR.standard_normal(shape)


def test_sinusoidal_positions() -> None:
    table = reference.sinusoidal_positions(4, 5)
    by_hand = [math.sin(3), math.cos(3), math.sin(3 / 10000**0.4), math.cos(3 / 10000**0.4)]
    assert_close(table[3].tolist(), [*by_hand, math.sin(3 / 10000**0.8)])
    assert table[0].tolist() == [0, 1, 0, 1, 0]


def test_embed_tokens() -> None:
    ids = np.array([[2, 0, 2], [1, 1, 0]])
    table, positions = randn(3, 4), randn(5, 4)
    expected = 2 * table[ids] + positions[:3]
    assert_close(reference.embed_tokens(ids, table, positions), expected)


def test_linear() -> None:
    x, weight, bias = randn(B, L, D), randn(S, D), randn(S)
    assert_close(reference.linear(x, weight, bias), np.einsum("blj,ij->bli", x, weight) + bias)
    assert_close(reference.linear(x, weight), np.einsum("blj,ij->bli", x, weight))


def test_split_and_merge() -> None:
    x = np.arange(B * L * 6.0).reshape(B, L, 6)
    split = reference.split_heads(x, 3)
    assert split.shape == (B, 3, L, 2)
    assert_array_equal(split, x.reshape(B, L, 3, 2).swapaxes(1, 2))
    assert_array_equal(reference.merge_heads(split), x)


def test_scores() -> None:
    query, key = randn(B, H, L, D), randn(B, H, S, D)
    products = np.einsum("bhld,bhsd->bhls", query, key)
    assert_close(reference.attention_scores(query, key), products / math.sqrt(D))
    assert_close(reference.attention_scores(query, key, 0.5), products / 2)
    assert_close(reference.attention_scores(query, key, 0.0), 0 * products)


def test_weights_by_hand() -> None:
    query = np.ones((1, 1, 2, 1))
    key = np.log([[[[1.0], [3.0], [4.0]]]])
    assert_close(reference.attention_weights(query, key)[0, 0, 1].tolist(), [1 / 8, 3 / 8, 4 / 8])
    causal = reference.attention_weights(query, key, is_causal=True)[0, 0]
    assert_close(causal.tolist(), [[1.0, 0.0, 0.0], [1 / 4, 3 / 4, 0.0]])
    keep = np.array([[False, False, False], [True, False, True]])
    masked = reference.attention_weights(query, key, keep)[0, 0]
    assert_close(masked.tolist(), [[0.0, 0.0, 0.0], [1 / 5, 0.0, 4 / 5]])
    bias = np.array([[-math.inf] * 3, [math.log(4), 0.0, -math.inf]])
    masked = reference.attention_weights(query, key, bias)[0, 0]
    assert_close(masked.tolist(), [[0.0, 0.0, 0.0], [4 / 7, 3 / 7, 0.0]])
    both = reference.attention_weights(query, key, bias, is_causal=True)[0, 0]
    assert_close(both.tolist(), [[0.0, 0.0, 0.0], [4 / 7, 3 / 7, 0.0]])


def test_weights_of_large_scores() -> None:
    query, key = np.full((1, 1, 1, 1), 1e4), np.array([[[[1.0], [0.9]]]])
    assert reference.attention_weights(query, key).tolist() == [[[[1.0, 0.0]]]]


@pytest.mark.parametrize("shape", [(L, S), (B, 1, 1, S), (B, 1, L, S), (B, H, L, S)], ids=str)
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("additive", [False, True], ids=["bool", "additive"])
def test_attention_equals_torch(shape: tuple[int, ...], is_causal: bool, additive: bool) -> None:
    query, key, value = randn(B, H, L, D), randn(B, H, S, D), randn(B, H, S, 13)
    keep = GENERATOR.random(shape) > 0.4
    mask = np.where(keep, GENERATOR.standard_normal(shape), -math.inf) if additive else keep
    output = reference.scaled_dot_product_attention(query, key, value, mask, is_causal)
    causal = np.tri(L, S, dtype=bool) if is_causal else np.ones((L, S), dtype=bool)
    full = np.where(causal, mask, -math.inf) if additive else mask & causal
    tensors = [torch.from_numpy(x) for x in (query, key, value, full)]
    theirs = F.scaled_dot_product_attention(*tensors).numpy()
    assert_close(output, theirs, rtol=0, atol=1e-13)


def test_multi_head_attention_by_hand() -> None:
    # Queries and keys are zero: each word gets the average of the values, 2 and 3 for x, y.
    x = np.array([[[1.0, 2.0], [3.0, 4.0]]])
    zero, eye = np.zeros((2, 2)), np.eye(2)
    output = reference.multi_head_attention(
        x, x, x, np.vstack([zero, zero, eye]), None, np.array([[0.0, 1.0], [1.0, 0.0]]), None, 2
    )
    assert output.tolist() == [[[3.0, 2.0], [3.0, 2.0]]]
    output = reference.multi_head_attention(
        x,
        x,
        x,
        np.vstack([zero, zero, eye]),
        np.array([9.0, 9.0, 0.0, 0.0, 10.0, 20.0]),
        eye,
        np.array([100.0, 200.0]),
        1,
        np.array([[True, False], [False, False]]),
    )
    assert output.tolist() == [[[111.0, 222.0], [100.0, 200.0]]]


def test_multi_head_attention_tells_the_three_inputs_apart() -> None:
    # Word s of the values is s; keys pick word 1 for query +1 and word 0 for query -1.
    query, key, value = (np.array([x]) for x in ([[9.0], [-9.0]], [[-9.0], [9.0]], [[0.0], [1.0]]))
    in_proj = np.array([[1.0], [1.0], [1.0]])
    one = np.eye(1)
    output = reference.multi_head_attention(query, key, value, in_proj, None, one, None, 1)
    assert_close(output, np.array([[[1.0], [0.0]]]), rtol=0, atol=1e-12)


def test_masks() -> None:
    assert_array_equal(reference.causal_mask(3, 4), np.tri(3, 4, dtype=bool))
    assert_array_equal(reference.causal_mask(3, 4, 2), np.tri(3, 4, 2, dtype=bool))
    assert reference.padding_mask([0, 2], 3).tolist() == [[[[0, 0, 0]]], [[[1, 1, 0]]]]
    expected = [[[[0, 0], [0, 0]]], [[[1, 0], [1, 1]]], [[[1, 0], [1, 0]]]]
    assert reference.decoder_mask([0, 2, 1], 2).tolist() == expected


def test_arguments_are_not_changed() -> None:
    query, key, value, mask = randn(1, 2, 3, 4), randn(1, 2, 3, 4), randn(1, 2, 3, 4), randn(3, 3)
    before = [x.copy() for x in (query, key, value, mask)]
    reference.scaled_dot_product_attention(query, key, value, mask, is_causal=True)
    for x, copy in zip((query, key, value, mask), before, strict=True):
        assert_array_equal(x, copy)


def test_imports_only_numpy_and_the_standard_library() -> None:
    tree = ast.parse(Path(reference.__file__).read_text(encoding="utf-8"))
    modules = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            modules.add((node.module or "").split(".")[0])
    assert modules == {"math", "collections", "numpy"}


def test_uses_no_array_shortcut_for_what_it_defines() -> None:
    # Matrix products and softmax are what it is the second opinion on: they are written as loops.
    source = Path(reference.__file__).read_text(encoding="utf-8")
    tree = ast.parse(source)
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.MatMult)]
    for shortcut in ("einsum", "np.dot", "matmul", "np.exp", "softmax(", "transpose", "swapaxes"):
        assert shortcut not in source
