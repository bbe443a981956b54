"""Wrong code for lesson 3."""

from mha_lib.exercises.mistakes.wrong import Wrong
from mha_lib.exercises.solutions import linear_layers

WRONG = Wrong(linear_layers)

ROWS = "weight[head * head_dim : (head + 1) * head_dim]"
WRONG.edit("ROWS-A", "head_rows", (ROWS, "weight[:, head * head_dim : (head + 1) * head_dim]"))
WRONG.body(
    "ROWS-A",
    "head_rows",
    """
    width = weight.shape[1] // num_heads
    return weight[:, head * width : (head + 1) * width]
    """,
)
WRONG.edit("ROWS-A", "head_rows", (ROWS, "weight.T[head * head_dim : (head + 1) * head_dim]"))
WRONG.edit("ROWS-B", "head_rows", (ROWS, "weight[head::num_heads]"))
WRONG.edit("ROWS-C", "head_rows", (ROWS, "weight[head * num_heads : (head + 1) * num_heads]"))
WRONG.edit("ROWS-D", "head_rows", (ROWS, f"{ROWS}.T"))
WRONG.edit("ROWS-E", "head_rows", (ROWS, "weight[(head - 1) * head_dim : head * head_dim]"))
WRONG.edit("ROWS-F", "head_rows", (ROWS, "weight[head]"))
WRONG.edit("ROWS-F", "head_rows", (ROWS, "weight[head : head + 1]"))
WRONG.edit("ROWS-F", "head_rows", (ROWS, "weight[head : head + head_dim]"))
WRONG.edit("ROWS-G", "head_rows", ("weight.shape[0]", "weight.shape[1]"))
WRONG.edit("ROWS-H", "head_rows", (ROWS, "weight[: (head + 1) * head_dim]"))

PACKED = "in_proj_weight[first : first + head_dim]"
FIRST = "part * embed_dim + head * head_dim"
WRONG.edit("PROJ-04", "packed_head_rows", (FIRST, "(3 * head + part) * head_dim"))
WRONG.edit(
    "PROJ-04", "packed_head_rows", (PACKED, "in_proj_weight[part::3][head * head_dim :][:head_dim]")
)
WRONG.edit("PROJ-12", "packed_head_rows", (FIRST, "(0, 2, 1)[part] * embed_dim + head * head_dim"))
WRONG.edit("PROJ-12", "packed_head_rows", (FIRST, "(1, 0, 2)[part] * embed_dim + head * head_dim"))
WRONG.edit("PROJ-12", "packed_head_rows", (FIRST, "(2 - part) * embed_dim + head * head_dim"))
WRONG.edit("PACK-A", "packed_head_rows", (FIRST, "head * head_dim"))
WRONG.edit(
    "PACK-B",
    "packed_head_rows",
    ("head_dim = embed_dim //", "head_dim = in_proj_weight.shape[0] //"),
)
WRONG.edit("PACK-C", "packed_head_rows", (FIRST, "head * embed_dim + part * head_dim"))
WRONG.edit("PACK-D", "packed_head_rows", (FIRST, "part * embed_dim"))
WRONG.edit("ROWS-A", "packed_head_rows", (PACKED, "in_proj_weight[:, first : first + head_dim]"))
WRONG.edit(
    "ROWS-A",
    "packed_head_rows",
    (PACKED, "in_proj_weight.chunk(3)[part][:, head * head_dim : (head + 1) * head_dim]"),
)
WRONG.edit("ROWS-B", "packed_head_rows", (PACKED, "in_proj_weight.chunk(3)[part][head::num_heads]"))
WRONG.edit("ROWS-D", "packed_head_rows", (PACKED, f"{PACKED}.T"))
WRONG.edit("ROWS-E", "packed_head_rows", ("head * head_dim", "(head - 1) * head_dim"))
