"""Queries, keys, values and masks for the cases of lesson 5."""

import torch
from torch import Tensor

from mha_lib.exercises.inputs import waves

Sizes = tuple[int, int, int, int, int]  # B, H, L, S, D
PRIMES: Sizes = (2, 3, 5, 7, 11)
GRADIENT = "the gradient that flows back"


def pair(sizes: Sizes) -> tuple[Tensor, Tensor]:
    """Make query and key, no two numbers alike."""
    b, h, length, keys, width = sizes
    return waves(b, h, length, width, step=0.7), waves(b, h, keys, width, step=1.3)


def small(query: list[list[float]], key: list[list[float]]) -> tuple[Tensor, Tensor]:
    """Make query and key of one sentence and one head."""
    numbers = torch.float64
    return torch.tensor([[query]], dtype=numbers), torch.tensor([[key]], dtype=numbers)


def values(key: Tensor, width: int) -> Tensor:
    return waves(*key.shape[:-1], width, step=2.1)


def masks() -> list[tuple[Tensor, Tensor, Tensor]]:
    """Make one case for each shape that a mask may have; no row is empty."""
    lower = torch.ones(5, 7, dtype=torch.bool).tril(1)
    padding = torch.arange(7) < torch.tensor([[7], [4]])
    each = torch.ones(2, 3, 5, 7, dtype=torch.bool)
    each[0, 1, 2, :3] = each[1, 0, 4, 1:] = each[1, 2, :, 5] = False
    q, k = pair(PRIMES)
    per_sentence = padding[:, None, None] & lower
    return [(q, k, m) for m in (lower, padding[:, None, None], per_sentence, each)]


def alike_masks() -> list[tuple[Tensor, Tensor, Tensor]]:
    """Make cases in which B = H = L = S: a mask on the wrong axis still has a shape that fits."""
    q, k = pair((3, 3, 3, 3, 2))
    lower = torch.ones(3, 3, dtype=torch.bool).tril()
    padding = torch.arange(3) < torch.tensor([[3], [2], [1]])
    return [(q, k, lower), (q, k, padding[:, None, None])]


def empty_masks() -> list[tuple[Tensor, Tensor, Tensor]]:
    """Make cases in which some row has nothing to attend to, or no row has anything."""
    q, k = pair((2, 1, 3, 4, 2))
    some = torch.ones(3, 4, dtype=torch.bool)
    some[1] = False
    none = torch.zeros(3, 4, dtype=torch.bool)
    sentence = torch.tensor([[True] * 4, [False] * 4])[:, None, None]
    return [(q, k, some), (q, k, none), (q, k, sentence)]
