"""Wrong answers as people write them, and the known mistake that each must be recognised as.

None of this code is the code of the table in `mha_lib.exercises.mistakes`: a learner's never is.
"""

import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

import mha_lib

WRONG = []


def wrong(id, exercise):
    """Note a wrong answer to an exercise."""

    def note(function):
        WRONG.append((id, exercise, function))
        return function

    return note


# Lessons 1 to 4 ---------------------------------------------------------------------------------
@wrong("PROJ-13", "head_dim_checked")
def _(embed_dim, num_heads):
    return int(embed_dim / num_heads)


@wrong("PE-10", "embed_tokens")
def _(ids, table, positions):
    if ids.shape[1] > len(positions):
        raise ValueError(f"{ids.shape[1]} > {len(positions)}")
    return F.embedding(ids, table) + positions[None, : ids.shape[1]]


@wrong("PE-08", "embed_tokens")
def _(ids, table, positions):
    x = table[ids] * math.sqrt(table.size(-1))
    return x + positions.unsqueeze(1)[: x.size(0)]


@wrong("PE-16", "embed_tokens")
def _(ids, table, positions):
    x = table[ids] * math.sqrt(table.size(-1))
    return torch.cat((x, positions[: ids.size(1)].repeat(ids.size(0), 1, 1)), dim=2)


@wrong("PE-11", "embed_tokens")
def _(ids, table, positions):
    return table.shape[1] ** 0.5 * F.embedding(ids, table) + positions[: ids.size(1)]


@wrong("MASK-19", "embed_tokens")
def _(ids, table, positions):
    if ids.shape[1] > len(positions):
        raise ValueError(f"{ids.shape[1]} > {len(positions)}")
    table *= math.sqrt(table.size(-1))
    return table[ids] + positions[: ids.shape[1]]


def _positions(num_positions, embed_dim, exponent, base=10000.0):
    pe = torch.zeros(num_positions, embed_dim)
    for pos in range(num_positions):
        for i in range(0, embed_dim, 2):
            pe[pos, i] = math.sin(pos / base ** exponent(i))
            if i + 1 < embed_dim:
                pe[pos, i + 1] = math.cos(pos / base ** exponent(i))
    return pe


@wrong("PE-01", "sinusoidal_positions")
def _(n, d):
    return _positions(n, d, lambda i: 2 * i / d)


@wrong("PE-01", "sinusoidal_positions")
def _(n, d):
    angle = np.arange(n)[:, None] / np.power(10000, np.arange(d) / d)
    angle[:, 0::2], angle[:, 1::2] = np.sin(angle[:, 0::2]), np.cos(angle[:, 1::2])
    return torch.from_numpy(angle)


@wrong("PE-03", "sinusoidal_positions")
def _(n, d):
    return _positions(n, d, lambda i: i / d, base=1000.0)


@wrong("PE-06", "sinusoidal_positions")
def _(n, d):
    pe = _positions(n, d, lambda i: i / d)
    return torch.cat([pe[:, 0::2], pe[:, 1::2]], dim=-1)


@wrong("PE-07", "sinusoidal_positions")
def _(n, d):
    position = torch.arange(n).float().unsqueeze(1)
    div = torch.exp(torch.arange(0, d, 2).float() * -(math.log(10000.0) / d))
    pe = torch.zeros(n, d)
    pe[:, 0::2], pe[:, 1::2] = torch.sin(position * div), torch.cos(position * div)
    return pe


@wrong("ROWS-A", "head_rows")
def _(weight, head, num_heads):
    return weight.chunk(num_heads, dim=1)[head]


