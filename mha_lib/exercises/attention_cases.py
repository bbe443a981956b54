"""The cases of lesson 5: inputs on which no mistake can hide."""

from typing import Any

import torch
from torch import Tensor

from mha_lib.exercises import rules
from mha_lib.exercises.asks import gradients
from mha_lib.exercises.exercise import Case, Stage, cases, plain
from mha_lib.exercises.inputs import waves

Sizes = tuple[int, int, int, int, int]  # B, H, L, S, D
PRIMES: Sizes = (2, 3, 5, 7, 11)
GRADIENT = "the gradient that flows back"


def pair(sizes: Sizes) -> tuple[Tensor, Tensor]:
    """Make query and key, no two numbers alike."""
    b, h, length, keys, width = sizes
    return waves(b, h, length, width, step=0.7), waves(b, h, keys, width, step=1.3)


def small(query: list[list[float]], key: list[list[float]]) -> tuple[Tensor, Tensor]:
    """Make query and key of one sentence and one head."""
    numbers = torch.float64
    return torch.tensor([[query]], dtype=numbers), torch.tensor([[key]], dtype=numbers)


def score_stages() -> tuple[Stage, ...]:
    repeats = tuple(x.round() for x in pair((1, 2, 5, 4, 3)))  # zeros, ties and repeats
    return (
        Stage(
            "One feature: no scale to get wrong",
            plain(small([[3.0]], [[2.0]]), small([[-2.0]], [[0.5]])),
        ),
        Stage(
            "Four features: the scale", plain(small([[2.0, 1.0, 0.0, 3.0]], [[3.0, 1.0, 5.0, 1.0]]))
        ),
        Stage(
            "Rows are queries, columns are keys",
            plain(small([[1.0], [2.0]], [[3.0], [4.0], [5.0]]), pair((1, 1, 2, 3, 1))),
        ),
        Stage("Several heads", plain(pair((1, 2, 3, 4, 3)), pair((1, 3, 4, 2, 5)))),
        Stage("A batch, all sizes different", plain(pair(PRIMES))),
        Stage("Sizes that are alike", plain(pair((2, 2, 2, 2, 2)), pair((3, 3, 3, 3, 3)))),
        Stage("Zeros, ties and large numbers", plain(repeats, (waves(1, 1, 3, 4, size=1e4),) * 2)),
    )


def tiny_scores() -> tuple[Case, ...]:
    return plain(
        *(
            small([[2.0]], [[3.0]]),
            small([[1.0, 1.0]], [[2.0, 2.0]]),
            small([[1.0], [2.0]], [[3.0], [4.0]]),
        ),
        *(
            small([[1.0], [2.0]], [[3.0], [4.0], [5.0]]),
            small([[2.0, 0.0, 0.0, 0.0]], [[3.0, 1.0, 0.0, 0.0]]),
        ),
        *(pair((1, 2, 1, 1, 1)), pair((1, 2, 2, 1, 2)), pair((2, 1, 2, 2, 2))),
    )


def score_rules() -> tuple[Case, ...]:
    q, k = pair((2, 1, 1, 2, 2))
    doubled = "with the query doubled, each score is 2 times as large"
    wide = "with every feature there four times, each score is 2 times as large"
    return (
        *cases(rules.twice_as_long, doubled, (q, k)),
        *cases(rules.four_times_as_wide, wide, (q, k)),
        *cases(rules.batch_mates(1), "sentence 0 moves by 0 when sentence 1 changes", (q, k)),
    )


def _value(key: Tensor, width: int) -> Tensor:
    return waves(*key.shape[:-1], width, step=2.1)


def _masks() -> list[tuple[Tensor, Tensor, Tensor]]:
    """Make one case for each shape that a mask may have; no row is empty."""
    lower = torch.ones(5, 7, dtype=torch.bool).tril(1)
    padding = torch.arange(7) < torch.tensor([[7], [4]])
    each = torch.ones(2, 3, 5, 7, dtype=torch.bool)
    each[0, 1, 2, :3] = each[1, 0, 4, 1:] = each[1, 2, :, 5] = False
    q, k = pair(PRIMES)
    per_sentence = padding[:, None, None] & lower
    return [(q, k, m) for m in (lower, padding[:, None, None], per_sentence, each)]


