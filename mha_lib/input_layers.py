"""Step 2: from word ids to the vectors that attention reads."""

import math

import torch
from jaxtyping import Float, Integer
from torch import Tensor, nn

from mha_lib.hyperparameters import check_count
from mha_lib.input_rules import check_ids


def sinusoidal_positions(num_positions: int, embed_dim: int) -> Float[Tensor, "L E"]:
    """Return one fixed vector for each position.

    P[p, 2i] = sin(p / 10000^(2i/E)),  P[p, 2i+1] = cos(p / 10000^(2i/E))

    An odd `embed_dim` has no partner for its last column: that column is a sine.

    >>> sinusoidal_positions(2, 4).round(decimals=2)
    tensor([[0.0000, 1.0000, 0.0000, 1.0000],
            [0.8400, 0.5400, 0.0100, 1.0000]])

    Args:
        num_positions: Number of positions, at least 1.
        embed_dim: Width E of a word's vector, at least 1.

    Returns:
        The position table, float32. It is computed in float64 and rounded once.

    Raises:
        TypeError: An argument is not an int.
        ValueError: An argument is below 1.

    Source:
        Vaswani et al. 2017, section 3.5.
    """
    check_count("num_positions", num_positions)
    check_count("embed_dim", embed_dim)
    position = torch.arange(num_positions, dtype=torch.float64).unsqueeze(1)
    even_column = torch.arange(0, embed_dim, 2, dtype=torch.float64)
    angle = position / 10000 ** (even_column / embed_dim)  # (L, ceil(E / 2))
    table = torch.empty(num_positions, embed_dim, dtype=torch.float64)
    table[:, 0::2] = angle.sin()
    table[:, 1::2] = angle.cos()[:, : embed_dim // 2]
    return table.float()


def embed_tokens(
    ids: Integer[Tensor, "*B L"], table: Float[Tensor, "V E"], positions: Float[Tensor, "P E"]
) -> Float[Tensor, "*B L E"]:
    """Look the words up, scale them, add their positions.

    X[..., l, :] = sqrt(E) * table[ids[..., l]] + positions[l]

    >>> table = torch.tensor([[0.0, 1.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0]])
    >>> embed_tokens(torch.tensor([1, 0]), table, torch.ones(3, 4))
    tensor([[5., 1., 1., 1.],
            [1., 3., 1., 1.]])

    Args:
        ids: Word ids, whole numbers in 0 .. V-1.
        table: One row for each of the V words.
        positions: One row for each position, at least as many as there are words.

    Returns:
        The input of the first attention layer.

    Raises:
        TypeError: `ids` are not whole numbers.
        ValueError: No words, more words than positions, an id out of range, tables without
            exactly two axes or of different widths.

    Source:
        Vaswani et al. 2017, sections 3.4 (the factor sqrt(d_model)) and 3.5 (the sum).
    """
    check_ids(ids, table, positions)
    scale = math.sqrt(table.shape[-1])
    return table[ids.long()] * scale + positions[: ids.shape[-1]]


class InputLayer(nn.Module):
    """Token embedding, scaled, plus sinusoidal positions: ids (*B, L) to X (*B, L, E).

    >>> InputLayer(num_embeddings=5, embed_dim=6, num_positions=4)(torch.tensor([[0, 1, 2]])).shape
    torch.Size([1, 3, 6])

    Args:
        num_embeddings: Number V of words.
        embed_dim: Width E of a word's vector.
        num_positions: The longest input that is accepted.
        padding_idx: Id of the padding word; its row starts at zero and is not trained.

    Raises:
        TypeError, ValueError: An argument is not an int or is too small, `padding_idx` is not
            the id of a word; in `forward` as in `embed_tokens`.

    Source:
        Vaswani et al. 2017, sections 3.4 and 3.5.
    """

    positions: Tensor

    def __init__(
        self,
        num_embeddings: int,
        embed_dim: int,
        num_positions: int,
        *,
        padding_idx: int | None = None,
    ) -> None:
        super().__init__()
        # Checks the positions and the width, too.
        table = sinusoidal_positions(num_positions, embed_dim)
        check_count("num_embeddings", num_embeddings)
        if padding_idx is not None:
            check_count("padding_idx", padding_idx, smallest=0)
            if padding_idx >= num_embeddings:
                raise ValueError(
                    f"padding_idx must lie in 0 .. {num_embeddings - 1} "
                    f"(num_embeddings={num_embeddings}), got {padding_idx}"
                )
        self.embedding = nn.Embedding(num_embeddings, embed_dim, padding_idx)
        # Rows of length about 1, so that sqrt(E) brings each feature to about 1.
        nn.init.normal_(self.embedding.weight, std=embed_dim**-0.5)
        if padding_idx is not None:
            nn.init.zeros_(self.embedding.weight[padding_idx].detach())
        self.register_buffer("positions", table, persistent=False)

    def forward(self, ids: Integer[Tensor, "*B L"]) -> Float[Tensor, "*B L E"]:
        check_ids(ids, self.embedding.weight, self.positions)
        scale = math.sqrt(self.embedding.embedding_dim)
        # The embedding module, not its bare table: it keeps the padding row untrained.
        return self.embedding(ids.long()) * scale + self.positions[: ids.shape[-1]]
