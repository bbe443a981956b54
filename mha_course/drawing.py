"""What a drawn worked case is made of."""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import torch

from mha_lib.exercises.showing import written

POLARITY = " (True = may attend)"


def result(right: Callable[..., Any], *args: Any) -> str:
    """Say what the reference returns; numbers to two decimals."""
    value = right(*args)
    exact = not isinstance(value, torch.Tensor) or not value.is_floating_point()
    exact = exact or bool((value == value.round(decimals=2)).all())
    text = written(value).removesuffix(POLARITY)
    polarity = "" if text == written(value) else POLARITY
    return f"The result is `{text}`{polarity}{'' if exact else ', to two decimals'}."


def error(right: Callable[..., Any], *args: Any) -> str:
    """Say which error the reference raises."""
    try:
        right(*args)
    except ValueError as raised:
        return f"This raises a `ValueError`. Its text could be `{raised}`."
    raise AssertionError(f"no error for {args}")


def strides(right: Callable[..., Any], *args: Any) -> str:
    """Say what the reference returns, and how it lies in memory."""
    return f"{result(right, *args)} Its strides are `{right(*args).stride()}`."


def shapes(right: Callable[..., Any], *args: Any) -> str:
    """Say what a layer returns, and how many numbers it trains."""
    layer = right(*args[:2])
    output, weights = layer(args[2], need_weights=True)
    count = sum(parameter.numel() for parameter in layer.parameters())
    return (
        f"`output` has the shape `{tuple(output.shape)}`, `weights` `{tuple(weights.shape)}`. "
        f"The layer has {count} trained numbers."
    )


@dataclass(frozen=True)
class Drawn:
    """One worked case.

    Args:
        arguments: Name -> Python text, in the order of the call.
        words: A sentence about the case, in Markdown.
        call: What is called; {0}, {1} ... stand for single arguments.
        shown: Says what comes out, by calling the reference.
    """

    arguments: dict[str, str]
    words: str = ""
    call: str = "{function}({arguments})"
    shown: Callable[..., str] = field(default=result)


def numbers(draw: Random, *shape: int, most: int = 4) -> str:
    """Draw a tensor of whole numbers up to most, with a sign and none zero, as Python."""
    return f"torch.tensor({_nested(draw, shape, most)})"


def _nested(draw: Random, shape: tuple[int, ...], most: int) -> str:
    if not shape:
        return f"{draw.choice((-1, 1)) * draw.randint(1, most)}.0"
    return "[" + ", ".join(_nested(draw, shape[1:], most) for _ in range(shape[0])) + "]"


def counted(draw: Random, *shape: int) -> str:
    """Write a tensor that counts from a number drawn: every number tells where it came from."""
    start, count = draw.randint(0, 9), torch.Size(shape).numel()
    return f"torch.arange({start}.0, {start + count}.0).view({', '.join(map(str, shape))})"
