"""What is timed: a size, a mask, a pass, and the tensors that all contestants share."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from mha_lib import MultiHeadAttention, causal_mask, padding_mask


class Size(NamedTuple):
    """Batch, length, width and number of heads."""

    batch: int
    length: int
    width: int
    heads: int


TINY = Size(5, 4, 6, 2)
SMALL = Size(32, 16, 64, 4)
LARGE = (Size(8, 128, 256, 8), Size(4, 512, 512, 8), Size(1, 2048, 512, 8))
SIZES = (TINY, SMALL, *LARGE)

FORWARD, BOTH = "forward", "fwd+bwd"
PASSES = (FORWARD, BOTH)

NO_MASK, PADDING, CAUSAL = "none", "padding", "causal"
MASKS = {
    NO_MASK: "no mask",
    PADDING: "bool (B, 1, 1, S); a quarter of the words are padding, on average",
    CAUSAL: "bool (L, S), lower triangle, handed over as a mask and not as is_causal",
}


@dataclass(frozen=True)
class Problem:
    """Input, mask (True = may attend), gradient of the output, and weights."""

    size: Size
    x: Tensor  # (B, L, E)
    mask: Tensor | None
    mask_kind: str
    output_grad: Tensor  # (B, L, E)
    weights: MultiHeadAttention  # only its parameters are read


def make_problem(size: Size, mask_kind: str) -> Problem:
    """Draw a problem; the seed is fixed, the time does not depend on the numbers."""
    torch.manual_seed(0)
    weights = MultiHeadAttention(size.width, size.heads)
    for name, parameter in weights.named_parameters():
        if name.endswith("bias"):
            # Both modules start with zero biases: a wrong one would not show.
            nn.init.normal_(parameter)
    shape = (size.batch, size.length, size.width)
    x, output_grad = torch.randn(shape), torch.randn(shape)
    return Problem(size, x, make_mask(size, mask_kind), mask_kind, output_grad, weights)


def make_mask(size: Size, kind: str) -> Tensor | None:
    """Make one of `MASKS`."""
    if kind == PADDING:
        lengths = torch.randint(size.length // 2, size.length + 1, (size.batch,))
        return padding_mask(lengths, size.length)
    if kind == CAUSAL:
        return causal_mask(size.length, size.length)
    return None
