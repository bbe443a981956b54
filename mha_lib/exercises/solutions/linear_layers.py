"""Answers for lesson 3."""

from torch import Tensor


def head_rows(weight: Tensor, head: int, num_heads: int) -> Tensor:
    head_dim = weight.shape[0] // num_heads
    return weight[head * head_dim : (head + 1) * head_dim]


def packed_head_rows(in_proj_weight: Tensor, part: int, head: int, num_heads: int) -> Tensor:
    embed_dim = in_proj_weight.shape[0] // 3
    head_dim = embed_dim // num_heads
    first = part * embed_dim + head * head_dim
    return in_proj_weight[first : first + head_dim]
