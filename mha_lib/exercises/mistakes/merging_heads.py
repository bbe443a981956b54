"""Wrong code for lesson 6."""

from mha_lib.exercises.mistakes import attention_scores, splitting_heads
from mha_lib.exercises.mistakes.wrong import Wrong
from mha_lib.exercises.solutions import merging_heads

WRONG = Wrong(merging_heads)

# Merging.
RIGHT = "x.transpose(1, 2).reshape(batch, length, num_heads * head_dim)"
WRONG.edit("MERGE-01", "merge_heads", (RIGHT, "x.reshape(batch, length, num_heads * head_dim)"))
WRONG.edit("MERGE-03", "merge_heads", (".reshape", ".view"))
WRONG.edit("MERGE-04", "merge_heads", (RIGHT, "x.mean(1)"))
WRONG.edit("MERGE-04", "merge_heads", (RIGHT, "x.sum(1)"))
WRONG.edit("MERGE-A", "merge_heads", (RIGHT, "x.permute(0, 2, 3, 1).flatten(2)"))
WRONG.edit("MERGE-B", "merge_heads", (RIGHT, "x.flatten(1, 2)"))
WRONG.edit("MERGE-B", "merge_heads", (RIGHT, "torch.cat(list(x.unbind(1)), dim=1)"))
WRONG.edit("MERGE-C", "merge_heads", (RIGHT, "x.transpose(1, 2)"))
WRONG.edit("MERGE-D", "merge_heads", (RIGHT, "x.transpose(2, 3).reshape(batch, length, -1)"))
WRONG.edit("MERGE-E", "merge_heads", (RIGHT, "x.flip(1).transpose(1, 2).flatten(2)"))
WRONG.edit("MERGE-F", "merge_heads", (RIGHT, "x.flatten(0, 1)"))

# The whole layer: everything that its parts can get wrong ...
LAYER = "multi_head_attention"
WRONG.inside(LAYER, attention_scores.WRONG.table, "scaled_dot_product_attention")
WRONG.inside(LAYER, splitting_heads.WRONG.table, "split_heads")
WRONG.inside(LAYER, list(WRONG.table), "merge_heads")

# ... and how they are put together.
JOINED = "mha_lib.merge_heads(heads)"
WRONG.edit("PROJ-01", LAYER, (f"{JOINED} @ out_proj_weight.T + out_proj_bias", JOINED))
WRONG.edit("PROJ-01", LAYER, (f"{JOINED} @ out_proj_weight.T", JOINED))
WRONG.edit("BIAS-A", LAYER, (" + out_proj_bias", ""))
WRONG.edit("BIAS-B", LAYER, (" + b_q", ""), (" + b_k", ""), (" + b_v", ""))
WRONG.edit("BIAS-B", LAYER, (" + b_v", ""))
WRONG.edit("BIAS-B", LAYER, (" + b_q", ""))
WRONG.edit("PROJ-A", LAYER, ("out_proj_weight.T", "out_proj_weight"))
WRONG.edit("PROJ-A", LAYER, ("w_q.T", "w_q"), ("w_k.T", "w_k"), ("w_v.T", "w_v"))
WRONG.edit(
    "PROJ-A",
    LAYER,
    ("w_q.T", "w_q"),
    ("w_k.T", "w_k"),
    ("w_v.T", "w_v"),
    ("out_proj_weight.T", "out_proj_weight"),
)
for order in ("w_q, w_v, w_k", "w_k, w_q, w_v", "w_v, w_k, w_q", "w_k, w_v, w_q"):
    biases = order.replace("w", "b")
    WRONG.edit("PROJ-12", LAYER, ("w_q, w_k, w_v", order), ("b_q, b_k, b_v", biases))
