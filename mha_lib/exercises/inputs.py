"""Numbers for the cases: written out or computed, never drawn at random.

Who marks work can shift them: other numbers of the same kind, for the same stages.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor

_SHIFT: ContextVar[int] = ContextVar("_SHIFT", default=0)


@contextmanager
def shifted(by: int) -> Iterator[None]:
    """Make `waves` and `counted` start `by` places later.

    >>> with shifted(2):
    ...     counted(3)
    tensor([2., 3., 4.])
    """
    token = _SHIFT.set(by)
    try:
        yield
    finally:
        _SHIFT.reset(token)


def waves(*shape: int, step: float = 1.0, size: float = 1.0) -> Tensor:
    """Return size * sin(step), size * sin(2 step), ... in float64: no two alike, none special.

    >>> waves(3).round(decimals=2)
    tensor([0.8400, 0.9100, 0.1400], dtype=torch.float64)
    """
    first, count = 1 + _SHIFT.get(), math.prod(shape)
    places = torch.arange(first, first + count, dtype=torch.float64)
    return size * torch.sin(step * places).view(shape)


def counted(*shape: int, start: int = 0) -> Tensor:
    """Return start, start + 1, ... as float32: every number tells where it came from.

    >>> counted(2, 2)
    tensor([[0., 1.],
            [2., 3.]])
    """
    first, count = start + _SHIFT.get(), math.prod(shape)
    return torch.arange(first, first + count, dtype=torch.float32).view(shape)
