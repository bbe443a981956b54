"""Right answers for lesson 7."""

import math

import torch
from torch import nn
from torch.nn import functional as F

import mha_lib


def _refuse(embed_dim, num_heads):
    if embed_dim % num_heads:
        raise ValueError(f"{num_heads} heads do not divide {embed_dim}")


class WithDropoutLayer(nn.Module):
    """nn.Dropout as a layer, einsum, one packed product."""

    def __init__(self, embed_dim, num_heads, *, dropout=0.0, bias=True):
        super().__init__()
        _refuse(embed_dim, num_heads)
        self.h = num_heads
        self.in_proj_weight = nn.Parameter(torch.randn(3 * embed_dim, embed_dim) * 0.1)
        if bias:
            self.in_proj_bias = nn.Parameter(torch.zeros(3 * embed_dim))
        else:
            self.register_parameter("in_proj_bias", None)
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.drop = nn.Dropout(dropout)

    def forward(
        self, query, key=None, value=None, *, mask=None, is_causal=False, need_weights=False
    ):
        key = query if key is None else key
        value = key if value is None else value
        biases = [None] * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        q, k, v = (
            F.linear(x, w, b).unflatten(-1, (self.h, -1)).transpose(1, 2)
            for x, w, b in zip(
                (query, key, value), self.in_proj_weight.chunk(3), biases, strict=True
            )
        )
        scores = torch.einsum("bhld,bhsd->bhls", q, k) / math.sqrt(q.shape[-1])
        keep = torch.ones(scores.shape, dtype=torch.bool)
        if is_causal:
            keep = keep.tril()
        if mask is not None:
            keep = keep & mask
        weights = scores.masked_fill(~keep, -math.inf).softmax(-1).nan_to_num(0)
        out = torch.einsum("bhls,bhsd->blhd", self.drop(weights), v).flatten(2)
        return self.out_proj(out), (weights if need_weights else None)


class InheritsOurs(mha_lib.MultiHeadAttention):
    """The library's own class under another name."""


class InheritsTorch(nn.MultiheadAttention):
    """torch's layer, with this library's polarity put in front; without dropout of its own."""

    def __init__(self, embed_dim, num_heads, *, dropout=0.0, bias=True):
        _refuse(embed_dim, num_heads)
        super().__init__(embed_dim, num_heads, dropout, bias, batch_first=True)

    def forward(
        self, query, key=None, value=None, *, mask=None, is_causal=False, need_weights=False
    ):
        key = query if key is None else key
        value = key if value is None else value
        shape = (len(query), self.num_heads, query.shape[1], key.shape[1])
        keep = torch.ones(shape, dtype=torch.bool) if mask is None else mask.expand(shape)
        if is_causal:
            keep = keep & torch.ones(shape[-2:], dtype=torch.bool).tril()
        block = ~keep.flatten(0, 1)
        output, _ = super().forward(query, key, value, attn_mask=block, need_weights=False)
        weights = None
        if need_weights:  # torch returns them after dropout, and NaN in empty rows
            e = self.embed_dim
            q = F.linear(query, self.in_proj_weight[:e], self._b(0))
            k = F.linear(key, self.in_proj_weight[e : 2 * e], self._b(1))
            q, k = mha_lib.split_heads(q, self.num_heads), mha_lib.split_heads(k, self.num_heads)
            weights = mha_lib.attention_weights(q, k, keep)
        return output, weights

    def _b(self, part):
        return None if self.in_proj_bias is None else self.in_proj_bias.chunk(3)[part]


