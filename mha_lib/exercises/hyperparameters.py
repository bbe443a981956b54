"""Exercises of lesson 1."""

import mha_lib
from mha_lib.exercises.exercise import Case, Exercise, Stage
from mha_lib.exercises.solutions import hyperparameters as solutions

LESSON = "hyperparameters"


def _values() -> tuple[Stage, ...]:
    return (
        Stage("Two heads share six features", (Case((6, 2)),)),
        Stage("One head, and as many heads as features", (Case((6, 1)), Case((6, 6)))),
        Stage("Other sizes", (Case((35, 5)), Case((384, 12)), Case((512, 8)))),
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
- The result is an `int`.

For `embed_dim=6` and `num_heads=2` the answer is `3`.""",
        hints=(
            "The heads share out the features: together they have `embed_dim` of them.",
            "A width counts features, so it is a whole number. Which division gives an `int`?",
        ),
        solution=solutions.head_dim,
        right=mha_lib.head_dim,
        stages=_values,
    ),
    Exercise(
        name="head_dim_checked",
        lesson=LESSON,
        stars=1,
        minutes=4,
        statement="""\
Return the width of one head, and refuse heads that do not fit.

- As `head_dim`, but now `num_heads` may not divide `embed_dim`.
- Then raise a `ValueError`. Its text names both numbers.

For `embed_dim=6` and `num_heads=4` the text could be
`num_heads must divide embed_dim, got embed_dim=6, num_heads=4`.""",
        hints=(
            "`6 % 4` is what is left over.",
            "Look at the remainder first, then divide.",
            'An f-string puts numbers into a text: `f"got {embed_dim}"`.',
        ),
        solution=solutions.head_dim_checked,
        right=mha_lib.head_dim,
        stages=_values,
    ),
)
