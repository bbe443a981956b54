"""Step 6: the heads become one vector again, and the whole layer stands."""

from jaxtyping import Float, Shaped
from torch import Tensor, empty, nn
from torch.nn import functional as F

from mha_lib.attention_scores import attention_weights
from mha_lib.hyperparameters import check_share, head_dim
from mha_lib.input_rules import (
    check_mask,
    check_query_key,
    check_value,
    check_width,
    join_causal,
    refuse_torch_masks,
)
from mha_lib.splitting_heads import split_heads


def merge_heads(x: Shaped[Tensor, "*B H L D"]) -> Shaped[Tensor, "*B L E"]:
    """Put the heads of each word side by side: the inverse of `split_heads`.

    out[..., l, h*D + d] = x[..., h, l, d]

    >>> import torch
    >>> merge_heads(torch.tensor([[[0, 1], [4, 5]], [[2, 3], [6, 7]]]))
    tensor([[0, 1, 2, 3],
            [4, 5, 6, 7]])

    Args:
        x: One (L, D) matrix a head.

    Returns:
        One vector of width E = H * D a word. A view where the strides allow it, else a copy.

    Raises:
        ValueError: `x` has fewer than three axes.

    Source:
        Vaswani et al. 2017, section 3.2.2: Concat(head_1, ..., head_h).
    """
    if x.ndim < 3:
        raise ValueError(f"x must have axes (..., H, L, D), got shape {tuple(x.shape)}")
    return x.transpose(-3, -2).flatten(-2)  # (*B, L, H, D) -> (*B, L, E)


