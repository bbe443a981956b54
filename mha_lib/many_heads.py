"""Step 7: run the whole pretrained encoder and keep what each of its 72 heads looks at.

An encoder layer is two sublayers. Attention lets the positions exchange information; the
feed-forward network then works on every position alone. Each is followed by LayerNorm.

Source: Vaswani et al. 2017, sections 3.1 to 3.3; Devlin et al. 2018 (BERT), section 3.
"""

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor
from torch.nn import functional

from mha_lib.merging_heads import MultiHeadAttention
from mha_lib.real_encoder import (
    EMBED_DIM,
    NUM_HEADS,
    NUM_LAYERS,
    attention_state_dict,
    embed,
    layer_name,
    layer_norm,
)


def run_encoder(
    weights: dict[str, Tensor],
    ids: Int64[Tensor, "B L"],
    mask: Bool[Tensor, "B 1 1 L"] | None = None,
) -> tuple[list[Float[Tensor, "B L E"]], Float[Tensor, "B N H L L"]]:
    """Run all N = 6 layers; return every hidden state and every attention map.

    >>> from mha_lib.real_encoder import load_weights, tokenize
    >>> pieces, ids = tokenize("dogs chase black cats")
    >>> hidden_states, maps = run_encoder(load_weights(), ids)
    >>> len(hidden_states), hidden_states[-1].shape, maps.shape
    (7, torch.Size([1, 6, 384]), torch.Size([1, 6, 12, 6, 6]))

    Args:
        weights: from `load_weights`; they are read, never changed.
        ids: ids of word pieces (B, L).
        mask: padding mask (B, 1, 1, L), True = may attend.

    Returns:
        (hidden_states, maps): the input of layer 0 and the output of each layer, 7 tensors
        (B, L, 384); attention weights (B, 6, 12, L, L). They carry no gradient.

    Raises:
        ValueError: as in `embed`; a wrong mask as in `MultiHeadAttention`.
    """
    hidden_states = [embed(weights, ids)]
    maps = []
    for layer in range(NUM_LAYERS):
        x, layer_maps = encoder_layer(weights, layer, hidden_states[-1], mask)
        hidden_states.append(x)
        maps.append(layer_maps)
    return hidden_states, torch.stack(maps, dim=1)


def encoder_layer(
    weights: dict[str, Tensor],
    layer: int,
    x: Float[Tensor, "B L E"],
    mask: Bool[Tensor, "B 1 1 L"] | None = None,
) -> tuple[Float[Tensor, "B L E"], Float[Tensor, "B H L L"]]:
    """Run one layer: y = LayerNorm(attention(x) + x), then LayerNorm(FFN(y) + y).

    FFN(y) = GELU(y W₁ + b₁) W₂ + b₂, with W₁ from 384 to 1536 numbers and W₂ back to 384.

    >>> from mha_lib.real_encoder import load_weights, tokenize
    >>> weights = load_weights()
    >>> x, maps = encoder_layer(weights, 0, embed(weights, tokenize("black cats")[1]))
    >>> x.shape, maps.shape
    (torch.Size([1, 4, 384]), torch.Size([1, 12, 4, 4]))

    Args:
        weights: from `load_weights`.
        layer: 0 to 5.
        x: the input of the layer (B, L, 384).
        mask: padding mask (B, 1, 1, L), True = may attend.

    Returns:
        (output, maps): the output (B, L, 384) and the attention weights (B, 12, L, L).

    Raises:
        ValueError: `layer` is out of range.

    Source: Vaswani et al. 2017, sections 3.1 and 3.3; BERT puts GELU in place of ReLU.
    """
    name = layer_name(layer)
    attention = pretrained_attention(weights, layer)
    output, maps = attention(x, mask=mask, need_weights=True)
    y = layer_norm(weights, f"{name}.attention.output", output + x)
    inner = functional.gelu(_dense(weights, f"{name}.intermediate", y))
    return layer_norm(weights, f"{name}.output", _dense(weights, f"{name}.output", inner) + y), maps


def pretrained_attention(weights: dict[str, Tensor], layer: int) -> MultiHeadAttention:
    """Build the attention module of one layer, frozen, with the pretrained weights in it.

    >>> from mha_lib.real_encoder import load_weights
    >>> pretrained_attention(load_weights(), layer=2).num_heads
    12

    Args:
        weights: from `load_weights`.
        layer: 0 to 5.

    Returns:
        A module in evaluation mode whose parameters need no gradient.

    Raises:
        ValueError: `layer` is out of range.
    """
    state = attention_state_dict(weights, layer)
    with torch.device("meta"):  # no memory, no random start: the caller's generator stays as it was
        attention = MultiHeadAttention(EMBED_DIM, NUM_HEADS)
    attention.load_state_dict(state, assign=True)
    return attention.eval().requires_grad_(False)


def _dense(weights: dict[str, Tensor], name: str, x: Tensor) -> Tensor:
    """x W + b with the weights of the dense layer called `name`."""
    return functional.linear(x, weights[f"{name}.dense.weight"], weights[f"{name}.dense.bias"])
