"""The cases of the whole layer (lessons 6 and 9): inputs on which no mistake can hide."""

from typing import Any

import torch
from torch import Tensor

from mha_lib.exercises import rules
from mha_lib.exercises.asks import gradients
from mha_lib.exercises.exercise import Case, Stage, cases, plain
from mha_lib.exercises.inputs import waves

# What torch calls inside its own layer.
READY_MADE_LAYERS = ("multi_head_attention_forward", "_native_multi_head_attention")
Sizes = tuple[int, int, int, int]  # B, L, S, E


def states(sizes: Sizes, size: float = 1.0) -> tuple[Tensor, Tensor, Tensor]:
    """Make query, key and value: three different tensors."""
    b, length, keys, width = sizes
    q, k = waves(b, length, width, step=0.7), waves(b, keys, width, step=1.3)
    return size * q, size * k, size * waves(b, keys, width, step=2.1)


def layer(
    width: int, *, out: bool = True, bias: bool = True
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Make the weights of a layer.

    Args:
        width: Of a word's vector.
        out: False makes the output projection do nothing.
        bias: False makes all biases zero.
    """
    identity = torch.eye(width, dtype=torch.float64)
    return (
        waves(3 * width, width, step=0.3),
        waves(3 * width, step=0.9) * bias,
        waves(width, width, step=1.7) if out else identity,
        waves(width, step=2.9) * bias if out else torch.zeros(width, dtype=torch.float64),
    )


def masks() -> list[tuple[Any, ...]]:
    """Make one case for each shape of a mask, one of them with B = H = 2."""
    lower = torch.ones(5, 7, dtype=torch.bool).tril(1)
    padding = (torch.arange(7) < torch.tensor([[7], [4]]))[:, None, None]
    each = torch.ones(2, 3, 5, 7, dtype=torch.bool)
    each[0, 1, 2, :3] = each[1, 0, 4, 1:] = each[1, 2, :, 5] = False
    q, k, v = states((2, 5, 7, 6))
    made: list[tuple[Any, ...]] = [
        (q, k, v, *layer(6), heads, mask)
        for heads, mask in ((3, lower), (2, padding), (3, padding & lower), (3, each))
    ]
    large = states((1, 5, 7, 6), size=200.0)
    few = torch.tensor([[True, False, False, True, False, False, False]]).expand(5, 7)
    small = states((2, 2, 2, 4))
    two = torch.tensor([[True, False], [True, True]])
    return [
        *made,
        (*large, *layer(6), 2, few),
        (*small, *layer(4), 2, two),
        (*small, *layer(4), 2, two[:, None, None]),
    ]


def stages() -> tuple[Stage, ...]:
    empty = torch.ones(5, 7, dtype=torch.bool)
    empty[1] = False
    still = layer(2, out=False, bias=False)
    bare = layer(6, out=False, bias=False)
    large = states((1, 3, 4, 4), size=30.0)
    q, k, v = states((2, 3, 4, 6))
    return (
        Stage(
            "One word, one head: the value path",
            plain((*states((1, 1, 1, 2)), *still, 1), (*states((1, 1, 1, 6)), *bare, 1)),
        ),
        Stage(
            "The biases of the projections",
            plain((*states((1, 1, 1, 2)), still[0], waves(6), *still[2:], 1)),
        ),
        Stage(
            "The output projection",
            plain((*states((1, 1, 1, 2)), *layer(2), 1), (*states((1, 1, 1, 6)), *layer(6), 1)),
        ),
        Stage(
            "One head, as many queries as keys: the scores and their scale",
            plain((*states((1, 3, 3, 4)), *layer(4, out=False, bias=False), 1)),
        ),
        Stage(
            "One head, more keys than queries",
            plain((*states((1, 3, 5, 4)), *layer(4, out=False, bias=False), 1)),
        ),
        Stage("All biases", plain((*states((1, 3, 5, 4)), *layer(4), 1))),
        Stage(
            "Several heads, nothing mixed after",
            plain((*states((1, 3, 5, 6)), *bare, 2), (*states((1, 3, 5, 6)), *bare, 3)),
        ),
        Stage("Heads one feature wide", plain((*states((1, 3, 5, 3)), *layer(3), 3))),
        Stage(
            "A batch, all sizes different",
            plain((*states((2, 5, 7, 6)), *layer(6), 3), (*states((3, 2, 4, 10)), *layer(10), 5)),
        ),
        Stage(
            "Sizes that are alike",
            plain((*states((2, 2, 2, 2)), *layer(2), 2), (*states((3, 3, 3, 9)), *layer(9), 3)),
        ),
        Stage("Self-attention: one tensor for all three", plain((q, q, q, *layer(6), 2))),
        Stage("Large scores", plain((*large, *layer(4), 2))),
        Stage("Masks of every shape", plain(*masks())),
        Stage(
            "A query with nothing to attend to", plain((*states((2, 5, 7, 6)), *layer(6), 2, empty))
        ),
        Stage(
            "Gradients flow",
            cases(
                gradients,
                "the gradient that flows back",
                (q, k, v, *layer(6), 2),
                (*states((2, 5, 7, 6)), *layer(6), 2, empty),
            ),
        ),
    )


def tiny() -> tuple[Case, ...]:
    hide = torch.tensor([[True, False]])
    none = torch.tensor([[False, False]])
    below = torch.tensor([[True, False], [True, True]])
    grid = [
        (*states((b, n, s, h * d)), *weights(h * d), h)
        for b, n, s, h, d in (
            (1, 1, 1, 1, 1),
            (1, 1, 1, 1, 2),
            (1, 1, 2, 1, 1),
            (1, 1, 2, 1, 2),
            (1, 1, 2, 2, 1),
            (1, 2, 2, 2, 1),
            (1, 2, 2, 2, 2),
            (2, 1, 2, 2, 1),
            (2, 2, 2, 2, 1),
            (1, 2, 3, 2, 1),
        )
        for weights in (lambda w: layer(w, out=False, bias=False), layer)
    ]
    one, two = states((1, 1, 2, 2)), states((1, 2, 2, 2))
    both = states((2, 2, 2, 2))
    first = torch.tensor([[True, True], [False, False]])
    narrow = layer(1, out=False, bias=False)
    far = torch.tensor([[[-300.0]]]).double(), torch.tensor([[[300.0], [-300.0]]]).double()
    told = "the gradient that flows back"
    return plain(
        *grid,
        *((*states((1, 1, 2, 1), 1000.0), *narrow, 1), (*far, far[1], *narrow, 1, hide)),
        *((*one, *layer(2), 1, hide), (*one, *layer(2), 2, hide), (*two, *layer(2), 2, below)),
        *((*both, *layer(2), 2, below[:, None, None]), (*one, *layer(2), 2, none)),
        *((*two, *layer(2), 2, first), (*two, *layer(2), 1, first)),
    ) + cases(gradients, told, (*one, *layer(2), 1), (*one, *layer(2), 1, none))


def layer_rules() -> tuple[Case, ...]:
    q, k, v = states((2, 1, 2, 2))
    hide = torch.tensor([[True, False]])
    x = states((1, 3, 3, 2))[0]
    causal = torch.ones(3, 3, dtype=torch.bool).tril()
    batch = "sentence 0 moves by 0 when sentence 1 changes"
    hidden = "the output moves by 0 when a hidden key and its value change"
    later = "under a causal mask, words 0 and 1 move by 0 when word 2 changes"
    return (
        *cases(rules.batch_mates(0, 1, 2), batch, (q, k, v, *layer(2), 2)),
        *cases(rules.last_key(1, 2), hidden, (q, k, v, *layer(2), 2, hide)),
        *cases(rules.future(0, 1, 2), later, (x, x, x, *layer(2), 2, causal)),
    )
