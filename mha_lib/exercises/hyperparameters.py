"""Exercises of lesson 1."""

import mha_lib
from mha_lib.exercises.asks import numbers_in_error, result_or_error
from mha_lib.exercises.exercise import Exercise, Stage, cases, plain
from mha_lib.exercises.solutions import hyperparameters as solutions

LESSON = "hyperparameters"


def _stages() -> tuple[Stage, ...]:
    return (
        Stage("Two heads share six features", plain((6, 2))),
        Stage("One head; as many heads as features", plain((7, 1), (6, 6), (1, 1))),
        Stage("Other sizes", plain((6, 3), (35, 5), (384, 12), (512, 8))),
    )


def _checked_stages() -> tuple[Stage, ...]:
    return (
        Stage("Heads that fit", cases(result_or_error, "", (6, 2), (35, 5), (7, 1), (6, 6))),
        Stage(
            "Heads that do not fit", cases(result_or_error, "", (6, 4), (10, 3), (11, 4), (14, 5))
        ),
        Stage("More heads than features", cases(result_or_error, "", (4, 8), (1, 2))),
        Stage(
            "The error's text names both numbers",
            cases(numbers_in_error, "what the error's text says", (6, 4), (10, 3), (4, 8)),
        ),
    )


EXERCISES = (
    Exercise(
        name="head_dim",
        lesson=LESSON,
        stars=1,
        minutes=3,
        statement="""\
Return the width of one head.

- `embed_dim` is the width `E` of a word's vector, `num_heads` the number `H` of heads.
- Here `H` always divides `E`.
- The result is an `int`.""",
        worked="""\
For `embed_dim=6` and `num_heads=2` the answer is `3`.""",
        hints=(
            "The heads share out the features: together they have `embed_dim` of them.",
            "A width counts features, so it is a whole number. Which division gives an `int`?",
        ),
        solution=solutions.head_dim,
        right=mha_lib.head_dim,
        stages=_stages,
        tiny=lambda: plain((1, 1), (2, 1), (2, 2), (4, 2)),
    ),
    Exercise(
        name="head_dim_checked",
        lesson=LESSON,
        stars=1,
        minutes=4,
        statement="""\
Return the width of one head, and refuse heads that do not fit.

- As `head_dim`, but now `num_heads` may not divide `embed_dim`. Both are at least 1.
- Then raise a `ValueError`. Its text names both numbers.""",
        worked="""\
For `embed_dim=6` and `num_heads=4` the text could be
`num_heads must divide embed_dim, got embed_dim=6, num_heads=4`.""",
        hints=(
            "`6 % 4` is what is left over.",
            "Look at the remainder first, then divide.",
            'An f-string puts numbers into a text: `f"got {embed_dim}"`.',
        ),
        solution=solutions.head_dim_checked,
        right=mha_lib.head_dim,
        stages=_checked_stages,
        tiny=lambda: cases(result_or_error, "", (1, 1), (2, 1), (2, 2), (3, 2), (1, 2), (4, 2)),
    ),
)
