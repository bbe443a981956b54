"""Right answers for lesson 6."""

import math

import torch
from torch import nn
from torch.nn import functional as F

import mha_lib
from mha_lib import MultiHeadAttention


def merge_by_loops(x):
    b, h, n, d = x.shape
    out = torch.zeros(b, n, h * d, dtype=x.dtype)
    for head in range(h):
        out[:, :, head * d : (head + 1) * d] = x[:, head]
    return out


def merge_by_words(x):
    return torch.stack([x[:, :, t].reshape(len(x), -1) for t in range(x.shape[2])], dim=1)


def layer_by_linear(query, key, value, w, b, wo, bo, num_heads, attn_mask=None):  # noqa: PLR0913
    q, k, v = (
        mha_lib.split_heads(F.linear(x, wi, bi), num_heads)
        for x, wi, bi in zip((query, key, value), w.chunk(3), b.chunk(3), strict=True)
    )
    out = F.scaled_dot_product_attention(q, k, v, attn_mask)
    return F.linear(out.transpose(1, 2).flatten(2), wo, bo)


def layer_by_heads(query, key, value, w, b, wo, bo, num_heads, attn_mask=None):  # noqa: PLR0913
    """One head after the other, each with its rows; the output as a sum over heads."""
    e = query.shape[-1]
    d = e // num_heads
    out = bo
    for h in range(num_heads):
        rows = [slice(p * e + h * d, p * e + (h + 1) * d) for p in range(3)]
        q, k, v = (x @ w[r].T + b[r] for x, r in zip((query, key, value), rows, strict=True))
        scores = q @ k.transpose(1, 2) / math.sqrt(d)
        if attn_mask is not None:
            mask = attn_mask
            if mask.ndim == 4:
                mask = mask[:, h if mask.shape[1] > 1 else 0]
            scores = scores.masked_fill(~mask, -math.inf)
        out = out + scores.softmax(-1).nan_to_num() @ v @ wo[:, h * d : (h + 1) * d].T
    return out


def layer_by_einsum(query, key, value, w, b, wo, bo, num_heads, attn_mask=None):  # noqa: PLR0913
    e = query.shape[-1]
    w3, b3 = w.view(3, num_heads, -1, e), b.view(3, 1, num_heads, 1, -1)
    q = torch.einsum("ble,hde->bhld", query, w3[0]) + b3[0]
    k = torch.einsum("ble,hde->bhld", key, w3[1]) + b3[1]
    v = torch.einsum("ble,hde->bhld", value, w3[2]) + b3[2]
    heads = mha_lib.attention_weights(q, k, attn_mask) @ v
    return torch.einsum("bhld,ehd->ble", heads, wo.view(e, num_heads, -1)) + bo


def layer_folded(query, key, value, w, b, wo, bo, num_heads, attn_mask=None):  # noqa: PLR0913
    """Heads folded into the batch."""
    e = query.shape[-1]

    def fold(x, part):
        y = x @ w[part * e : (part + 1) * e].T + b[part * e : (part + 1) * e]
        y = y.view(len(x), x.shape[1], num_heads, -1).transpose(1, 2)
        return y.reshape(len(x) * num_heads, x.shape[1], -1)

    q, k, v = fold(query, 0), fold(key, 1), fold(value, 2)
    shape = (len(query), num_heads, query.shape[1], key.shape[1])
    mask = None if attn_mask is None else attn_mask.expand(shape).flatten(0, 1)
    out = F.scaled_dot_product_attention(q, k, v, mask)
    out = out.view(len(query), num_heads, query.shape[1], -1).transpose(1, 2)
    return out.reshape(query.shape) @ wo.T + bo


def layer_by_library(query, key, value, w, b, wo, bo, num_heads, attn_mask=None):  # noqa: PLR0913
    layer = MultiHeadAttention(query.shape[-1], num_heads)
    state = {"in_proj_weight": w, "in_proj_bias": b, "out_proj.weight": wo, "out_proj.bias": bo}
    return torch.func.functional_call(layer, state, (query, key, value), {"mask": attn_mask})[0]


def layer_by_torch(query, key, value, w, b, wo, bo, num_heads, attn_mask=None):  # noqa: PLR0913
    """torch's own layer: its mask means the opposite and has three axes."""
    layer = nn.MultiheadAttention(query.shape[-1], num_heads, batch_first=True, dtype=w.dtype)
    state = {"in_proj_weight": w, "in_proj_bias": b, "out_proj.weight": wo, "out_proj.bias": bo}
    shape = (len(query), num_heads, query.shape[1], key.shape[1])
    block = None if attn_mask is None else ~attn_mask.expand(shape).flatten(0, 1)
    options = {"attn_mask": block, "need_weights": False}
    return torch.func.functional_call(layer, state, (query, key, value), options)[0]


def layer_in_float32(query, key, value, w, b, wo, bo, num_heads, attn_mask=None):  # noqa: PLR0913
    args = [x.float() for x in (query, key, value, w, b, wo, bo)]
    return layer_by_linear(*args, num_heads, attn_mask)


RIGHT = {
    "merge_heads": [
        merge_by_loops,
        merge_by_words,
        lambda x: x.transpose(1, 2).flatten(2),
        lambda x: x.permute(0, 2, 1, 3).contiguous().view(len(x), x.shape[2], -1),
        lambda x: torch.cat(x.unbind(1), dim=-1),
        lambda x: torch.cat([x[:, h] for h in range(x.shape[1])], dim=2),
        lambda x: torch.einsum("bhld->blhd", x).flatten(-2),
        lambda x: x.movedim(1, 2).flatten(-2, -1),
    ],
    "multi_head_attention": [
        layer_by_linear,
        layer_by_heads,
        layer_by_einsum,
        layer_folded,
        layer_by_library,
        layer_by_torch,
        layer_in_float32,
    ],
}
