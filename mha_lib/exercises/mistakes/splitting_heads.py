"""Wrong code for lesson 4."""

from mha_lib.exercises.mistakes.wrong import Wrong
from mha_lib.exercises.solutions import splitting_heads

WRONG = Wrong(splitting_heads)
BOTH = "split_heads split_heads_view"

SIZES = "*front, length, embed_dim = x.shape\nhead_dim = embed_dim // num_heads\n"
CUT = SIZES + "x = x.reshape(*front, length, num_heads, head_dim)\n"
WRONG.body("SPLIT-01", BOTH, SIZES + "return x.reshape(*front, num_heads, length, head_dim)")
WRONG.body("SPLIT-A", BOTH, CUT + "return x")
WRONG.body(
    "SPLIT-B",
    BOTH,
    SIZES + "x = x.reshape(*front, length, head_dim, num_heads)\nreturn x.movedim(-1, -3)",
)
WRONG.body("SPLIT-C", BOTH, CUT + "return x.permute(*range(x.ndim - 1, -1, -1))")
WRONG.body(
    "SPLIT-D",
    BOTH,
    SIZES + "return x.reshape(*front, length, head_dim, num_heads).transpose(-3, -2)",
)
WRONG.body("SPLIT-E", BOTH, SIZES + "return torch.stack(x.chunk(num_heads, dim=-2), dim=-3)")
WRONG.body("SPLIT-F", BOTH, CUT + "return x.transpose(-2, -1)")
WRONG.body("SPLIT-G", BOTH, CUT + "return x.movedim(-2, 0)")
WRONG.body("SPLIT-H", BOTH, "return x.unsqueeze(-3).expand(*x.shape[:-2], num_heads, -1, -1)")

RIGHT = CUT + "return x.transpose(-3, -2)"
WRONG.body("VIEW-A", "split_heads_view", RIGHT + ".contiguous()")
WRONG.body("VIEW-A", "split_heads_view", RIGHT + ".clone()")
WRONG.body(
    "AXES-A",
    "split_heads_view",
    "batch, length, embed_dim = x.shape\n"
    "return x.view(batch, length, num_heads, embed_dim // num_heads).transpose(1, 2)",
)
WRONG.body("AXES-A", "split_heads_view", CUT + "return x.transpose(1, 2)")
WRONG.body(
    "AXES-A",
    "split_heads_view",
    "batch, length = x.shape[0], x.shape[1]\n"
    "return x.view(batch, length, num_heads, -1).transpose(1, 2)",
)
WRONG.body("AXES-B", "split_heads_view", CUT + "return x.transpose(0, 1)")
