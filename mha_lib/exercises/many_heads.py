"""The exercise of lesson 7: the layer as a module."""

import torch

import mha_lib
from mha_lib.exercises import module_asks as ask
from mha_lib.exercises.exercise import Case, Exercise, Stage, cases
from mha_lib.exercises.layer_cases import READY_MADE_LAYERS, states
from mha_lib.exercises.solutions import many_heads as solutions

LESSON = "many_heads"


def _forward_stages() -> tuple[Stage, ...]:
    x, key, value = states((2, 5, 7, 6))
    q, k, _ = states((2, 2, 2, 4))
    lower = torch.ones(5, 5, dtype=torch.bool).tril(1)
    padding = (torch.arange(5) < torch.tensor([[5], [3]]))[:, None, None]
    each = torch.ones(2, 3, 5, 5, dtype=torch.bool)
    each[0, 1, 2, :3] = each[1, 0, 4, 1:] = each[1, 2, :, 3] = False
    few = torch.tensor([[True, False, False, True, False]]).expand(5, 5)
    wide = torch.ones(2, 1, 5, 7, dtype=torch.bool).tril(1)
    wide[1, 0, :, 2] = False
    empty = lower.clone()
    empty[0] = False
    small = torch.tensor([[True, False], [True, True]])
    all_masks = ((3, x, lower), (2, x, padding), (3, x, padding & lower), (3, x, each))
    masks = [*all_masks, (3, 200 * x, few), (2, q, small), (2, q, small[:, None, None])]
    both = [(3, x, padding, True), (2, x, each[:, :1], True), (2, q, small[:, None, None], True)]
    return (
        Stage("One word, one head", cases(ask.alone, "the output", (1, x[:1, :1]))),
        Stage("One head, several words", cases(ask.alone, "the output", (1, x[:1]))),
        Stage("Several heads", cases(ask.alone, "the output", (2, x[:1]), (3, x[:1]), (6, x[:1]))),
        Stage(
            "A batch", cases(ask.alone, "the output", (3, x), (2, q), (5, states((3, 4, 1, 10))[0]))
        ),
        Stage("Without biases", cases(ask.alone, "the output", (2, x, False))),
        Stage("Keys from another text", cases(ask.cross, "the output", (2, x, key), (2, q, k))),
        Stage("Values of their own", cases(ask.cross, "the output", (2, x, key, value))),
        Stage("Large scores", cases(ask.alone, "the output", (2, 30 * x))),
        Stage("A mask", cases(ask.masked, "the output", *((*args, False) for args in masks))),
        Stage("is_causal", cases(ask.masked, "the output", (3, x, None, True), (1, q, None, True))),
        Stage(
            "is_causal, more keys than queries", cases(ask.causal_cross, "the output", (2, x, key))
        ),
        Stage("is_causal and a mask", cases(ask.masked, "the output", *both)),
        Stage(
            "Keys from another text, and a mask",
            cases(ask.masked_cross, "the output", (2, x, key, wide), (3, x, key, wide[0, 0])),
        ),
        Stage(
            "A short text, then a longer one",
            cases(ask.one_after_the_other, "both outputs", (2, x[:, :2], x), (2, x, x[:, :3])),
        ),
        Stage(
            "A query with nothing to attend to",
            cases(ask.masked, "the output", (2, x, empty, False)),
        ),
        Stage(
            "The weights, one map a head",
            cases(ask.with_weights, "output and weights", (3, x), (2, x, padding)),
        ),
    )


def _stages() -> tuple[Stage, ...]:
    x = states((2, 5, 7, 6))[0]
    empty = torch.ones(5, 5, dtype=torch.bool).tril(-1)
    numbers = "how many numbers can be trained"
    return (
        Stage("Parameters", cases(ask.count, numbers, (6, 2, True), (4, 1, True))),
        Stage("Parameters without biases", cases(ask.count, numbers, (6, 2, False))),
        Stage(
            "Names and shapes in the state dict",
            cases(ask.names, "names and shapes", (6, 2, True), (4, 2, False)),
        ),
        Stage("Heads that do not fit", cases(ask.refused, "what it does", (6, 4), (4, 8))),
        Stage("Weights at the start", cases(ask.start, "the weights at the start", (6, 2))),
        *_forward_stages(),
        Stage(
            "Dropout is off after eval()",
            cases(ask.with_dropout, "output and weights", (2, x, 1.0, False)),
        ),
        Stage(
            "Dropout 1 while training: no value comes through",
            cases(ask.with_dropout, "output and weights", (2, x, 1.0, True)),
        ),
        Stage(
            "Dropout 0 while training",
            cases(ask.with_dropout, "output and weights", (2, x, 0.0, True)),
        ),
        Stage(
            "Dropout 0.5 after eval()",
            cases(ask.with_dropout, "output and weights", (2, x, 0.5, False)),
        ),
        Stage("Dropout 0.5 while training", cases(ask.dropped, "what is dropped", (12,))),
        Stage(
            "Gradients flow to input and weights",
            cases(ask.gradients, "the gradients", (2, x), (2, x, empty)),
        ),
    )


