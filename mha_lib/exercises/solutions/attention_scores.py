"""Answers for lesson 5."""

import math

import torch
from torch import Tensor

import mha_lib


def attention_scores(query: Tensor, key: Tensor) -> Tensor:
    scale = 1 / math.sqrt(query.shape[-1])
    return (query * scale) @ key.transpose(-2, -1)


def attention_weights(query: Tensor, key: Tensor, attn_mask: Tensor | None = None) -> Tensor:
    scale = 1 / math.sqrt(query.shape[-1])
    scores = (query * scale) @ key.transpose(-2, -1)
    if attn_mask is None:
        return torch.softmax(scores, dim=-1)
    scores = scores.masked_fill(~attn_mask, -math.inf)
    nothing_to_see = ~attn_mask.any(dim=-1, keepdim=True)
    weights = torch.softmax(scores.masked_fill(nothing_to_see, 0), dim=-1)
    return weights.masked_fill(nothing_to_see, 0)


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None
) -> Tensor:
    return mha_lib.attention_weights(query, key, attn_mask) @ value
