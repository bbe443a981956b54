"""The two layers against torch's own with the same weights, in both directions."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from mha_lib import causal_mask, padding_mask
from mha_lib.transformer_layers import DecoderLayer, EncoderLayer

B, H, L, S, D, F = 3, 2, 5, 7, 11, 13
E = H * D
CLOSE = {"rtol": 0.0, "atol": 1e-10}
TORCH = {"dropout": 0.0, "norm_first": True, "batch_first": True, "dtype": torch.float64}


def randn(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def shake(module: nn.Module) -> None:
    """Make every parameter count: biases start at 0 and LayerNorm's factors at 1."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))


@pytest.mark.parametrize("lengths", [None, [7, 3, 1]])
def test_encoder_layer_equals_torch(lengths: list[int] | None) -> None:
    theirs = nn.TransformerEncoderLayer(E, H, F, **TORCH)
    shake(theirs)
    ours = EncoderLayer(E, H, F).double()
    ours.load_state_dict(theirs.state_dict())
    x = randn(B, S, E)
    mask = None if lengths is None else padding_mask(lengths, S)
    theirs_mask = None if mask is None else ~mask[:, 0, 0]
    assert_close(ours(x, mask), theirs(x, src_key_padding_mask=theirs_mask), **CLOSE)
    theirs.load_state_dict(ours.state_dict())  # and the other way round


def torch_decoder_layer() -> tuple[DecoderLayer, nn.TransformerDecoderLayer]:
    theirs = nn.TransformerDecoderLayer(E, H, F, **TORCH)
    shake(theirs)
    ours = DecoderLayer(E, H, F).double()
    ours.load_state_dict(theirs.state_dict())
    return ours, theirs


@pytest.mark.parametrize("need_weights", [False, True])
def test_decoder_layer_equals_torch(need_weights: bool) -> None:
    ours, theirs = torch_decoder_layer()
    x, encoded = randn(B, L, E), randn(B, S, E)
    causal, padding = causal_mask(L, L), padding_mask([7, 3, 1], S)
    out = ours(
        x,
        ours.multihead_attn.project_kv(encoded),
        mask=causal,
        memory_mask=padding,
        need_weights=need_weights,
    )
    expected = theirs(x, encoded, tgt_mask=~causal, memory_key_padding_mask=~padding[:, 0, 0])
    assert_close(out.x, expected, **CLOSE)
    theirs.load_state_dict(ours.state_dict())
    if not need_weights:
        assert out.self_weights is None
        assert out.cross_weights is None
        return
    # The weights that nn.MultiheadAttention gives for the same inputs.
    normed = theirs.norm1(x)
    _, weights = theirs.self_attn(
        normed, normed, normed, attn_mask=~causal, average_attn_weights=False
    )
    assert_close(out.self_weights, weights, **CLOSE)
    y = theirs.norm2(x + theirs.self_attn(normed, normed, normed, attn_mask=~causal)[0])
    _, weights = theirs.multihead_attn(
        y, encoded, encoded, key_padding_mask=~padding[:, 0, 0], average_attn_weights=False
    )
    assert_close(out.cross_weights, weights, **CLOSE)


def test_decoder_layer_with_cache_equals_torch_without() -> None:
    ours, theirs = torch_decoder_layer()
    x, encoded = randn(B, L, E), randn(B, S, E)
    expected = theirs(x, encoded, tgt_mask=~causal_mask(L, L))
    memory = ours.multihead_attn.project_kv(encoded)
    first = ours(x[:, :2], memory, mask=causal_mask(2, 2))
    rest = ours(x[:, 2:], memory, mask=causal_mask(L - 2, L, offset=2), past=first.keys_values)
    assert_close(torch.cat([first.x, rest.x], dim=1), expected, **CLOSE)
    k, v = rest.keys_values
    whole_k, whole_v = ours.self_attn.project_kv(ours.norm1(x))
    assert_close(k, whole_k, **CLOSE)
    assert_close(v, whole_v, **CLOSE)
    assert first.keys_values[0].shape == (B, H, 2, D)  # the cache given is not changed


@pytest.mark.parametrize("layer", [EncoderLayer, DecoderLayer])
def test_heads_must_divide_the_width(layer: type[nn.Module]) -> None:
    with pytest.raises(ValueError, match="num_heads must divide embed_dim: got embed_dim=10"):
        layer(10, 3, 7)
