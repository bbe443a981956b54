"""Exercises of lesson 8."""

import torch

import mha_lib
from mha_lib.exercises.exercise import Case, Exercise, Stage, cases, plain
from mha_lib.exercises.rules import counts
from mha_lib.exercises.solutions import masks as solutions

LESSON = "masks"
ALLOWED = "each row allows as many keys as it should"


def _causal_stages() -> tuple[Stage, ...]:
    return (
        Stage("As many queries as keys", plain((1, 1), (3, 3), (7, 7))),
        Stage("More keys than queries, and fewer", plain((2, 5), (5, 2), (1, 4))),
        Stage(
            "Keys that came before: the offset", plain((1, 4, 3), (2, 5, 3), (3, 3, 1), (2, 7, 1))
        ),
        Stage("An offset of 0, and one past the end", plain((4, 4, 0), (2, 3, 9), (2, 9, 6))),
    )


def _lengths(*numbers: int) -> torch.Tensor:
    return torch.tensor(numbers)


def _padding_cases(*sizes: tuple[tuple[int, ...], int]) -> tuple[Case, ...]:
    return plain(*((_lengths(*lengths), max_len) for lengths, max_len in sizes))


def _padding_stages() -> tuple[Stage, ...]:
    return (
        Stage("One sentence without padding", _padding_cases(((3,), 3), ((1,), 1))),
        Stage("One sentence with padding", _padding_cases(((2,), 3), ((1,), 4))),
        Stage("Several sentences", _padding_cases(((4, 1, 3), 4), ((5, 2), 5))),
        Stage("As many sentences as words", _padding_cases(((3, 1, 2), 3))),
        Stage("No sentence is as long as max_len", _padding_cases(((2, 3), 5))),
        Stage("A sentence without words", _padding_cases(((0, 2), 3))),
    )


def _decoder_stages() -> tuple[Stage, ...]:
    return (
        Stage("One sentence without padding: causal", _padding_cases(((1,), 1), ((3,), 3))),
        Stage("One sentence with padding", _padding_cases(((2,), 3), ((1,), 4))),
        Stage("Several sentences", _padding_cases(((4, 1, 3), 4), ((5, 2), 5))),
        Stage("As many sentences as words", _padding_cases(((3, 1, 2), 3))),
        Stage("No sentence is as long as max_len", _padding_cases(((2, 3), 5))),
    )


_TINY = (((1,), 1), ((1,), 2), ((2,), 2), ((2, 1), 2), ((2,), 3), ((2, 1), 3), ((0,), 1))

EXERCISES = (
    Exercise(
        name="causal_mask",
        lesson=LESSON,
        stars=1,
        minutes=5,
        statement="""\
Let each word attend to itself and to earlier words.

- The result is bool, `(query_len, key_len)`, **True = may attend**: row = query, column = key.
- Query `l` may attend to key `s` if `s <= l + offset`.
- `offset` is the number of keys that came before the first query. While a sentence is written word
  by word, the keys of earlier words are kept: then one query meets many keys.""",
        worked="""\
`causal_mask(2, 2)` is `[[True, False], [True, True]]`;
`causal_mask(1, 3, offset=2)` is `[[True, True, True]]`.""",
        hints=(
            "Which cells are True in row 0? In row 1?",
            "Compare a column of query numbers `(L, 1)` with a row of key numbers `(1, S)`.",
            "`torch.arange(key_len) <= torch.arange(query_len)[:, None] + offset`; or "
            "`torch.ones(...).tril(...)`, which keeps the lower triangle.",
        ),
        solution=solutions.causal_mask,
        right=mha_lib.causal_mask,
        stages=_causal_stages,
        tiny=lambda: plain((1, 1), (1, 2), (2, 1), (2, 2), (1, 2, 1), (2, 2, 1), (2, 3, 1), (3, 3)),
        properties=lambda: cases(counts, ALLOWED, (3, 3), (1, 4, 3)),
    ),
    Exercise(
        name="padding_mask",
        lesson=LESSON,
        stars=1,
        minutes=5,
        statement="""\
Hide the padding at the end of each sentence.

- `lengths` `(B,)`: how many real words each sentence has, from 0 to `max_len`.
- The result is bool, `(B, 1, 1, max_len)`, **True = may attend**. The two ones stand for heads and
  queries: the same keys are hidden for all of them.
- Key `s` of sentence `b` is real if `s < lengths[b]`.""",
        worked="""\
`padding_mask(torch.tensor([3, 1]), 3)` is `[[[[True, True, True]]], [[[True, False, False]]]]`.""",
        hints=(
            "For one sentence: which of the numbers 0, 1, 2, ... are smaller than its length?",
            "Compare a row of key numbers with a column of lengths, `lengths[:, None]`.",
            "`x[:, None, None, :]` puts two axes of size 1 into the middle.",
        ),
        solution=solutions.padding_mask,
        right=mha_lib.padding_mask,
        stages=_padding_stages,
        tiny=lambda: _padding_cases(*_TINY),
        properties=lambda: cases(counts, ALLOWED, (_lengths(1, 3), 4)),
    ),
    Exercise(
        name="decoder_mask",
        lesson=LESSON,
        stars=2,
        minutes=8,
        statement="""\
Causal and padding mask at once.

- `lengths` `(B,)`: how many real words each sentence has, from 1 to `max_len`.
- The result is bool, `(B, 1, max_len, max_len)`, **True = may attend**.
- Query `l` may attend to key `s` of sentence `b` if `s <= l` **and** `s < lengths[b]`.
- Rows of padded queries still attend to real keys: no row is empty.""",
        worked="""\
For one sentence of 2 words and `max_len=3`:

```
True  False False
True  True  False
True  True  False
```""",
        hints=(
            "Make both masks, then join them.",
            "What may be seen must be allowed by both: is that `&` or `|`?",
            "`(B, 1, 1, L)` and `(L, L)` broadcast to `(B, 1, L, L)`.",
        ),
        solution=solutions.decoder_mask,
        right=mha_lib.decoder_mask,
        stages=_decoder_stages,
        tiny=lambda: _padding_cases(*_TINY[:-1]),
        properties=lambda: cases(counts, ALLOWED, (_lengths(1, 3), 4)),
    ),
)
