"""Answers for lesson 6."""

from torch import Tensor

import mha_lib


def merge_heads(x: Tensor) -> Tensor:
    batch, num_heads, length, head_dim = x.shape
    return x.transpose(1, 2).reshape(batch, length, num_heads * head_dim)


def multi_head_attention(  # noqa: PLR0913
    query: Tensor,
    key: Tensor,
    value: Tensor,
    in_proj_weight: Tensor,
    in_proj_bias: Tensor,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor,
    num_heads: int,
    attn_mask: Tensor | None = None,
) -> Tensor:
    w_q, w_k, w_v = in_proj_weight.chunk(3)
    b_q, b_k, b_v = in_proj_bias.chunk(3)
    q = mha_lib.split_heads(query @ w_q.T + b_q, num_heads)
    k = mha_lib.split_heads(key @ w_k.T + b_k, num_heads)
    v = mha_lib.split_heads(value @ w_v.T + b_v, num_heads)
    heads = mha_lib.scaled_dot_product_attention(q, k, v, attn_mask)
    return mha_lib.merge_heads(heads) @ out_proj_weight.T + out_proj_bias
