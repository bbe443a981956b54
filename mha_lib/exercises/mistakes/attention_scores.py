"""Wrong code for lesson 5."""

from mha_lib.exercises.mistakes.wrong import Wrong
from mha_lib.exercises.solutions import attention_scores

WRONG = Wrong(attention_scores)

# Scores, alone and inside the weights.
SCALE = "1 / math.sqrt(query.shape[-1])"
PRODUCT = "(query * scale) @ key.transpose(-2, -1)"
for exercise in ("attention_scores", "attention_weights"):
    WRONG.edit("SCALE-01", exercise, (SCALE, "1"))
    WRONG.edit("SCALE-02", exercise, (SCALE, "1 / math.sqrt(query.shape[1] * query.shape[-1])"))
    WRONG.edit("SCALE-03", exercise, (SCALE, "1 / query.shape[-1]"))
    WRONG.edit("SCALE-A", exercise, (SCALE, "math.sqrt(query.shape[-1])"))
    WRONG.edit("SCALE-B", exercise, (SCALE, "1 / math.sqrt(key.shape[-2])"))
    WRONG.edit("SCALE-B", exercise, (SCALE, "1 / math.sqrt(query.shape[-2])"))
    WRONG.edit("SCALE-03", exercise, (PRODUCT, "(query * scale) @ (key * scale).transpose(-2, -1)"))
    WRONG.edit("SCALE-D", exercise, (SCALE, "math.sqrt(query.shape[-1]) / query.shape[1]"))
    WRONG.edit("LAY-02", exercise, (PRODUCT, "(query * scale) @ key.T"))
    WRONG.edit("LAY-02", exercise, (PRODUCT, "(query * scale) @ key.transpose(1, 2)"))
    WRONG.edit("LAY-02", exercise, (PRODUCT, "(query * scale) @ key.transpose(0, 1)"))
    WRONG.edit("LAY-02", exercise, (PRODUCT, "(query * scale) @ key"))
    WRONG.edit("WT-02", exercise, (PRODUCT, "(key * scale) @ query.transpose(-2, -1)"))
    WRONG.edit("SCORE-B", exercise, (PRODUCT, "query * scale * key"))
    WRONG.edit(
        "SCORE-C",
        exercise,
        (PRODUCT, "F.normalize(query, dim=-1) @ F.normalize(key, dim=-1).transpose(-2, -1)"),
    )
    WRONG.edit("SCORE-D", exercise, (PRODUCT, "-(query * scale) @ key.transpose(-2, -1)"))
WRONG.edit("SCORE-A", "attention_scores", (PRODUCT, f"({PRODUCT}).softmax(-1)"))

# Softmax.
for new, id in {
    "torch.softmax({}, dim=-2)": "SM-01",
    "F.softmax({})": "SM-02",
    "torch.softmax({}, dim=1)": "SM-02",
    "torch.softmax({}, dim=0)": "SM-03",
    "({0}).exp() / ({0}).exp().sum(-1, keepdim=True)": "SM-05",
    "torch.softmax(({}).unsqueeze(-1), dim=-1).squeeze(-1)": "SM-07",
    "({0}).exp()": "SM-A",
    "({0}).sigmoid()": "SM-B",
    "({0}) / ({0}).sum(-1, keepdim=True)": "SM-C",
    "F.log_softmax({}, dim=-1)": "SM-D",
    "torch.softmax(({0}).flatten(2), dim=-1).view(({0}).shape)": "SM-E",
    "torch.softmax({}, dim=-1).mean(1)": "WT-01",
}.items():
    WRONG.edit(
        id,
        "attention_weights",
        ("torch.softmax(scores, dim=-1)", new.format("scores")),
        (
            "torch.softmax(scores.masked_fill(nothing_to_see, 0), dim=-1)",
            new.format("scores.masked_fill(nothing_to_see, 0)"),
        ),
    )

# Masks.
FILL = "scores.masked_fill(~attn_mask, -math.inf)"
EMPTY = "~attn_mask.any(dim=-1, keepdim=True)"
FILLED = f"scores = {FILL}"
AFTER = (
    f"    nothing_to_see = {EMPTY}\n"
    "    weights = torch.softmax(scores.masked_fill(nothing_to_see, 0), dim=-1)\n"
    "    return weights.masked_fill(nothing_to_see, 0)\n"
)
PLAIN = "    return torch.softmax(scores, dim=-1)\n"
for fill, id in {
    "scores.masked_fill(attn_mask, -math.inf)": "MASK-01",
    "scores * attn_mask": "MASK-04",
    "scores.masked_fill(~attn_mask, 0)": "MASK-04",
    "scores.masked_fill(~attn_mask, 1e-9)": "MASK-05",
    "scores.masked_fill(~attn_mask, -1e-9)": "MASK-05",
    "scores.masked_fill(~attn_mask, -float('-inf'))": "MASK-06",
    "scores.masked_fill(~attn_mask, 1e9)": "MASK-06",
    "scores + attn_mask.to(scores.dtype)": "MASK-21",
    "scores + attn_mask": "MASK-22",
    "scores.masked_fill(~attn_mask, -math.inf) + attn_mask": "",
    "scores.masked_fill(~attn_mask, -10)": "MASK-A",
    "scores.masked_fill(~attn_mask, -1)": "MASK-A",
    "scores.masked_fill(~attn_mask, -100)": "MASK-A",
    "scores.masked_fill(~attn_mask, -1e4)": "MASK-A",
    "scores - 1000 * ~attn_mask": "MASK-A",
}.items():
    if id:
        WRONG.edit(id, "attention_weights", (FILL, fill))
        WRONG.edit(id, "attention_weights", (FILL, fill), (AFTER, PLAIN))
