"""Numbers for the cases: written out or computed, never drawn at random."""

import math

import torch
from torch import Tensor


def waves(*shape: int, step: float = 1.0, size: float = 1.0) -> Tensor:
    """Return size * sin(step), size * sin(2 step), ... in float64: no two alike, none special.

    >>> waves(3).round(decimals=2)
    tensor([0.8400, 0.9100, 0.1400], dtype=torch.float64)
    """
    count = math.prod(shape)
    return size * torch.sin(step * torch.arange(1, count + 1, dtype=torch.float64)).view(shape)


def counted(*shape: int, start: int = 0) -> Tensor:
    """Return start, start + 1, ... as float32: every number tells where it came from.

    >>> counted(2, 2)
    tensor([[0., 1.],
            [2., 3.]])
    """
    count = math.prod(shape)
    return torch.arange(start, start + count, dtype=torch.float32).view(shape)