class LoopsOverHeads(nn.Module):
    """One head after the other; the output as a sum over heads."""

    def __init__(self, embed_dim, num_heads, *, dropout=0.0, bias=True):
        super().__init__()
        _refuse(embed_dim, num_heads)
        self.num_heads, self.p = num_heads, dropout
        bound = (6 / (4 * embed_dim)) ** 0.5
        self.in_proj_weight = nn.Parameter(torch.empty(3 * embed_dim, embed_dim))
        nn.init.uniform_(self.in_proj_weight, -bound, bound)
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * embed_dim)) if bias else None
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias)

    def forward(
        self, query, key=None, value=None, *, mask=None, is_causal=False, need_weights=False
    ):
        key = query if key is None else key
        value = key if value is None else value
        size = self.in_proj_weight.shape[1]
        d = size // self.num_heads
        bias = self.in_proj_bias
        outs, maps = [], []
        for h in range(self.num_heads):
            q, k, v = (
                F.linear(x, self.in_proj_weight[r], None if bias is None else bias[r])
                for x, r in (
                    (x, slice(part * size + h * d, part * size + (h + 1) * d))
                    for part, x in enumerate((query, key, value))
                )
            )
            head_mask = None
            if mask is not None:
                full = mask if mask.ndim == 4 else mask[None, None]
                head_mask = full[:, min(h, full.shape[1] - 1)].unsqueeze(1)
            weights = mha_lib.attention_weights(q[:, None], k[:, None], head_mask, is_causal)
            maps.append(weights)
            outs.append(F.dropout(weights, self.p, training=self.training)[:, 0] @ v)
        output = self.out_proj(torch.cat(outs, dim=-1))
        return output, torch.cat(maps, dim=1) if need_weights else None


class Delegates(nn.Module):
    """Own parameters, the functional form of torch for the middle, and dropout by hand."""

    def __init__(self, embed_dim, num_heads, *, dropout=0.0, bias=True):
        super().__init__()
        _refuse(embed_dim, num_heads)
        self.heads, self.rate = num_heads, dropout
        self.in_proj_weight = nn.Parameter(nn.init.normal_(torch.empty(3 * embed_dim, embed_dim)))
        self.in_proj_bias = nn.Parameter(torch.full((3 * embed_dim,), 0.01)) if bias else None
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)

    def _qkv(self, *inputs):
        b = (None, None, None) if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        for x, w, bias in zip(inputs, self.in_proj_weight.chunk(3), b, strict=True):
            yield mha_lib.split_heads(F.linear(x, w, bias), self.heads)

    def forward(
        self, query, key=None, value=None, *, mask=None, is_causal=False, need_weights=False
    ):
        key = query if key is None else key
        value = key if value is None else value
        q, k, v = self._qkv(query, key, value)
        weights = mha_lib.attention_weights(q, k, mask, is_causal)
        used = weights
        if self.training and self.rate > 0:
            kept = torch.rand_like(weights) >= self.rate
            used = weights * kept / (1 - self.rate) if self.rate < 1 else weights * 0
        merged = mha_lib.merge_heads(used @ v)
        return (self.out_proj(merged), weights) if need_weights else (self.out_proj(merged), None)


class Fused(nn.Module):
    """torch's fused attention when no weights are wanted; extra modules without parameters."""

    def __init__(self, embed_dim, num_heads, *, dropout=0.0, bias=True):
        super().__init__()
        if num_heads > embed_dim or embed_dim // num_heads * num_heads != embed_dim:
            raise ValueError("heads do not fit")
        self.num_heads, self.softmax, self.dropout = num_heads, nn.Softmax(-1), dropout
        packed = nn.Linear(embed_dim, 3 * embed_dim, bias=bias)
        self.in_proj_weight, self.in_proj_bias = packed.weight, packed.bias
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)

    def forward(
        self, query, key=None, value=None, *, mask=None, is_causal=False, need_weights=False
    ):
        key = query if key is None else key
        value = value if value is not None else key
        e = query.shape[-1]
        weight, bias = self.in_proj_weight.split(e), self.in_proj_bias
        bias = [None] * 3 if bias is None else bias.split(e)
        states = (query, key, value)
        q, k, v = (
            mha_lib.split_heads(F.linear(*a), self.num_heads)
            for a in zip(states, weight, bias, strict=True)
        )
        if is_causal:
            causal = mha_lib.causal_mask(q.shape[2], k.shape[2])
            mask = causal if mask is None else causal & mask
        p = self.dropout * self.training
        weights = mha_lib.attention_weights(q, k, mask) if need_weights else None
        if need_weights:
            heads = F.dropout(weights, p) @ v
        else:
            heads = F.scaled_dot_product_attention(q, k, v, mask, p)
        return self.out_proj(heads.transpose(1, 2).flatten(2)), weights


RIGHT = {
    "MultiHeadAttention": [
        WithDropoutLayer,
        InheritsOurs,
        InheritsTorch,
        LoopsOverHeads,
        Delegates,
        Fused,
    ]
}