@wrong("PROJ-04", "packed_head_rows")
def _(in_proj_weight, part, head, num_heads):
    e = in_proj_weight.shape[1]
    return in_proj_weight.view(num_heads, 3, e // num_heads, e)[head, part]


@wrong("PROJ-12", "packed_head_rows")
def _(in_proj_weight, part, head, num_heads):
    q, v, k = in_proj_weight.chunk(3)
    return (q, k, v)[part].chunk(num_heads)[head]


@wrong("SPLIT-01", "split_heads")
def _(x, num_heads):
    return x.view(x.size(0), num_heads, x.size(1), x.size(2) // num_heads)


@wrong("SPLIT-01", "split_heads_view")
def _(x, num_heads):
    return x.reshape(x.shape[:-2] + (num_heads, -1, x.shape[-1] // num_heads))


# Lesson 5 ---------------------------------------------------------------------------------------
@wrong("SCALE-01", "attention_scores")
def _(query, key):
    return torch.einsum("bhld,bhsd->bhls", query, key)


@wrong("SCALE-02", "attention_scores")
def _(query, key):
    d_model = query.size(1) * query.size(3)
    return query @ key.transpose(-2, -1) / d_model**0.5


@wrong("SCALE-03", "attention_scores")
def _(query, key):
    return torch.matmul(query, key.permute(0, 1, 3, 2)) / key.size(-1)


@wrong("LAY-02", "attention_scores")
def _(query, key):
    return query @ key.T / math.sqrt(key.size(-1))


@wrong("WT-02", "attention_scores")
def _(query, key):
    return torch.einsum("bhld,bhsd->bhsl", query, key) / query.shape[-1] ** 0.5


@wrong("MASK-19", "attention_scores")
def _(query, key):
    query /= query.shape[-1] ** 0.5
    return query @ key.mT


def _weights(query, key, attn_mask, masked=None, softmax=None):
    """Attention weights with one step replaced."""
    s = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if attn_mask is not None:
        s = masked(s, attn_mask) if masked else s.masked_fill(~attn_mask, float("-inf"))
    return softmax(s) if softmax else F.softmax(s, dim=-1)


def _softmax(id, function):
    @wrong(id, "attention_weights")
    def _(query, key, attn_mask=None):
        return _weights(query, key, attn_mask, softmax=function)

    @wrong(id, "scaled_dot_product_attention")
    def _(query, key, value, attn_mask=None):
        return _weights(query, key, attn_mask, softmax=function) @ value


_softmax("SM-01", lambda s: s.softmax(dim=2))
_softmax("SM-02", lambda s: F.softmax(s, dim=1))
_softmax("SM-03", nn.Softmax(dim=0))
_softmax("SM-05", lambda s: torch.exp(s) / torch.exp(s).sum(dim=-1, keepdim=True))
_softmax("SM-07", lambda s: s[..., None].softmax(dim=-1)[..., 0])
_softmax("MASK-11", lambda s: s.softmax(dim=3))


def _masked(id, function):
    @wrong(id, "attention_weights")
    def _(query, key, attn_mask=None):
        return _weights(query, key, attn_mask, masked=function)

    @wrong(id, "scaled_dot_product_attention")
    def _(query, key, value, attn_mask=None):
        return _weights(query, key, attn_mask, masked=function) @ value

    @wrong(id, "multi_head_attention")
    def _(query, key, value, w, b, wo, bo, num_heads, attn_mask=None):  # noqa: PLR0913
        q, k, v = _project((query, key, value), w, b, num_heads)
        heads = _weights(q, k, attn_mask, masked=function) @ v
        return F.linear(mha_lib.merge_heads(heads), wo, bo)


def _project(states, w, b, num_heads):
    return [
        mha_lib.split_heads(F.linear(x, wi, bi), num_heads)
        for x, wi, bi in zip(states, w.chunk(3), b.chunk(3), strict=True)
    ]


_masked("MASK-01", lambda s, m: s.masked_fill(m, -1e30))
_masked("MASK-04", lambda s, m: s * m.float())
_masked("MASK-05", lambda s, m: torch.where(m, s, torch.full_like(s, 1e-9)))
_masked("MASK-06", lambda s, m: s.masked_fill(~m, -float("-inf")))
_masked("MASK-18", lambda s, m: (s.masked_fill(~m, float("-inf")), s)[1])
_masked("MASK-21", lambda s, m: s + m.float().to(s.dtype))
_masked("MASK-22", lambda s, m: torch.add(s, m))
_masked("MASK-24", lambda s, m: torch.where(m, s, torch.tensor(-1e9, dtype=s.dtype)))
_masked("MASK-29", lambda s, m: s)
_masked("MASK-A", lambda s, m: s.masked_fill(m == 0, -50.0))


@wrong("MASK-03", "attention_weights")
def _(query, key, attn_mask=None):
    weights = _weights(query, key, None)
    return weights if attn_mask is None else weights.masked_fill(~attn_mask, 0.0)


@wrong("MASK-08", "attention_weights")
def _(query, key, attn_mask=None):
    if attn_mask is None:
        return _weights(query, key, None)
    s = query @ key.mT / math.sqrt(query.size(-1))
    return s.masked_fill(attn_mask.logical_not(), -1e9).softmax(-1) * attn_mask


@wrong("FP-01", "scaled_dot_product_attention")
def _(query, key, value, attn_mask=None):
    s = torch.einsum("bhld,bhsd->bhls", query, key) * query.size(-1) ** -0.5
    if attn_mask is not None:
        s = s.masked_fill(~attn_mask, -math.inf)
    return s.softmax(-1).nan_to_num(0.0 if attn_mask is not None else math.nan) @ value


@wrong("PROJ-07", "scaled_dot_product_attention")
def _(query, key, value, attn_mask=None):
    return F.scaled_dot_product_attention(query, value, value, attn_mask)


@wrong("SCALE-01", "scaled_dot_product_attention")
def _(query, key, value, attn_mask=None):
    return F.scaled_dot_product_attention(query, key, value, attn_mask, scale=1.0)


@wrong("SCALE-03", "scaled_dot_product_attention")
def _(query, key, value, attn_mask=None):
    return F.scaled_dot_product_attention(query, key, value, attn_mask, scale=1 / query.size(-1))


@wrong("MASK-01", "scaled_dot_product_attention")
def _(query, key, value, attn_mask=None):
    mask = None if attn_mask is None else ~attn_mask
    return F.scaled_dot_product_attention(query, key, value, mask)


@wrong("MASK-21", "scaled_dot_product_attention")
def _(query, key, value, attn_mask=None):
    mask = None if attn_mask is None else attn_mask.to(query.dtype)
    return F.scaled_dot_product_attention(query, key, value, mask)


@wrong("MASK-19", "scaled_dot_product_attention")
def _(query, key, value, attn_mask=None):
    out = F.scaled_dot_product_attention(query, key, value, attn_mask)
    with torch.no_grad():
        query *= query.shape[-1] ** -0.5
    return out


# Lesson 6 ---------------------------------------------------------------------------------------
@wrong("MERGE-01", "merge_heads")
def _(x):
    return x.flatten(0).view(x.size(0), x.size(2), -1)


@wrong("MERGE-03", "merge_heads")
def _(x):
    return x.permute(0, 2, 1, 3).view(x.size(0), x.size(2), x.size(1) * x.size(3))


@wrong("MERGE-04", "merge_heads")
def _(x):
    return torch.stack(x.unbind(1)).mean(0)


def _layer(
    id, split=mha_lib.split_heads, merge=mha_lib.merge_heads, order=(0, 1, 2), scale=None, out=True
):
    @wrong(id, "multi_head_attention")
    def _(query, key, value, w, b, wo, bo, num_heads, attn_mask=None):  # noqa: PLR0913
        states, w, b = (query, key, value), w.chunk(3), b.chunk(3)
        q, k, v = (
            split(F.linear(x, w[i], b[i]), num_heads) for x, i in zip(states, order, strict=True)
        )
        factor = scale(query.size(-1), num_heads) if scale else None
        heads = merge(F.scaled_dot_product_attention(q, k, v, attn_mask, scale=factor))
        return F.linear(heads, wo, bo) if out else heads


_layer("SPLIT-01", split=lambda x, h: x.reshape(x.size(0), h, x.size(1), -1))
_layer("MERGE-01", merge=lambda x: x.reshape(x.size(0), x.size(2), -1))
_layer("MERGE-03", merge=lambda x: x.contiguous().transpose(1, 2).view(x.size(0), x.size(2), -1))
_layer("PROJ-12", order=(0, 2, 1))
_layer("SCALE-02", scale=lambda e, h: e**-0.5)
_layer("SCALE-01", scale=lambda e, h: 1.0)
_layer("SCALE-03", scale=lambda e, h: h / e)
_layer("PROJ-01", out=False)
_layer(
    "SPLIT-01+MERGE-01",
    split=lambda x, h: x.reshape(x.size(0), h, x.size(1), -1),
    merge=lambda x: x.reshape(x.size(0), x.size(2), -1),
)


@wrong("PROJ-04", "multi_head_attention")
def _(query, key, value, w, b, wo, bo, num_heads, attn_mask=None):  # noqa: PLR0913
    d = query.size(-1) // num_heads
    parts = [[], [], []]
    for h in range(num_heads):
        for part, x in enumerate((query, key, value)):
            first = (h * 3 + part) * d
            parts[part].append(x @ w[first : first + d].T + b[first : first + d])
    q, k, v = (torch.stack(part, dim=1) for part in parts)
    heads = F.scaled_dot_product_attention(q, k, v, attn_mask)
    return F.linear(mha_lib.merge_heads(heads), wo, bo)


@wrong("LAY-01", "multi_head_attention")
def _(query, key, value, w, b, wo, bo, num_heads, attn_mask=None):  # noqa: PLR0913
    layer = nn.MultiheadAttention(query.size(-1), num_heads, dtype=w.dtype)
    state = {"in_proj_weight": w, "in_proj_bias": b, "out_proj.weight": wo, "out_proj.bias": bo}
    return torch.func.functional_call(layer, state, (query, key, value))[0]


@wrong("MASK-17", "multi_head_attention")
def _(query, key, value, w, b, wo, bo, num_heads, attn_mask=None):  # noqa: PLR0913
    layer = nn.MultiheadAttention(query.size(-1), num_heads, batch_first=True, dtype=w.dtype)
    state = {"in_proj_weight": w, "in_proj_bias": b, "out_proj.weight": wo, "out_proj.bias": bo}
    block = None
    if attn_mask is not None:
        block = ~attn_mask
        if block.ndim == 4 and block.size(1) == 1:
            block = block[:, 0].expand(-1, query.size(1), -1).repeat(num_heads, 1, 1)
        elif block.ndim == 4:
            block = block.flatten(0, 1)
    args = (query, key, value)
    options = {"attn_mask": block, "need_weights": False}
    return torch.func.functional_call(layer, state, args, options)[0]


# Lesson 7 ---------------------------------------------------------------------------------------
class _Layer(nn.Module):
    """A right layer with steps that can be replaced."""

    def __init__(self, embed_dim, num_heads, *, dropout=0.0, bias=True):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("heads do not fit")
        self.h, self.p = num_heads, dropout
        self.make(embed_dim, bias)

    def make(self, e, bias):
        self.in_proj_weight = nn.Parameter(torch.randn(3 * e, e))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * e)) if bias else None
        self.out_proj = nn.Linear(e, e, bias=bias)

    def project(self, q, k, v):
        b = [None] * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        return [
            mha_lib.split_heads(F.linear(x, w, bi), self.h)
            for x, w, bi in zip((q, k, v), self.in_proj_weight.chunk(3), b, strict=True)
        ]

    def attend(self, q, k, v, mask):
        weights = mha_lib.attention_weights(q, k, mask)
        return F.dropout(weights, self.p, self.training) @ v, weights

    def forward(
        self, query, key=None, value=None, *, mask=None, is_causal=False, need_weights=False
    ):
        key = query if key is None else key
        value = key if value is None else value
        q, k, v = self.project(query, key, value)
        if is_causal:
            causal = mha_lib.causal_mask(q.size(2), k.size(2))
            mask = self.join(mask, causal)
        heads, weights = self.attend(q, k, v, mask)
        return self.out_proj(mha_lib.merge_heads(heads)), self.shown(weights, need_weights)

    def join(self, mask, causal):
        return causal if mask is None else causal & mask

    def shown(self, weights, need_weights):
        return weights if need_weights else None


@wrong("PROJ-09", "MultiHeadAttention")
class _(_Layer):
    def make(self, e, bias):
        self.layers = [nn.Linear(e, e, bias=bias) for _ in range(3)]
        self.out_proj = nn.Linear(e, e, bias=bias)

    def project(self, q, k, v):
        pairs = zip(self.layers, (q, k, v), strict=True)
        return [mha_lib.split_heads(layer(x), self.h) for layer, x in pairs]


@wrong("PROJ-10", "MultiHeadAttention")
class _(_Layer):
    def make(self, e, bias):
        shared = nn.Linear(e, e, bias=bias)
        self.q_proj = self.k_proj = self.v_proj = shared
        self.out_proj = nn.Linear(e, e, bias=bias)


@wrong("PROJ-11", "MultiHeadAttention")
class _(_Layer):
    def make(self, e, bias):
        super().make(e, bias=True)


@wrong("PROJ-13", "MultiHeadAttention")
class _(_Layer):
    def __init__(self, embed_dim, num_heads, *, dropout=0.0, bias=True):
        nn.Module.__init__(self)
        self.h, self.p = num_heads, dropout
        self.make(embed_dim, bias)


@wrong("DROP-01", "MultiHeadAttention")
class _(_Layer):
    def attend(self, q, k, v, mask):
        weights = mha_lib.attention_weights(q, k, mask)
        return F.scaled_dot_product_attention(q, k, v, mask, dropout_p=self.p), weights


@wrong("DROP-02", "MultiHeadAttention")
class _(_Layer):
    def attend(self, q, k, v, mask):
        scores = F.dropout(mha_lib.attention_scores(q, k), self.p, self.training)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = scores.softmax(-1) * (1 if mask is None else mask)
        return weights @ v, mha_lib.attention_weights(q, k, mask)


@wrong("DROP-03", "MultiHeadAttention")
class _(_Layer):
    def attend(self, q, k, v, mask):
        weights = F.dropout(mha_lib.attention_weights(q, k, mask), self.p, self.training)
        return weights @ v, weights


@wrong("WT-01", "MultiHeadAttention")
class _(_Layer):
    def shown(self, weights, need_weights):
        return weights.sum(1) / self.h if need_weights else None


@wrong("MASK-25", "MultiHeadAttention")
class _(_Layer):
    def join(self, mask, causal):
        return causal if mask is None else torch.logical_or(causal, mask)


@wrong("CAUS-06", "MultiHeadAttention")
class _(_Layer):
    def join(self, mask, causal):
        stored = torch.ones(8, 8, dtype=torch.bool).tril()
        return stored if mask is None else stored & mask


# Lesson 8 ---------------------------------------------------------------------------------------
@wrong("MASK-01", "causal_mask")
@wrong("MASK-02", "causal_mask")
def _(query_len, key_len, offset=0):
    return torch.triu(torch.ones(query_len, key_len), diagonal=1 + offset) == 1


@wrong("CAUS-01", "causal_mask")
def _(query_len, key_len, offset=0):
    return torch.ones(query_len, key_len).tril(offset - 1).bool()


@wrong("CAUS-02", "causal_mask")
def _(query_len, key_len, offset=0):
    return torch.ones(query_len, key_len, dtype=torch.bool).triu(offset)


@wrong("CAUS-03", "causal_mask")
def _(query_len, key_len, offset=0):
    return torch.tril(torch.ones(query_len, key_len, dtype=torch.bool))


@wrong("CAUS-06", "causal_mask")
def _(query_len, key_len, offset=0):
    block = torch.tril(torch.ones(8, 8, dtype=torch.bool), offset)
    return block


@wrong("MASK-23", "causal_mask")
def _(query_len, key_len, offset=0):
    return torch.tril(torch.ones(query_len, key_len, dtype=torch.long), offset)


@wrong("MASK-01", "padding_mask")
def _(lengths, max_len):
    return (torch.arange(max_len) >= lengths[:, None])[:, None, None]


@wrong("MASK-13", "padding_mask")
def _(lengths, max_len):
    real = torch.arange(max_len)[None] < lengths[:, None]
    return real.unsqueeze(1).unsqueeze(3)


@wrong("MASK-14", "padding_mask")
def _(lengths, max_len):
    m = torch.arange(max_len)[None] < lengths[:, None]
    return torch.einsum("bq,bk->bqk", m.int(), m.int()).bool().unsqueeze(1)


@wrong("MASK-15", "padding_mask")
def _(lengths, max_len):
    return torch.stack([torch.arange(max_len) < n for n in lengths])


@wrong("MASK-23", "padding_mask")
def _(lengths, max_len):
    return (torch.arange(max_len) < lengths[:, None]).byte()[:, None, None]


@wrong("MASK-25", "decoder_mask")
def _(lengths, max_len):
    return mha_lib.padding_mask(lengths, max_len) | mha_lib.causal_mask(max_len, max_len)


@wrong("MASK-14", "decoder_mask")
def _(lengths, max_len):
    m = mha_lib.padding_mask(lengths, max_len)
    return m & m.transpose(-1, -2) & mha_lib.causal_mask(max_len, max_len)


@wrong("MASK-13", "decoder_mask")
def _(lengths, max_len):
    m = (torch.arange(max_len) < lengths[:, None])[:, None, :, None]
    return m & mha_lib.causal_mask(max_len, max_len)


@wrong("MASK-29", "decoder_mask")
def _(lengths, max_len):
    return mha_lib.causal_mask(max_len, max_len).repeat(len(lengths), 1, 1, 1)


@wrong("CAUS-01", "decoder_mask")
def _(lengths, max_len):
    return mha_lib.padding_mask(lengths, max_len) & torch.ones(max_len, max_len).tril(-1).bool()


@wrong("CAUS-02", "decoder_mask")
def _(lengths, max_len):
    return mha_lib.padding_mask(lengths, max_len) & torch.ones(max_len, max_len).triu().bool()


# Lesson 9 ---------------------------------------------------------------------------------------
def _cross(id, states=(0, 1, 1), mask=None):
    @wrong(id, "cross_attention")
    def _(decoder, encoder, w, b, wo, bo, num_heads, lengths):
        both = (decoder, encoder)
        q, k, v = _project([both[i] for i in states], w, b, num_heads)
        real = mha_lib.padding_mask(lengths, encoder.shape[1])
        keep = mask(real, q.size(2), k.size(2)) if mask else real
        heads = F.scaled_dot_product_attention(q, k, v, keep)
        return F.linear(mha_lib.merge_heads(heads), wo, bo)


_cross("CROSS-03", (0, 0, 0), lambda m, t, s: None)
_cross("CROSS-04", (1, 0, 0), lambda m, t, s: None)
_cross("CROSS-06", mask=lambda m, t, s: m & torch.ones(t, s).tril().bool())
_cross("CROSS-01", mask=lambda m, t, s: mha_lib.padding_mask(m.sum((1, 2, 3)), max(t, 9))[..., :t])
_cross("MASK-29", mask=lambda m, t, s: None)
_cross("MASK-01", mask=lambda m, t, s: m.logical_not())
_cross("MASK-15", mask=lambda m, t, s: m.flatten(1))
_cross("MASK-21", mask=lambda m, t, s: m.double())


@wrong("CROSS-05", "cross_attention")
def _(decoder, encoder, w, b, wo, bo, num_heads, lengths):
    states = (decoder, encoder, encoder)
    q, k, v = (
        F.linear(x, wi, bi).reshape(len(x), decoder.size(1), -1, w.size(1) // num_heads)
        for x, wi, bi in zip(states, w.chunk(3), b.chunk(3), strict=True)
    )
    mask = mha_lib.padding_mask(lengths, encoder.size(1))
    heads = mha_lib.scaled_dot_product_attention(
        q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), mask
    )
    return F.linear(mha_lib.merge_heads(heads), wo, bo)


# Lesson 10 --------------------------------------------------------------------------------------
@wrong("TR-01", "shift_targets")
def _(tokens, bos_id):
    return tokens + 0


@wrong("TR-02", "masked_loss")
def _(logits, targets, pad_id):
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


@wrong("SM-08", "masked_loss")
def _(logits, targets, pad_id):
    p = logits.softmax(-1).flatten(0, 1)
    total = F.cross_entropy(p, targets.flatten(), ignore_index=pad_id, reduction="sum")
    return total / (targets != pad_id).sum().clamp(min=1)


@wrong("LOSS-D", "masked_loss")
def _(logits, targets, pad_id):
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=pad_id)


@wrong("LOSS-B", "masked_loss")
def _(logits, targets, pad_id):
    rows = [
        F.cross_entropy(x, y, ignore_index=pad_id) for x, y in zip(logits, targets, strict=True)
    ]
    return torch.stack(rows).mean()
