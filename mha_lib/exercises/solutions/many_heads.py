"""The answer for lesson 7: the whole layer as a module."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

import mha_lib


class MultiHeadAttention(nn.Module):
    def __init__(
        self, embed_dim: int, num_heads: int, *, dropout: float = 0.0, bias: bool = True
    ) -> None:
        super().__init__()
        self.head_dim = mha_lib.head_dim(embed_dim, num_heads)  # refuses heads that do not fit
        self.num_heads = num_heads
        self.dropout = dropout
        self.in_proj_weight = nn.Parameter(torch.empty(3 * embed_dim, embed_dim))
        nn.init.xavier_uniform_(self.in_proj_weight)
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * embed_dim)) if bias else None
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        *,
        mask: Tensor | None = None,
        is_causal: bool = False,
        need_weights: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        key = query if key is None else key
        value = key if value is None else value
        w_q, w_k, w_v = self.in_proj_weight.chunk(3)
        b_q, b_k, b_v = (None,) * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        q = mha_lib.split_heads(F.linear(query, w_q, b_q), self.num_heads)
        k = mha_lib.split_heads(F.linear(key, w_k, b_k), self.num_heads)
        v = mha_lib.split_heads(F.linear(value, w_v, b_v), self.num_heads)
        if is_causal:
            causal = mha_lib.causal_mask(query.shape[1], key.shape[1])
            mask = causal if mask is None else mask & causal
        weights = mha_lib.attention_weights(q, k, mask)
        heads = F.dropout(weights, self.dropout, self.training) @ v
        output = self.out_proj(mha_lib.merge_heads(heads))
        return output, weights if need_weights else None
