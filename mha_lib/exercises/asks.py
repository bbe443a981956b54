"""Questions to a function that are more than "what do you return?"."""

import inspect
import re
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from mha_lib.exercises.exercise import WrongKind

Function = Callable[..., Any]


def result_or_error(function: Function, *args: Any) -> Any:
    """Return the result; for an error its kind, as in "raised a ValueError"."""
    try:
        result = function(*args)
    except NotImplementedError:
        raise
    except Exception as error:
        name = type(error).__name__
        return f"raised {'an' if name[0] in 'AEIOU' else 'a'} {name}"
    if isinstance(result, Tensor):
        return result
    if isinstance(result, str):
        return "no error: returned a text"
    return "no error: returned nothing" if result is None else result


def numbers_in_error(function: Function, *args: Any) -> str:
    """Say which of the numbers among the arguments the error's text names."""
    sizes = [a for a in args if isinstance(a, int)] or [args[0].shape[-1], args[-1].shape[0]]
    try:
        function(*args)
    except ValueError as error:
        found = set(re.findall(r"\d+", str(error)))
        missing = [str(size) for size in sizes if str(size) not in found]
        return f"does not name {' and '.join(missing)}" if missing else "names both numbers"
    return "no ValueError"


def gradients(function: Function, *args: Any) -> tuple[Tensor, ...]:
    """Return the gradient of a weighted sum of the result, for each floating-point argument."""
    leaves = [a.requires_grad_() for a in args if isinstance(a, Tensor) and a.is_floating_point()]
    result = tensor(function(*args))
    if not result.requires_grad:
        raise WrongKind(
            "No gradient flows back to the inputs. Keep to torch's own operations on tensors: "
            "`.item()`, `.tolist()`, `.detach()`, `.data`, NumPy and `torch.no_grad()` cut it."
        )
    weights = torch.cos(torch.arange(result.numel(), dtype=result.dtype)).view(result.shape)
    found = torch.autograd.grad((result * weights).sum(), leaves, allow_unused=True)
    return tuple(
        torch.zeros_like(leaf) if grad is None else grad
        for leaf, grad in zip(leaves, found, strict=True)
    )


def tensor(result: Any) -> Tensor:
    """Return `result` if it is a floating-point tensor; raise if not."""
    if not isinstance(result, Tensor) or not result.is_floating_point():
        raise WrongKind("The result is no floating-point tensor.")
    return result


def memory(function: Function, x: Tensor, *args: Any) -> str:
    """Say whether the result lies on the memory of its first argument."""
    result = function(x, *args)
    if not isinstance(result, Tensor):
        raise WrongKind("The result is no tensor.")
    same = result.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    return "a view: on the memory of x" if same else "a copy: on memory of its own"


def argument_names(ask: Function, solution: Function) -> list[str]:
    """Return the names under which a case's arguments are shown."""
    names = list(inspect.signature(ask).parameters.values())[1:]
    if any(p.kind is p.VAR_POSITIONAL for p in names):
        return list(inspect.signature(solution).parameters)
    return [p.name for p in names]
