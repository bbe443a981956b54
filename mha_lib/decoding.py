"""Greedy decoding: always write the word with the highest score, then read it back in."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from mha_lib.hyperparameters import check_count
from mha_lib.transformer import BOS_ID, EOS_ID, PAD_ID, Transformer
from mha_lib.transformer_layers import KeysValues


class Decoded(NamedTuple):
    """The words written, and where each of them looked in the source."""

    tokens: Int[Tensor, "B T"]  # with <eos>, then padding
    cross_weights: Float[Tensor, "B N H T S"] | None  # row t: while word t was *predicted*


@torch.no_grad()
def greedy_decode(
    model: Transformer,
    source: Int[Tensor, "B S"],
    *,
    max_len: int | None = None,
    source_mask: Bool[Tensor, "#B 1 1 S"] | None = None,
    use_cache: bool | None = None,
    need_weights: bool = False,
) -> Decoded:
    """Translate a batch word by word, until each sentence has its <eos>.

    The encoder runs once, and its output is projected once. With the cache, each step projects
    only the newest target word: the keys and values of the earlier ones are kept. Under the
    causal mask these cannot change, so the words are the same as without.

    Args:
        model: A trained Transformer.
        source: Ids of the source sentences, padded at the end.
        max_len: The largest number of words written, <eos> included; a sentence that has no
            <eos> by then is cut. None: as many as the model has positions.
        source_mask: True = may attend; None: `model.source_mask(source)`, no padding.
        use_cache: None uses the cache if the decoder is causal. Without the causal mask the
            earlier keys change with each new word, so there the cache gives other words.
        need_weights: Also return the cross-attention of each layer and head.

    Returns:
        The tokens (B, T), padding behind <eos>; the weights (B, N, H, T, S) or None.

    Raises:
        TypeError, ValueError: `max_len` is no whole number in 1 .. number of positions.

    Source:
        Vaswani et al. 2017, section 3.1: "auto-regressive".
    """
    longest = model.target_input.positions.shape[0]
    max_len = longest if max_len is None else max_len
    check_count("max_len", max_len)
    if max_len > longest:
        raise ValueError(
            f"max_len must be at most {longest}, the number of the model's positions, got {max_len}"
        )
    use_cache = model.is_causal if use_cache is None else use_cache
    source_mask = model.source_mask(source) if source_mask is None else source_mask
    memory = model.project_memory(model.encode(source, source_mask))
    tokens = torch.full_like(source[:, :1], BOS_ID)
    done = torch.zeros_like(tokens[:, 0], dtype=torch.bool)
    past: list[KeysValues] | None = None
    rows: list[Tensor] = []
    while tokens.shape[1] <= max_len and not done.all():  # tokens hold <bos>, too
        step = model.decode(tokens, memory, source_mask, past=past, need_weights=need_weights)
        past = step.past if use_cache else None
        word = _best_word(step.logits[:, -1]).masked_fill(done, PAD_ID)
        tokens = torch.cat([tokens, word[:, None]], dim=1)
        done = done | (word == EOS_ID)
        if step.cross_weights is not None:
            rows.append(step.cross_weights[..., -1:, :])
    return Decoded(tokens[:, 1:], torch.cat(rows, dim=-2) if need_weights else None)


def _best_word(scores: Tensor) -> Tensor:
    """Choose the highest score, but never the padding: it is no word."""
    ids = torch.arange(scores.shape[-1], device=scores.device)
    return scores.masked_fill(ids == PAD_ID, -torch.inf).argmax(-1)
