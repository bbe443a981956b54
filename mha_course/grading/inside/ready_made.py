"""Notice calls of torch's ready-made functions, also from other threads.

`Noticing` sees every way to call them, but in one thread only, and torch has a switch to leave it
out. So the functions themselves are replaced, too, by ones that note the call and pass it on.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.nn import functional

PLACES = (torch, functional, torch._C._nn, torch.ops.aten)


def watch(names: Sequence[str], called: list[str]) -> None:
    """Replace torch's functions of these names; a call of one adds its name to `called`."""
    for name in names:
        for place in PLACES:
            if hasattr(place, name):
                setattr(place, name, _noting(getattr(place, name), name, called))


def _noting(function: Callable[..., Any], name: str, called: list[str]) -> Callable[..., Any]:
    @functools.wraps(function)
    def noting(*args: Any, **kwargs: Any) -> Any:
        if name not in called:
            called.append(name)
        return function(*args, **kwargs)

    return noting
