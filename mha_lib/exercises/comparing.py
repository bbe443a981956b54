"""Is a result the right one? If not, in what way."""

from typing import Any

import torch
from torch import Tensor


def difference(right: Any, got: Any, tolerance: float) -> str | None:
    """Say in one sentence how `got` differs from `right`; None if it does not."""
    if isinstance(right, Tensor):
        return _tensor_difference(right, got, tolerance)
    if type(right) is not type(got):
        return f"It returned {describe(got)}; {describe(right)} was wanted."
    return None if right == got else f"It returned {got!r}; {right!r} was wanted."


def _tensor_difference(right: Tensor, got: Any, tolerance: float) -> str | None:
    if not isinstance(got, Tensor):
        return f"It returned {describe(got)}; a torch tensor was wanted."
    if got.shape != right.shape:
        return f"It has shape {tuple(got.shape)}; the right shape is {tuple(right.shape)}."
    if (right.dtype == torch.bool) != (got.dtype == torch.bool) or got.is_complex():
        return f"It has dtype {got.dtype}; {right.dtype} was wanted."
    a, b = right.detach().double(), got.detach().double()
    if bool(torch.isnan(b).any()):
        return "It holds NaN (not a number)."
    if not torch.allclose(b, a, rtol=tolerance, atol=tolerance):
        return "Shape and type are right, the numbers are not."
    return None


def describe(value: Any) -> str:
    if value is None:
        return "None (is a `return` missing?)"
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    return f"{value!r:.60}, of type {type(value).__name__}"
