"""Tests that look at a model from outside: change one word, see whose output moves.

They work on any function from (B, L, E) to (B, L, anything) and know nothing of its masks.
"""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float
from torch import Tensor

Model = Callable[[Tensor], Tensor]


def influence(model: Model, x: Float[Tensor, "B L E"], sentence: int = 0) -> Bool[Tensor, "L L"]:
    """Say which words can change which outputs of one sentence.

    out[l, s] = output l moves when input word s is changed

    A causal model gives a lower triangle. A hidden word's column is False but for the word's own
    row, where it is still the query.

    >>> running_mean = lambda x: x.cumsum(-2) / 2
    >>> influence(running_mean, torch.eye(3).unsqueeze(0)).int()
    tensor([[1, 0, 0],
            [1, 1, 0],
            [1, 1, 1]], dtype=torch.int32)

    Args:
        model: What is tested; it must be deterministic (call `.eval()` on a module first).
        x: A batch of inputs.
        sentence: Which sentence of the batch is changed and looked at.

    Returns:
        Row l is the output, column s the input word that was changed.

    Raises:
        ValueError: `sentence` is not in the batch.
    """
    if not 0 <= sentence < x.shape[0]:
        raise ValueError(f"sentence must lie in 0 .. {x.shape[0] - 1}, got {sentence}")
    columns = [_moved(model, x, changed(x, sentence, word))[sentence] for word in range(x.shape[1])]
    return torch.stack(columns, dim=1)


def batch_mates_matter(model: Model, x: Float[Tensor, "B L E"]) -> bool:
    """Say whether changing one sentence moves the output of another. It never should.

    >>> batch_mates_matter(lambda x: x - x.mean(0), torch.eye(3).view(3, 1, 3))
    True

    Args:
        model: What is tested; it must be deterministic.
        x: A batch of at least two sentences.

    Returns:
        True if some output of another sentence moved.

    Raises:
        ValueError: The batch has fewer than two sentences.
    """
    if x.shape[0] < 2:
        raise ValueError(f"x must hold at least two sentences, got shape {tuple(x.shape)}")
    other = x.clone()
    for word in range(x.shape[1]):
        other = changed(other, 0, word)
    return bool(_moved(model, x, other)[1:].any())


def changed(x: Float[Tensor, "B L E"], sentence: int, word: int) -> Float[Tensor, "B L E"]:
    """Return a copy in which one word's vector is another one.

    >>> changed(torch.zeros(1, 2, 2), sentence=0, word=1).tolist()
    [[[0.0, 0.0], [1.5, -2.5]]]
    """
    other = x.clone()
    # Features move by different amounts, so that no direction of the weights can miss all of them.
    step = torch.arange(1, x.shape[-1] + 1, dtype=x.dtype, device=x.device) + 0.5
    other[sentence, word] += step * (-1) ** torch.arange(x.shape[-1], device=x.device)
    return other


@torch.no_grad()
def _moved(model: Model, x: Tensor, other: Tensor) -> Tensor:
    """Return (B, L), True where an output differs, also between a number and NaN."""
    before, after = model(x), model(other)
    same = (before == after) | (before.isnan() & after.isnan())
    return ~same.flatten(2).all(-1)
