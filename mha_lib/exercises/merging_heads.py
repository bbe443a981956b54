"""Exercises of lesson 6."""

from typing import Any

import torch

import mha_lib
from mha_lib.exercises.exercise import Case, Exercise, Stage
from mha_lib.exercises.inputs import counted, waves
from mha_lib.exercises.solutions import merging_heads as solutions

LESSON = "merging_heads"


def _merge_stages() -> tuple[Stage, ...]:
    return (
        Stage("One word", (Case((counted(1, 2, 1, 3),)),)),
        Stage("Several words", (Case((counted(1, 2, 2, 2),)), Case((counted(1, 3, 4, 2),)))),
        Stage("A batch", (Case((counted(3, 5, 7, 2),)), Case((counted(2, 2, 2, 2),)))),
    )


def _layer(width: int) -> tuple[Any, ...]:
    """Weights of a layer: packed query, key, value, then the output projection."""
    return (
        waves(3 * width, width, step=0.3),
        waves(3 * width, step=0.9, size=0.5),
        waves(width, width, step=1.7),
        waves(width, step=2.9, size=0.5),
    )


def _layer_stages() -> tuple[Stage, ...]:
    q, k, v = waves(2, 5, 6, step=0.7), waves(2, 7, 6, step=1.3), waves(2, 7, 6, step=2.1)
    lower = torch.ones(5, 7, dtype=torch.bool).tril()
    return (
        Stage("One word, one head", (Case((q[:1, :1], k[:1, :1], v[:1, :1], *_layer(6), 1)),)),
        Stage("Several words and heads", (Case((q, k, v, *_layer(6), 2)),)),
        Stage("A mask", (Case((q, k, v, *_layer(6), 3, lower)),)),
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
```

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
- The result is `(B, L, E)`.

Project, split, attend, merge, project. Functions of `mha_lib` may be called.""",
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
        stages=_layer_stages,
    ),
)
