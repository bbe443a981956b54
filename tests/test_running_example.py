"""Every number that lessons 1 to 6 name for "dogs chase black cats", typed in with two decimals."""

import numpy as np
import pytest
import torch
from oracles import EXACT, array, assert_two_decimals, gradients
from torch import Tensor, nn
from torch.testing import assert_close

from mha_lib import (
    MultiHeadAttention,
    attention_scores,
    attention_weights,
    embed_tokens,
    head_dim,
    head_rows,
    merge_heads,
    reference,
    scaled_dot_product_attention,
    sinusoidal_positions,
    split_heads,
    unpack_projections,
)
from mha_lib.running_example import (
    EMBED_DIM,
    FEATURES,
    HEAD_DIM,
    IDS,
    LENGTHS,
    NUM_HEADS,
    SENTENCES,
    TABLE,
    W_K,
    W_O,
    W_Q,
    W_V,
    WORDS,
    state_dict,
)

DOGS, CHASE, BLACK, CATS = range(4)
X = embed_tokens(IDS, TABLE.double(), sinusoidal_positions(4, 6).double())
Q, K, V = (X @ weight.double().T for weight in (W_Q, W_K, W_V))
q, k, v = (split_heads(x, 2) for x in (Q, K, V))


def layer() -> MultiHeadAttention:
    module = MultiHeadAttention(EMBED_DIM, NUM_HEADS).double()
    module.load_state_dict(state_dict(torch.float64), strict=True)
    return module


# The example itself


def test_sizes_are_all_different() -> None:
    assert (NUM_HEADS, HEAD_DIM, EMBED_DIM) == (2, 3, 6)
    assert IDS.shape == (5, 4)
    assert head_dim(EMBED_DIM, NUM_HEADS) == HEAD_DIM


def test_sentences_ids_and_lengths_agree() -> None:
    assert [[WORDS[i] for i in row] for row in IDS.tolist()] == [list(s) for s in SENTENCES]
    assert SENTENCES[0] == ("dogs", "chase", "black", "cats")
    # The second sentence is the first with the nouns swapped.
    swap = {"dogs": "cats", "cats": "dogs"}
    assert SENTENCES[1] == tuple(swap.get(word, word) for word in SENTENCES[0])
    assert LENGTHS.tolist() == [sum(word != "<pad>" for word in s) for s in SENTENCES]


def test_features_read_as_the_text_says() -> None:
    by_word = dict(zip(WORDS, FEATURES.tolist(), strict=True))
    assert by_word["dogs"] == [0, 0, 2, 0, 0, 1]
    assert by_word["cats"] == [0, 0, 2, 0, 0, -1]
    assert by_word["chase"] == [0, 0, 0, 2, 0, 0]
    assert by_word["black"] == [0, 0, 0, 0, 2, 0]
    assert by_word["<pad>"] == [0] * 6
    assert_close(TABLE * 6**0.5, FEATURES)


def test_weights_row_by_row() -> None:
    e = torch.eye(6)
    query = [2 * e[0] - 3 * e[1], 3 * e[0] + 2 * e[1], e[4]]
    query += [e[2] + e[3] + e[4], 2 * e[1], -2 * e[0]]
    assert torch.equal(W_Q, torch.stack(query))
    key = [3 * e[0], 3 * e[1], e[3], e[2], 2 * e[0], 2 * e[1]]
    assert torch.equal(W_K, torch.stack(key))
    assert torch.equal(W_V, e[[2, 3, 5, 2, 4, 5]])
    out = [e[2] - e[5], e[2] + e[5], e[0] + e[3], e[1], e[4], e[0] - e[3]]
    assert torch.equal(W_O, torch.stack(out))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_state_dict_is_a_fresh_copy(dtype: torch.dtype) -> None:
    first = state_dict(dtype)
    assert all(tensor.dtype == dtype for tensor in first.values())
    for tensor in first.values():
        tensor.fill_(99)
    second = state_dict(dtype)
    assert_close(torch.cat([W_Q, W_K, W_V]).to(dtype), second["in_proj_weight"])
    assert_close(W_O.to(dtype), second["out_proj.weight"])
    assert not second["in_proj_bias"].any()
    assert not second["out_proj.bias"].any()


# Lesson 1


@pytest.mark.parametrize(("heads", "score_cells"), [(1, 16), (2, 32), (3, 48), (6, 96)])
def test_lesson_1_only_score_cells_grow(heads: int, score_cells: int) -> None:
    module = MultiHeadAttention(6, heads)
    assert sum(parameter.numel() for parameter in module.parameters()) == 168
    _, weights = module(X[:1].float(), need_weights=True)
    assert weights.numel() == score_cells
    multiply_adds = score_cells * module.head_dim
    assert multiply_adds == 96


def test_lesson_1_floor_division_would_leave_two_features_unread() -> None:
    width = 6 // 4
    assert width == 1
    assert 6 - 4 * width == 2
    with pytest.raises(ValueError, match="allows num_heads in 1, 2, 3, 6"):
        head_dim(6, 4)