def _tiny() -> tuple[Case, ...]:
    one, two = states((1, 1, 1, 2))[0], states((1, 2, 1, 2))[0]
    batch, wide = states((2, 2, 1, 2))[0], states((1, 2, 1, 4))[0]
    hide = torch.tensor([[True, False], [True, True]])
    none = torch.zeros(2, 2, dtype=torch.bool)
    first = torch.tensor([[True, True], [False, False]])
    turn = torch.tensor([[False, True], [True, False]])
    far = torch.tensor([[[-1000.0], [1000.0]]], dtype=torch.float64)
    key = states((1, 1, 3, 2))[1]
    return (
        *cases(
            ask.count, "how many numbers can be trained", (1, 1, True), (2, 1, True), (1, 1, False)
        ),
        *cases(ask.names, "names and shapes", (1, 1, True), (1, 1, False)),
        *cases(ask.refused, "what it does", (1, 2), (3, 2)),
        *cases(ask.alone, "the output", (1, one), (1, two), (2, two), (2, wide), (2, batch)),
        *cases(ask.cross, "the output", (1, one, key), (2, two, key), (1, one, key, -key)),
        *cases(ask.masked, "the output", (1, two, hide, False), (2, two, hide, False)),
        *cases(ask.masked, "the output", (1, two, None, True), (1, two, none, False)),
        *cases(ask.masked, "the output", (1, two, first, False), (1, far, turn, False)),
        *cases(ask.masked, "the output", (1, two, hide[None, None], False), (1, two, turn, True)),
        *cases(ask.alone, "the output", (1, far)),
        *cases(ask.gradients, "the gradients", (1, two), (1, two, none)),
        *cases(ask.masked_cross, "the output", (1, one, key, torch.tensor([[True, False, True]]))),
        *cases(ask.one_after_the_other, "both outputs", (1, one, two)),
        *cases(ask.with_weights, "output and weights", (1, one), (2, two)),
        *cases(ask.with_dropout, "output and weights", (1, one, 1.0, False), (1, one, 1.0, True)),
        *cases(ask.with_dropout, "output and weights", (2, two, 1.0, True)),
    )


EXERCISES = (
    Exercise(
        name="MultiHeadAttention",
        lesson=LESSON,
        stars=3,
        minutes=30,
        statement="""\
Write the layer as a module that can be trained, saved and loaded.

- `MultiHeadAttention(embed_dim, num_heads, *, dropout=0.0, bias=True)`, an `nn.Module`. If the
  heads do not divide the width, the constructor raises a `ValueError`.
- Parameters are named and shaped as in `nn.MultiheadAttention`: `in_proj_weight` `(3E, E)`,
  `in_proj_bias` `(3E,)`, `out_proj.weight` `(E, E)`, `out_proj.bias` `(E,)`; the two biases only if
  `bias=True`. A new module starts with weights drawn at random.
- `forward(query, key=None, value=None, *, mask=None, is_causal=False, need_weights=False)` returns
  two things, `(output, weights)`.
- `query` `(B, L, E)`, `key` and `value` `(B, S, E)`. Without a key it is the query, without a value
  it is the key.
- `mask`: `None` or bool, **True = may attend**, `(L, S)`, `(B, 1, 1, S)`, `(B, 1, L, S)` or
  `(B, H, L, S)`. With `is_causal`, query `l` may besides attend to keys `0 .. l` only. A query with
  nothing to attend to gets `out_proj.bias`.
- `output` is `(B, L, E)`. `weights` is `None`; with `need_weights` it is `(B, H, L, S)`, one map a
  head, before dropout.
- While training, `dropout` is the share of weights set to zero; the others grow by
  `1 / (1 - dropout)`. After `eval()` nothing is dropped.

In short, for the projected and split `q`, `k` and `v`:

```
weights = softmax of the scores that the masks allow
output  = out_proj(merge(dropout(weights) @ v))
```

Functions of `mha_lib` may be called, ready-made layers such as `nn.MultiheadAttention` not.""",
        hints=(
            "What is trained is an `nn.Parameter`, or sits in a module such as `nn.Linear`. Names "
            "in the state dict are the names of the attributes.",
            "Start `forward` from your `multi_head_attention`. Fill in a missing key or value.",
            "Join `mask` and the causal mask with `&`: what may be seen must be allowed by both.",
            "Keep the weights of `mha_lib.attention_weights`, then "
            "`F.dropout(weights, self.dropout, self.training) @ v`. `self.training` is set by "
            "`train()` and `eval()`.",
        ),
        solution=solutions.MultiHeadAttention,
        right=mha_lib.MultiHeadAttention,
        forbidden=READY_MADE_LAYERS,
        stages=_stages,
        tiny=_tiny,
    ),
)
