"""Step 10: the whole Transformer, from the parts of the earlier steps.

`python -m mha_lib.transformer --help` lists what can be trained, measured and stored.
"""

from collections.abc import Sequence
from typing import NamedTuple, cast

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from mha_lib.hyperparameters import check_count
from mha_lib.input_layers import InputLayer
from mha_lib.masks import causal_mask, padding_mask
from mha_lib.transformer_layers import DecoderLayer, EncoderLayer, KeysValues

# The first three words of every vocabulary of this library: padding, begin and end of a sentence.
PAD_ID: int = 0
BOS_ID: int = 1
EOS_ID: int = 2


class DecoderOutput(NamedTuple):
    """What `Transformer.decode` returns; the weights are None unless asked for."""

    logits: Tensor  # (B, L, V)
    past: list[KeysValues]  # one for each layer: the cache for the next step
    self_weights: Tensor | None  # (B, N, H, L, T)
    cross_weights: Tensor | None  # (B, N, H, L, S)


class Transformer(nn.Module):
    """Encoder and decoder: ids of two sentences in, scores for each next target word out.

    >>> model = Transformer(num_embeddings=11, embed_dim=6, num_heads=2, dim_feedforward=24)
    >>> source, target = torch.tensor([[3, 4, 5, 0]]), torch.tensor([[1, 6, 7]])
    >>> model(source, target).shape
    torch.Size([1, 3, 11])

    Args:
        num_embeddings: Number V of words, of both languages together. Id 0 is the padding.
        embed_dim: Width E of a word's vector.
        num_heads: Number H of heads; it must divide E.
        num_layers: Number N of layers in the encoder, and in the decoder.
        dim_feedforward: Inner width of the feed-forward networks.
        num_positions: The longest sentence that is accepted.
        is_causal: Whether the decoder hides later target words. False only to show what
            goes wrong without.

    Raises:
        TypeError, ValueError: As in `InputLayer` and `MultiHeadAttention`.

    Source:
        Vaswani et al. 2017, figure 1. Unlike there: pre-norm, hence a LayerNorm behind each
        stack; no dropout; separate weights for the embeddings and the output.
    """

    def __init__(
        self,
        num_embeddings: int,
        *,
        embed_dim: int = 64,
        num_heads: int = 4,
        num_layers: int = 2,
        dim_feedforward: int = 128,
        num_positions: int = 32,
        is_causal: bool = True,
    ) -> None:
        super().__init__()
        check_count("num_layers", num_layers)
        check_count("dim_feedforward", dim_feedforward)
        sizes = (embed_dim, num_heads, dim_feedforward)
        self.is_causal = is_causal
        self.source_input = InputLayer(num_embeddings, embed_dim, num_positions, padding_idx=PAD_ID)
        self.target_input = InputLayer(num_embeddings, embed_dim, num_positions, padding_idx=PAD_ID)
        self.encoder_layers = nn.ModuleList([EncoderLayer(*sizes) for _ in range(num_layers)])
        self.encoder_norm = nn.LayerNorm(embed_dim)
        self.decoder_layers = nn.ModuleList([DecoderLayer(*sizes) for _ in range(num_layers)])
        self.decoder_norm = nn.LayerNorm(embed_dim)
        self.output = nn.Linear(embed_dim, num_embeddings)

    def forward(
        self, source: Int[Tensor, "B S"], target: Int[Tensor, "B T"]
    ) -> Float[Tensor, "B T V"]:
        """Score every next word: row t has read the source and target[:, : t + 1]."""
        mask = self.source_mask(source)
        memory = self.project_memory(self.encode(source, mask))
        return self.decode(target, memory, mask).logits

    def source_mask(self, source: Int[Tensor, "B S"]) -> Tensor:
        """Hide the padding at the end of each source: (B, 1, 1, S), True = may attend."""
        return padding_mask((source != PAD_ID).sum(-1), source.shape[-1])

    def encode(
        self, source: Int[Tensor, "B S"], mask: Tensor | None = None
    ) -> Float[Tensor, "B S E"]:
        """Return the encoder output; `mask` as from `source_mask`, None hides nothing."""
        x = self.source_input(source)
        for layer in self.encoder_layers:
            x = layer(x, mask)
        return self.encoder_norm(x)

    def project_memory(self, encoded: Float[Tensor, "B S E"]) -> list[KeysValues]:
        """Project the encoder output once for each decoder layer, for all steps to come."""
        attentions = [cast(DecoderLayer, layer).multihead_attn for layer in self.decoder_layers]
        return [attention.project_kv(encoded) for attention in attentions]

    def decode(
        self,
        target: Int[Tensor, "B T"],
        memory: Sequence[KeysValues],
        memory_mask: Tensor | None = None,
        *,
        past: Sequence[KeysValues] | None = None,
        need_weights: bool = False,
    ) -> DecoderOutput:
        """Score the next word after each target word that is not in the cache yet.

        Args:
            target: All target words so far, <bos> first, padding only at the end.
            memory: From `project_memory`.
            memory_mask: From `source_mask`; None hides nothing.
            past: `past` of an earlier call, whose words `target` begins with; None at first.
            need_weights: Also return the attention weights of each layer and head.

        Returns:
            Logits (B, L, V) for the L new words, the grown cache, and the weights or None.

        Raises:
            TypeError, ValueError: As in `InputLayer` and `MultiHeadAttention.attend`.
        """
        done = 0 if past is None else past[0][0].shape[-2]
        mask = self._target_mask(target, done)
        x = self.target_input(target)[:, done:]
        kept, self_weights, cross_weights = [], [], []
        for number, layer in enumerate(self.decoder_layers):
            x, keys_values, over_target, over_source = layer(
                x,
                memory[number],
                mask=mask,
                memory_mask=memory_mask,
                past=None if past is None else past[number],
                need_weights=need_weights,
            )
            kept.append(keys_values)
            self_weights.append(over_target)
            cross_weights.append(over_source)
        logits = self.output(self.decoder_norm(x))
        if not need_weights:
            return DecoderOutput(logits, kept, None, None)
        return DecoderOutput(
            logits, kept, torch.stack(self_weights, dim=1), torch.stack(cross_weights, dim=1)
        )

    def _target_mask(self, target: Tensor, done: int) -> Tensor:
        """(B, 1, L, T) for the words from `done` on, or (B, 1, 1, T) without the causal part."""
        length = target.shape[-1]
        mask = padding_mask((target != PAD_ID).sum(-1), length)
        if self.is_causal:
            mask = mask & causal_mask(length - done, length, offset=done).to(mask.device)
        return mask


if __name__ == "__main__":
    from mha_lib.transformer_commands import main

    main()
