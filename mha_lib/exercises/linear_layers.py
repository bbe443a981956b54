"""Exercises of lesson 3."""

from torch import Tensor

import mha_lib
from mha_lib.exercises.exercise import Exercise, Stage, cases, plain
from mha_lib.exercises.inputs import counted, waves
from mha_lib.exercises.rules import all_heads, all_packed_heads
from mha_lib.exercises.solutions import linear_layers as solutions

LESSON = "linear_layers"


def packed_head_rows(in_proj_weight: Tensor, part: int, head: int, num_heads: int) -> Tensor:
    return mha_lib.head_rows(mha_lib.unpack_projections(in_proj_weight)[part], head, num_heads)


def _head_rows_stages() -> tuple[Stage, ...]:
    return (
        Stage("One head owns every row", plain((counted(3, 2), 0, 1), (counted(2, 5), 0, 1))),
        Stage("Head 0 of two", plain((counted(2, 4), 0, 2), (counted(6, 4), 0, 2))),
        Stage(
            "A later head",
            plain((counted(6, 5), 1, 2), (counted(6, 5), 2, 3), (waves(35, 4), 3, 7)),
        ),
        Stage(
            "A square weight",
            plain((counted(6, 6), 1, 2), (counted(4, 4), 1, 2), (counted(6, 6), 4, 6)),
        ),
    )


def _packed_stages() -> tuple[Stage, ...]:
    weight = counted(18, 6)
    return (
        Stage(
            "One head: which part is which", plain(*((counted(6, 2), p, 0, 1) for p in range(3)))
        ),
        Stage("The queries' rows", plain((weight, 0, 0, 2), (weight, 0, 1, 2), (weight, 0, 2, 3))),
        Stage("The keys' rows", plain((weight, 1, 0, 2), (weight, 1, 1, 2), (weight, 1, 2, 3))),
        Stage("The values' rows", plain((weight, 2, 0, 3), (weight, 2, 1, 2), (weight, 2, 5, 6))),
        Stage("Another size", plain((waves(105, 35), 1, 4, 5), (waves(105, 35), 2, 3, 7))),
    )


EXERCISES = (
    Exercise(
        name="head_rows",
        lesson=LESSON,
        stars=1,
        minutes=4,
        statement="""\
Return the part of a projection's weight that belongs to one head.

- `weight` `(E, E_in)`: as `nn.Linear` stores it, one row for each output feature.
- `head`: which head, counted from 0. `num_heads` divides `E`.
- The result is `(D, E_in)` with `D = E / num_heads`.

Head 0 owns the first `D` output features, head 1 the next `D`, and so on.""",
        worked="""\
For a weight with 6 rows and 2 heads, head 1 owns rows 3, 4 and 5.""",
        hints=(
            "`nn.Linear` computes `x @ weight.T`. So is an output feature a row or a column?",
            "How many rows does a head own? Where do the rows of head `h` start?",
            "A slice of rows is `weight[first:last]`.",
        ),
        solution=solutions.head_rows,
        right=mha_lib.head_rows,
        stages=_head_rows_stages,
        tiny=lambda: plain(
            *((counted(h * d, e), h - 1, h) for h in (1, 2) for d in (1, 2) for e in (1, 2, h * d)),
            *((counted(4, 4), 0, 2), (counted(6, 1), 1, 2), (counted(6, 2), 1, 3)),
        ),
        properties=lambda: cases(
            all_heads, "the rows of all heads together are the weight", (counted(4, 2), 2)
        ),
    ),
    Exercise(
        name="packed_head_rows",
        lesson=LESSON,
        stars=2,
        minutes=6,
        statement="""\
The same, when the three projections are packed into one weight.

- `in_proj_weight` `(3E, E)`: the rows of the query projection, then key, then value.
- `part`: 0 for query, 1 for key, 2 for value. `head` counts from 0; `num_heads` divides `E`.
- The result is `(D, E)`.""",
        worked="""\
For a weight `(18, 6)` and 2 heads, the rows of head 1 for the keys are 9, 10 and 11.""",
        hints=(
            "How many rows has one of the three parts?",
            "First find where the part starts, then where the head starts inside it.",
            "`first = part * E + head * D`.",
        ),
        solution=solutions.packed_head_rows,
        right=packed_head_rows,
        stages=_packed_stages,
        tiny=lambda: plain(
            *(
                (counted(3 * e, e), p, h - 1, h)
                for e, h in ((1, 1), (2, 1), (2, 2))
                for p in range(3)
            ),
            *((counted(12, 4), p, h, 2) for p in range(3) for h in range(2)),
        ),
        properties=lambda: cases(
            all_packed_heads,
            "the rows of all parts and heads together are the weight",
            (counted(12, 4), 2),
        ),
    ),
)
