"""Is an outcome the right one? Do two outcomes look alike?"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from mha_lib.exercises.outcome import Outcome, Something, Trouble


@dataclass(frozen=True)
class Difference:
    """How an outcome differs from the right one: in one word and in one sentence."""

    kind: str
    sentence: str


def difference(right: Outcome, got: Outcome, tolerance: float) -> Difference | None:
    """Say how `got` differs from `right`; None if it does not."""
    if got.trouble is not None:
        return Difference(got.trouble.kind, _trouble_sentence(got.trouble))
    return _value_difference(right.value, got.value, tolerance)


def alike(one: Outcome, other: Outcome, tolerance: float) -> bool:
    """Do two answers, right or wrong, behave in the same way?"""
    if one.trouble is not None or other.trouble is not None:
        return _fingerprint(one.trouble) == _fingerprint(other.trouble)
    return _same(one.value, other.value, tolerance)


def close(a: Tensor, b: Tensor, tolerance: float) -> Tensor:
    """Compare number by number; NaN is like NaN."""
    return torch.isclose(b.double(), a.double(), rtol=tolerance, atol=tolerance, equal_nan=True)


def _fingerprint(trouble: Trouble | None) -> tuple[str, ...] | None:
    """Return kind and message of an error: asked the same, the same mistake gives the same."""
    return None if trouble is None else (trouble.kind, trouble.name, trouble.message)


def _same(one: Any, other: Any, tolerance: float) -> bool:
    if isinstance(one, tuple) and isinstance(other, tuple):
        pairs = zip(one, other, strict=False)
        return len(one) == len(other) and all(_same(a, b, tolerance) for a, b in pairs)
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        alike_kind = one.shape == other.shape and _kind(one) == _kind(other)
        return alike_kind and bool(close(one, other, tolerance).all())
    return type(one) is type(other) and bool(one == other)


def _kind(x: Tensor) -> str:
    if x.dtype == torch.bool:
        return "bool"
    return "floating point" if x.is_floating_point() else "whole numbers"


def _value_difference(right: Any, got: Any, tolerance: float) -> Difference | None:
    if isinstance(right, tuple) and isinstance(got, tuple) and len(right) == len(got):
        for r, g in zip(right, got, strict=True):
            found = _value_difference(r, g, tolerance)
            if found:
                return found
        return None
    if isinstance(right, Tensor):
        return _tensor_difference(right, got, tolerance)
    if type(right) is type(got) and right == got:
        return None
    if isinstance(right, str) or isinstance(got, str):
        return Difference("value", f"Wanted: {_said(right)}. Yours: {_said(got)}.")
    kind = "value" if type(right) is type(got) else "type"
    return Difference(kind, f"It returned {described(got)}; {described(right)} was wanted.")


def _tensor_difference(right: Tensor, got: Any, tolerance: float) -> Difference | None:
    if not isinstance(got, Tensor):
        wanted = f"a torch tensor of shape {tuple(right.shape)}"
        return Difference("type", f"It returned {described(got)}; {wanted} was wanted.")
    if got.shape != right.shape:
        shapes = f"the right shape is {tuple(right.shape)}, yours is {tuple(got.shape)}"
        return Difference("shape", f"The shape is wrong: {shapes}.")
    if _kind(got) != _kind(right):
        text = f"The dtype is wrong: {right.dtype} was wanted, yours is {got.dtype}."
        return Difference("dtype", text)
    if bool((got.isnan() & ~right.isnan()).any()):
        return Difference("nan", "The result holds NaN (not a number).")
    if not bool(close(right, got, tolerance).all()):
        return Difference("value", "Shape and dtype are right, the numbers are not.")
    return None


def _said(value: Any) -> str:
    return value if isinstance(value, str) else described(value)


def described(value: Any) -> str:
    """Describe a result in a few words."""
    if value is None:
        return "None (is a `return` missing?)"
    if isinstance(value, Something):
        return value.described
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}"
    name = {"str": "a text", "int": "an int", "float": "a float", "bool": "a bool"}
    return f"{value!r:.60} ({name.get(type(value).__name__, type(value).__name__)})"


def _trouble_sentence(trouble: Trouble) -> str:
    if trouble.kind == "endless":
        return "It did not come back within 5 seconds. Is there a loop without end?"
    if trouble.kind == "wrong kind":
        return trouble.message
    if trouble.kind == "not attempted":
        return "For this input it still says `raise NotImplementedError`."
    if trouble.name == "RecursionError":
        return "It calls itself without end."
    if trouble.name in ("SystemExit", "KeyboardInterrupt"):
        return f"It was ended by {trouble.name} before it returned anything."
    where = f"\nin your line: {trouble.line}" if trouble.line else ""
    return f"It raised {trouble.name}: {trouble.message or '(no text)'}{where}"
