"""Step 3: one Linear layer for all heads, and the rows that belong to each head."""

from jaxtyping import Float
from torch import Tensor

from mha_lib.hyperparameters import check_count, head_dim


def head_rows(
    weight: Float[Tensor, "E *width"], head: int, num_heads: int
) -> Float[Tensor, "D *width"]:
    """Return the rows of a projection that belong to one head.

    W_h = W[h*D : (h+1)*D]

    `nn.Linear` stores its weight as (out_features, in_features) and computes x @ weight.T.
    So head h makes output columns h*D .. (h+1)*D - 1, and these are *rows* of the weight.

    >>> import torch
    >>> head_rows(torch.arange(12).view(6, 2).float(), head=1, num_heads=2)
    tensor([[ 6.,  7.],
            [ 8.,  9.],
            [10., 11.]])

    Args:
        weight: Weight (E, E_in) of one projection, or its bias (E,).
        head: Which head, 0 .. num_heads - 1.
        num_heads: Number H of heads; it must divide E.

    Returns:
        A view of the rows: no copy, so writing into it changes `weight`.

    Raises:
        TypeError: `head` or `num_heads` is not an int.
        ValueError: No such head, no rows, or the heads do not divide the rows.

    Source:
        Vaswani et al. 2017, section 3.2.2: W_i^Q, stacked along the output axis.
    """
    if weight.ndim == 0:
        raise ValueError("weight must have one row for each output feature, got a scalar")
    width = head_dim(weight.shape[0], num_heads)
    check_count("head", head, smallest=0)
    if head >= num_heads:
        raise ValueError(
            f"head must lie in 0 .. {num_heads - 1} (num_heads={num_heads}), got {head}"
        )
    return weight[head * width : (head + 1) * width]


def unpack_projections(
    in_proj: Float[Tensor, "EEE *width"],
) -> tuple[Float[Tensor, "E *width"], Float[Tensor, "E *width"], Float[Tensor, "E *width"]]:
    """Cut a packed projection into those of query, key and value, in this order.

    (W_Q, W_K, W_V) = W[0:E], W[E:2E], W[2E:3E]

    >>> import torch
    >>> [part.tolist() for part in unpack_projections(torch.arange(6.0))]
    [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]

    Args:
        in_proj: Packed weight (3E, E) or bias (3E,), laid out as in `nn.MultiheadAttention`.

    Returns:
        Three views: no copy.

    Raises:
        ValueError: The number of rows is not a multiple of 3.

    Source:
        `torch.nn.MultiheadAttention`, parameters `in_proj_weight` and `in_proj_bias`.
    """
    rows = in_proj.shape[0] if in_proj.ndim else 0
    if rows == 0 or rows % 3:
        raise ValueError(f"in_proj must have 3 * E rows (query, key, value), got {rows}")
    query, key, value = in_proj.chunk(3)
    return query, key, value
