"""What came of one call: a result, copied so that nothing done later changes it, or trouble."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import torch
from torch import Tensor

MOST_NUMBERS = 1_000_000  # a bigger result is not looked into


@dataclass(frozen=True)
class Trouble:
    """Why there is no result. `kind`: "raised", "endless", "wrong kind" or "not attempted"."""

    kind: str
    name: str = ""
    message: str = ""
    line: str = ""


@dataclass(frozen=True)
class Outcome:
    """What one call did: a result or trouble, and the arguments that it changed."""

    value: Any = None
    trouble: Trouble | None = None
    changed: tuple[int, ...] = ()


@dataclass(frozen=True)
class Something:
    """Stands for a result that is no number, text or tensor."""

    described: str


def snapshot(value: Any, depth: int = 0) -> Any:
    """Copy a result, so that nothing done later changes it.

    >>> snapshot([1, 2])
    Something(described='a list')
    """
    if isinstance(value, Tensor):
        if value.numel() > MOST_NUMBERS:
            return Something(f"a tensor of shape {tuple(value.shape)}")
        if value.layout != torch.strided or value.is_complex() or value.device.type != "cpu":
            return Something(f"a tensor of dtype {value.dtype}, layout {value.layout}")
        return value.detach().as_subclass(Tensor).clone()
    if isinstance(value, tuple) and depth < 3 and len(value) < 50:
        return tuple(snapshot(part, depth + 1) for part in value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Integral):  # a NumPy integer
        return int(value)
    return (
        value if isinstance(value, Something) else Something(described_type(type(value).__name__))
    )


def described_type(name: str) -> str:
    """Name a type in a sentence.

    >>> described_type("ndarray"), described_type("OrderedDict")
    ('a NumPy array', 'an OrderedDict')
    """
    article = "an" if name[:1].lower() in "aeiou" else "a"
    return "a NumPy array" if name == "ndarray" else f"{article} {name}"
