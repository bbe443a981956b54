"""Rules that every right answer keeps, as questions: used when no known mistake fits."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

import mha_lib
from mha_lib.exercises.asks import tensor

Function = Callable[..., Any]


def row_sums(function: Function, *args: Any) -> Tensor:
    return tensor(function(*args)).sum(-1)


def hidden_weights(function: Function, *args: Any) -> Tensor:
    """Return the weights at the places that the mask, the last argument, hides."""
    weights = tensor(function(*args))
    return weights * ~args[-1]


def moved(function: Function, *args: Any, change: tuple[int, ...], where: Any, look: Any) -> Tensor:
    """Return how far the result moves at `look` when some arguments change at `where`."""
    before = tensor(function(*args))
    other = [a.clone() if isinstance(a, Tensor) else a for a in args]
    for number in change:
        other[number][where] += 1.5 if args[number].is_floating_point() else 1
    return (tensor(function(*other)) - before)[look].abs().amax()


def batch_mates(*change: int) -> Function:
    """Sentence 1 and all after it change: does sentence 0 stay?"""
    return partial(moved, change=change, where=slice(1, None), look=0)


def last_key(*change: int) -> Function:
    """The last key changes, which the mask hides: does the result stay?"""
    return partial(moved, change=change, where=(..., -1, slice(None)), look=...)


def future(*change: int) -> Function:
    """The last word changes: do the words before it stay?"""
    return partial(
        moved, change=change, where=(..., -1, slice(None)), look=(slice(None), slice(None, -1))
    )


def twice_as_long(function: Function, query: Tensor, *args: Any) -> Tensor:
    """Return how the result grows with the first argument."""
    return tensor(function(2 * query, *args)) / tensor(function(query, *args))


def four_times_as_wide(function: Function, query: Tensor, key: Tensor) -> Tensor:
    """Return how the result grows when every feature is there four times."""
    narrow = tensor(function(query, key))
    return tensor(function(query.repeat(1, 1, 1, 4), key.repeat(1, 1, 1, 4))) / narrow


def split_then_merge(split: Function, x: Tensor, num_heads: int) -> Tensor:
    return mha_lib.merge_heads(tensor(split(x, num_heads)))


def merge_after_split(merge: Function, x: Tensor) -> Tensor:
    """Take `x` for heads that `split_heads` made, and split the learner's result again."""
    return mha_lib.split_heads(tensor(merge(x)), x.shape[1])


def every_number_once(function: Function, *args: Any) -> Tensor:
    return tensor(function(*args)).flatten().sort().values


def all_heads(function: Function, weight: Tensor, num_heads: int) -> Tensor:
    """Put the rows of all heads below each other."""
    return torch.cat([tensor(function(weight, h, num_heads)) for h in range(num_heads)])


def all_packed_heads(function: Function, in_proj_weight: Tensor, num_heads: int) -> Tensor:
    heads, weight = range(num_heads), in_proj_weight
    return torch.cat([tensor(function(weight, p, h, num_heads)) for p in range(3) for h in heads])


def counts(function: Function, *args: Any) -> Tensor:
    """Return how many places each row of a mask allows."""
    return torch.as_tensor(function(*args)).sum(-1)


def padding_logits(function: Function, logits: Tensor, targets: Tensor, pad_id: int) -> Tensor:
    """Return how far the loss moves when the logits of padding change."""
    other = logits + 2 * (targets == pad_id)[..., None] * torch.cos(logits)
    return tensor(function(other, targets, pad_id)) - tensor(function(logits, targets, pad_id))
