"""Right answers for lesson 5."""

import math

import torch
from torch.nn import functional as F

import mha_lib


def scores_by_loops(query, key):
    b, h, n, d = query.shape
    out = torch.zeros(b, h, n, key.shape[2], dtype=query.dtype)
    for i in range(b):
        for j in range(h):
            for t in range(n):
                for s in range(key.shape[2]):
                    out[i, j, t, s] = torch.dot(query[i, j, t], key[i, j, s]) / d**0.5
    return out


def scores_by_broadcast(query, key):
    return (query.unsqueeze(-2) * key.unsqueeze(-3)).sum(-1).div(query.shape[-1] ** 0.5)


def scores_by_fourth_root(query, key):
    root = query.shape[-1] ** 0.25
    return (query / root) @ (key / root).transpose(-1, -2)


def scores_by_bmm(query, key):
    b, h, n, d = query.shape
    s = torch.bmm(query.reshape(b * h, n, d), key.reshape(b * h, -1, d).transpose(1, 2))
    return (s / math.sqrt(d)).view(b, h, n, -1)


def _scores(query, key):
    return query * query.shape[-1] ** -0.5 @ key.mT


def weights_by_exp(query, key, attn_mask=None):
    s = _scores(query, key)
    if attn_mask is not None:
        s = torch.where(attn_mask, s, torch.tensor(-torch.inf, dtype=s.dtype))
    largest = s.amax(-1, keepdim=True)
    top = (s - torch.where(largest.isinf(), torch.zeros_like(largest), largest)).exp()
    total = top.sum(-1, keepdim=True)
    return top / torch.where(total == 0, torch.ones_like(total), total)


def weights_by_nan_to_num(query, key, attn_mask=None):
    s = _scores(query, key)
    if attn_mask is not None:
        s = s.masked_fill(attn_mask.logical_not(), float("-inf"))
    return s.softmax(-1).nan_to_num(0.0)


def weights_by_finite_fill(query, key, attn_mask=None):
    s = query @ key.transpose(-2, -1) / math.sqrt(key.size(-1))
    if attn_mask is None:
        return F.softmax(s, dim=-1)
    s = s.masked_fill(~attn_mask, torch.finfo(s.dtype).min)
    return F.softmax(s, dim=-1) * attn_mask


def weights_by_additive_mask(query, key, attn_mask=None):
    s = torch.einsum("bhld,bhsd->bhls", query, key) / query.shape[-1] ** 0.5
    if attn_mask is None:
        return s.softmax(dim=3)
    some = attn_mask.any(-1, keepdim=True)
    hidden = ~attn_mask & some  # in an empty row nothing is hidden: no NaN, also not backwards
    added = torch.zeros(attn_mask.shape, dtype=s.dtype).masked_fill(hidden, -math.inf)
    return (s + added).softmax(dim=3) * some


def weights_in_float32(query, key, attn_mask=None):
    s = (query.float() @ key.float().mT) / math.sqrt(query.shape[-1])
    if attn_mask is not None:
        s = s.masked_fill(~attn_mask, -math.inf)
        empty = ~attn_mask.any(-1, keepdim=True)
        s = s.masked_fill(empty, 0.0)
        return s.softmax(-1).masked_fill(empty, 0.0)
    return s.softmax(-1)


def weights_from_log_softmax(query, key, attn_mask=None):
    s = _scores(query, key)
    keep = torch.ones_like(s, dtype=torch.bool) if attn_mask is None else attn_mask.expand_as(s)
    weights = s.masked_fill(~keep, torch.finfo(s.dtype).min).log_softmax(-1).exp()
    return weights.where(keep, torch.zeros((), dtype=s.dtype))


def weights_per_head(query, key, attn_mask=None):
    b, h, n, _ = query.shape
    shape = (b, h, n, key.shape[2])
    keep = torch.ones(shape, dtype=torch.bool) if attn_mask is None else attn_mask.expand(shape)
    rows = [
        [weights_by_nan_to_num(query[i, j], key[i, j], keep[i, j]) for j in range(h)]
        for i in range(b)
    ]
    return torch.stack([torch.stack(row) for row in rows])


def weights_from_torch(query, key, attn_mask=None):
    """Values that are an identity matrix show the weights."""
    n = key.shape[-2]
    eye = torch.eye(n, dtype=key.dtype).expand(*key.shape[:-2], n, n)
    return F.scaled_dot_product_attention(query, key, eye, attn_mask)


def output_by_weights(query, key, value, attn_mask=None):
    weights = mha_lib.attention_weights(query, key, attn_mask)
    return torch.einsum("bhls,bhsv->bhlv", weights, value)


def output_by_sum(query, key, value, attn_mask=None):
    weights = weights_by_finite_fill(query * 1.0, key, attn_mask)
    return (weights[..., None] * value[:, :, None]).sum(-2)


def output_scaled_key(query, key, value, attn_mask=None):
    s = query @ (key / math.sqrt(key.shape[-1])).transpose(2, 3)
    if attn_mask is not None:
        s = s.masked_fill(~attn_mask, -torch.inf)
    return torch.matmul(torch.nan_to_num(torch.softmax(s, -1)), value)


def output_by_keys(query, key, value, attn_mask=None):
    weights = mha_lib.attention_weights(query, key, attn_mask)
    return sum(weights[..., s : s + 1] * value[..., s : s + 1, :] for s in range(key.shape[-2]))


def output_in_float32(query, key, value, attn_mask=None):
    weights = weights_in_float32(query, key, attn_mask)
    return weights @ value.float()


def output_transposed(query, key, value, attn_mask=None):
    weights = weights_by_exp(query, key, attn_mask)
    return (value.mT @ weights.mT).mT


RIGHT = {
    "attention_scores": [
        scores_by_loops,
        scores_by_broadcast,
        scores_by_fourth_root,
        scores_by_bmm,
        lambda q, k: q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)),
        lambda q, k: (q * q.shape[-1] ** -0.5) @ k.mT,
        lambda q, k: torch.einsum("bhld,bhsd->bhls", q, k) / q.shape[-1] ** 0.5,
        lambda q, k: (k @ q.mT).mT / q.shape[-1] ** 0.5,
        lambda q, k: q.float() @ k.float().permute(0, 1, 3, 2) * (1 / math.sqrt(q.shape[3])),
    ],
    "attention_weights": [
        weights_by_exp,
        weights_by_nan_to_num,
        weights_by_finite_fill,
        weights_by_additive_mask,
        weights_in_float32,
        weights_from_log_softmax,
        weights_per_head,
        weights_from_torch,
        mha_lib.attention_weights,
    ],
    "scaled_dot_product_attention": [
        output_by_weights,
        output_scaled_key,
        output_by_keys,
        output_in_float32,
        output_transposed,
        F.scaled_dot_product_attention,
        mha_lib.scaled_dot_product_attention,
        lambda q, k, v, m=None: weights_per_head(q, k, m) @ v,
    ],
}
