"""The cases of `scaled_dot_product_attention`: those of the weights, with values."""

from typing import Any

import torch

from mha_lib.exercises import rules
from mha_lib.exercises.attention_inputs import masks, pair, small, values
from mha_lib.exercises.exercise import Case, Stage, cases, plain
from mha_lib.exercises.weight_cases import shared_stages, tiny_weights


def _with_values(stage: Stage) -> Stage:
    """Put values between the key and the mask, as wide as the head."""

    def put(case: Case) -> Case:
        q, k, *mask = case.args
        value = values(k, k.shape[-1]).to(k.dtype)
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
            plain((*one_key, values(one_key[1], 2))),
        ),
        Stage(
            "Equal scores: the mean of the values",
            plain((*same, values(same[1], 3))),
        ),
        *map(_with_values, shared_stages()),
        Stage(
            "Values that are wider or narrower than the keys",
            plain(
                (*one_key, values(one_key[1], 3)),
                (*same, values(same[1], 1)),
                *((q, k, values(k, width), mask) for width, (q, k, mask) in enumerate(masks(), 1)),
            ),
        ),
        Stage("Large numbers in float16", plain(large, tolerance=1e-2)),
    )


def tiny_outputs() -> tuple[Case, ...]:
    def put(case: Case) -> Case:
        q, k, *mask = case.args
        value = (10 * values(k, 1)).round().to(k.dtype)
        return Case((q, k, value, *mask), case.ask, case.says, case.tolerance)

    one = small([[1.0, 0.0]], [[2.0, 0.0], [1.0, 0.0]])
    return (
        *plain((*one, torch.tensor([[[[1.0, 2.0], [3.0, 5.0]]]], dtype=torch.float64))),
        *map(put, tiny_weights()),
    )


def output_rules() -> tuple[Case, ...]:
    q, k = pair((2, 1, 1, 3, 1))
    value = values(k, 3)
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
