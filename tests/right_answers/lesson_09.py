"""Right answers for lesson 9: those of the layer, with the source's padding as mask."""

import torch
from torch import nn

from tests.right_answers import lesson_06


def _through(layer):
    def cross_attention(decoder_states, encoder_states, w, b, wo, bo, num_heads, source_lengths):
        real = torch.arange(encoder_states.shape[1]) < source_lengths[:, None]
        source = encoder_states, encoder_states
        return layer(decoder_states, *source, w, b, wo, bo, num_heads, real[:, None, None])

    return cross_attention


def by_torch(decoder_states, encoder_states, w, b, wo, bo, num_heads, source_lengths):
    """torch's layer with a key_padding_mask: True = must not attend."""
    layer = nn.MultiheadAttention(w.shape[1], num_heads, batch_first=True, dtype=w.dtype)
    state = {"in_proj_weight": w, "in_proj_bias": b, "out_proj.weight": wo, "out_proj.bias": bo}
    padding = torch.arange(encoder_states.shape[1]) >= source_lengths[:, None]
    options = {"key_padding_mask": padding, "need_weights": False}
    args = (decoder_states, encoder_states, encoder_states)
    return torch.func.functional_call(layer, state, args, options)[0]


def sentence_by_sentence(decoder_states, encoder_states, w, b, wo, bo, num_heads, source_lengths):
    """Without any mask: each sentence is cut to its own length."""
    rows = []
    for target, source, n in zip(decoder_states, encoder_states, source_lengths, strict=True):
        if n == 0:
            rows.append((target * 0 + bo)[None])
            continue
        real = source[None, :n]
        rows.append(lesson_06.layer_by_linear(target[None], real, real, w, b, wo, bo, num_heads))
    return torch.cat(rows)


RIGHT = {
    "cross_attention": [
        *map(_through, lesson_06.RIGHT["multi_head_attention"]),
        by_torch,
        sentence_by_sentence,
    ]
}
