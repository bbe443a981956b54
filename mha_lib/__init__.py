"""Multi-head attention, one step at a time.

Each step of the notebook series has one word: the notebook, the module and the test share it.
The names below are re-exported in teaching order.

Shape legend, used in every signature:

====  =========================================================
`B`   batch: independent sentences
`H`   num_heads: attentions that run side by side
`L`   query length: words that ask
`S`   key length: words that are read (`L == S` in self-attention)
`E`   embed_dim: width of a word's vector
`D`   head_dim: width of one head, `E / H`
====  =========================================================

`*B` in a signature stands for any number of leading axes, also none.
A mask has one polarity everywhere: True = may attend.
"""

# isort: off
from mha_lib.hyperparameters import head_dim
from mha_lib.input_layers import InputLayer, embed_tokens, sinusoidal_positions
from mha_lib.linear_layers import head_rows, unpack_projections
from mha_lib.splitting_heads import split_heads
from mha_lib.attention_scores import attention_scores, attention_weights
from mha_lib.attention_scores import scaled_dot_product_attention
from mha_lib.merging_heads import MultiHeadAttention, merge_heads
from mha_lib.masks import causal_mask, decoder_mask, padding_mask
# isort: on

__all__ = [
    "head_dim",
    "sinusoidal_positions",
    "embed_tokens",
    "InputLayer",
    "head_rows",
    "unpack_projections",
    "split_heads",
    "attention_scores",
    "attention_weights",
    "scaled_dot_product_attention",
    "merge_heads",
    "MultiHeadAttention",
    "causal_mask",
    "padding_mask",
    "decoder_mask",
]