PACKED = """    w_q, w_k, w_v = in_proj_weight.chunk(3)
    b_q, b_k, b_v = in_proj_bias.chunk(3)
"""
GROUPED = """    width = in_proj_weight.shape[1]
    w_q, w_k, w_v = in_proj_weight.view(num_heads, 3, -1, width).transpose(0, 1).flatten(1, 2)
    b_q, b_k, b_v = in_proj_bias.view(num_heads, 3, -1).transpose(0, 1).flatten(1)
"""
WRONG.edit("PROJ-04", LAYER, (PACKED, GROUPED))
WRONG.edit(
    "PROJ-04", LAYER, (PACKED, PACKED.replace(".chunk(3)", ".unflatten(0, (-1, 3)).unbind(1)"))
)
WRONG.edit("PROJ-B", LAYER, ("key @ w_k", "query @ w_k"), ("value @ w_v", "query @ w_v"))
WRONG.edit("PROJ-C", LAYER, ("value @ w_v", "key @ w_v"))
WRONG.edit("PROJ-D", LAYER, ("query @ w_q.T + b_q", "query"))
WRONG.edit("PROJ-E", LAYER, ("@ w_k.T + b_k", "@ w_q.T + b_q"))
WRONG.edit("PROJ-07", LAYER, ("attention(q, k, v", "attention(q, v, v"))
WRONG.edit("MASK-29", LAYER, ("(q, k, v, attn_mask)", "(q, k, v)"))
BEFORE = """    q = mha_lib.split_heads(query @ w_q.T + b_q, num_heads)
    k = mha_lib.split_heads(key @ w_k.T + b_k, num_heads)
    v = mha_lib.split_heads(value @ w_v.T + b_v, num_heads)
"""
FIRST = """    def project(x, weight, bias):
        d = x.shape[-1] // num_heads
        places = [slice(h * d, (h + 1) * d) for h in range(num_heads)]
        parts = [x[..., p] @ weight[p, p].T for p in places]
        return mha_lib.split_heads(torch.cat(parts, -1) + bias, num_heads)

    q, k, v = project(query, w_q, b_q), project(key, w_k, b_k), project(value, w_v, b_v)
"""
WRONG.edit("PROJ-F", LAYER, (BEFORE, FIRST))
# The scale of the whole width: the library's own scale undone, then the wrong one put in.
WRONG.edit(
    "SCALE-02",
    LAYER,
    ("attention(q, k, v", "attention(q / math.sqrt(num_heads), k, v"),
)
CALL = "mha_lib.scaled_dot_product_attention(q, k, v, attn_mask)"
WRONG.edit(
    "LAY-01",
    LAYER,
    (
        f"    heads = {CALL}\n",
        """\
    q, k, v = (x.transpose(0, 2) for x in (q, k, v))
    if attn_mask is not None and attn_mask.ndim == 4:
        attn_mask = attn_mask.transpose(0, 2)
    heads = F.scaled_dot_product_attention(q, k, v, attn_mask).transpose(0, 2)
""",
    ),
)
WRONG.edit(
    "MASK-17",
    LAYER,
    (
        f"    heads = {CALL}\n",
        """\
    shape = q.shape
    if attn_mask is not None and attn_mask.ndim == 4:
        if attn_mask.shape[1] == 1:
            attn_mask = attn_mask[:, 0].repeat(num_heads, 1, 1)
        else:
            attn_mask = attn_mask.flatten(0, 1)
    q, k, v = (x.flatten(0, 1) for x in (q, k, v))
    heads = F.scaled_dot_product_attention(q, k, v, attn_mask).unflatten(0, shape[:2])
""",
    ),
)
WRONG.edit(
    "CROSS-05",
    LAYER,
    (
        BEFORE,
        BEFORE
        + """\
    length = query.shape[1]
    cut = lambda x: x.transpose(1, 2).reshape(len(x), length, -1, x.shape[-1]).transpose(1, 2)
    k, v = cut(k), cut(v)
""",
    ),
)
WRONG.edit(
    "RESIDUAL-A",
    LAYER,
    ("out_proj_weight.T + out_proj_bias", "out_proj_weight.T + out_proj_bias + query"),
)
# Wrong in both places: merging undoes the wrong split, so that the round trip looks right.
for split in splitting_heads.WRONG.table:
    for merge in WRONG.table[:]:
        pairs = {"SPLIT-01": "MERGE-01", "SPLIT-B": "MERGE-A"}
        parts = (split.exercise, merge.exercise)
        if parts == ("split_heads", "merge_heads") and pairs.get(split.id) == merge.id:
            WRONG.both(LAYER, split, merge)
