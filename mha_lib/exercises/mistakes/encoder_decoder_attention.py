"""Wrong code for lesson 9."""

from mha_lib.exercises.mistakes import attention_scores, merging_heads, splitting_heads
from mha_lib.exercises.mistakes.wrong import Wrong
from mha_lib.exercises.solutions import encoder_decoder_attention

WRONG = Wrong(encoder_decoder_attention)
CROSS = "cross_attention"

# Here there always is a mask, with four axes.
NOT_MET = ("MASK-D", "MASK-E", "GRAD-A")
WRONG.inside(CROSS, attention_scores.WRONG.table, "scaled_dot_product_attention", NOT_MET)
WRONG.inside(CROSS, splitting_heads.WRONG.table, "split_heads")
WRONG.inside(CROSS, merging_heads.WRONG.table, "merge_heads")

# Who asks, who is read.
Q, K, V = (
    "F.linear(decoder_states, w_q",
    "F.linear(encoder_states, w_k",
    "F.linear(encoder_states, w_v",
)
LENGTH = "encoder_states.shape[1]"
DECODER_K, DECODER_V = K.replace("encoder", "decoder"), V.replace("encoder", "decoder")
WRONG.edit("CROSS-03", CROSS, (K, DECODER_K), (V, DECODER_V), (LENGTH, "decoder_states.shape[1]"))
WRONG.edit("CROSS-A", CROSS, (V, DECODER_V))
WRONG.edit("CROSS-B", CROSS, (K, DECODER_K))
WRONG.edit(
    "CROSS-04",
    CROSS,
    (Q, Q.replace("decoder", "encoder")),
    (K, DECODER_K),
    (V, DECODER_V),
    (LENGTH, "decoder_states.shape[1]"),
)
WRONG.edit("CROSS-C", CROSS, (Q, Q.replace("decoder", "encoder")))

# Which mask.
MASK = "mha_lib.padding_mask(source_lengths, encoder_states.shape[1])"
SIZES = "decoder_states.shape[1], encoder_states.shape[1]"
WRONG.edit("CROSS-06", CROSS, (MASK, f"{MASK} & mha_lib.causal_mask({SIZES})"))
WRONG.edit("CROSS-06", CROSS, (MASK, f"mha_lib.causal_mask({SIZES})"))
WRONG.edit("MASK-29", CROSS, (MASK, "None"))
WRONG.edit("MASK-01", CROSS, (MASK, f"~{MASK}"))
TARGET = "mha_lib.padding_mask(source_lengths, decoder_states.shape[1])"
WRONG.edit("CROSS-01", CROSS, (MASK, TARGET))
WRONG.edit("CROSS-01", CROSS, (MASK, f"{TARGET}.mT"))
BY_HAND = "(torch.arange(decoder_states.shape[1]) < source_lengths[:, None])[:, None, None]"
WRONG.edit("CROSS-01", CROSS, (MASK, BY_HAND), ("mha_lib.scaled", "F.scaled"))
WRONG.edit(
    "MASK-13",
    CROSS,
    (MASK, f"({MASK}.mT if decoder_states.shape[1] == encoder_states.shape[1] else None)"),
)
HEADS = "mha_lib.scaled_dot_product_attention(q, k, v, mask)"
WRONG.edit(
    "MASK-15",
    CROSS,
    (HEADS, "F.scaled_dot_product_attention(q, k, v, mask[:, 0, 0])"),
)
WRONG.edit(
    "MASK-17",
    CROSS,
    (
        HEADS,
        """\
F.scaled_dot_product_attention(
        *(x.flatten(0, 1) for x in (q, k, v)), mask[:, 0].repeat(num_heads, 1, 1)
    ).unflatten(0, (-1, num_heads))""",
    ),
)

# The projections.
JOINED = "F.linear(mha_lib.merge_heads(heads), out_proj_weight, out_proj_bias)"
WRONG.edit("PROJ-01", CROSS, (JOINED, "mha_lib.merge_heads(heads)"))
WRONG.edit("BIAS-A", CROSS, ("out_proj_weight, out_proj_bias)", "out_proj_weight)"))
WRONG.edit("BIAS-B", CROSS, ("w_q, b_q)", "w_q)"), ("w_k, b_k)", "w_k)"), ("w_v, b_v)", "w_v)"))
WRONG.edit("PROJ-A", CROSS, ("out_proj_weight, out", "out_proj_weight.T, out"))
WRONG.edit(
    "PROJ-A",
    CROSS,
    ("s, w_q, b", "s, w_q.T, b"),
    ("s, w_k, b", "s, w_k.T, b"),
    ("s, w_v, b", "s, w_v.T, b"),
)
for order in ("w_q, w_v, w_k", "w_k, w_q, w_v", "w_v, w_k, w_q", "w_k, w_v, w_q"):
    biases = order.replace("w", "b")
    WRONG.edit("PROJ-12", CROSS, ("w_q, w_k, w_v", order), ("b_q, b_k, b_v", biases))
WRONG.edit("PROJ-04", CROSS, (merging_heads.PACKED, merging_heads.GROUPED))
WRONG.edit("PROJ-07", CROSS, ("attention(q, k, v", "attention(q, v, v"))
WRONG.edit("SCALE-02", CROSS, ("attention(q, k, v", "attention(q / math.sqrt(num_heads), k, v"))
WRONG.edit("PROJ-E", CROSS, ("w_k, b_k", "w_q, b_q"))
WRONG.edit("RESIDUAL-A", CROSS, (JOINED, f"{JOINED} + decoder_states"))
LENGTHS = "encoder_states, w_v, b_v), num_heads)\n"
WRONG.edit(
    "CROSS-05",
    CROSS,
    (
        LENGTHS,
        LENGTHS
        + """\
    length = decoder_states.shape[1]
    cut = lambda x: x.transpose(1, 2).reshape(len(x), length, -1, x.shape[-1]).transpose(1, 2)
    k, v = cut(k), cut(v)
""",
    ),
)
