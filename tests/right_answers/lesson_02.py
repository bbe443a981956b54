"""Right answers for lesson 2."""

import math

import numpy as np
import torch
from torch.nn import functional as F


def _refuse(ids, positions):
    if ids.shape[-1] > positions.shape[0]:
        raise ValueError(f"got {ids.shape[-1]} words and {positions.shape[0]} positions")


def embed_by_loops(ids, table, positions):
    _refuse(ids, positions)
    batch, length = ids.shape
    out = torch.zeros(batch, length, table.shape[1], dtype=table.dtype)
    for b in range(batch):
        for place in range(length):
            out[b, place] = math.sqrt(table.shape[1]) * table[ids[b, place]] + positions[place]
    return out


def embed_by_f_embedding(ids, table, positions):
    _refuse(ids, positions)
    return F.embedding(ids, table) * table.size(1) ** 0.5 + positions[: ids.size(1)].unsqueeze(0)


def embed_by_one_hot(ids, table, positions):
    _refuse(ids, positions)
    words = F.one_hot(ids, len(table)).to(table.dtype) @ table
    return words.mul(math.sqrt(table.shape[-1])).add(positions.narrow(0, 0, ids.shape[-1]))


def embed_places_first(ids, table, positions):
    _refuse(ids, positions)
    places = torch.arange(ids.shape[1])
    return positions[places][None] + table.shape[1] ** 0.5 * table[ids]


def embed_in_place_on_its_own(ids, table, positions):
    _refuse(ids, positions)
    x = table[ids]  # a copy
    x *= math.sqrt(table.shape[1])
    x += positions[: ids.shape[1]]
    return x


def embed_scaled_table(ids, table, positions):
    _refuse(ids, positions)
    scaled = table * np.sqrt(table.shape[1])
    return torch.stack([scaled[row] + positions[: len(row)] for row in ids])


def embed_in_float32(ids, table, positions):
    _refuse(ids, positions)
    return table.float()[ids] * math.sqrt(table.shape[1]) + positions.float()[: ids.shape[1]]


def positions_by_loops(num_positions, embed_dim):
    out = torch.zeros(num_positions, embed_dim)
    for p in range(num_positions):
        for c in range(embed_dim):
            angle = p / 10000 ** ((c - c % 2) / embed_dim)
            out[p, c] = math.cos(angle) if c % 2 else math.sin(angle)
    return out


def positions_by_exp(num_positions, embed_dim):
    position = torch.arange(num_positions).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, embed_dim, 2) * (-math.log(10000.0) / embed_dim))
    pe = torch.zeros(num_positions, embed_dim)
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term[: embed_dim // 2])
    return pe


def positions_by_where(num_positions, embed_dim):
    column = torch.arange(embed_dim)
    even = column - column % 2
    angle = torch.arange(num_positions)[:, None] / 10000 ** (even / embed_dim)
    return torch.where(column % 2 == 0, angle.sin(), angle.cos())


def positions_by_numpy(num_positions, embed_dim):
    i = np.arange(embed_dim) // 2
    angle = np.arange(num_positions)[:, None] / np.power(10000, 2 * i / embed_dim)
    angle[:, 0::2] = np.sin(angle[:, 0::2])
    angle[:, 1::2] = np.cos(angle[:, 1::2])
    return torch.from_numpy(angle)


def positions_by_stack(num_positions, embed_dim):
    pairs = torch.arange((embed_dim + 1) // 2, dtype=torch.float64)
    angle = torch.outer(torch.arange(num_positions).double(), 10000 ** (-2 * pairs / embed_dim))
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)[:, :embed_dim]


def positions_by_shifted_sine(num_positions, embed_dim):
    c = torch.arange(embed_dim, dtype=torch.float64)
    angle = torch.arange(num_positions)[:, None] * torch.pow(10000.0, -(c - c % 2) / embed_dim)
    return torch.sin(angle + (c % 2) * math.pi / 2).float()


def positions_by_polar(num_positions, embed_dim):
    even = torch.arange(0, embed_dim, 2)
    angle = torch.arange(num_positions)[:, None] / 10000 ** (even / embed_dim)
    turned = torch.view_as_real(torch.polar(torch.ones_like(angle), angle))
    return turned.flip(-1).flatten(1)[:, :embed_dim]


RIGHT = {
    "embed_tokens": [
        embed_by_loops,
        embed_by_f_embedding,
        embed_by_one_hot,
        embed_places_first,
        embed_in_place_on_its_own,
        embed_scaled_table,
        embed_in_float32,
    ],
    "sinusoidal_positions": [
        positions_by_loops,
        positions_by_exp,
        positions_by_where,
        positions_by_numpy,
        positions_by_stack,
        positions_by_shifted_sine,
        positions_by_polar,
    ],
}
