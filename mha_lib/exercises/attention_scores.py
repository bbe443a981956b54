"""Exercises of lesson 5."""

import mha_lib
from mha_lib.exercises import output_cases, score_cases, weight_cases
from mha_lib.exercises.exercise import Exercise
from mha_lib.exercises.solutions import attention_scores as solutions

LESSON = "attention_scores"

_MASK = """\
- `attn_mask`: `None`, or a bool tensor with **True = may attend**. Its shape is `(L, S)`,
  `(B, 1, 1, S)`, `(B, 1, L, S)` or `(B, H, L, S)`: it broadcasts against the scores.
- A row with nothing to attend to: all its weights are 0, not NaN.
- It also works in float16, where -1e9 does not exist.
- Gradients flow: keep to torch's own operations on tensors."""


EXERCISES = (
    Exercise(
        name="attention_scores",
        lesson=LESSON,
        stars=1,
        minutes=5,
        statement="""\
Compare each query with each key.

- `query` `(B, H, L, D)`, `key` `(B, H, S, D)`; `L` and `S` may differ.
- The result is `(B, H, L, S)`: row = query, column = key.

As a loop:

```
for l in range(L):
    for s in range(S):
        out[b, h, l, s] = sum(query[b, h, l] * key[b, h, s]) / sqrt(D)
```""",
        worked="""\
With `D = 4`, the query `[2, 0, 0, 0]` and the key `[3, 1, 0, 0]` have the score `6 / 2 = 3`.""",
        hints=(
            "A matrix product makes all these sums at once.",
            "`query @ ...` needs the key's last two axes swapped. Count them from the end.",
            "Divide by `math.sqrt(D)`; `D` is the last size of `query`.",
        ),
        solution=solutions.attention_scores,
        right=mha_lib.attention_scores,
        stages=score_cases.score_stages,
        tiny=score_cases.tiny_scores,
        properties=score_cases.score_rules,
    ),
    Exercise(
        name="attention_weights",
        lesson=LESSON,
        stars=2,
        minutes=8,
        statement=f"""\
Turn the scores of each query into weights that sum to 1.

- `query` `(B, H, L, D)`, `key` `(B, H, S, D)`. The result is `(B, H, L, S)`.
{_MASK}

As a loop, for one query:

```
score[s]  = sum(query[l] * key[s]) / sqrt(D)
weight[s] = exp(score[s]) / sum of exp(score[...]) over the keys that the mask allows
weight[s] = 0 where the mask does not allow
```""",
        hints=(
            "Scores first, then the mask, then softmax over the keys.",
            "Softmax turns a score of minus infinity into a weight of 0: "
            "`scores.masked_fill(~attn_mask, -math.inf)`.",
            "Softmax of a row that is all minus infinity is 0 / 0 = NaN. Find these rows with "
            "`~attn_mask.any(-1, keepdim=True)` and set their weights to 0.",
        ),
        solution=solutions.attention_weights,
        right=mha_lib.attention_weights,
        stages=weight_cases.weight_stages,
        tiny=weight_cases.tiny_weights,
        properties=weight_cases.weight_rules,
    ),
    Exercise(
        name="scaled_dot_product_attention",
        lesson=LESSON,
        stars=2,
        minutes=10,
        statement=f"""\
Average the values of the words by their weights.

- `query` `(B, H, L, D)`, `key` `(B, H, S, D)`, `value` `(B, H, S, D_v)`.
- The result is `(B, H, L, D_v)`.
{_MASK}
- So the output of such a query is 0, too.
- float16 also works with large numbers. There everything above 65504 becomes infinite:
  scale the query before the product, not the scores after it.

```
out[l] = sum over s of weight[l, s] * value[s]
```

You may call `mha_lib.attention_weights`, or write everything yourself. What does the whole
exercise may not be called: `F.scaled_dot_product_attention`, or the one of `mha_lib`.""",
        hints=(
            "`weights` is `(B, H, L, S)`, `value` is `(B, H, S, D_v)`.",
            "That sum over `s` is a matrix product.",
            "`mha_lib.attention_weights(query, key, attn_mask)`, then `@ value`.",
        ),
        solution=solutions.scaled_dot_product_attention,
        right=mha_lib.scaled_dot_product_attention,
        forbidden=("scaled_dot_product_attention",),
        stages=output_cases.output_stages,
        tiny=output_cases.tiny_outputs,
        properties=output_cases.output_rules,
    ),
)
