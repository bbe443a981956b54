"""Answers for lesson 8."""

import torch
from torch import Tensor


def causal_mask(query_len: int, key_len: int, offset: int = 0) -> Tensor:
    query = torch.arange(query_len)[:, None]
    key = torch.arange(key_len)[None, :]
    return key <= query + offset


def padding_mask(lengths: Tensor, max_len: int) -> Tensor:
    key = torch.arange(max_len)
    real = key < lengths[:, None]
    return real[:, None, None, :]


def decoder_mask(lengths: Tensor, max_len: int) -> Tensor:
    place = torch.arange(max_len)
    real = (place < lengths[:, None])[:, None, None, :]
    earlier = place[None, :] <= place[:, None]
    return real & earlier