class MultiHeadAttention(nn.Module):
    """Several attentions side by side, each through its own rows of the projections.

    MultiHead(X) = concat(head_1, ..., head_H) @ W_O.T + b_O

    Parameters are named and laid out as in `nn.MultiheadAttention`, so that `load_state_dict`
    works in both directions. Batch first. A mask says True = may attend, the opposite of
    `nn.MultiheadAttention`; that is why it is called `mask` and not `attn_mask`.

    >>> layer = MultiHeadAttention(embed_dim=6, num_heads=2)
    >>> x = empty(5, 4, 6).normal_()
    >>> output, weights = layer(x, need_weights=True)
    >>> output.shape, weights.shape
    (torch.Size([5, 4, 6]), torch.Size([5, 2, 4, 4]))

    Args:
        embed_dim: Width E of a word's vector.
        num_heads: Number H of heads; it must divide E.
        dropout: Share of weights set to zero at random while training, in 0 .. 1.
        bias: Whether the four projections add a bias.

    Raises:
        TypeError, ValueError: As in `head_dim`; `dropout` outside 0 .. 1.

    Source:
        Vaswani et al. 2017, section 3.2.2.
    """

    def __init__(
        self, embed_dim: int, num_heads: int, *, dropout: float = 0.0, bias: bool = True
    ) -> None:
        super().__init__()
        self.head_dim = head_dim(embed_dim, num_heads)
        check_share("dropout", dropout)
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.in_proj_weight = nn.Parameter(empty(3 * embed_dim, embed_dim))
        self.in_proj_bias = nn.Parameter(empty(3 * embed_dim)) if bias else None
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        # The same start as nn.MultiheadAttention, number by number for the same seed.
        nn.init.xavier_uniform_(self.in_proj_weight)
        if self.in_proj_bias is not None:
            nn.init.zeros_(self.in_proj_bias)
            nn.init.zeros_(self.out_proj.bias)

    def extra_repr(self) -> str:
        return f"embed_dim={self.embed_dim}, num_heads={self.num_heads}, dropout={self.dropout}"

    def forward(
        self,
        query: Float[Tensor, "*B L E"],
        key: Float[Tensor, "*B S E"] | None = None,
        value: Float[Tensor, "*B S E"] | None = None,
        *,
        mask: Tensor | None = None,
        is_causal: bool = False,
        need_weights: bool = False,
        attn_mask: None = None,
        key_padding_mask: None = None,
    ) -> tuple[Float[Tensor, "*B L E"], Float[Tensor, "*B H L S"] | None]:
        """Attend: `query` alone is self-attention; with `key` (and `value`) it reads another text.

        Args:
            query: (*B, L, E), the words that ask; at most one batch axis.
            key: (*B, S, E), the words that are read; `query` if None.
            value: (*B, S, E), what these words hand over; `key` if None.
            mask: True = may attend; or a float mask that is added to the scores.
                Shape (L, S), (B, 1, 1, S), (B, 1, L, S) or (B, H, L, S).
            is_causal: Query l may attend to keys 0 .. l only, besides what the mask says.
            need_weights: Also return the weights of each head, before dropout.
            attn_mask, key_padding_mask: Refused, see Raises.

        Returns:
            The output (*B, L, E), and the weights (*B, H, L, S) or None. For a query with
            nothing to attend to the weights are zero and the output is `out_proj.bias`.

        Raises:
            TypeError: A mask of the wrong dtype; `attn_mask` or `key_padding_mask`, whose
                polarity is the opposite in `nn.MultiheadAttention`.
            ValueError: Shapes that do not fit.
        """
        refuse_torch_masks(attn_mask, key_padding_mask)
        if key is None and value is not None:
            raise ValueError("value needs a key: got value but key=None")
        q, k, v = self._project(query, key, value)
        return self._attend(q, k, v, mask, is_causal, need_weights)

    def project_kv(
        self, key: Float[Tensor, "*B S E"], value: Float[Tensor, "*B S E"] | None = None
    ) -> tuple[Float[Tensor, "*B H S D"], Float[Tensor, "*B H S D"]]:
        """Project keys and values once, split into heads, to be used in many `attend` calls.

        Args:
            key: The words that are read.
            value: What they hand over; `key` if None.

        Returns:
            k and v, each (*B, H, S, D).

        Raises:
            ValueError: Widths other than `embed_dim`; `value` without one row for each key.
        """
        check_width("key", key, self.embed_dim)
        if value is None or value is key:
            packed = self._linear(key, 1, 3)
            k, v = packed.chunk(2, -1)
        else:
            check_width("value", value, self.embed_dim)
            check_value(key, value)
            k, v = self._linear(key, 1, 2), self._linear(value, 2, 3)
        return split_heads(k, self.num_heads), split_heads(v, self.num_heads)

    def attend(
        self,
        query: Float[Tensor, "*B L E"],
        k: Float[Tensor, "*B H S D"],
        v: Float[Tensor, "*B H S D"],
        *,
        mask: Tensor | None = None,
        need_weights: bool = False,
    ) -> tuple[Float[Tensor, "*B L E"], Float[Tensor, "*B H L S"] | None]:
        """Attend with keys and values from `project_kv`.

        Args:
            query: The words that ask, not yet projected.
            k, v: Projected keys and values.
            mask, need_weights: As in `forward`.

        Returns:
            As `forward`.

        Raises:
            TypeError, ValueError: As in `forward`.
        """
        check_width("query", query, self.embed_dim)
        q = split_heads(self._linear(query, 0, 1), self.num_heads)
        check_query_key(q, k)
        check_value(k, v)
        return self._attend(q, k, v, mask, False, need_weights)

    def _project(
        self, query: Tensor, key: Tensor | None, value: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        if (key is None or key is query) and (value is None or value is query):
            check_width("query", query, self.embed_dim)
            # Self-attention: one matrix product makes all three, cut into 3 * H heads at once.
            # The same views as split_heads of each third, in half the calls.
            packed = F.linear(query, self.in_proj_weight, self.in_proj_bias)
            heads = packed.unflatten(-1, (3 * self.num_heads, self.head_dim))  # (*B, L, 3H, D)
            q, k, v = (third.transpose(-3, -2) for third in heads.chunk(3, -2))
            return q, k, v  # each (*B, H, L, D)
        key = query if key is None else key
        check_width("query", query, self.embed_dim)
        check_width("key", key, self.embed_dim)
        if query.shape[:-2] != key.shape[:-2]:
            raise ValueError(
                "query and key must have the same batch: "
                f"got shapes {tuple(query.shape)} and {tuple(key.shape)}"
            )
        q = split_heads(self._linear(query, 0, 1), self.num_heads)
        return q, *self.project_kv(key, value)

    def _linear(self, x: Tensor, first: int, last: int) -> Tensor:
        """Apply projections `first` .. `last - 1` of the packed three (query, key, value)."""
        rows = slice(first * self.embed_dim, last * self.embed_dim)
        bias = None if self.in_proj_bias is None else self.in_proj_bias[rows]
        return F.linear(x, self.in_proj_weight[rows], bias)

    def _attend(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        mask: Tensor | None,
        is_causal: bool,
        need_weights: bool,
    ) -> tuple[Tensor, Tensor | None]:
        if mask is not None:
            check_mask(mask, (*q.shape[:-1], k.shape[-2]))
            mask = join_causal(mask, is_causal, q.shape[-2], k.shape[-2], q)
            is_causal = False
        dropout_p = self.dropout if self.training else 0.0
        if need_weights:
            weights = attention_weights(q, k, mask, is_causal)
            heads = F.dropout(weights, dropout_p) @ v
            return self.out_proj(merge_heads(heads)), weights
        # The fused form of the same formula: with a batch axis it stores no (L, S) weights.
        heads = F.scaled_dot_product_attention(q, k, v, mask, dropout_p, is_causal)
        return self.out_proj(merge_heads(heads)), None
