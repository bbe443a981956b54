"""Exercises of lesson 10."""

import torch

from mha_lib import training as library
from mha_lib.exercises.asks import gradients
from mha_lib.exercises.exercise import Exercise, Stage, cases, plain
from mha_lib.exercises.inputs import waves
from mha_lib.exercises.rules import padding_logits
from mha_lib.exercises.solutions import transformer as solutions

LESSON = "transformer"


def _shift_stages() -> tuple[Stage, ...]:
    one, two = torch.tensor([[5, 6, 2, 4]]), torch.tensor([[7, 3, 9], [4, 8, 2]])
    return (
        Stage("One word: only the beginning is left", plain((torch.tensor([[5]]), 3))),
        Stage("One sentence", plain((one, 3), (one, 1))),
        Stage("A batch", plain((two, 5), (torch.tensor([[4], [6]]), 5))),
        Stage(
            "Padding, repeats, and the beginning itself among the words",
            plain((torch.tensor([[5, 5, 1, 0, 0], [1, 1, 7, 2, 0], [9, 2, 0, 0, 0]]), 1)),
        ),
        Stage(
            "As many sentences as words",
            plain((torch.tensor([[4, 5, 6], [7, 8, 9], [1, 2, 3]]), 0)),
        ),
    )


def _loss_stages() -> tuple[Stage, ...]:
    logits = waves(2, 3, 5, size=2.0)
    full, ragged = torch.tensor([[1, 4, 2], [3, 3, 0]]), torch.tensor([[1, 0, 3], [2, 0, 0]])
    wide, longer = (
        waves(3, 4, 3, step=0.7, size=3.0),
        torch.tensor([[1, 2, 2, 0], [0, 0, 0, 1], [1, 1, 0, 2]]),
    )
    square = waves(3, 3, 3, step=1.1), torch.tensor([[0, 1, 2], [2, 2, 1], [1, 0, 0]])
    far = torch.tensor([[[1000.0, 0.0, -1000.0], [0.0, 500.0, 400.0]]])
    nothing = torch.tensor([[4, 4, 4], [4, 4, 4]])
    says = "the gradient for the logits"
    return (
        Stage("One word", plain((torch.tensor([[[2.0, 0.0, 1.0]]]), torch.tensor([[1]]), 2))),
        Stage("Several words, no padding", plain((logits[:1], full[:1], 0), (logits, full, 4 + 5))),
        Stage("Padding is left out", plain((logits[:1], ragged[:1], 0), (logits, ragged, 0))),
        Stage(
            "Sentences of different length: every word counts the same",
            plain((logits, torch.tensor([[1, 2, 3], [4, 0, 0]]), 0), (wide, longer, 0)),
        ),
        Stage("Another id for padding", plain((logits, full, 3), (wide, longer, 2), (*square, 2))),
        Stage("Large logits", plain((far, torch.tensor([[1, 2]]), 0))),
        Stage("Nothing but padding: 0", plain((logits, nothing, 4))),
        Stage(
            "Gradients flow",
            cases(gradients, says, (logits, ragged, 0), (far, torch.tensor([[1, 2]]), 0)),
        ),
        Stage(
            "Gradients where there is nothing but padding",
            cases(gradients, says, (logits, nothing, 4)),
        ),
    )


EXERCISES = (
    Exercise(
        name="shift_targets",
        lesson=LESSON,
        stars=1,
        minutes=5,
        statement="""\
Make the decoder's input from the sentence that it shall write.

- `tokens` `(B, T)`: whole numbers, the words to be written.
- `bos_id` stands for the beginning of a sentence.
- The result has the same shape: `bos_id` first, then the words; the last word is dropped.
- So at each place the decoder is fed the word before the one that it has to write.""",
        worked="`[[5, 6, 2, 4]]` with `bos_id=3` becomes `[[3, 5, 6, 2]]`.",
        hints=(
            "All words but the last of each sentence: `tokens[:, :-1]`.",
            "A column `(B, 1)` of `bos_id`: `torch.full_like(tokens[:, :1], bos_id)`.",
            "`torch.cat([..., ...], dim=1)` joins columns.",
        ),
        solution=solutions.shift_targets,
        right=library.shift_targets,
        stages=_shift_stages,
        tiny=lambda: plain(
            *((torch.tensor(ids), 3) for ids in ([[5]], [[5, 6]], [[5, 6, 7]], [[5, 6], [7, 8]])),
        ),
    ),
    Exercise(
        name="masked_loss",
        lesson=LESSON,
        stars=2,
        minutes=8,
        statement="""\
Average the loss over the words that are no padding.

- `logits` `(B, T, V)`: a score for each of `V` words at each place, before softmax.
- `targets` `(B, T)`: the right words. Where it says `pad_id`, there is no word.
- The loss of one word is `-log(softmax(logits[b, t])[targets[b, t]])`.
- The result is one number, a tensor of shape `()`: the mean over all words that are no padding.
  Every word counts the same, in a short sentence and in a long one. If there is no word at all: 0.
- Gradients flow, and they are finite.

As a loop:

```
total, count = 0, 0
for b in range(B):
    for t in range(T):
        if targets[b, t] != pad_id:
            total += -log(softmax(logits[b, t])[targets[b, t]])
            count += 1
loss = total / count        # 0 if count is 0
```""",
        hints=(
            "`torch.nn.functional.cross_entropy` takes logits `(N, V)` and targets `(N,)`. Its "
            "`ignore_index` leaves words out, its `reduction` can be `'sum'`.",
            "`logits.flatten(0, 1)` has the shape `(B * T, V)`.",
            "Sum the losses of the real words, then divide by how many there are: "
            "`(targets != pad_id).sum().clamp(min=1)`.",
        ),
        solution=solutions.masked_loss,
        right=library.masked_loss,
        stages=_loss_stages,
        tiny=lambda: (
            plain(
                *(
                    (torch.tensor(logits), torch.tensor(targets), pad)
                    for logits, targets, pad in (
                        ([[[2.0, 0.0]]], [[1]], 0),
                        ([[[2.0, 0.0], [0.0, 1.0]]], [[1, 1]], 0),
                        ([[[2.0, 0.0], [0.0, 1.0]]], [[1, 0]], 0),
                        ([[[2.0, 0.0], [0.0, 1.0]]], [[0, 1]], 1),
                        ([[[2.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [3.0, 0.0]]], [[1, 1], [1, 0]], 0),
                        ([[[1000.0, 0.0]]], [[1]], 0),
                        ([[[2.0, 0.0]]], [[0]], 0),
                    )
                )
            )
            + cases(
                gradients,
                "the gradient for the logits",
                (torch.tensor([[[2.0, 0.0]]]), torch.tensor([[1]]), 0),
                (torch.tensor([[[2.0, 0.0]]]), torch.tensor([[0]]), 0),
            )
        ),
        properties=lambda: cases(
            padding_logits,
            "the loss moves by 0 when the logits of padding change",
            (waves(1, 3, 4), torch.tensor([[1, 0, 3]]), 0),
        ),
    ),
)
