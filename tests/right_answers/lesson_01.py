"""Right answers for lesson 1."""

import math
import operator

import numpy as np


def by_divmod(embed_dim, num_heads):
    width, _ = divmod(embed_dim, num_heads)
    return width


def by_counting(embed_dim, num_heads):
    width = 0
    while (width + 1) * num_heads <= embed_dim:
        width += 1
    return width


def refuse_by_remainder(embed_dim, num_heads):
    if embed_dim % num_heads:
        raise ValueError("%d heads do not divide %d features" % (num_heads, embed_dim))  # noqa: UP031
    return int(embed_dim / num_heads)


def refuse_by_product(embed_dim, num_heads):
    width = embed_dim // num_heads
    if width * num_heads != embed_dim:
        raise ValueError(f"{embed_dim} / {num_heads} leaves a rest")
    return width


def refuse_by_divmod(embed_dim, num_heads):
    width, rest = divmod(embed_dim, num_heads)
    if rest != 0:
        raise ValueError("embed_dim=" + str(embed_dim) + " num_heads=" + str(num_heads))
    return width


def refuse_by_list(embed_dim, num_heads):
    fitting = [h for h in range(1, embed_dim + 1) if embed_dim % h == 0]
    if num_heads not in fitting:
        raise ValueError(f"{num_heads} is not among {fitting} for {embed_dim}")
    return embed_dim // num_heads


def refuse_by_gcd(embed_dim, num_heads):
    if math.gcd(embed_dim, num_heads) != num_heads:
        raise ValueError(f"{embed_dim=} {num_heads=}")
    return embed_dim // num_heads


def refuse_with_else(embed_dim, num_heads):
    if embed_dim % num_heads == 0:
        return embed_dim // num_heads
    else:
        raise ValueError("embed_dim ({}) % num_heads ({}) != 0".format(embed_dim, num_heads))  # noqa: UP032


RIGHT = {
    "head_dim": [
        lambda embed_dim, num_heads: embed_dim // num_heads,
        lambda e, h: int(e / h),
        lambda e, h: round(e / h),
        lambda e, h: np.int64(e) // h,
        lambda e, h: len(range(0, e, h)),
        operator.floordiv,
        by_divmod,
        by_counting,
    ],
    "head_dim_checked": [
        refuse_by_remainder,
        refuse_by_product,
        refuse_by_divmod,
        refuse_by_list,
        refuse_by_gcd,
        refuse_with_else,
    ],
}
