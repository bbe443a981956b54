"""Step 1: the numbers that fix every shape."""

from torch import SymInt


def head_dim(embed_dim: int, num_heads: int) -> int:
    """Return the width of one head.

    head_dim = embed_dim / num_heads

    >>> head_dim(6, 2)
    3

    Args:
        embed_dim: Width E of a word's vector, at least 1.
        num_heads: Number H of heads, at least 1; it must divide `embed_dim`.

    Returns:
        D, with ``D * num_heads == embed_dim``.

    Raises:
        TypeError: An argument is not a whole number.
        ValueError: An argument is below 1, or the heads do not divide the width.

    Source:
        Vaswani et al. 2017, section 3.2.2: d_k = d_v = d_model / h.
    """
    check_count("embed_dim", embed_dim)
    check_count("num_heads", num_heads)
    if embed_dim % num_heads:
        choices = ", ".join(str(h) for h in range(1, embed_dim + 1) if embed_dim % h == 0)
        raise ValueError(
            f"num_heads must divide embed_dim: got embed_dim={embed_dim}, num_heads={num_heads}, "
            f"which leaves a remainder of {embed_dim % num_heads}; "
            f"embed_dim={embed_dim} allows num_heads in {choices}"
        )
    return embed_dim // num_heads


def check_count(name: str, value: int, smallest: int = 1) -> None:
    """Raise unless `value` is a whole number of at least `smallest`.

    >>> check_count("num_heads", 0)
    Traceback (most recent call last):
        ...
    ValueError: num_heads must be at least 1, got 0

    Args:
        name: The argument's name, for the message.
        value: What was given.
        smallest: The smallest value allowed.

    Raises:
        TypeError: `value` is not an int (True and False are not counts).
        ValueError: `value` is below `smallest`.
    """
    # A SymInt is the int that torch.export puts where a length may vary.
    if isinstance(value, bool) or not isinstance(value, (int, SymInt)):
        raise TypeError(f"{name} must be an int, got {value!r} of type {type(value).__name__}")
    if value < smallest:
        raise ValueError(f"{name} must be at least {smallest}, got {value}")


def check_share(name: str, value: float) -> None:
    """Raise unless `value` is a number in 0 .. 1."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} must be a number, got {value!r} of type {type(value).__name__}")
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must lie in 0 .. 1, got {value}")
