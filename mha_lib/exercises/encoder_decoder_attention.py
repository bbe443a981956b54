"""Exercises of lesson 9."""

from typing import Any

import torch

from mha_lib.exercises import rules
from mha_lib.exercises.asks import gradients
from mha_lib.exercises.exercise import Case, Exercise, Stage, cases, plain
from mha_lib.exercises.layer_cases import READY_MADE_LAYERS, layer, states
from mha_lib.exercises.solutions import encoder_decoder_attention as solutions

LESSON = "encoder_decoder_attention"


def _args(
    sizes: tuple[int, int, int, int], heads: int, lengths: tuple[int, ...], weights: Any = None
) -> tuple[Any, ...]:
    """Make arguments for B sentences, T decoder states, S encoder states, width E."""
    decoder, encoder, _ = states(sizes)
    return (decoder, encoder, *(weights or layer(sizes[-1])), heads, torch.tensor(lengths))


def _stages() -> tuple[Stage, ...]:
    still, bare = layer(2, out=False, bias=False), layer(6, out=False, bias=False)
    decoder, encoder, *rest = _args((2, 3, 5, 6), 2, (4, 2))
    large = (200 * decoder, 200 * encoder, *rest)
    return (
        Stage(
            "One word reads one word: the value path", plain(_args((1, 1, 1, 2), 1, (1,), still))
        ),
        Stage("Biases and the output projection", plain(_args((1, 1, 1, 2), 1, (1,)))),
        Stage("One head: who asks, who is read", plain(_args((1, 2, 3, 6), 1, (3,), bare))),
        Stage(
            "Several heads", plain(_args((1, 3, 5, 6), 2, (5,), bare), _args((1, 5, 3, 6), 3, (3,)))
        ),
        Stage("As many words on both sides", plain(_args((1, 3, 3, 6), 2, (3,)))),
        Stage("A batch without padding", plain(_args((2, 5, 7, 6), 3, (7, 7)))),
        Stage(
            "The source's padding",
            plain(_args((1, 3, 4, 6), 2, (2,)), _args((2, 5, 7, 6), 3, (4, 7))),
        ),
        Stage("More target words than source words", plain(_args((3, 7, 4, 6), 2, (1, 4, 3)))),
        Stage(
            "Sizes that are alike",
            plain(
                _args((2, 2, 2, 2), 2, (1, 2)),
                _args((3, 3, 3, 9), 3, (3, 1, 2)),
                _args((2, 2, 5, 4), 2, (4, 2)),
            ),
        ),
        Stage("Large scores", plain(large)),
        Stage("A source without words: the output bias", plain(_args((2, 3, 4, 6), 2, (0, 3)))),
        Stage(
            "Gradients flow",
            cases(gradients, "the gradient that flows back", _args((2, 3, 4, 6), 2, (2, 0))),
        ),
    )


def _tiny() -> tuple[Case, ...]:
    narrow = layer(1, out=False, bias=False)
    far = torch.tensor([[[1000.0], [-1000.0]]], dtype=torch.float64)
    padded = torch.tensor([[[-1000.0], [1000.0]]], dtype=torch.float64)
    sizes = (
        (1, 1, 1, 1),
        (1, 1, 1, 2),
        (1, 1, 2, 1),
        (1, 2, 1, 1),
        (1, 1, 2, 2),
        (1, 2, 2, 2),
        (2, 1, 2, 2),
        (1, 2, 3, 2),
    )
    whole = [
        _args(s, heads, (s[2],) * s[0], weights(s[3]))
        for s in sizes
        for heads in {1, s[3]}
        for weights in (lambda w: layer(w, out=False, bias=False), layer)
    ]
    return plain(
        *whole,
        *(
            _args((1, 1, 2, 2), 1, (1,)),
            _args((1, 2, 2, 2), 2, (1,)),
            _args((2, 2, 2, 2), 2, (1, 2)),
        ),
        *(_args((1, 2, 3, 2), 2, (2,)), _args((1, 3, 2, 2), 2, (1,)), _args((1, 1, 2, 2), 2, (0,))),
        *(_args((1, 1, 2, 4), 2, (2,)), _args((1, 2, 2, 4), 2, (2,))),
        *((far, -far, *narrow, 1, torch.tensor([2])), (far, padded, *narrow, 1, torch.tensor([1]))),
    ) + cases(
        gradients, "the gradient that flows back", *(_args((1, 1, 2, 2), 1, (n,)) for n in (2, 0))
    )


def _rules() -> tuple[Case, ...]:
    args = _args((2, 1, 2, 2), 2, (1, 1))
    batch = "sentence 0 moves by 0 when sentence 1 changes"
    hidden = "the output moves by 0 when a padded source word changes"
    return (
        *cases(rules.batch_mates(0, 1), batch, args),
        *cases(rules.last_key(1), hidden, args),
    )


EXERCISES = (
    Exercise(
        name="cross_attention",
        lesson=LESSON,
        stars=3,
        minutes=15,
        statement="""\
Let the words of the target read the words of the source.

- `decoder_states` `(B, T, E)`: one row for each target word. These ask.
- `encoder_states` `(B, S, E)`: one row for each source word. These are read.
- `in_proj_weight` `(3E, E)`, `in_proj_bias` `(3E,)`: rows for query, then key, then value.
- `out_proj_weight` `(E, E)`, `out_proj_bias` `(E,)`. `num_heads` divides `E`.
- `source_lengths` `(B,)`: real source words of each sentence, 0 to `S`. The rest is padding and
  must not be read. Where there is no real word, the output is `out_proj_bias`.
- The result is `(B, T, E)`. Gradients flow.

```
q = decoder_states, k and v = encoder_states: projected, then split into heads
weights = softmax over the keys s < source_lengths[b] of q·k / sqrt(D)
output = merged (weights @ v), then the output projection
```

Functions of `mha_lib` may be called, ready-made layers such as `nn.MultiheadAttention` not.""",
        hints=(
            "The same steps as in `multi_head_attention`. Which states give the query, which the "
            "key and the value?",
            "A mask hides keys. Here the keys are source words, so it is the source's padding.",
            "`mha_lib.padding_mask(source_lengths, S)` with **True = may attend**. Target words "
            "may read all of the source: no causal mask.",
        ),
        solution=solutions.cross_attention,
        right=solutions.cross_attention,
        forbidden=READY_MADE_LAYERS,
        stages=_stages,
        tiny=_tiny,
        properties=_rules,
    ),
)
