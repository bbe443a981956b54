"""Step 4: one wide vector a word becomes one narrow vector a head and word."""

from jaxtyping import Shaped
from torch import Tensor

from mha_lib.hyperparameters import head_dim


def split_heads(x: Shaped[Tensor, "*B L E"], num_heads: int) -> Shaped[Tensor, "*B H L D"]:
    """Give each head its own (L, D) matrix.

    out[..., h, l, d] = x[..., l, h*D + d]

    Two steps: view E as (H, D), then swap the axes of length and heads, since matrix products
    treat leading axes as batch. Both only change strides: no number moves, nothing is copied.

    >>> import torch
    >>> split_heads(torch.tensor([[0, 1, 2, 3], [4, 5, 6, 7]]), num_heads=2)
    tensor([[[0, 1],
             [4, 5]],
    <BLANKLINE>
            [[2, 3],
             [6, 7]]])

    Args:
        x: Projected queries, keys or values.
        num_heads: Number H of heads; it must divide E.

    Returns:
        A view of `x`.

    Raises:
        TypeError: `num_heads` is not an int.
        ValueError: `x` has fewer than two axes, or the heads do not divide its width.

    Source:
        Vaswani et al. 2017, section 3.2.2.
    """
    if x.ndim < 2:
        raise ValueError(f"x must have axes (..., L, E), got shape {tuple(x.shape)}")
    width = head_dim(x.shape[-1], num_heads)
    return x.unflatten(-1, (num_heads, width)).transpose(-3, -2)  # (*B, H, L, D)
