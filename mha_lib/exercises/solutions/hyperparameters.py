"""Answers for lesson 1."""


def head_dim(embed_dim: int, num_heads: int) -> int:
    return embed_dim // num_heads


def head_dim_checked(embed_dim: int, num_heads: int) -> int:
    if embed_dim % num_heads != 0:
        raise ValueError(
            f"num_heads must divide embed_dim, got embed_dim={embed_dim}, num_heads={num_heads}"
        )
    return embed_dim // num_heads
