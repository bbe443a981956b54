"""The encoder layer and the decoder layer: attention, then a small network for each word alone.

Both are pre-norm: LayerNorm stands before each part, and the part's output is added to its input.
The paper has it after the sum (post-norm); pre-norm trains without a delicate warm-up.
Parameters are named as in `nn.TransformerEncoderLayer` and `nn.TransformerDecoderLayer`, so that
`load_state_dict` works in both directions (there with `norm_first=True, batch_first=True`).
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from mha_lib.merging_heads import MultiHeadAttention

KeysValues = tuple[Tensor, Tensor]  # k and v from `project_kv`, each (B, H, words, D)


class DecoderLayerOutput(NamedTuple):
    """What a decoder layer returns; the weights are None unless asked for."""

    x: Tensor  # (B, L, E)
    keys_values: KeysValues  # of all words so far: the cache for the next step
    self_weights: Tensor | None  # (B, H, L, T)
    cross_weights: Tensor | None  # (B, H, L, S)


class EncoderLayer(nn.Module):
    """Self-attention over the source, then the feed-forward network.

    y = x + self_attn(norm1(x)),  output = y + linear2(relu(linear1(norm2(y))))

    >>> EncoderLayer(embed_dim=6, num_heads=2, dim_feedforward=24)(torch.ones(5, 4, 6)).shape
    torch.Size([5, 4, 6])

    Args:
        embed_dim: Width E of a word's vector.
        num_heads: Number H of heads; it must divide E.
        dim_feedforward: Inner width of the feed-forward network.

    Raises:
        TypeError, ValueError: As in `MultiHeadAttention`.

    Source:
        Vaswani et al. 2017, sections 3.1 and 3.3; Xiong et al. 2020 for pre-norm.
    """

    def __init__(self, embed_dim: int, num_heads: int, dim_feedforward: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(embed_dim, num_heads)
        self.linear1 = nn.Linear(embed_dim, dim_feedforward)
        self.linear2 = nn.Linear(dim_feedforward, embed_dim)
        self.norm1 = nn.LayerNorm(embed_dim)
        self.norm2 = nn.LayerNorm(embed_dim)

    def forward(
        self, x: Float[Tensor, "B S E"], mask: Tensor | None = None
    ) -> Float[Tensor, "B S E"]:
        """Run the layer; `mask` (B, 1, 1, S) hides the source's padding, True = may attend."""
        attended, _ = self.self_attn(self.norm1(x), mask=mask)
        y = x + attended
        return y + self.linear2(F.relu(self.linear1(self.norm2(y))))


class DecoderLayer(nn.Module):
    """Self-attention over the target, attention to the source, the feed-forward network.

    y = x + self_attn(norm1(x)),  z = y + multihead_attn(norm2(y), memory),
    output = z + linear2(relu(linear1(norm3(z))))

    Args:
        embed_dim: Width E of a word's vector.
        num_heads: Number H of heads; it must divide E.
        dim_feedforward: Inner width of the feed-forward network.

    Raises:
        TypeError, ValueError: As in `MultiHeadAttention`.

    Source:
        Vaswani et al. 2017, sections 3.1 to 3.3; Xiong et al. 2020 for pre-norm.
    """

    def __init__(self, embed_dim: int, num_heads: int, dim_feedforward: int) -> None:
        super().__init__()
        self.self_attn = MultiHeadAttention(embed_dim, num_heads)
        self.multihead_attn = MultiHeadAttention(embed_dim, num_heads)
        self.linear1 = nn.Linear(embed_dim, dim_feedforward)
        self.linear2 = nn.Linear(dim_feedforward, embed_dim)
        self.norm1 = nn.LayerNorm(embed_dim)
        self.norm2 = nn.LayerNorm(embed_dim)
        self.norm3 = nn.LayerNorm(embed_dim)

    def forward(
        self,
        x: Float[Tensor, "B L E"],
        memory: KeysValues,
        *,
        mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        past: KeysValues | None = None,
        need_weights: bool = False,
    ) -> DecoderLayerOutput:
        """Run the layer on the L words that are not in the cache yet.

        Args:
            x: The vectors of these words.
            memory: Keys and values of the encoder output, `multihead_attn.project_kv(...)`,
                made once for a sentence and used at every step.
            mask: True = may attend; (B, 1, L, T), T counts the words in the cache and in `x`.
            memory_mask: True = may attend; (B, 1, 1, S) hides the source's padding.
            past: Keys and values of the earlier target words, or None.
            need_weights: Also return the attention weights of each head.

        Returns:
            x (B, L, E), keys and values of all T words, and the weights or None.

        Raises:
            TypeError, ValueError: As in `MultiHeadAttention.attend`.
        """
        normed = self.norm1(x)
        k, v = self.self_attn.project_kv(normed)
        if past is not None:
            k, v = torch.cat([past[0], k], dim=-2), torch.cat([past[1], v], dim=-2)
        attended, self_weights = self.self_attn.attend(
            normed, k, v, mask=mask, need_weights=need_weights
        )
        y = x + attended
        read, cross_weights = self.multihead_attn.attend(
            self.norm2(y), *memory, mask=memory_mask, need_weights=need_weights
        )
        z = y + read
        out = z + self.linear2(F.relu(self.linear1(self.norm3(z))))
        return DecoderLayerOutput(out, (k, v), self_weights, cross_weights)
