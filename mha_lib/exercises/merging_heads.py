"""Exercises of lesson 6."""

import mha_lib
from mha_lib.exercises import layer_cases as made
from mha_lib.exercises.exercise import Exercise, Stage, cases, plain
from mha_lib.exercises.inputs import counted, waves
from mha_lib.exercises.rules import every_number_once, merge_after_split
from mha_lib.exercises.solutions import merging_heads as solutions

LESSON = "merging_heads"


def _merge_stages() -> tuple[Stage, ...]:
    split = mha_lib.split_heads(counted(2, 3, 10), 5)  # a view: its memory is not in order
    repeats = waves(2, 3, 5, 2).round()
    return (
        Stage("One word: its heads side by side", plain((counted(1, 2, 1, 3),))),
        Stage("One head: nothing to join", plain((counted(1, 1, 3, 2),))),
        Stage(
            "Several words: heads of one word come together",
            plain((counted(1, 2, 2, 2),), (counted(1, 3, 4, 2),), (counted(1, 4, 3, 1),)),
        ),
        Stage("A batch", plain((counted(3, 5, 7, 2),))),
        Stage("What split_heads made", plain((split,))),
        Stage("Sizes that are alike; zeros and repeats", plain((counted(2, 2, 2, 2),), (repeats,))),
    )


EXERCISES = (
    Exercise(
        name="merge_heads",
        lesson=LESSON,
        stars=1,
        minutes=5,
        statement="""\
Put the heads of each word side by side: undo `split_heads`.

- `x` `(B, H, L, D)`. The result is `(B, L, E)` with `E = H * D`.

As a loop:

```
for h in range(H):
    out[b, l, h * D : (h + 1) * D] = x[b, h, l]
```""",
        worked="""\
Head 0 `[[0, 1], [4, 5]]` and head 1 `[[2, 3], [6, 7]]` become `[[0, 1, 2, 3], [4, 5, 6, 7]]`.""",
        hints=(
            "First bring the heads of one word next to each other. Which two axes change places?",
            "Then join the last two axes, `(H, D)`, into one.",
            "After a swap the memory is not in order, so `view` may refuse. `reshape` or "
            "`flatten` copies where it must.",
        ),
        solution=solutions.merge_heads,
        right=mha_lib.merge_heads,
        stages=_merge_stages,
        tiny=lambda: plain(
            *(
                (counted(b, h, length, d),)
                for b in (1, 2)
                for h in (1, 2)
                for length in (1, 2)
                for d in (1, 2)
            )
        ),
        properties=lambda: (
            *cases(every_number_once, "each number of x comes out once", (counted(1, 2, 3, 2),)),
            *cases(
                merge_after_split,
                "splitting the result again gives x",
                (mha_lib.split_heads(counted(1, 3, 4), 2),),
            ),
        ),
    ),
    Exercise(
        name="multi_head_attention",
        lesson=LESSON,
        stars=3,
        minutes=20,
        statement="""\
The whole layer, with weights laid out as in `nn.MultiheadAttention`.

- `query` `(B, L, E)`, `key` and `value` `(B, S, E)`; all three may differ.
- `in_proj_weight` `(3E, E)`, `in_proj_bias` `(3E,)`: rows for query, then key, then value.
- `out_proj_weight` `(E, E)`, `out_proj_bias` `(E,)`.
- `num_heads` divides `E`.
- `attn_mask`: `None`, or bool with **True = may attend**, shape `(L, S)`, `(B, 1, 1, S)`,
  `(B, 1, L, S)` or `(B, H, L, S)`. A query with nothing to attend to gets `out_proj_bias`.
- The result is `(B, L, E)`, and gradients flow to all inputs.

```
q, k, v = the projections of query, key and value, split into heads
for h in range(H):
    heads[b, h] = attention of head h: q[b, h], k[b, h], v[b, h], mask
out = the heads, merged, through the output projection
```

Functions of `mha_lib` may be called, ready-made layers such as `nn.MultiheadAttention` not.""",
        hints=(
            "`in_proj_weight.chunk(3)` cuts the packed weight into its three parts.",
            "A projection is `x @ weight.T + bias`. Project first, split afterwards.",
            "`mha_lib.split_heads`, `mha_lib.scaled_dot_product_attention` and "
            "`mha_lib.merge_heads` do the middle part. The scale is then right: each head has "
            "width `E / H`.",
            "Do not forget the output projection, with its bias.",
        ),
        solution=solutions.multi_head_attention,
        right=solutions.multi_head_attention,
        forbidden=made.READY_MADE_LAYERS,
        stages=made.stages,
        tiny=made.tiny,
        properties=made.layer_rules,
    ),
)
