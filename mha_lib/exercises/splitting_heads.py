"""Exercises of lesson 4."""

import mha_lib
from mha_lib.exercises.asks import memory
from mha_lib.exercises.exercise import Case, Exercise, Stage, cases, plain
from mha_lib.exercises.inputs import counted, waves
from mha_lib.exercises.rules import every_number_once, split_then_merge
from mha_lib.exercises.solutions import splitting_heads as solutions

LESSON = "splitting_heads"


def _split_stages() -> tuple[Stage, ...]:
    repeats = waves(2, 5, 6).round().abs()  # many zeros and ones
    return (
        Stage("One word: the heads share out its features", plain((counted(1, 1, 6), 2))),
        Stage("One head: nothing to share", plain((counted(1, 3, 2), 1), (counted(2, 3, 5), 1))),
        Stage(
            "Several words: each head sees all of them",
            plain((counted(1, 2, 4), 2), (counted(1, 4, 6), 2), (counted(1, 4, 6), 3)),
        ),
        Stage("Heads one feature wide", plain((counted(1, 3, 5), 5))),
        Stage("A batch", plain((counted(3, 5, 14), 7), (counted(2, 3, 10), 5))),
        Stage(
            "Sizes that are alike; zeros and repeats",
            plain((counted(2, 2, 4), 2), (counted(3, 3, 9), 3), (repeats, 3)),
        ),
    )


def _view_stages() -> tuple[Stage, ...]:
    sizes = ((1, 6), (4, 6), (3, 5, 14), (2, 3, 4, 6))
    return (
        Stage("One sentence, one word", plain((counted(1, 6), 2))),
        Stage("One sentence, several words", plain((counted(2, 4), 2), (counted(4, 6), 3))),
        Stage("A batch", plain((counted(3, 5, 14), 7), (counted(2, 2, 4), 2))),
        Stage("Two axes in front of L", plain((counted(2, 3, 4, 6), 3), (counted(2, 2, 2, 4), 2))),
        Stage(
            "No number moves",
            cases(memory, "where the result lies", *((counted(*size), 2) for size in sizes)),
        ),
    )


def _tiny(front: tuple[int, ...]) -> tuple[Case, ...]:
    sizes = ((1, 1, 1), (1, 2, 1), (1, 2, 2), (2, 1, 1), (2, 2, 2), (2, 4, 2), (3, 2, 2))
    small = plain(*((counted(*front, length, width), heads) for length, width, heads in sizes))
    return small + plain(*((counted(2, length, width), heads) for length, width, heads in sizes))


def _rules(front: tuple[int, ...]) -> tuple[Case, ...]:
    x = counted(*front, 2, 4)
    return (
        *cases(every_number_once, "each number of x comes out once", (x, 2)),
        *cases(split_then_merge, "merging the result again gives x", (x, 2)),
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
```""",
        worked="""\
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
        tiny=lambda: _tiny((1,)),
        properties=lambda: _rules((1,)),
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
        worked="""\
`[[0, 1], [2, 3]]` with 2 heads becomes `[[[0], [2]], [[1], [3]]]`, with strides (1, 2, 1).""",
        hints=(
            "Two steps. The first cuts the last axis `E` into `H` and `D`.",
            "`x.unflatten(-1, (H, D))` cuts the last axis. Which two axes change places then?",
            "Count axes from the end, so that it does not matter how many stand in front: "
            "`.transpose(-3, -2)`.",
        ),
        solution=solutions.split_heads_view,
        right=mha_lib.split_heads,
        stages=_view_stages,
        tiny=lambda: _tiny(()),
        properties=lambda: _rules(()),
    ),
)
