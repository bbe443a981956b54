"""Wrong code for lesson 1."""

from mha_lib.exercises.mistakes.wrong import Wrong
from mha_lib.exercises.solutions import hyperparameters

WRONG = Wrong(hyperparameters)

WRONG.body("DIM-A", "head_dim head_dim_checked", "return embed_dim / num_heads")
WRONG.body("DIM-B", "head_dim head_dim_checked", "return embed_dim * num_heads")
WRONG.body("DIM-C", "head_dim head_dim_checked", "return num_heads // embed_dim")
WRONG.body("DIM-D", "head_dim head_dim_checked", "return embed_dim")
WRONG.body("DIM-E", "head_dim head_dim_checked", "return embed_dim - num_heads")
WRONG.body("DIM-F", "head_dim head_dim_checked", "return embed_dim % num_heads")

WRONG.body("PROJ-13", "head_dim_checked", "return embed_dim // num_heads")
WRONG.body(
    "PROJ-13",
    "head_dim_checked",
    """
    if embed_dim < num_heads:
        raise ValueError(f"{num_heads} heads are too many for {embed_dim} features")
    return embed_dim // num_heads
    """,
)
WRONG.body(
    "REFUSE-A",
    "head_dim_checked",
    """
    assert embed_dim % num_heads == 0, f"{embed_dim} is not divisible by {num_heads}"
    return embed_dim // num_heads
    """,
)
WRONG.body(
    "REFUSE-B",
    "head_dim_checked",
    """
    if embed_dim % num_heads != 0:
        raise ValueError("num_heads must divide embed_dim")
    return embed_dim // num_heads
    """,
)
WRONG.body(
    "REFUSE-B",
    "head_dim_checked",
    """
    if embed_dim % num_heads != 0:
        raise ValueError(f"{num_heads} heads do not fit")
    return embed_dim // num_heads
    """,
)
WRONG.body(
    "REFUSE-B",
    "head_dim_checked",
    """
    if embed_dim % num_heads != 0:
        raise ValueError(f"embed_dim={embed_dim} does not fit")
    return embed_dim // num_heads
    """,
)
WRONG.body(
    "REFUSE-C",
    "head_dim_checked",
    """
    if embed_dim % num_heads != 0:
        return f"{num_heads} does not divide {embed_dim}"
    return embed_dim // num_heads
    """,
)
WRONG.body(
    "REFUSE-C",
    "head_dim_checked",
    """
    if embed_dim % num_heads != 0:
        print(f"{num_heads} does not divide {embed_dim}")
    else:
        return embed_dim // num_heads
    """,
)
WRONG.body(
    "REFUSE-D",
    "head_dim_checked",
    """
    if num_heads % embed_dim != 0:
        raise ValueError(f"num_heads must divide embed_dim, got {embed_dim}, {num_heads}")
    return embed_dim // num_heads
    """,
)
WRONG.body(
    "REFUSE-E",
    "head_dim_checked",
    """
    if embed_dim % num_heads != 0:
        raise TypeError(f"num_heads must divide embed_dim, got {embed_dim}, {num_heads}")
    return embed_dim // num_heads
    """,
)
WRONG.body(
    "REFUSE-E",
    "head_dim_checked",
    """
    if embed_dim % num_heads != 0:
        raise Exception(f"num_heads must divide embed_dim, got {embed_dim}, {num_heads}")
    return embed_dim // num_heads
    """,
)
