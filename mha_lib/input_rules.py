"""What inputs and masks must look like: shapes and dtypes, never values."""

import torch
from torch import Tensor

_SHAPES = "(L, S), (B, 1, 1, S), (B, 1, L, S) or (B, H, L, S)"


def check_query_key(query: Tensor, key: Tensor) -> None:
    """Raise unless (*B, L, D) and (*B, S, D) can be compared."""
    for name, x in (("query", query), ("key", key)):
        if x.ndim < 2:
            raise ValueError(f"{name} must have axes (..., length, width), got {_shape(x)}")
        if x.shape[-2] == 0:
            raise ValueError(f"{name} must hold at least one word, got shape {_shape(x)}")
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


def check_mask(mask: Tensor, scores: tuple[int, ...]) -> None:
    """Raise unless `mask` may be laid over scores of shape (*B, L, S).

    >>> check_mask(torch.ones(5, 4, 4, dtype=torch.bool), (5, 2, 4, 4))
    Traceback (most recent call last):
        ...
    ValueError: mask must not have three axes, got shape (5, 4, 4): the first could be the batch \
or the heads; write mask.unsqueeze(1) for one mask a sentence, mask.unsqueeze(0) for one a head
    """
    if not isinstance(mask, Tensor):
        raise TypeError(f"mask must be a Tensor, got {type(mask).__name__}")
    if mask.dtype != torch.bool and not mask.is_floating_point():
        raise TypeError(
            "mask must be bool (True = may attend) or floating point (added to the scores), "
            f"got dtype {mask.dtype}; if 1 means 'may attend', write mask.bool()"
        )
    if mask.ndim == 3:
        raise ValueError(
            f"mask must not have three axes, got shape {_shape(mask)}: the first could be "
            "the batch or the heads; write mask.unsqueeze(1) for one mask a sentence, "
            "mask.unsqueeze(0) for one a head"
        )
    if mask.ndim == 4 and len(scores) == 4:
        fits = mask.shape[-1] == scores[-1] and all(
            m in (1, s) for m, s in zip(mask.shape, scores, strict=True)
        )
    else:
        fits = tuple(mask.shape) == scores[-2:]
    if not fits:
        raise ValueError(
            f"mask must have shape {_SHAPES}; the scores have shape {scores}, "
            f"got mask of shape {_shape(mask)}"
        )


def as_additive_or_bool(mask: Tensor | None, is_causal: bool, scores: Tensor) -> Tensor | None:
    """Check `mask` against the scores it is for and join it with the causal mask."""
    if mask is not None:
        check_mask(mask, tuple(scores.shape))
    return join_causal(mask, is_causal, scores.shape[-2], scores.shape[-1], scores)


def join_causal(
    mask: Tensor | None, is_causal: bool, query_len: int, key_len: int, like: Tensor
) -> Tensor | None:
    """Return one mask for both: `mask`, and key <= query where `is_causal`.

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


def _shape(x: Tensor) -> tuple[int, ...]:
    return tuple(x.shape)