def _alike() -> list[tuple[Tensor, Tensor, Tensor]]:
    """Make cases in which B = H = L = S: a mask on the wrong axis still has a shape that fits."""
    q, k = pair((3, 3, 3, 3, 2))
    lower = torch.ones(3, 3, dtype=torch.bool).tril()
    padding = torch.arange(3) < torch.tensor([[3], [2], [1]])
    return [(q, k, lower), (q, k, padding[:, None, None])]


def _empty() -> list[tuple[Tensor, Tensor, Tensor]]:
    """Make cases in which some row has nothing to attend to, or no row has anything."""
    q, k = pair((2, 1, 3, 4, 2))
    some = torch.ones(3, 4, dtype=torch.bool)
    some[1] = False
    none = torch.zeros(3, 4, dtype=torch.bool)
    sentence = torch.tensor([[True] * 4, [False] * 4])[:, None, None]
    return [(q, k, some), (q, k, none), (q, k, sentence)]


def _weights() -> list[Stage]:
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
        Stage("Every shape that a mask may have", plain(*_masks(), *_alike())),
        Stage(
            "A mask and large scores",
            plain((*far, keep), (-far[0], far[1], keep), (10 * far[0], 100 * far[1], keep)),
        ),
        Stage("A row with nothing to attend to", plain(*_empty())),
        Stage("Half precision: float16", plain((*half, keep), tolerance=1e-2)),
        Stage("Gradients flow", cases(gradients, GRADIENT, pair((1, 2, 3, 4, 2)), _masks()[0])),
        Stage("Gradients where a row is empty", cases(gradients, GRADIENT, *_empty())),
    ]


def weight_stages() -> tuple[Stage, ...]:
    return tuple(_weights())


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


def _with_values(stage: Stage) -> Stage:
    """Put values between the key and the mask, as wide as the head."""

    def put(case: Case) -> Case:
        q, k, *mask = case.args
        value = _value(k, k.shape[-1]).to(k.dtype)
        return Case((q, k, value, *mask), case.ask, case.says, case.tolerance)

    return Stage(stage.title, tuple(map(put, stage.cases)))


def output_stages() -> tuple[Stage, ...]:
    one_key = small([[2.0, 1.0]], [[3.0, 1.0]])
    same = small([[0.0] * 3] * 2, [[1.0] * 3] * 4)
    overflow = (
        torch.tensor([[[[150.0] * 4]]]),
        torch.tensor([[[[150.0] * 4, [149.0] * 4]]]),
    )
    value = torch.tensor([[[[1.0, 2.0], [3.0, 5.0]]]], dtype=torch.float64)
    large = tuple(x.half() for x in (*overflow, value))
    return (
        Stage(
            "One key: its value comes out",
            plain((*one_key, _value(one_key[1], 2))),
        ),
        Stage(
            "Equal scores: the mean of the values",
            plain((*same, _value(same[1], 3))),
        ),
        *map(_with_values, _weights()),
        Stage(
            "Values that are wider or narrower than the keys",
            plain(
                (*one_key, _value(one_key[1], 3)),
                (*same, _value(same[1], 1)),
                *((q, k, _value(k, width), mask) for width, (q, k, mask) in enumerate(_masks(), 1)),
            ),
        ),
        Stage("Large numbers in float16", plain(large, tolerance=1e-2)),
    )


def tiny_outputs() -> tuple[Case, ...]:
    def put(case: Case) -> Case:
        q, k, *mask = case.args
        value = (10 * _value(k, 1)).round().to(k.dtype)
        return Case((q, k, value, *mask), case.ask, case.says, case.tolerance)

    one = small([[1.0, 0.0]], [[2.0, 0.0], [1.0, 0.0]])
    return (
        *plain((*one, torch.tensor([[[[1.0, 2.0], [3.0, 5.0]]]], dtype=torch.float64))),
        *map(put, tiny_weights()),
    )


def output_rules() -> tuple[Case, ...]:
    q, k = pair((2, 1, 1, 3, 1))
    value = _value(k, 3)
    hide = torch.tensor([[True, True, False]])
    ones: Any = (q, k, torch.ones_like(value))
    batch = "sentence 0 moves by 0 when sentence 1 changes"
    hidden = "the output moves by 0 when a hidden key and its value change"
    return (
        *cases(
            rules.row_sums,
            "if all values are 1, all outputs are 1, and the three of a query sum to 3",
            ones,
        ),
        *cases(rules.batch_mates(0, 1, 2), batch, (q, k, value)),
        *cases(rules.last_key(1, 2), hidden, (q, k, value, hide)),
    )
