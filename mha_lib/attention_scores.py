"""Step 5: scores, weights, output. Three words for three things."""

import math

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from mha_lib.hyperparameters import check_share
from mha_lib.input_rules import check_mask, check_query_key, check_value, join_causal


def attention_scores(
    query: Float[Tensor, "*B L D"], key: Float[Tensor, "*B S D"], *, scale: float | None = None
) -> Float[Tensor, "*B L S"]:
    """Compare each query with each key.

    scores = query @ key.T / sqrt(D)

    >>> attention_scores(torch.tensor([[2.0, 0.0, 0.0, 0.0]]), torch.eye(4))
    tensor([[1., 0., 0., 0.]])

    Args:
        query: One row for each word that asks.
        key: One row for each word that is read.
        scale: Factor on the products; 1 / sqrt(D) if None.

    Returns:
        Any real number for each pair of words: not yet a weight.

    Raises:
        ValueError: Widths or leading axes differ, or a length or the width is 0.

    Source:
        Vaswani et al. 2017, equation 1, inside the softmax.
    """
    check_query_key(query, key)
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    # Scaled before the product: in half precision the unscaled product could overflow.
    return (query * factor) @ key.transpose(-2, -1)


def attention_weights(
    query: Float[Tensor, "*B L D"],
    key: Float[Tensor, "*B S D"],
    attn_mask: Tensor | None = None,
    is_causal: bool = False,
    *,
    scale: float | None = None,
) -> Float[Tensor, "*B L S"]:
    """Turn the scores of each query into weights that sum to 1.

    weights = softmax(scores over the keys, where the mask allows)

    >>> keep = torch.tensor([[True, True, False]])
    >>> attention_weights(torch.ones(1, 1), torch.zeros(3, 1), keep)
    tensor([[0.5000, 0.5000, 0.0000]])

    Args:
        query: One row for each word that asks.
        key: One row for each word that is read.
        attn_mask: True = may attend; or a float mask that is added to the scores.
            Shape (L, S), (B, 1, 1, S), (B, 1, L, S) or (B, H, L, S).
        is_causal: Query l may attend to keys 0 .. l only, besides what the mask says.
        scale: Factor on the products; 1 / sqrt(D) if None.

    Returns:
        Weights in 0 .. 1. A row with nothing to attend to is zero.

    Raises:
        TypeError: `attn_mask` is neither bool nor floating point.
        ValueError: Shapes that do not fit.

    Source:
        Vaswani et al. 2017, equation 1.
    """
    scores = attention_scores(_at_least_float32(query), _at_least_float32(key), scale=scale)
    if attn_mask is not None:
        check_mask(attn_mask, tuple(scores.shape), "attn_mask")
    mask = join_causal(attn_mask, is_causal, scores.shape[-2], scores.shape[-1], query)
    if mask is None:
        return scores.softmax(-1).to(query.dtype)
    is_bool = mask.dtype == torch.bool
    scores = scores.masked_fill(~mask, -math.inf) if is_bool else scores + mask
    # softmax of a row of -inf is 0 / 0: such a row is set to 0 before and after.
    empty = (scores == -math.inf).all(-1, keepdim=True)
    return scores.masked_fill(empty, 0).softmax(-1).masked_fill(empty, 0).to(query.dtype)


def scaled_dot_product_attention(
    query: Float[Tensor, "*B L D"],
    key: Float[Tensor, "*B S D"],
    value: Float[Tensor, "*B S V"],
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
) -> Float[Tensor, "*B L V"]:
    """Average the values of each query's words by their weights.

    output = softmax(query @ key.T / sqrt(D)) @ value

    The same order of arguments as `torch.nn.functional.scaled_dot_product_attention`.

    >>> value = torch.tensor([[0.0, 4.0], [2.0, 0.0]])
    >>> scaled_dot_product_attention(torch.zeros(1, 3), torch.ones(2, 3), value)
    tensor([[1., 2.]])

    Args:
        query: One row for each word that asks.
        key: One row for each word that is read.
        value: What each of these words hands over.
        attn_mask: True = may attend; or a float mask that is added to the scores.
            Shape (L, S), (B, 1, 1, S), (B, 1, L, S) or (B, H, L, S).
        dropout_p: Share of weights set to zero at random; the others grow by 1 / (1 - p).
        is_causal: Query l may attend to keys 0 .. l only, besides what the mask says.
        scale: Factor on the products; 1 / sqrt(D) if None.

    Returns:
        One vector for each query. A row with nothing to attend to is zero.

    Raises:
        TypeError: `attn_mask` is neither bool nor floating point.
        ValueError: Shapes that do not fit.

    Source:
        Vaswani et al. 2017, equation 1.
    """
    check_value(key, value)
    check_share("dropout_p", dropout_p)
    weights = attention_weights(query, key, attn_mask, is_causal, scale=scale)
    return F.dropout(weights, dropout_p) @ value


def _at_least_float32(x: Tensor) -> Tensor:
    # As in torch's fused form. In float16 a score above 65504 would be inf; in bfloat16 a score
    # near 1000 is right only to within 2, which says nothing about its exponential.
    return x.to(torch.promote_types(x.dtype, torch.float32))
