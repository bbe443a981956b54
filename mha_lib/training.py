"""Train a Transformer: teacher forcing, a loss without the padding, a fixed number of steps.

Teacher forcing: while training, the decoder is fed the right earlier words, not its own guesses.
So all words of a sentence are trained in one call, and the causal mask keeps each from being read
before it is predicted.
"""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

from mha_lib.hyperparameters import check_count
from mha_lib.transformer import BOS_ID, PAD_ID, Transformer


def shift_targets(tokens: Int[Tensor, "B T"], bos_id: int) -> Int[Tensor, "B T"]:
    """Make the decoder's input: <bos> in front, the last word dropped.

    input[b, 0] = bos_id,  input[b, t] = tokens[b, t-1]

    Fed with input[b, t], the decoder has to predict tokens[b, t], which it has not seen yet.

    >>> shift_targets(torch.tensor([[5, 6, 2, 0]]), bos_id=1)
    tensor([[1, 5, 6, 2]])

    Args:
        tokens: The target sentences, each closed by <eos>, then padding.
        bos_id: Id of <bos>, the word that begins every sentence.

    Returns:
        A new tensor of the same shape.

    Raises:
        TypeError: `bos_id` is not an int.
        ValueError: `bos_id` is below 0, or `tokens` hold no word.

    Source:
        Vaswani et al. 2017, section 3.1: "output embeddings are offset by one position".
    """
    check_count("bos_id", bos_id, smallest=0)
    if tokens.shape[-1] == 0:
        raise ValueError(f"tokens must hold at least one word, got shape {tuple(tokens.shape)}")
    first = torch.full_like(tokens[:, :1], bos_id)
    return torch.cat([first, tokens[:, :-1]], dim=1)


def masked_loss(
    logits: Float[Tensor, "B T V"], targets: Int[Tensor, "B T"], pad_id: int = PAD_ID
) -> Float[Tensor, ""]:
    """Average the cross-entropy over the words that are no padding.

    loss = mean of -log softmax(logits[b, t])[targets[b, t]] over targets[b, t] != pad_id

    >>> logits = torch.tensor([[[0.0, 0.0], [0.0, 9.0]]])
    >>> masked_loss(logits, torch.tensor([[1, 0]]), pad_id=0)  # -log(1/2); the rest is padding
    tensor(0.6931)

    Args:
        logits: One score for each of V words, at each position.
        targets: The right words.
        pad_id: Id of the padding word.

    Returns:
        One number; 0 if everything is padding.

    Raises:
        ValueError: Shapes that do not fit, from torch.

    Source:
        `torch.nn.functional.cross_entropy`, `ignore_index`, which gives NaN for padding only.
    """
    total = F.cross_entropy(
        logits.flatten(0, 1), targets.flatten(), ignore_index=pad_id, reduction="sum"
    )
    return total / (targets != pad_id).sum().clamp(min=1)


def new_model(num_embeddings: int, *, seed: int, is_causal: bool = True) -> Transformer:
    """Make an untrained Transformer of the default size; the same seed, the same weights.

    The global random generator is left as it was.

    >>> new_model(11, seed=0).output.weight.shape
    torch.Size([11, 64])

    Args:
        num_embeddings: Number of words.
        seed: Fixes the weights.
        is_causal: As in `Transformer`.

    Returns:
        The model.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Transformer(num_embeddings, is_causal=is_causal)


def train(
    model: Transformer,
    source: Int[Tensor, "N S"],
    target: Int[Tensor, "N T"],
    *,
    steps: int,
    seed: int = 0,
    batch_size: int = 128,
    learning_rate: float = 3e-3,
    progress: Callable[[int, float], None] | None = None,
) -> list[float]:
    """Train for a fixed number of steps; change `model` in place.

    The same seed, machine and number of threads give the same numbers. The global random
    generator is neither read nor changed.

    Args:
        model: A Transformer.
        source: Ids of N source sentences, padded at the end.
        target: Ids of their N targets, each closed by <eos>, padded at the end.
        steps: Number of batches.
        seed: Fixes the order of the pairs.
        batch_size: Pairs in a batch.
        learning_rate: The largest one; it rises over the first 30 % of the steps, then falls.
        progress: Called after each step with the step's number, from 1, and its loss.

    Returns:
        The loss of each step.

    Raises:
        TypeError, ValueError: `steps` or `batch_size` is not a whole number of at least 1.

    Source:
        Kingma & Ba 2015 (Adam); Smith & Topin 2018 (the learning rate's single cycle).
    """
    check_count("steps", steps)
    check_count("batch_size", batch_size)
    generator = torch.Generator().manual_seed(seed)
    rounds = math.ceil(steps * batch_size / len(source))
    order = torch.cat([torch.randperm(len(source), generator=generator) for _ in range(rounds)])
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, learning_rate, total_steps=steps)
    losses = []
    for step, batch in enumerate(order.split(batch_size)[:steps], start=1):
        logits = model(source[batch], shift_targets(target[batch], BOS_ID))
        loss = masked_loss(logits, target[batch])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if progress is not None:
            progress(step, losses[-1])
    return losses
