"""Exercises of lesson 4."""

import mha_lib
from mha_lib.exercises.exercise import Case, Exercise, Stage
from mha_lib.exercises.inputs import counted
from mha_lib.exercises.solutions import splitting_heads as solutions

LESSON = "splitting_heads"


def _split_stages() -> tuple[Stage, ...]:
    return (
        Stage("One word", (Case((counted(1, 1, 6), 2)),)),
        Stage("Several words", (Case((counted(1, 2, 4), 2)), Case((counted(1, 4, 6), 2)))),
        Stage("A batch", (Case((counted(3, 5, 14), 7)), Case((counted(2, 2, 4), 2)))),
    )


def _view_stages() -> tuple[Stage, ...]:
    return (
        Stage("One word", (Case((counted(1, 6), 2)),)),
        Stage("Several words", (Case((counted(2, 4), 2)), Case((counted(4, 6), 2)))),
        Stage("A batch", (Case((counted(3, 5, 14), 7)), Case((counted(2, 3, 4, 6), 3)))),
    )


EXERCISES = (
    Exercise(
        name="split_heads",
        lesson=LESSON,
        stars=1,
        minutes=6,
        statement="""\
Give each head its own `(L, D)` matrix. Write it any way you like; loops are fine.

- `x` `(B, L, E)`: one vector a word. `num_heads` divides `E`.
- The result is `(B, H, L, D)` with `D = E / H`.

As a loop:

```
for b in range(B):
    for h in range(H):
        for l in range(L):
            out[b, h, l] = x[b, l, h * D : (h + 1) * D]
```

Two words, two heads: `[[0, 1, 2, 3], [4, 5, 6, 7]]` becomes head 0 `[[0, 1], [4, 5]]` and
head 1 `[[2, 3], [6, 7]]`.""",
        hints=(
            "Make room first: `torch.zeros(B, H, L, D)`.",
            "Each head takes the same columns of every word.",
            "The columns of head `h` are `h * D : (h + 1) * D`.",
        ),
        solution=solutions.split_heads,
        right=mha_lib.split_heads,
        stages=_split_stages,
    ),
    Exercise(
        name="split_heads_view",
        lesson=LESSON,
        stars=2,
        minutes=8,
        statement="""\
The same without moving a number: the result is a view of `x`, on the same memory.

- `x` `(..., L, E)`: there may be no axis in front of `L`, one, or more. `num_heads` divides `E`.
- The result is `(..., H, L, D)`.
- No loop, no copy.""",
        hints=(
            "Two steps. The first cuts the last axis `E` into `H` and `D`.",
            "`x.unflatten(-1, (H, D))` cuts the last axis. Which two axes change places then?",
            "Count axes from the end, so that it does not matter how many stand in front: "
            "`.transpose(-3, -2)`.",
        ),
        solution=solutions.split_heads_view,
        right=mha_lib.split_heads,
        stages=_view_stages,
    ),
)
