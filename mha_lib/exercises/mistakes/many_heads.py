"""Wrong code for lesson 7: the module."""

from mha_lib.exercises.mistakes import attention_scores, merging_heads, splitting_heads
from mha_lib.exercises.mistakes.wrong import Wrong
from mha_lib.exercises.solutions import many_heads

WRONG = Wrong(many_heads)
LAYER = "MultiHeadAttention"

# Everything that its parts can get wrong.
WRONG.inside(LAYER, attention_scores.WRONG.table, "attention_weights")
WRONG.inside(LAYER, splitting_heads.WRONG.table, "split_heads")
WRONG.inside(LAYER, merging_heads.WRONG.table, "merge_heads")

# What it keeps.
PACKED = "        w_q, w_k, w_v = self.in_proj_weight.chunk(3)\n"
BIASES = (
    "        b_q, b_k, b_v = (None,) * 3 if self.in_proj_bias is None else "
    "self.in_proj_bias.chunk(3)\n"
)
PARAMETERS = """\
        self.in_proj_weight = nn.Parameter(torch.empty(3 * embed_dim, embed_dim))
        nn.init.xavier_uniform_(self.in_proj_weight)
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * embed_dim)) if bias else None
"""
LISTED = """\
        self.projections = {}
"""
USED = """\
        w_q, w_k, w_v = (p.weight for p in self.projections)
        b_q, b_k, b_v = (p.bias for p in self.projections)
"""
MAKE = "nn.Linear(embed_dim, embed_dim, bias=bias)"
WRONG.edit(
    "PROJ-09",
    LAYER,
    (PARAMETERS, LISTED.format(f"[{MAKE} for _ in range(3)]")),
    (PACKED + BIASES, USED),
)
WRONG.edit(
    "PROJ-10",
    LAYER,
    (PARAMETERS, LISTED.format(f"nn.ModuleList([{MAKE}] * 3)")),
    (PACKED + BIASES, USED),
)
WRONG.edit(
    "NAMES-A",
    LAYER,
    (PARAMETERS, LISTED.format(f"nn.ModuleList({MAKE} for _ in range(3))")),
    (PACKED + BIASES, USED),
)
WRONG.edit("PROJ-11", LAYER, (" if bias else None", ""), ("embed_dim, bias=bias)", "embed_dim)"))
WRONG.edit(
    "PROJ-11",
    LAYER,
    ("nn.Parameter(torch.zeros(3 * embed_dim)) if bias else None", "None"),
    ("embed_dim, bias=bias)", "embed_dim, bias=False)"),
)
WRONG.edit("PROJ-11", LAYER, (" if bias else None", ""))
WRONG.edit("PROJ-11", LAYER, ("embed_dim, bias=bias)", "embed_dim)"))
WRONG.edit(
    "INIT-A",
    LAYER,
    (
        "        nn.init.xavier_uniform_(self.in_proj_weight)\n",
        "        nn.init.zeros_(self.in_proj_weight)\n",
    ),
)
WRONG.edit(
    "INIT-A",
    LAYER,
    (
        "        nn.init.xavier_uniform_(self.in_proj_weight)\n",
        "        nn.init.ones_(self.in_proj_weight)\n",
    ),
)
WRONG.edit(
    "INIT-C",
    LAYER,
    ("torch.empty(3 * embed_dim, embed_dim))", "torch.empty(3 * embed_dim, embed_dim), False)"),
)
WRONG.edit(
    "CAUS-06",
    LAYER,
    (
        "causal = mha_lib.causal_mask(query.shape[1], key.shape[1])",
        "first = mha_lib.causal_mask(query.shape[1], key.shape[1])\n"
        '            causal = self.__dict__.setdefault("kept", first)',
    ),
)
WRONG.edit(
    "INIT-B",
    LAYER,
    (
        "nn.Parameter(torch.empty(3 * embed_dim, embed_dim))",
        "torch.empty(3 * embed_dim, embed_dim)",
    ),
)
WRONG.edit(
    "PROJ-13",
    LAYER,
    (
        "mha_lib.head_dim(embed_dim, num_heads)  # refuses heads that do not fit",
        "embed_dim // num_heads",
    ),
)
WRONG.edit(
    "REFUSE-A",
    LAYER,
    (
        "self.head_dim = mha_lib.head_dim(embed_dim, num_heads)  # refuses heads that do not fit",
        "assert embed_dim % num_heads == 0",
    ),
)

