"""Wrong code for lesson 8."""

from mha_lib.exercises.mistakes.wrong import Wrong
from mha_lib.exercises.solutions import masks

WRONG = Wrong(masks)
ALL = ("causal_mask", "padding_mask", "decoder_mask")

# What any mask can get wrong: polarity, dtype, axes.
RETURNS = {
    "causal_mask": "key <= query + offset",
    "padding_mask": "real[:, None, None, :]",
    "decoder_mask": "real & earlier",
}
for exercise in ALL:
    right = f"return {RETURNS[exercise]}"
    value = f"({RETURNS[exercise]})"
    # torch's module and the look-ahead masks of some tutorials mean the opposite.
    for id in ("MASK-01", "MASK-02") if exercise == "causal_mask" else ("MASK-01",):
        WRONG.edit(id, exercise, (right, f"return ~{value}"))
    WRONG.edit("MASK-23", exercise, (right, f"return {value}.long()"))
    WRONG.edit("MASK-23", exercise, (right, f"return {value}.int()"))
    WRONG.edit("MASK-23", exercise, (right, f"return {value}.float()"))
    WRONG.edit(
        "MASK-G",
        exercise,
        (right, f"return torch.zeros({value}.shape).masked_fill(~{value}, -math.inf)"),
    )
    WRONG.edit(
        "MASK-G",
        exercise,
        (right, f"return torch.zeros({value}.shape).masked_fill({value}, -math.inf)"),
    )

# Causal.
ROW = "return key <= query + offset"
WRONG.edit("CAUS-01", "causal_mask", (ROW, "return key < query + offset"))
WRONG.edit("CAUS-02", "causal_mask", (ROW, "return key >= query + offset"))
WRONG.edit("CAUS-02", "causal_mask", (ROW, "return key >= query - offset"))
WRONG.edit("CAUS-03", "causal_mask", (ROW, "return key <= query"))
WRONG.edit("CAUS-A", "causal_mask", (ROW, "return key <= query + key_len - query_len"))
WRONG.edit("CAUS-B", "causal_mask", (ROW, "return key <= query - offset"))
WRONG.edit(
    "CAUS-06", "causal_mask", (ROW, "return torch.ones(8, 8, dtype=torch.bool).tril(offset)")
)
WRONG.edit(
    "CAUS-06",
    "causal_mask",
    (ROW, "return torch.ones(key_len, key_len, dtype=torch.bool).tril(offset)"),
)
WRONG.edit(
    "CAUS-06",
    "causal_mask",
    (ROW, "return torch.ones(query_len, query_len, dtype=torch.bool).tril(offset)"),
)
WRONG.edit("CAUS-02", "causal_mask", (ROW, "return query <= key + offset"))
WRONG.edit("CAUS-C", "causal_mask", (ROW, "return (key <= query + offset).T"))
WRONG.edit("CAUS-D", "causal_mask", (ROW, "return key == query + offset"))
WRONG.edit("CAUS-E", "causal_mask", (ROW, "return key <= query + offset + 1"))
WRONG.edit("CAUS-F", "causal_mask", (ROW, "return (key <= query + offset)[None, None]"))

# Padding.
KEYS = "return real[:, None, None, :]"
WRONG.edit("MASK-13", "padding_mask", (KEYS, "return real[:, None, :, None]"))
WRONG.edit(
    "MASK-14", "padding_mask", (KEYS, "return (real[:, None, :] & real[:, :, None])[:, None]")
)
WRONG.edit("MASK-15", "padding_mask", (KEYS, "return real"))
WRONG.edit("PAD-A", "padding_mask", (KEYS, "return real[:, None, :]"))
WRONG.edit("PAD-B", "padding_mask", ("key < lengths", "key <= lengths"))
WRONG.edit("PAD-B", "padding_mask", ("key < lengths", "key < lengths - 1 + 0 * key"))
WRONG.edit("PAD-C", "padding_mask", ("arange(max_len)", "arange(int(lengths.max()))"))
WRONG.edit("PAD-D", "padding_mask", ("arange(max_len)", "arange(max_len).flip(0)"))
WRONG.edit("PAD-E", "padding_mask", (KEYS, "return real[None, None]"))
WRONG.edit("PAD-E", "padding_mask", (KEYS, "return real[:, :, None, None]"))
WRONG.edit(
    "PAD-F", "padding_mask", (KEYS, "return real[:, None, None, :].expand(-1, -1, max_len, -1)")
)

# Both.
JOIN = "return real & earlier"
WRONG.edit("MASK-25", "decoder_mask", (JOIN, "return real | earlier"))
WRONG.edit("MASK-14", "decoder_mask", (JOIN, "return real & real.mT & earlier"))
WRONG.edit("MASK-13", "decoder_mask", (JOIN, "return real.mT & earlier"))
WRONG.edit(
    "MASK-29",
    "decoder_mask",
    (JOIN, "return (earlier | ~earlier.new_tensor(True)).expand(len(lengths), 1, -1, -1)"),
)
WRONG.edit("CAUS-G", "decoder_mask", (JOIN, "return real.expand(-1, -1, max_len, -1)"))
WRONG.edit("CAUS-01", "decoder_mask", ("place[None, :] <= place", "place[None, :] < place"))
WRONG.edit("CAUS-02", "decoder_mask", ("place[None, :] <= place", "place[None, :] >= place"))
WRONG.edit("DEC-A", "decoder_mask", (JOIN, "return ~real & earlier"))
WRONG.edit("DEC-A", "decoder_mask", (JOIN, "return real & ~earlier"))
WRONG.edit("DEC-B", "decoder_mask", (JOIN, "return (real & earlier)[:, 0]"))
WRONG.edit("DEC-B", "decoder_mask", (JOIN, "return (real & earlier)[0, 0]"))
WRONG.edit("PAD-B", "decoder_mask", ("place < lengths", "place <= lengths"))
WRONG.edit("PAD-C", "decoder_mask", ("arange(max_len)", "arange(int(lengths.max()))"))
WRONG.edit("DEC-C", "decoder_mask", (JOIN, "return real ^ earlier"))
