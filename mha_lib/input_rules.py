"""What inputs and masks must look like. Attention looks at shapes and dtypes, never at values."""

import torch
from torch import Tensor

_SHAPES = "(L, S), (B, 1, 1, S), (B, 1, L, S) or (B, H, L, S)"


def check_query_key(query: Tensor, key: Tensor) -> None:
    """Raise unless (*B, L, D) and (*B, S, D) can be compared."""
    for name, x in (("query", query), ("key", key)):
        if x.ndim < 2:
            raise ValueError(f"{name} must have axes (..., length, width), got {_shape(x)}")
        if 0 in x.shape[-2:]:
            raise ValueError(f"{name} must hold a word and a feature, got shape {_shape(x)}")
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(
            "query and key must have the same width: "
            f"got {query.shape[-1]} and {key.shape[-1]}, shapes {_shape(query)} and {_shape(key)}"
        )
    if query.shape[:-2] != key.shape[:-2]:
        raise ValueError(
            "query and key must agree on all axes before the last two: "
            f"got shapes {_shape(query)} and {_shape(key)}"
        )


def check_value(key: Tensor, value: Tensor) -> None:
    """Raise unless each key has a value."""
    if value.ndim != key.ndim or value.shape[:-1] != key.shape[:-1]:
        raise ValueError(
            f"value must have one row for each key: got value {_shape(value)} and key {_shape(key)}"
        )


def check_mask(mask: Tensor, scores: tuple[int, ...], name: str = "mask") -> None:
    """Raise unless the mask called `name` may be laid over scores of shape (*B, L, S).

    >>> check_mask(torch.ones(5, 4, 4, dtype=torch.bool), (5, 2, 4, 4))
    Traceback (most recent call last):
        ...
    ValueError: mask must not have three axes, got shape (5, 4, 4): the first could be the batch \
or the heads; write mask.unsqueeze(1) for one mask a sentence, mask.unsqueeze(0) for one a head
    """
    if not isinstance(mask, Tensor):
        raise TypeError(f"{name} must be a Tensor, got {type(mask).__name__}")
    if mask.dtype != torch.bool and not mask.is_floating_point():
        raise TypeError(
            f"{name} must be bool (True = may attend) or floating point (added to the scores), "
            f"got dtype {mask.dtype}; if 1 means 'may attend', write {name}.bool()"
        )
    batched = len(scores) == 4
    if mask.ndim == 3 and batched:
        raise ValueError(
            f"{name} must not have three axes, got shape {_shape(mask)}: the first could be "
            f"the batch or the heads; write {name}.unsqueeze(1) for one mask a sentence, "
            f"{name}.unsqueeze(0) for one a head"
        )
    if mask.ndim == 4 and batched:
        fits = mask.shape[-1] == scores[-1] and all(
            m in (1, s) for m, s in zip(mask.shape, scores, strict=True)
        )
    else:
        fits = tuple(mask.shape) == scores[-2:]
    if not fits:
        raise ValueError(
            f"{name} must have shape {_SHAPES if batched else '(L, S)'}; "
            f"the scores have shape {scores}, got {name} of shape {_shape(mask)}"
        )


def join_causal(
    mask: Tensor | None, is_causal: bool, query_len: int, key_len: int, like: Tensor
) -> Tensor | None:
    """Return one mask for both: `mask`, and key <= query where `is_causal`.

    A float mask gets the dtype of `like`, as the fused attention of torch wants it.

    >>> join_causal(None, True, 2, 3, torch.zeros(1))
    tensor([[ True, False, False],
            [ True,  True, False]])
    """
    if mask is not None and mask.dtype != torch.bool:
        mask = mask.to(like.dtype)
    if not is_causal:
        return mask
    causal = torch.ones(query_len, key_len, dtype=torch.bool, device=like.device).tril()
    if mask is None:
        return causal
    if mask.dtype == torch.bool:
        return mask & causal
    return mask.masked_fill(~causal, -torch.inf)


def check_width(name: str, x: Tensor, embed_dim: int) -> None:
    """Raise unless `x` is (B, length, embed_dim) or (length, embed_dim), with a word in it."""
    if x.ndim not in (2, 3) or x.shape[-1] != embed_dim or x.shape[-2] == 0:
        raise ValueError(
            f"{name} must have shape (B, length, {embed_dim}) or (length, {embed_dim}) "
            f"with at least one word (embed_dim={embed_dim}), got {_shape(x)}"
        )


def refuse_torch_masks(attn_mask: Tensor | None, key_padding_mask: Tensor | None) -> None:
    """Raise if a mask comes under a name whose polarity is the opposite in torch's module."""
    cures = {
        "attn_mask": "mask=~attn_mask",
        "key_padding_mask": "mask=~key_padding_mask[:, None, None, :]",
    }
    for name, given in (("attn_mask", attn_mask), ("key_padding_mask", key_padding_mask)):
        if given is not None:
            raise TypeError(
                f"{name} is not accepted here: in nn.MultiheadAttention True means 'must not "
                "attend', in this library True means 'may attend'; "
                f"for a bool mask write {cures[name]}"
            )


def check_ids(ids: Tensor, table: Tensor, positions: Tensor) -> None:
    """Raise unless each id has a row in `table` (V, E) and each word one in `positions` (P, E)."""
    for name, x in (("table", table), ("positions", positions)):
        if x.ndim != 2:
            raise ValueError(f"{name} must have two axes (rows, width), got shape {_shape(x)}")
    if table.shape[1] != positions.shape[1]:
        widths = f"{positions.shape[1]} and {table.shape[1]}"
        raise ValueError(f"positions must be as wide as table: got widths {widths}")
    if ids.ndim == 0 or ids.shape[-1] == 0:
        raise ValueError(f"ids must hold at least one word, got shape {_shape(ids)}")
    if ids.shape[-1] > positions.shape[0]:
        raise ValueError(
            f"ids must not be longer than positions: got {ids.shape[-1]} words "
            f"and {positions.shape[0]} positions"
        )
    check_whole_numbers("ids", ids, table.shape[0] - 1, f"table has {table.shape[0]} rows")


def check_whole_numbers(name: str, x: Tensor, largest: int, why: str) -> None:
    """Raise unless `x` holds whole numbers in 0 .. largest; `why` says where the limit is from."""
    if x.is_floating_point() or x.is_complex() or x.dtype == torch.bool:
        raise TypeError(f"{name} must be whole numbers, got dtype {x.dtype}")
    # torch.compile and torch.export cannot look at values: there torch's own checks are left.
    if torch.compiler.is_compiling() or x.numel() == 0:
        return
    low, high = int(x.min()), int(x.max())
    if low < 0 or high > largest:
        wrong = low if low < 0 else high
        raise ValueError(f"{name} must lie in 0 .. {largest} ({why}), got {wrong}")


def _shape(x: Tensor) -> tuple[int, ...]:
    return tuple(x.shape)