WRONG.edit(
    "MASK-01", "attention_weights", (FILL, "scores.masked_fill(attn_mask, -1e9)"), (AFTER, PLAIN)
)
WRONG.edit("MASK-18", "attention_weights", (FILLED, FILL))
WRONG.edit("MASK-18", "attention_weights", (FILLED, FILL), (AFTER, PLAIN))
WRONG.edit("MASK-29", "attention_weights", ("if attn_mask is None", "if True"))
WRONG.edit("MASK-03", "attention_weights", (FILLED, ""), (AFTER, PLAIN.rstrip() + " * attn_mask\n"))
WRONG.edit("MASK-08", "attention_weights", ("~attn_mask, -math.inf", "~attn_mask, -1e9"))
WRONG.edit("MASK-11", "attention_weights", (AFTER, PLAIN))
for finite in ("-1e9", "-1e20", "torch.finfo(scores.dtype).min"):
    WRONG.edit("MASK-24", "attention_weights", ("-math.inf", finite), (AFTER, PLAIN))
WRONG.edit("MASK-B", "attention_weights", ("~attn_mask.any(dim=-1", "~attn_mask.any(dim=-2"))
WRONG.edit(
    "MASK-C",
    "attention_weights",
    ("if attn_mask is None", "if attn_mask is None or attn_mask.ndim != 2"),
)
WRONG.edit(
    "MASK-D",
    "attention_weights",
    ("if attn_mask is None", "if attn_mask is None or attn_mask.ndim != 4"),
)
WRONG.edit(
    "MASK-E",
    "attention_weights",
    (
        PLAIN,
        PLAIN.replace(
            "scores,", "scores + torch.full(scores.shape[-2:], -math.inf).triu(1).to(scores),"
        ),
    ),
)
WRONG.edit("MASK-F", "attention_weights", (f"{EMPTY}", "~attn_mask.all(dim=-1, keepdim=True)"))
WRONG.edit(
    "GRAD-A",
    "attention_weights",
    ("return torch.softmax(scores, dim=-1)", "return torch.softmax(scores, dim=-1).detach()"),
)

WRONG.body(
    "GRAD-B",
    "attention_weights",
    """
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if attn_mask is None:
        return torch.softmax(scores, dim=-1)
    added = torch.zeros(attn_mask.shape, dtype=scores.dtype).masked_fill(~attn_mask, -math.inf)
    weights = torch.softmax(scores + added, dim=-1)
    return torch.where(attn_mask.any(-1, keepdim=True), weights, 0)
    """,
)

# Output.
FP = """
scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
if attn_mask is None:
    return torch.softmax(scores, dim=-1) @ value
scores = scores.masked_fill(~attn_mask, -math.inf)
empty = ~attn_mask.any(-1, keepdim=True)
return torch.softmax(scores.masked_fill(empty, 0), dim=-1).masked_fill(empty, 0) @ value
"""
WRONG.body("FP-01", "scaled_dot_product_attention", FP)
WEIGHTED = "mha_lib.attention_weights(query, key, attn_mask) @ value"
WRONG.inside("scaled_dot_product_attention", list(WRONG.table), "attention_weights")
WRONG.edit(
    "PROJ-07",
    "scaled_dot_product_attention",
    ("(query, key, attn_mask)", "(query, value, attn_mask)"),
)
WRONG.edit("VAL-A", "scaled_dot_product_attention", ("@ value", "@ key"))
WRONG.edit("VAL-B", "scaled_dot_product_attention", ("attn_mask) @ value", "attn_mask).mT @ value"))
WRONG.edit(
    "VAL-C",
    "scaled_dot_product_attention",
    (WEIGHTED, "mha_lib.attention_scores(query, key) @ value"),
)
WRONG.edit(
    "VAL-D",
    "scaled_dot_product_attention",
    (WEIGHTED, "mha_lib.attention_weights(query, key, attn_mask)"),
)
WRONG.edit("VAL-E", "scaled_dot_product_attention", (WEIGHTED, WEIGHTED + " + query"))
WRONG.edit(
    "VAL-F", "scaled_dot_product_attention", ("(query, key, attn_mask)", "(key, query, attn_mask)")
)
