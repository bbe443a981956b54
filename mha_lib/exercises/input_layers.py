"""Exercises of lesson 2."""

import torch

import mha_lib
from mha_lib.exercises.asks import numbers_in_error, result_or_error
from mha_lib.exercises.exercise import Case, Exercise, Stage, cases, plain
from mha_lib.exercises.inputs import counted, waves
from mha_lib.exercises.rules import batch_mates
from mha_lib.exercises.solutions import input_layers as solutions

LESSON = "input_layers"


def _embed_stages() -> tuple[Stage, ...]:
    one, ids = torch.tensor([[1]]), torch.tensor([[2, 0, 2], [1, 3, 0]])
    square = torch.tensor([[1, 0, 3], [0, 0, 2], [2, 1, 1]])
    few = torch.tensor([[1, 0, 1, 1, 0]])  # a sentence longer than the table of words
    too_long = (torch.tensor([[0, 1, 0, 1, 1]]), waves(2, 3), waves(4, 3))
    only_one = (torch.tensor([[0, 1, 0]]), waves(2, 3), waves(1, 3))
    return (
        Stage(
            "Look up: width 1, positions all zero",
            plain(
                (one, counted(2, 1, start=5), torch.zeros(1, 1)),
                (ids, counted(4, 1), torch.zeros(3, 1)),
            ),
        ),
        Stage(
            "Scale: positions still zero",
            plain((one, counted(2, 4), torch.zeros(1, 4)), (ids, waves(4, 7), torch.zeros(3, 7))),
        ),
        Stage(
            "Positions, one sentence: the table is zero",
            plain(
                (one, torch.zeros(2, 4), counted(1, 4, start=1)),
                (ids[:1], torch.zeros(4, 5), waves(3, 5)),
            ),
        ),
        Stage(
            "Positions, several sentences",
            plain((ids, torch.zeros(4, 5), waves(3, 5)), (square, torch.zeros(4, 2), waves(3, 2))),
        ),
        Stage("More positions than words", plain((ids, torch.zeros(4, 5), waves(7, 5)))),
        Stage(
            "Everything together",
            plain(
                (ids, waves(4, 5), waves(7, 5, step=0.3)),
                (square, waves(4, 3), waves(3, 3, step=0.3)),
                (few, waves(2, 3), waves(6, 3, step=0.3)),
            ),
        ),
        Stage(
            "More words than positions: a ValueError",
            cases(result_or_error, "", too_long, only_one),
        ),
        Stage(
            "The error's text names both numbers",
            cases(numbers_in_error, "what the error's text says", too_long),
        ),
    )


def _embed_tiny() -> tuple[Case, ...]:
    def case(ids: list[list[int]], width: int, words: int, places: int) -> tuple[object, ...]:
        return torch.tensor(ids), counted(words, width, start=1), counted(places, width, start=10)

    zero = torch.zeros(1, 4)
    return (
        *plain((torch.tensor([[1]]), counted(2, 4), zero)),
        *plain(case([[1]], 1, 2, 1), case([[1]], 4, 2, 1), case([[1]], 4, 2, 2)),
        *plain(case([[1, 0]], 4, 2, 2), case([[1, 0], [0, 1]], 4, 2, 2), case([[1]], 4, 3, 3)),
        *plain(case([[1, 0]], 1, 2, 3)),
        *cases(result_or_error, "", case([[0, 0]], 1, 1, 1)),
    )


def _position_stages() -> tuple[Stage, ...]:
    return (
        Stage("Position 0", plain((1, 2), (1, 4))),
        Stage("Two columns: one wavelength", plain((3, 2))),
        Stage("More columns: each pair has its own wavelength", plain((3, 4), (7, 6), (2, 10))),
        Stage("Many positions", plain((50, 16), (1500, 6), tolerance=1e-3)),
        Stage("An odd number of columns: the last is a sine", plain((3, 5), (4, 3), (2, 1))),
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
        tiny=_embed_tiny,
        properties=lambda: cases(
            batch_mates(0),
            "sentence 0 moves by 0 when sentence 1 changes",
            (torch.tensor([[2, 0], [1, 0]]), waves(5, 3), waves(2, 3)),
        ),
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
        tiny=lambda: plain((1, 1), (1, 2), (2, 2), (2, 4), (2, 3), (3, 4), (2, 6), (3, 5)),
    ),
)
