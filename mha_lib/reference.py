"""Multi-head attention as its definition reads: NumPy, float64, plain loops, one number at a time.

Nothing comes from the rest of the package: this is a second opinion on it, and slow on purpose.
b counts sentences, h heads, l queries, s keys, d and j features. In a mask True = may attend.
"""
# ruff: noqa: E741 (l is the field's letter for the query's place)

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_] | Array | None


def sinusoidal_positions(num_positions: int, embed_dim: int) -> Array:
    """P[p, j] = sin(angle) for even j, cos(angle) for odd j; angle = p / 10000^(2i/E), i = j // 2.

    >>> sinusoidal_positions(2, 3).round(2).tolist()
    [[0.0, 1.0, 0.0], [0.84, 0.54, 0.0]]
    """
    out = np.zeros((num_positions, embed_dim))
    for p, j in np.ndindex(out.shape):
        angle = p / 10000 ** (2 * (j // 2) / embed_dim)
        out[p, j] = math.sin(angle) if j % 2 == 0 else math.cos(angle)
    return out


def embed_tokens(ids: NDArray[np.int64], table: Array, positions: Array) -> Array:
    """out[b, l, j] = sqrt(E) * table[ids[b, l], j] + positions[l, j].

    >>> embed_tokens(np.array([[1, 0]]), np.eye(2, 4), np.ones((2, 4))).tolist()
    [[[1.0, 3.0, 1.0, 1.0], [3.0, 1.0, 1.0, 1.0]]]
    """
    out = np.zeros((*ids.shape, table.shape[1]))
    for b, l, j in np.ndindex(out.shape):
        out[b, l, j] = math.sqrt(table.shape[1]) * table[ids[b, l], j] + positions[l, j]
    return out


def linear(x: Array, weight: Array, bias: Array | None = None) -> Array:
    """out[b, l, i] = sum over j of weight[i, j] * x[b, l, j], plus bias[i].

    >>> linear(np.array([[[2.0, 3.0]]]), np.array([[1.0, 0.0], [1.0, 1.0]])).tolist()
    [[[2.0, 5.0]]]
    """
    out = np.zeros((*x.shape[:2], len(weight)))
    for b, l, i in np.ndindex(out.shape):
        out[b, l, i] = sum(weight[i, j] * x[b, l, j] for j in range(x.shape[2]))
        out[b, l, i] += 0 if bias is None else bias[i]
    return out


def split_heads(x: Array, num_heads: int) -> Array:
    """out[b, h, l, d] = x[b, l, h * D + d].

    >>> split_heads(np.arange(8.0).reshape(1, 2, 4), 2).tolist()
    [[[[0.0, 1.0], [4.0, 5.0]], [[2.0, 3.0], [6.0, 7.0]]]]
    """
    head_dim = x.shape[2] // num_heads
    out = np.zeros((x.shape[0], num_heads, x.shape[1], head_dim))
    for b, h, l, d in np.ndindex(out.shape):
        out[b, h, l, d] = x[b, l, h * head_dim + d]
    return out


def attention_scores(query: Array, key: Array, scale: float | None = None) -> Array:
    """out[b, h, l, s] = scale * sum over d of query[b, h, l, d] * key[b, h, s, d].

    >>> attention_scores(np.full((1, 1, 1, 4), 2.0), np.eye(2, 4).reshape(1, 1, 2, 4)).tolist()
    [[[[1.0, 1.0]]]]
    """
    head_dim = query.shape[3]
    out = np.zeros((*query.shape[:3], key.shape[2]))
    for b, h, l, s in np.ndindex(out.shape):
        product = sum(query[b, h, l, d] * key[b, h, s, d] for d in range(head_dim))
        out[b, h, l, s] = product / math.sqrt(head_dim) if scale is None else product * scale
    return out


def attention_weights(
    query: Array, key: Array, mask: Mask = None, is_causal: bool = False, scale: float | None = None
) -> Array:
    """out[b, h, l, s] = exp(score of s) / sum of exp(score) over the keys that l may attend to.

    >>> keep = np.array([[True, True, False]])
    >>> attention_weights(np.ones((1, 1, 1, 1)), np.zeros((1, 1, 3, 1)), keep).tolist()
    [[[[0.5, 0.5, 0.0]]]]
    """
    scores = attention_scores(query, key, scale)
    if mask is not None:
        scores = scores + (np.where(mask, 0.0, -math.inf) if mask.dtype == bool else mask)
    out = np.zeros(scores.shape)
    for b, h, l in np.ndindex(scores.shape[:3]):
        row = scores[b, h, l]
        may = [s for s in range(len(row)) if row[s] > -math.inf and (s <= l or not is_causal)]
        exps = [math.exp(row[s] - max(row[may])) for s in may]
        for s, e in zip(may, exps, strict=True):  # no key at all: the row stays zero
            out[b, h, l, s] = e / sum(exps)
    return out


def scaled_dot_product_attention(
    query: Array, key: Array, value: Array, mask: Mask = None, is_causal: bool = False
) -> Array:
    """out[b, h, l, j] = sum over s of weight[b, h, l, s] * value[b, h, s, j].

    >>> zeros, ones, value = np.zeros((1, 1, 1, 2)), np.ones((1, 1, 2, 2)), np.eye(2)[None, None]
    >>> scaled_dot_product_attention(zeros, ones, value).tolist()
    [[[[0.5, 0.5]]]]
    """
    weights = attention_weights(query, key, mask, is_causal)
    out = np.zeros((*query.shape[:3], value.shape[3]))
    for b, h, l, j in np.ndindex(out.shape):
        out[b, h, l, j] = sum(weights[b, h, l, s] * value[b, h, s, j] for s in range(key.shape[2]))
    return out


def merge_heads(x: Array) -> Array:
    """out[b, l, h * D + d] = x[b, h, l, d].

    >>> merge_heads(np.array([[[[0.0, 1.0], [4.0, 5.0]], [[2.0, 3.0], [6.0, 7.0]]]])).tolist()
    [[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]]]
    """
    batch, heads, length, head_dim = x.shape
    out = np.zeros((batch, length, heads * head_dim))
    for b, h, l, d in np.ndindex(x.shape):
        out[b, l, h * head_dim + d] = x[b, h, l, d]
    return out


def multi_head_attention(  # noqa: PLR0913 (the parameters of nn.MultiheadAttention, by name)
    query: Array,
    key: Array,
    value: Array,
    in_proj_weight: Array,
    in_proj_bias: Array | None,
    out_proj_weight: Array,
    out_proj_bias: Array | None,
    num_heads: int,
    mask: Mask = None,
) -> Array:
    """Project three times, split, attend in each head, merge, project.

    >>> x, eye = np.ones((1, 2, 2)), np.eye(2)
    >>> multi_head_attention(x, x, x, np.vstack([eye, eye, 3 * eye]), None, eye, None, 2).tolist()
    [[[3.0, 3.0], [3.0, 3.0]]]
    """
    width, parts = len(out_proj_weight), []
    for i, x in enumerate((query, key, value)):
        rows = slice(i * width, (i + 1) * width)
        bias = None if in_proj_bias is None else in_proj_bias[rows]
        parts.append(split_heads(linear(x, in_proj_weight[rows], bias), num_heads))
    heads = scaled_dot_product_attention(parts[0], parts[1], parts[2], mask)
    return linear(merge_heads(heads), out_proj_weight, out_proj_bias)


def causal_mask(query_len: int, key_len: int, offset: int = 0) -> NDArray[np.bool_]:
    """mask[l, s] = s <= l + offset.

    >>> causal_mask(2, 3, offset=1).tolist()
    [[True, True, False], [True, True, True]]
    """
    return np.array([[s <= l + offset for s in range(key_len)] for l in range(query_len)])


def padding_mask(lengths: Sequence[int], max_len: int) -> NDArray[np.bool_]:
    """mask[b, 0, 0, s] = s < lengths[b].

    >>> padding_mask([3, 1], 3).tolist()
    [[[[True, True, True]]], [[[True, False, False]]]]
    """
    return np.array([[[[s < length for s in range(max_len)]]] for length in lengths])


def decoder_mask(lengths: Sequence[int], max_len: int) -> NDArray[np.bool_]:
    """mask[b, 0, l, s] = s <= l and s < lengths[b].

    >>> decoder_mask([1], 2).tolist()
    [[[[True, False], [True, False]]]]
    """
    return padding_mask(lengths, max_len) & causal_mask(max_len, max_len)
