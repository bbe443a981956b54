"""Ways to the second opinions: the NumPy reference and torch's own module with the same weights."""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.testing import assert_close

from mha_lib import MultiHeadAttention, reference

# No two sizes are equal, so that a shape names its axes; all are primes.
B, H, L, S, D = 3, 2, 5, 7, 11
E = H * D

EXACT = {"rtol": 0.0, "atol": 1e-12}


def randn(*shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64).to(dtype)


def random_keep(*shape: int) -> Tensor:
    """A bool mask, True = may attend, in which no row is empty and not all rows are full."""
    keep = torch.rand(shape) > 0.5
    keep[..., 0] = ~keep[..., 1:].any(-1)
    return keep


def random_bias(*shape: int) -> Tensor:
    """An additive mask: finite numbers, and -inf where `random_keep` says False."""
    return randn(*shape).masked_fill(~random_keep(*shape), -torch.inf)


# The shapes that a mask may have, by name.
MASK_SHAPES = {
    "LS": (L, S),
    "B11S": (B, 1, 1, S),
    "B1LS": (B, 1, L, S),
    "BHLS": (B, H, L, S),
}
MASKS = {
    **{f"bool {name}": (random_keep, shape) for name, shape in MASK_SHAPES.items()},
    **{f"additive {name}": (random_bias, shape) for name, shape in MASK_SHAPES.items()},
}


def join(mask: Tensor | None, is_causal: bool, length: int = L, keys: int = S) -> Tensor | None:
    """One mask for both, since torch refuses to take both."""
    if not is_causal:
        return mask
    causal = torch.tensor([[s <= row for s in range(keys)] for row in range(length)])
    if mask is None:
        return causal
    return mask & causal if mask.dtype == torch.bool else mask.masked_fill(~causal, -torch.inf)


def array(x: Tensor | None) -> Any:
    return None if x is None else x.detach().numpy()


def layer64(**options: Any) -> MultiHeadAttention:
    """A layer in float64 whose biases are not zero, unlike in a new layer."""
    layer = MultiHeadAttention(E, H, **options).double()
    for name, parameter in layer.named_parameters():
        if "bias" in name:
            nn.init.normal_(parameter)
    return layer


def torch_twin(layer: MultiHeadAttention) -> nn.MultiheadAttention:
    """torch's module with a strict copy of the weights."""
    has_bias = layer.in_proj_bias is not None
    twin = nn.MultiheadAttention(
        layer.embed_dim, layer.num_heads, layer.dropout, bias=has_bias, batch_first=True
    )
    twin.to(layer.in_proj_weight.dtype)
    twin.load_state_dict(layer.state_dict(), strict=True)
    return twin.train(layer.training)


def torch_mask(mask: Tensor | None, batch: int, heads: int, length: int, keys: int) -> Any:
    """Our mask as nn.MultiheadAttention wants it: (B * H, L, S), and True = must not attend."""
    if mask is None:
        return None
    full = mask.expand(batch, heads, length, keys).reshape(batch * heads, length, keys)
    return ~full if mask.dtype == torch.bool else full


def run_torch(
    twin: nn.MultiheadAttention,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    need_weights: bool = True,
) -> tuple[Tensor, Tensor | None]:
    mask = torch_mask(mask, len(query), twin.num_heads, query.shape[1], key.shape[1])
    output, weights = twin(
        query,
        key,
        value,
        attn_mask=mask,
        need_weights=need_weights,
        average_attn_weights=False,
    )
    return output, weights


def run_reference(
    layer: MultiHeadAttention, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None
) -> Tensor:
    output = reference.multi_head_attention(
        array(query),
        array(key),
        array(value),
        array(layer.in_proj_weight),
        array(layer.in_proj_bias),
        array(layer.out_proj.weight),
        array(layer.out_proj.bias),
        layer.num_heads,
        array(mask),
    )
    return torch.from_numpy(output)


def gradients(output: Tensor, inputs: Iterable[Tensor]) -> list[Tensor]:
    """Gradients of a sum in which every number of `output` has another factor."""
    factors = torch.linspace(-1, 2, output.numel(), dtype=output.dtype).view_as(output)
    return list(torch.autograd.grad((output * factors).sum(), list(inputs)))


def assert_two_decimals(actual: Tensor, expected: Any) -> None:
    """Compare with numbers that were written down with two decimals."""
    rounded = actual.detach().double().round(decimals=2)
    assert_close(rounded, torch.tensor(expected, dtype=torch.float64), rtol=0, atol=1e-9)