# Lesson 2


def test_lesson_2_positions() -> None:
    positions = sinusoidal_positions(4, 6)
    moved = positions.max(0).values - positions.min(0).values
    assert_two_decimals(moved, [0.91, 1.99, 0.14, 0.01, 0.01, 0.00])
    assert_two_decimals(positions.norm(dim=1), [1.73] * 4)


def test_lesson_2_scaled_words() -> None:
    dogs = TABLE[WORDS.index("dogs")]
    assert_two_decimals(dogs.norm(), 0.91)
    assert_two_decimals((dogs * 6**0.5).norm(), 2.24)
    assert_two_decimals(
        X[0],
        [
            [0.00, 1.00, 2.00, 1.00, 0.00, 2.00],
            [0.84, 0.54, 0.05, 3.00, 0.00, 1.00],
            [0.91, -0.42, 0.09, 1.00, 2.00, 1.00],
            [0.14, -0.99, 2.14, 0.99, 0.01, 0.00],
        ],
    )


def test_lesson_2_rows_that_are_new_when_the_nouns_are_swapped() -> None:
    bag = embed_tokens(IDS, TABLE, torch.zeros(4, 6))

    def new_rows(x: Tensor) -> list[int]:
        return [row for row in range(4) if not (x[1, row] == x[0]).all(-1).any()]

    assert new_rows(bag) == []
    assert new_rows(X) == [DOGS, CATS]


# Lesson 3


def test_lesson_3_one_cell_of_the_queries() -> None:
    products = W_Q.double()[3] * X[0, CHASE]
    assert_two_decimals(products, [0, 0, 0.05, 3.00, 0.00, 0])
    assert_two_decimals(Q[0, CHASE, 3], 3.05)


def test_lesson_3_a_row_reads_across_the_cut() -> None:
    # Row 4 belongs to head 1 (features 3 to 5 of Q), and reads feature 1 of the word.
    assert W_Q[4].tolist() == [0, 2, 0, 0, 0, 0]


def test_lesson_3_rows_and_not_columns() -> None:
    packed = state_dict(torch.float64)["in_proj_weight"]
    weight, _, _ = unpack_projections(packed)
    assert torch.equal(head_rows(weight, 1, 2), W_Q[3:6].double())
    assert torch.equal(head_rows(unpack_projections(packed)[1], 1, 2), packed[9:12])
    assert_close(X[0] @ weight[3:6].T, Q[0, :, 3:6], **EXACT)
    columns = X[0] @ weight[:, 3:6]
    assert columns.shape == (4, 3)
    assert_two_decimals((columns - Q[0, :, 3:6]).abs().max(), 5.11)


# Lesson 4


def test_lesson_4_strides() -> None:
    x = torch.arange(24).view(4, 6)
    assert x.stride() == (6, 1)
    assert x.view(4, 2, 3).stride() == (6, 3, 1)
    assert split_heads(x, 2).stride() == (3, 6, 1)
    for h in range(2):
        for t in range(4):
            for d in range(3):
                assert split_heads(x, 2)[h, t, d] == 3 * h + 6 * t + d


def test_lesson_4_a_bare_reshape_hatches_18_cells() -> None:
    x = torch.arange(24).view(4, 6)
    wrong = x.reshape(2, 4, 3)
    assert (wrong != split_heads(x, 2)).sum() == 18
    # Its "head 0" holds all of dogs and chase, its "head 1" all of black and cats.
    assert wrong[0].flatten().tolist() == x[[DOGS, CHASE]].flatten().tolist()
    assert wrong[1].flatten().tolist() == x[[BLACK, CATS]].flatten().tolist()


def test_lesson_4_numpy_turns_all_axes() -> None:
    viewed = np.arange(24).reshape(4, 2, 3)
    assert viewed.transpose().shape == (3, 2, 4)
    assert (
        viewed.transpose(1, 0, 2).tolist() == split_heads(torch.arange(24).view(4, 6), 2).tolist()
    )


# Lesson 5


def test_lesson_5_head_1_of_chase() -> None:
    assert_two_decimals(attention_scores(q, k)[0, 1, CHASE], [1.58, 0.08, 2.11, 5.86])
    assert_two_decimals(attention_weights(q, k)[0, 1, CHASE], [0.01, 0.00, 0.02, 0.96])
    output = scaled_dot_product_attention(q, k, v)
    assert_two_decimals(output[0, 1, CHASE], [2.08, 0.05, 0.05])


def test_lesson_5_all_weights_of_the_first_sentence() -> None:
    assert_two_decimals(
        attention_weights(q, k)[0],
        [
            [
                [1.00, 0.00, 0.00, 0.00],
                [0.94, 0.06, 0.00, 0.00],
                [0.01, 0.99, 0.01, 0.00],
                [0.00, 0.05, 0.90, 0.06],
            ],
            [
                [0.30, 0.07, 0.09, 0.53],
                [0.01, 0.00, 0.02, 0.96],
                [0.01, 0.00, 0.00, 0.98],
                [0.36, 0.00, 0.00, 0.64],
            ],
        ],
    )


