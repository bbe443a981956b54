"""Four ways to the same output: ours, torch's module, three Linear layers, and the floor.

Each way becomes one call without arguments. Forward alone runs in eval mode under
torch.inference_mode, where `nn.MultiheadAttention` takes its fast path. Forward and backward
runs in train mode and asks for the gradients of the input and of all parameters.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.floor import floor_call
from benchmarks.problems import FORWARD, PADDING, Problem
from mha_lib import MultiHeadAttention, unpack_projections

OURS, TORCH, THREE, FLOOR = "ours", "torch", "3 Linear", "floor"
NAMES = {
    OURS: "mha_lib.MultiHeadAttention",
    TORCH: "nn.MultiheadAttention with the same weights, need_weights=False",
    THREE: "three nn.Linear, split, F.scaled_dot_product_attention, merge, nn.Linear",
    FLOOR: "only the matrix products as bare calls, and one fused attention on contiguous heads",
}


class ThreeLinear(nn.Module):
    """Multi-head attention in its plain form: a Linear layer each for query, key and value."""

    def __init__(self, weights: MultiHeadAttention) -> None:
        super().__init__()
        width, self.num_heads = weights.embed_dim, weights.num_heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        assert weights.in_proj_bias is not None
        layers = (self.query, self.key, self.value)
        thirds = zip(
            unpack_projections(weights.in_proj_weight.detach()),
            unpack_projections(weights.in_proj_bias.detach()),
            strict=True,
        )
        for layer, (weight, bias) in zip(layers, thirds, strict=True):
            layer.load_state_dict({"weight": weight, "bias": bias})
        self.out.load_state_dict(weights.out_proj.state_dict())

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        batch, length, width = x.shape
        q, k, v = (
            layer(x).view(batch, length, self.num_heads, -1).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        )
        heads = F.scaled_dot_product_attention(q, k, v, mask)
        return self.out(heads.transpose(1, 2).reshape(batch, length, width))


def make_calls(problem: Problem, which: str) -> dict[str, Callable[[], tuple[Tensor, ...]]]:
    """Return one call for each contestant.

    A call returns the output, followed in the backward pass by the gradients of the input and of
    the parameters, in the order in which the module holds them.
    """
    ours = MultiHeadAttention(problem.size.width, problem.size.heads)
    theirs = nn.MultiheadAttention(problem.size.width, problem.size.heads, batch_first=True)
    for module in (ours, theirs):
        module.load_state_dict(problem.weights.state_dict())
    three, mask = ThreeLinear(problem.weights), problem.mask
    torch_masks = masks_for_torch(problem)
    return {
        OURS: module_call(ours, lambda x: ours(x, mask=mask)[0], problem, which),
        TORCH: module_call(
            theirs, lambda x: theirs(x, x, x, need_weights=False, **torch_masks)[0], problem, which
        ),
        THREE: module_call(three, lambda x: three(x, mask), problem, which),
        FLOOR: floor_call(problem, which),
    }


def masks_for_torch(problem: Problem) -> dict[str, Tensor]:
    """Turn the mask into torch's polarity, True = must not attend, before any timing."""
    if problem.mask is None:
        return {}
    if problem.mask_kind == PADDING:
        return {"key_padding_mask": ~problem.mask[:, 0, 0]}
    return {"attn_mask": ~problem.mask}


def module_call(
    module: nn.Module, apply: Callable[[Tensor], Tensor], problem: Problem, which: str
) -> Callable[[], tuple[Tensor, ...]]:
    """Wrap `apply`, which runs `module` on an input, as a call without arguments."""
    module.train(which != FORWARD)
    x = problem.x.clone().requires_grad_(which != FORWARD)
    inputs = (x, *module.parameters())

    def forward() -> tuple[Tensor, ...]:
        with torch.inference_mode():
            return (apply(x),)

    def forward_and_backward() -> tuple[Tensor, ...]:
        output = apply(x)
        return output, *torch.autograd.grad(output, inputs, problem.output_grad)

    return forward if which == FORWARD else forward_and_backward
