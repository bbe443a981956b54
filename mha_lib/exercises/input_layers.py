"""Exercises of lesson 2."""

import torch

import mha_lib
from mha_lib.exercises.exercise import Case, Exercise, Stage
from mha_lib.exercises.inputs import counted, waves
from mha_lib.exercises.solutions import input_layers as solutions

LESSON = "input_layers"


def _embed_stages() -> tuple[Stage, ...]:
    ids = torch.tensor([[2, 0, 2], [1, 3, 0]])
    return (
        Stage(
            "One word at position 0, positions all zero",
            (Case((torch.tensor([[1]]), counted(2, 4), torch.zeros(1, 4))),),
        ),
        Stage(
            "Positions alone: the table is zero",
            (Case((ids, torch.zeros(4, 4), counted(5, 4))),),
        ),
        Stage("Two sentences", (Case((ids, waves(4, 5), waves(7, 5, step=0.3))),)),
    )


def _position_stages() -> tuple[Stage, ...]:
    return (
        Stage("Position 0", (Case((1, 4)),)),
        Stage("Two columns", (Case((3, 2)),)),
        Stage("More columns", (Case((3, 4)), Case((7, 6)), Case((50, 16)))),
        Stage("An odd number of columns", (Case((3, 5)), Case((2, 1)))),
    )


EXERCISES = (
    Exercise(
        name="embed_tokens",
        lesson=LESSON,
        stars=1,
        minutes=6,
        statement="""\
Look the words up, scale them, add their positions.

- `ids` `(B, L)`: whole numbers, which word stands where.
- `table` `(V, E)`: one row a word.
- `positions` `(P, E)`: one row a position; `P` is at least `L`.
- The result is `(B, L, E)`, floating point.
- If there are more words than positions, raise a `ValueError` whose text names both numbers.

As a loop:

```
for b in range(B):
    for l in range(L):
        out[b, l] = sqrt(E) * table[ids[b, l]] + positions[l]
```""",
        hints=(
            "`table[ids]` looks up all words at once. What shape does it have?",
            "`E` is the width of the table: `table.shape[1]`.",
            "Only the first `L` positions are used: `positions[:L]`. Broadcasting adds them to "
            "every sentence.",
        ),
        solution=solutions.embed_tokens,
        right=mha_lib.embed_tokens,
        stages=_embed_stages,
    ),
    Exercise(
        name="sinusoidal_positions",
        lesson=LESSON,
        stars=2,
        minutes=10,
        statement="""\
Return one fixed vector for each position.

- The result is `(num_positions, embed_dim)`, floating point.
- If `embed_dim` is odd, the last column is a sine.

As a loop:

```
for p in range(num_positions):
    for c in range(embed_dim):
        even = c - c % 2                 # 0, 0, 2, 2, 4, 4, ...
        angle = p / 10000 ** (even / embed_dim)
        out[p, c] = sin(angle) if c % 2 == 0 else cos(angle)
```""",
        hints=(
            "Columns come in pairs, a sine and a cosine of the same angle.",
            "All angles at once: a column of positions `(P, 1)` over a row of wavelengths. "
            "`torch.arange(0, embed_dim, 2)` gives the even columns.",
            "`out[:, 0::2]` are the even columns, `out[:, 1::2]` the odd ones. With an odd "
            "`embed_dim` there is one cosine less.",
        ),
        solution=solutions.sinusoidal_positions,
        right=mha_lib.sinusoidal_positions,
        stages=_position_stages,
    ),
)
