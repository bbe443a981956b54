"""Measure a trained Transformer: right translations, next words, and where it looked."""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from mha_lib.decoding import greedy_decode
from mha_lib.training import masked_loss, shift_targets
from mha_lib.transformer import BOS_ID, PAD_ID, Transformer
from mha_lib.word_pairs import Pair, Vocabulary


@torch.no_grad()
def teacher_forced(
    model: Transformer, vocabulary: Vocabulary, pairs: Sequence[Pair]
) -> tuple[float, float]:
    """Feed the right earlier words and look at each next word.

    Args:
        model: A trained Transformer.
        vocabulary: Its words.
        pairs: Pairs to measure on.

    Returns:
        The loss, and the share of next words (<eos> included) that get the highest score.

    Raises:
        ValueError: A word is not in the vocabulary.
    """
    source = vocabulary.source_ids([pair.source for pair in pairs])
    target = vocabulary.target_ids([pair.target for pair in pairs])
    logits = model(source, shift_targets(target, BOS_ID))
    right = logits.argmax(-1) == target
    return masked_loss(logits, target).item(), right[target != PAD_ID].float().mean().item()


def alignment_scores(
    cross_weights: Float[Tensor, "B N H T S"], pairs: Sequence[Pair], correct: Bool[Tensor, " B"]
) -> tuple[list[float], int]:
    """Count how often the strongest source word is the one that a target word comes from.

    score[n] = share of linked target words t with argmax_s mean_h weights[n, h, t, s] = link[t]

    Args:
        cross_weights: From `greedy_decode`; row t belongs to the *predicted* word t.
        pairs: The pairs, in the order of the batch.
        correct: Which of them were translated rightly; the others are left out, because their
            words are other words.

    Returns:
        One score for each layer, and the number of words counted. NaN if there are none.
    """
    strongest = cross_weights.mean(2).argmax(-1)  # (B, N, T)
    hits = [
        strongest[number, :, place] == link
        for number, pair in enumerate(pairs)
        if correct[number]
        for place, link in enumerate(pair.links)
        if link is not None
    ]
    if not hits:
        return [float("nan")] * cross_weights.shape[1], 0
    return torch.stack(hits).float().mean(0).tolist(), len(hits)


def measure(model: Transformer, vocabulary: Vocabulary, pairs: Sequence[Pair]) -> dict[str, Any]:
    """Translate all pairs and report what was right.

    Args:
        model: A trained Transformer.
        vocabulary: Its words.
        pairs: Pairs to measure on.

    Returns:
        "pairs" and "correct" (counts), "exact_match" (their ratio), "teacher_forced_loss",
        "teacher_forced_accuracy", "alignment_words" (count), "alignment" (one score a layer; none
        where no word was counted).

    Raises:
        ValueError: A word is not in the vocabulary.
    """
    source = vocabulary.source_ids([pair.source for pair in pairs])
    decoded = greedy_decode(model, source, need_weights=True)
    assert decoded.cross_weights is not None
    written = [tuple(vocabulary.words_of(row)) for row in decoded.tokens.tolist()]
    correct = torch.tensor([w == p.target for w, p in zip(written, pairs, strict=True)])
    loss, accuracy = teacher_forced(model, vocabulary, pairs)
    alignment, words = alignment_scores(decoded.cross_weights, pairs, correct)
    return {
        "pairs": len(pairs),
        "correct": int(correct.sum()),
        "exact_match": round(correct.float().mean().item(), 6),
        "teacher_forced_loss": round(loss, 6),
        "teacher_forced_accuracy": round(accuracy, 6),
        "alignment": [round(score, 6) for score in alignment] if words else [],
        "alignment_words": words,
    }