def test_lesson_5_swapped_nouns_leave_both_maps_and_change_the_output() -> None:
    weights = attention_weights(q, k)
    assert torch.equal(weights[0], weights[1])
    assert not W_Q[:, 5].any()
    assert not W_K[:, 5].any()
    output = scaled_dot_product_attention(q, k, v)
    assert_two_decimals(output[:2, 0, CHASE, 2], [1.94, 0.06])


@pytest.mark.parametrize(("gain", "on_cats"), [(0.25, 0.51), (1.0, 0.96), (4.0, 1.00)])
def test_lesson_5_scale_never_reorders_the_keys(gain: float, on_cats: float) -> None:
    weights = attention_weights(q, k, scale=gain / 3**0.5)[0, 1, CHASE]
    assert_two_decimals(weights[CATS], on_cats)
    assert weights.argsort().tolist() == attention_scores(q, k)[0, 1, CHASE].argsort().tolist()


def test_lesson_5_softmax_over_the_wrong_axis() -> None:
    wrong = attention_scores(q, k)[0, 1].softmax(dim=-2)
    assert_two_decimals(wrong.sum(-1), [1.89, 1.08, 0.55, 0.48])


def test_lesson_5_scores_have_rank_3_and_weights_rank_4() -> None:
    assert torch.linalg.matrix_rank(attention_scores(q, k)[0]).tolist() == [3, 3]
    assert torch.linalg.matrix_rank(attention_weights(q, k)[0]).tolist() == [4, 4]


# Lesson 6


def test_lesson_6_chase() -> None:
    merged = merge_heads(scaled_dot_product_attention(q, k, v))
    assert_two_decimals(merged[0, CHASE], [1.89, 1.12, 1.94, 2.08, 0.05, 0.05])
    output, _ = layer()(X)
    assert_two_decimals(output[0, CHASE], [1.89, 1.99, 3.97, 1.12, 0.05, -0.20])


def test_lesson_6_who_chases_whom_is_a_sign() -> None:
    output, _ = layer()(X)
    assert_two_decimals(output[:2, CHASE, 0], [1.89, -1.89])
    # One head alone does not give the sign: each head adds its own columns of W_O.
    heads = scaled_dot_product_attention(q, k, v)
    terms = [heads[:, h] @ W_O.double()[:, 3 * h : 3 * h + 3].T for h in range(2)]
    assert_two_decimals(terms[0][:2, CHASE, 0], [1.94, 0.06])
    assert_two_decimals(terms[1][:2, CHASE, 0], [-0.05, -1.95])
    assert_close(terms[0] + terms[1], output, **EXACT)


def test_lesson_6_two_errors_that_hide_each_other() -> None:
    def wrong_layer(x: Tensor) -> Tensor:
        parts = [(x @ w.double().T).reshape(5, 2, 4, 3) for w in (W_Q, W_K, W_V)]
        return scaled_dot_product_attention(*parts).reshape(5, 4, 6) @ W_O.double().T

    assert torch.equal(X.reshape(5, 2, 4, 3).reshape(5, 4, 6), X)
    moved = X.clone()
    moved[0, CATS] += 1
    right = (layer()(moved)[0] - layer()(X)[0])[0].abs().amax(-1)
    wrong = (wrong_layer(moved) - wrong_layer(X))[0].abs().amax(-1)
    assert_two_decimals(right[:2], [1.35, 1.02])
    assert torch.equal(wrong[:2], torch.zeros(2, dtype=torch.float64))
    assert (wrong[2:] > 1).all()


def test_lesson_6_view_and_reshape() -> None:
    split = split_heads(X, 2)
    assert torch.equal(split.transpose(1, 2).view(5, 4, 6), X)
    product = attention_weights(q, k) @ v
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        product.transpose(1, 2).view(5, 4, 6)
    assert not torch.equal(product.reshape(5, 4, 6), merge_heads(product))


def test_lesson_6_the_ladder_meets_in_forward_and_gradient() -> None:
    module = layer()
    theirs = nn.MultiheadAttention(6, 2, batch_first=True).double()
    theirs.load_state_dict(state_dict(torch.float64))
    x = X.clone().requires_grad_()
    outputs = [
        module(x)[0],
        module(x, need_weights=True)[0],
        theirs(x, x, x)[0],
        theirs(x, x, x, need_weights=False)[0],
    ]
    by_loops = reference.multi_head_attention(
        *(array(X),) * 3,
        *(array(tensor) for tensor in state_dict(torch.float64).values()),
        num_heads=2,
    )
    slopes = [gradients(output, [x])[0] for output in outputs]
    for output, slope in zip(outputs, slopes, strict=True):
        assert_close(output, torch.from_numpy(by_loops), rtol=0, atol=1e-14)
        assert_close(slope, slopes[0], **EXACT)
