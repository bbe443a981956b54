"""The cases of `attention_weights`: inputs on which no mistake can hide."""

import torch

from mha_lib.exercises import rules
from mha_lib.exercises.asks import gradients
from mha_lib.exercises.attention_inputs import (
    GRADIENT,
    PRIMES,
    alike_masks,
    empty_masks,
    masks,
    pair,
    small,
)
from mha_lib.exercises.exercise import Case, Stage, cases, plain
from mha_lib.exercises.inputs import waves


def shared_stages() -> list[Stage]:
    """Stages for query, key and mask; `_with_values` adds the values."""
    q, k = pair(PRIMES)
    far = waves(1, 2, 3, 2, size=60), waves(1, 2, 4, 2, size=60, step=1.9)
    keep = torch.ones(3, 4, dtype=torch.bool).tril(1)
    last = torch.tensor([[True, True, False]])
    first = torch.tensor([[False, True, True]])
    one = small([[1.0]], [[2.0], [1.0], [0.5]])
    minus = small([[-1.0]], [[2.0], [1.0], [5.0]])  # the visible scores lie below 0
    half = tuple(x.half() for x in pair((1, 2, 3, 4, 2)))
    return [
        Stage(
            "One query with one feature: softmax over the keys", plain(one, pair((1, 1, 1, 4, 1)))
        ),
        Stage(
            "Four features: the scale",
            plain(small([[2.0, 1.0, 0.0, 3.0]], [[0.0] * 4, [1.0, 0.0, 2.0, 0.0]])),
        ),
        Stage(
            "Several queries, as many as keys and fewer",
            plain(pair((1, 1, 3, 3, 2)), pair((1, 1, 2, 4, 3))),
        ),
        Stage("Heads and a batch, all sizes different", plain(pair((1, 3, 2, 4, 2)), (q, k))),
        Stage(
            "Sizes that are alike; ties and zeros",
            plain(pair((2, 2, 2, 2, 2)), tuple(x.round() for x in pair((3, 3, 3, 3, 3)))),
        ),
        Stage("Large scores", plain((50 * q, 50 * k), small([[1000.0]], [[1.0], [0.0]]))),
        Stage("A mask (L, S) for one query", plain((*one, last), (*minus, last), (*one, first))),
        Stage("A mask for several queries", plain((*pair((1, 1, 3, 4, 2)), keep))),
        Stage("Every shape that a mask may have", plain(*masks(), *alike_masks())),
        Stage(
            "A mask and large scores",
            plain((*far, keep), (-far[0], far[1], keep), (10 * far[0], 100 * far[1], keep)),
        ),
        Stage("A row with nothing to attend to", plain(*empty_masks())),
        Stage("Half precision: float16", plain((*half, keep), tolerance=1e-2)),
        Stage("Gradients flow", cases(gradients, GRADIENT, pair((1, 2, 3, 4, 2)), masks()[0])),
        Stage("Gradients where a row is empty", cases(gradients, GRADIENT, *empty_masks())),
    ]


def weight_stages() -> tuple[Stage, ...]:
    return tuple(shared_stages())


def tiny_weights() -> tuple[Case, ...]:
    one = small([[1.0]], [[2.0], [1.0]])
    two = small([[1.0], [0.0]], [[2.0], [1.0]])
    heads = pair((1, 2, 1, 2, 1))
    hide, empty = torch.tensor([[True, False]]), torch.tensor([[False, False]])
    first = torch.tensor([[False, True]])
    below = torch.tensor([[True, False], [True, True]])
    sentence = torch.tensor([[True, False], [False, True]])[:, None, None]
    return plain(
        *(small([[1.0]], [[2.0]]), one, two, small([[1.0] * 4], [[1.0] * 4, [0.0] * 4])),
        *(heads, pair((2, 1, 1, 2, 1)), pair((2, 2, 2, 2, 2)), small([[1000.0]], [[1.0], [0.0]])),
        *((*one, hide), (*one, first), (*small([[-1.0]], [[2.0], [1.0]]), hide)),
        *((*two, below), (*heads, hide[None, None]), (*pair((2, 1, 2, 2, 1)), sentence)),
        *((*small([[100.0]], [[-2.0], [1.0]]), hide), (*small([[-1e4]], [[2.0], [1.0]]), hide)),
        *((*one, empty), (*two, torch.cat([hide, empty]))),
    ) + (
        *plain((*(x.half() for x in one), hide), tolerance=1e-2),
        *cases(gradients, GRADIENT, one, (*one, empty)),
    )


def weight_rules() -> tuple[Case, ...]:
    q, k = pair((2, 1, 2, 3, 1))
    keep = torch.ones(2, 3, dtype=torch.bool).tril()
    return (
        *cases(rules.row_sums, "each row of weights sums to 1", (q, k), (q, k, keep)),
        *cases(rules.hidden_weights, "each hidden key has the weight 0", (q, k, keep)),
        *cases(rules.batch_mates(0, 1), "sentence 0 moves by 0 when sentence 1 changes", (q, k)),
    )
