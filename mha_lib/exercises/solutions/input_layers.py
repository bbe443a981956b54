"""Answers for lesson 2."""

import math

import torch
from torch import Tensor


def embed_tokens(ids: Tensor, table: Tensor, positions: Tensor) -> Tensor:
    length = ids.shape[1]
    if length > positions.shape[0]:
        raise ValueError(f"{length} words, but only {positions.shape[0]} positions")
    return math.sqrt(table.shape[1]) * table[ids] + positions[:length]


def sinusoidal_positions(num_positions: int, embed_dim: int) -> Tensor:
    position = torch.arange(num_positions, dtype=torch.float64)[:, None]
    even_column = torch.arange(0, embed_dim, 2, dtype=torch.float64)
    angle = position / 10000 ** (even_column / embed_dim)
    table = torch.zeros(num_positions, embed_dim, dtype=torch.float64)
    table[:, 0::2] = torch.sin(angle)
    table[:, 1::2] = torch.cos(angle[:, : embed_dim // 2])
    return table.float()
