"""Step 8: masks. True = may attend."""

from collections.abc import Sequence

import torch
from jaxtyping import Bool
from torch import Tensor

from mha_lib.hyperparameters import check_count
from mha_lib.input_rules import check_whole_numbers


def causal_mask(query_len: int, key_len: int, offset: int = 0) -> Bool[Tensor, "L S"]:
    """Let each word attend to itself and to earlier words: True = may attend.

    mask[l, s] = s <= l + offset

    >>> causal_mask(3, 3).int()
    tensor([[1, 0, 0],
            [1, 1, 0],
            [1, 1, 1]], dtype=torch.int32)
    >>> causal_mask(1, 3, offset=2).int()
    tensor([[1, 1, 1]], dtype=torch.int32)

    Args:
        query_len: Number L of queries, at least 1.
        key_len: Number S of keys, at least 1.
        offset: Number of keys that came before the first query (a cache), at least 0.

    Returns:
        Row l is the query, column s the key.

    Raises:
        TypeError: An argument is not an int.
        ValueError: An argument is too small.

    Source:
        Vaswani et al. 2017, section 3.2.3, the decoder's self-attention.
    """
    check_count("query_len", query_len)
    check_count("key_len", key_len)
    check_count("offset", offset, smallest=0)
    return torch.ones(query_len, key_len, dtype=torch.bool).tril(offset)


def padding_mask(lengths: Tensor | Sequence[int], max_len: int) -> Bool[Tensor, "B 1 1 S"]:
    """Hide the padding at the end of each sentence: True = may attend.

    mask[b, 0, 0, s] = s < lengths[b]

    >>> padding_mask([3, 1], 3).int()[:, 0, 0]
    tensor([[1, 1, 1],
            [1, 0, 0]], dtype=torch.int32)

    Args:
        lengths: Real words of each sentence, 0 .. max_len.
        max_len: Number S of keys, padding included, at least 1.

    Returns:
        A mask that hides *keys*, the same for all heads and queries.

    Raises:
        TypeError: `lengths` are not whole numbers.
        ValueError: `lengths` has not exactly one axis, or one lies outside 0 .. max_len.

    Source:
        `torch.nn.MultiheadAttention`, `key_padding_mask`, there with the opposite polarity.
    """
    check_count("max_len", max_len)
    real = torch.as_tensor(lengths)
    check_whole_numbers("lengths", real, max_len, "max_len")
    if real.ndim != 1:
        raise ValueError(
            f"lengths must have one axis, a length for each sentence, got shape {tuple(real.shape)}"
        )
    keys = torch.arange(max_len, device=real.device)
    return (keys < real.unsqueeze(1))[:, None, None, :]


def decoder_mask(lengths: Tensor | Sequence[int], max_len: int) -> Bool[Tensor, "B 1 L L"]:
    """Causal and padding mask at once: True = may attend.

    mask[b, 0, l, s] = s <= l and s < lengths[b]

    Rows of padded queries still attend to real keys, so no row is empty unless a length is 0.

    >>> decoder_mask([2], 3).int()[0, 0]
    tensor([[1, 0, 0],
            [1, 1, 0],
            [1, 1, 0]], dtype=torch.int32)

    Args:
        lengths: Real words of each sentence, 0 .. max_len.
        max_len: Number L of words, padding included, at least 1.

    Returns:
        One (L, L) mask for each sentence, the same for all heads.

    Raises:
        TypeError, ValueError: As in `padding_mask`.

    Source:
        Vaswani et al. 2017, section 3.2.3.
    """
    padding = padding_mask(lengths, max_len)
    return padding & causal_mask(max_len, max_len).to(padding.device)
