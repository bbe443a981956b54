"""The answer for lesson 9."""

from torch import Tensor
from torch.nn import functional as F

import mha_lib


def cross_attention(
    decoder_states: Tensor,
    encoder_states: Tensor,
    in_proj_weight: Tensor,
    in_proj_bias: Tensor,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor,
    num_heads: int,
    source_lengths: Tensor,
) -> Tensor:
    w_q, w_k, w_v = in_proj_weight.chunk(3)
    b_q, b_k, b_v = in_proj_bias.chunk(3)
    q = mha_lib.split_heads(F.linear(decoder_states, w_q, b_q), num_heads)
    k = mha_lib.split_heads(F.linear(encoder_states, w_k, b_k), num_heads)
    v = mha_lib.split_heads(F.linear(encoder_states, w_v, b_v), num_heads)
    mask = mha_lib.padding_mask(source_lengths, encoder_states.shape[1])
    heads = mha_lib.scaled_dot_product_attention(q, k, v, mask)
    return F.linear(mha_lib.merge_heads(heads), out_proj_weight, out_proj_bias)
