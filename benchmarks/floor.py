"""The floor: what multi-head attention cannot do without, on tensors that lie ready.

Every operand is laid out beforehand: heads contiguous, words as rows of one matrix. So nothing is
split, merged, checked or copied, and no bias gradient is summed. Forward: the packed projection
and the output projection, one torch.addmm each, and one fused attention. Backward: the four
matrix products by hand, one torch.mm each, and the fused attention by autograd.
The operands are those of the real problem, so every result can be compared with the others.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from benchmarks.problems import FORWARD, Problem
from mha_lib import MultiHeadAttention, merge_heads, split_heads


class Operands(NamedTuple):
    """All inputs of the bare calls; N = B * L words."""

    x: Tensor  # (N, E)
    heads: tuple[Tensor, Tensor, Tensor]  # query, key, value: (B, H, L, D), contiguous leaves
    merged: Tensor  # (N, E), attention's output, the input of the output projection
    output_grad: Tensor  # (N, E)
    heads_grad: Tensor  # (B, H, L, D), gradient of attention's output
    packed_grad: Tensor  # (N, 3E), gradient of the packed projection's output


def lay_out(problem: Problem) -> Operands:
    """Run the problem once, and keep what the bare calls take, in the layout that suits them."""
    weights, count = problem.weights, problem.size.heads
    width = problem.size.width
    with torch.no_grad():
        packed = F.linear(problem.x, weights.in_proj_weight, weights.in_proj_bias)
        query, key, value = (split_heads(x, count).contiguous() for x in packed.chunk(3, -1))
        output_grad = problem.output_grad.view(-1, width)
        merged_grad = (output_grad @ weights.out_proj.weight).view_as(problem.x)
        heads_grad = split_heads(merged_grad, count).contiguous()
    heads = (query.requires_grad_(), key.requires_grad_(), value.requires_grad_())
    attended = F.scaled_dot_product_attention(*heads, problem.mask)
    grads = torch.autograd.grad(attended, heads, heads_grad)
    return Operands(
        x=problem.x.view(-1, width),
        heads=heads,
        merged=merge_heads(attended.detach()).reshape(-1, width),
        output_grad=output_grad,
        heads_grad=heads_grad,
        packed_grad=torch.cat([merge_heads(grad) for grad in grads], -1).view(-1, 3 * width),
    )


def floor_call(problem: Problem, which: str) -> Callable[[], tuple[Tensor, ...]]:
    """Return a call that gives the output, and for the backward pass the gradients of the input,
    `in_proj_weight`, `out_proj.weight` and the three heads.
    """
    ready = lay_out(problem)
    w_in, b_in, w_out, b_out = bare_weights(problem.weights)

    def forward() -> tuple[Tensor, Tensor, Tensor]:
        packed = torch.addmm(b_in, ready.x, w_in.t())
        attended = F.scaled_dot_product_attention(*ready.heads, problem.mask)
        return torch.addmm(b_out, ready.merged, w_out.t()), attended, packed

    def forward_alone() -> tuple[Tensor, ...]:
        with torch.inference_mode():
            return forward()

    def forward_and_backward() -> tuple[Tensor, ...]:
        output, attended, _ = forward()
        torch.mm(ready.output_grad, w_out)
        out_weight_grad = torch.mm(ready.output_grad.t(), ready.merged)
        heads_grads = torch.autograd.grad(attended, ready.heads, ready.heads_grad)
        x_grad = torch.mm(ready.packed_grad, w_in)
        in_weight_grad = torch.mm(ready.packed_grad.t(), ready.x)
        return output, x_grad, in_weight_grad, out_weight_grad, *heads_grads

    return forward_alone if which == FORWARD else forward_and_backward


def bare_weights(weights: MultiHeadAttention) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the four parameters, cut off from autograd."""
    assert weights.in_proj_bias is not None
    out = weights.out_proj
    parameters = (weights.in_proj_weight, weights.in_proj_bias, out.weight, out.bias)
    w_in, b_in, w_out, b_out = (parameter.detach() for parameter in parameters)
    return w_in, b_in, w_out, b_out
