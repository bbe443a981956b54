"""A real pretrained encoder in parts: all-MiniLM-L6-v2 (BERT, 6 layers, 12 heads, 384 wide).

`load_weights` reads the weights as plain tensors, `tokenize` turns a sentence into ids, and the
functions below make from both what `MultiHeadAttention` needs. Importing this module reads no
file. The whole encoder is run by `mha_lib.many_heads.run_encoder`.

Source: Devlin et al. 2018 (BERT), section 3; Wang et al. 2020 (MiniLM).
"""

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn import functional

from mha_lib.merging_heads import MultiHeadAttention
from mha_lib.pretrained_files import load_weights as load_weights  # so written: offered here too
from mha_lib.word_pieces import tokenize as tokenize

NUM_LAYERS, NUM_HEADS, EMBED_DIM = 6, 12, 384
LAYER_NORM_EPS = 1e-12


def embed(weights: dict[str, Tensor], ids: Int64[Tensor, "B L"]) -> Float[Tensor, "B L E"]:
    """Make the input of layer 0: LayerNorm(word + position + token type).

    The token type says which of two sentences a piece belongs to; here it is always the first.

    >>> pieces, ids = tokenize("Dogs chase cats")
    >>> embed(load_weights(), ids).shape
    torch.Size([1, 5, 384])

    Args:
        weights: from `load_weights`.
        ids: ids of word pieces (B, L), each row from `tokenize`.

    Returns:
        The embeddings (B, L, 384).

    Raises:
        ValueError: L is not in 1..512, or an id is not in the vocabulary.

    Source: Devlin et al. 2018, section 3, figure 2.
    """
    words = weights["embeddings.word_embeddings.weight"]
    positions = weights["embeddings.position_embeddings.weight"]
    token_type = weights["embeddings.token_type_embeddings.weight"][0]
    length = ids.shape[1]
    if not 1 <= length <= len(positions):
        raise ValueError(f"ids must have 1 to {len(positions)} positions, got {length}")
    outside = ids[(ids < 0) | (ids >= len(words))]
    if len(outside) > 0:
        raise ValueError(f"ids must lie in 0..{len(words) - 1}, got {outside[0].item()}")
    total = functional.embedding(ids, words) + positions[:length] + token_type
    return layer_norm(weights, "embeddings", total)


def attention_state_dict(weights: dict[str, Tensor], layer: int) -> dict[str, Tensor]:
    """Give one layer's attention weights the names that `MultiHeadAttention` uses.

    >>> attention = MultiHeadAttention(384, 12)
    >>> attention.load_state_dict(attention_state_dict(load_weights(), layer=0))
    <All keys matched successfully>

    Args:
        weights: from `load_weights`.
        layer: 0 to 5.

    Returns:
        Copies: in_proj_weight (1152, 384), the rows of query, key and value below each other;
        in_proj_bias (1152,); out_proj.weight (384, 384); out_proj.bias (384,).

    Raises:
        ValueError: `layer` is out of range.

    Source: Vaswani et al. 2017, section 3.2.2, for the four matrices.
    """
    name = f"{layer_name(layer)}.attention"
    parts = [f"{name}.self.{part}" for part in ("query", "key", "value")]
    return {
        "in_proj_weight": torch.cat([weights[f"{part}.weight"] for part in parts]),
        "in_proj_bias": torch.cat([weights[f"{part}.bias"] for part in parts]),
        "out_proj.weight": weights[f"{name}.output.dense.weight"].clone(),
        "out_proj.bias": weights[f"{name}.output.dense.bias"].clone(),
    }


def self_attention_sublayer(
    attention: MultiHeadAttention,
    weights: dict[str, Tensor],
    layer: int,
    x: Float[Tensor, "B L E"],
) -> Float[Tensor, "B L E"]:
    """Run the first half of an encoder layer: LayerNorm(attention(x) + x).

    >>> weights, attention = load_weights(), MultiHeadAttention(384, 12)
    >>> attention.load_state_dict(attention_state_dict(weights, layer=0))
    <All keys matched successfully>
    >>> x = embed(weights, tokenize("Dogs chase cats")[1])
    >>> self_attention_sublayer(attention, weights, 0, x).shape
    torch.Size([1, 5, 384])

    Args:
        attention: a module that holds `attention_state_dict(weights, layer)`.
        weights: from `load_weights`; gives the LayerNorm of this layer.
        layer: 0 to 5.
        x: the input of the layer (B, L, 384).

    Returns:
        The output of the sublayer (B, L, 384).

    Raises:
        ValueError: `layer` is out of range.

    Source: Vaswani et al. 2017, sections 3.1 and 3.2.3; Devlin et al. 2018, section 3.
    """
    output, _ = attention(x)
    return layer_norm(weights, f"{layer_name(layer)}.attention.output", output + x)


def layer_norm(
    weights: dict[str, Tensor], name: str, x: Float[Tensor, "B L E"]
) -> Float[Tensor, "B L E"]:
    """Normalise every position with the encoder's LayerNorm called `name`.

    Source: Ba et al. 2016, equation 4; BERT adds 1e-12 to the variance.
    """
    scale, shift = weights[f"{name}.LayerNorm.weight"], weights[f"{name}.LayerNorm.bias"]
    return functional.layer_norm(x, scale.shape, scale, shift, eps=LAYER_NORM_EPS)


def layer_name(layer: int) -> str:
    """Return the start of the names of one layer's weights; a ValueError if out of range.

    >>> layer_name(5)
    'encoder.layer.5'
    """
    if not 0 <= layer < NUM_LAYERS:
        raise ValueError(f"layer must lie in 0..{NUM_LAYERS - 1}, got {layer}")
    return f"encoder.layer.{layer}"