# Dropout and what is returned.
DROPPED = "F.dropout(weights, self.dropout, self.training) @ v"
WEIGHTS = "weights = mha_lib.attention_weights(q, k, mask)"
WRONG.edit("DROP-01", LAYER, ("self.dropout, self.training)", "self.dropout)"))
WRONG.edit(
    "DROP-02",
    LAYER,
    (
        DROPPED,
        "F.softmax(F.dropout(mha_lib.attention_scores(q, k), self.dropout, self.training), -1) @ v "
        "if self.training else weights @ v",
    ),
)
WRONG.edit(
    "DROP-03",
    LAYER,
    (WEIGHTS, f"{WEIGHTS}\n        weights = F.dropout(weights, self.dropout, self.training)"),
    (DROPPED, "weights @ v"),
)
WRONG.edit("DROP-A", LAYER, (DROPPED, "weights @ v"))
WRONG.edit("DROP-B", LAYER, (DROPPED, "F.dropout(weights @ v, self.dropout, self.training)"))
WRONG.edit(
    "DROP-C",
    LAYER,
    (DROPPED, "weights @ v"),
    (
        "self.out_proj(mha_lib.merge_heads(heads))",
        "F.dropout(self.out_proj(mha_lib.merge_heads(heads)), self.dropout, self.training)",
    ),
)
WRONG.edit("DROP-D", LAYER, (DROPPED, "weights @ F.dropout(v, self.dropout, self.training)"))
WRONG.edit("DROP-E", LAYER, ("self.training)", "not self.training)"))
WRONG.edit(
    "DROP-F",
    LAYER,
    (
        DROPPED,
        "(weights * (torch.rand_like(weights) >= self.dropout) if self.training else weights) @ v",
    ),
)
RESULT = "return output, weights if need_weights else None"
WRONG.edit("WT-01", LAYER, (RESULT, "return output, weights.mean(1) if need_weights else None"))
WRONG.edit("OUT-A", LAYER, (RESULT, "return output"))
WRONG.edit("OUT-B", LAYER, (RESULT, "return output, weights"))
WRONG.edit("OUT-C", LAYER, (RESULT, "return (output, weights) if need_weights else output"))

# How it is put together.
WRONG.edit(
    "PROJ-01", LAYER, ("self.out_proj(mha_lib.merge_heads(heads))", "mha_lib.merge_heads(heads)")
)
for order in ("w_q, w_v, w_k", "w_k, w_q, w_v", "w_v, w_k, w_q", "w_k, w_v, w_q"):
    WRONG.edit(
        "PROJ-12", LAYER, ("w_q, w_k, w_v", order), ("b_q, b_k, b_v", order.replace("w", "b"))
    )
WRONG.edit(
    "PROJ-04",
    LAYER,
    (
        PACKED,
        """\
        w = self.in_proj_weight.view(self.num_heads, 3, self.head_dim, -1)
        w_q, w_k, w_v = w.transpose(0, 1).flatten(1, 2)
""",
    ),
)
WRONG.edit("PROJ-07", LAYER, ("attention_weights(q, k, mask)", "attention_weights(q, v, mask)"))
WRONG.edit(
    "PROJ-B",
    LAYER,
    ("F.linear(key, w_k", "F.linear(query, w_k"),
    ("F.linear(value, w_v", "F.linear(query, w_v"),
)
WRONG.edit("PROJ-C", LAYER, ("F.linear(value, w_v", "F.linear(key, w_v"))
WRONG.edit(
    "PROJ-C",
    LAYER,
    ("value = key if value is None else value", "value = query if value is None else value"),
)
WRONG.edit(
    "SCALE-02",
    LAYER,
    ("attention_weights(q, k, mask)", "attention_weights(q / math.sqrt(self.num_heads), k, mask)"),
)
WRONG.edit("MASK-29", LAYER, ("attention_weights(q, k, mask)", "attention_weights(q, k)"))
WRONG.edit(
    "MASK-01",
    LAYER,
    (WEIGHTS, "weights = mha_lib.attention_weights(q, k, None if mask is None else ~mask)"),
)
CAUSAL = "mask = causal if mask is None else mask & causal"
WRONG.edit("MASK-25", LAYER, (CAUSAL, CAUSAL.replace("&", "|")))
WRONG.edit("CAUS-H", LAYER, (CAUSAL, "mask = causal"))
WRONG.edit("CAUS-H", LAYER, ("        if is_causal:\n", "        if is_causal and mask is None:\n"))
WRONG.edit("CAUS-I", LAYER, ("        if is_causal:\n", "        if False:\n"))
WRONG.edit("MASK-E", LAYER, ("        if is_causal:\n", "        if True:\n"))
SIZES = "mha_lib.causal_mask(query.shape[1], key.shape[1])"
WRONG.edit("CAUS-06", LAYER, (SIZES, "mha_lib.causal_mask(8, 8)"))
WRONG.edit("CAUS-01", LAYER, (SIZES, f"{SIZES}.tril(-1)"))
WRONG.edit("CAUS-02", LAYER, (SIZES, f"~{SIZES}.tril(-1)"))
WRONG.edit("MASK-02", LAYER, (SIZES, f"~{SIZES}"))
WRONG.edit(
    "LAY-01",
    LAYER,
    (
        f"        {WEIGHTS}\n        heads = {DROPPED}\n",
        f"""\
        q, k, v = (x.transpose(0, 2) for x in (q, k, v))
        {WEIGHTS}
        heads = ({DROPPED}).transpose(0, 2)
""",
    ),
)
WRONG.edit(
    "RESIDUAL-A",
    LAYER,
    (
        "self.out_proj(mha_lib.merge_heads(heads))",
        "self.out_proj(mha_lib.merge_heads(heads)) + query",
    ),
)
