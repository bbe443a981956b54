"""Wrong answers that are nearly right: each is wrong only where somebody thought of looking.

Names say what is wrong. No known mistake fits most of them; they only have to be failed.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F

import mha_lib
from tests.right_answers import lesson_05, lesson_06, lesson_07, lesson_10

NASTY = []


def nasty(exercise):
    """Note a wrong answer to an exercise."""

    def note(function):
        NASTY.append((exercise, function))
        return function

    return note


# Lesson 1
@nasty("head_dim")
def right_for_small_widths(e, h):
    return e // h if e < 100 else 64


@nasty("head_dim")
def a_tensor(e, h):
    return torch.tensor(e // h)


@nasty("head_dim")
def a_whole_float(e, h):
    return float(e // h)


@nasty("head_dim")
def at_least_two(e, h):
    return max(e // h, 2)


@nasty("head_dim")
def half(e, h):
    return e // 2 if h > 1 else e


@nasty("head_dim_checked")
def refuses_some_remainders(e, h):
    if e % h in (1, 2) or h > e:
        raise ValueError(f"{e} {h}")
    return e // h


@nasty("head_dim_checked")
def refuses_odd_widths(e, h):
    if e % 2 and h % 2 == 0 or h > e or e % h:
        raise ValueError(f"{e} {h}" if e % h != 2 else f"{e}")
    return e // h


@nasty("head_dim_checked")
def refuses_one_head(e, h):
    if e % h or h == 1:
        raise ValueError(f"{e} {h}")
    return e // h


@nasty("head_dim_checked")
def refuses_as_many_heads_as_features(e, h):
    if h >= e or e % h:
        raise ValueError(f"{e} {h}")
    return e // h


@nasty("head_dim_checked")
def numbers_hidden_in_longer_ones(e, h):
    if e % h:
        raise ValueError(f"{e}{h}")
    return e // h


@nasty("head_dim_checked")
def rounds_down_to_a_number_that_fits(e, h):
    while e % h:
        h -= 1
    return e // h


# Lesson 2
def _embed(ids, table, positions):
    if ids.shape[1] > len(positions):
        raise ValueError(f"{ids.shape[1]} {len(positions)}")
    return table[ids] * table.shape[1] ** 0.5 + positions[: ids.shape[1]]


@nasty("embed_tokens")
def scale_only_wide_tables(ids, table, positions):
    x = _embed(ids, table, positions)
    return x if table.shape[1] != 7 else x / 7**0.5


@nasty("embed_tokens")
def padding_word_gets_no_position(ids, table, positions):
    return _embed(ids, table, positions) - (ids == 0)[..., None] * positions[: ids.shape[1]]


@nasty("embed_tokens")
def positions_restart_after_a_repeat(ids, table, positions):
    x = _embed(ids, table, positions)
    for b, row in enumerate(ids.tolist()):
        for t, word in enumerate(row):
            if word in row[:t]:
                x[b, t] = x[b, row.index(word)]
    return x


@nasty("embed_tokens")
def only_the_first_sentence_has_positions(ids, table, positions):
    x = _embed(ids, table, positions).clone()
    x[1:] -= positions[: ids.shape[1]]
    return x


@nasty("embed_tokens")
def refuses_a_full_table(ids, table, positions):
    if ids.shape[1] >= len(positions) > 1:
        raise ValueError(f"{ids.shape[1]} {len(positions)}")
    return _embed(ids, table, positions)


@nasty("embed_tokens")
def one_position_is_stretched(ids, table, positions):
    if len(positions) == 1:
        positions = positions.expand(ids.shape[1], -1)
    return _embed(ids, table, positions)


@nasty("embed_tokens")
def rounded(ids, table, positions):
    return _embed(ids, table, positions).round(decimals=3)


@nasty("embed_tokens")
def half_precision(ids, table, positions):
    return _embed(ids, table.half(), positions.half())


@nasty("sinusoidal_positions")
def no_more_than_fifty(n, d):
    return mha_lib.sinusoidal_positions(50, d)[torch.arange(n).clamp(max=49)]


@nasty("sinusoidal_positions")
def last_column_of_odd_widths_is_a_cosine(n, d):
    table = mha_lib.sinusoidal_positions(n, d)
    if d % 2:
        table[:, -1] = torch.cos(torch.arange(n) / 10000 ** ((d - 1) / d))
    return table


@nasty("sinusoidal_positions")
def odd_widths_use_the_next_even_width(n, d):
    return mha_lib.sinusoidal_positions(n, d + d % 2)[:, :d]


@nasty("sinusoidal_positions")
def last_row_forgotten(n, d):
    table = mha_lib.sinusoidal_positions(n, d)
    table[max(n - 1, 1) :] = 0
    return table


@nasty("sinusoidal_positions")
def wavelengths_from_one_pair_less(n, d):
    pairs = max(d // 2 - 1, 1)
    angle = torch.arange(n)[:, None] / 10000 ** (torch.arange((d + 1) // 2) / pairs)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)[:, :d]


@nasty("sinusoidal_positions")
def nearly_the_base(n, d):
    angle = torch.arange(n)[:, None] / 9999 ** (torch.arange(0, d, 2) / d) * 1.01
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)[:, :d]


# Lesson 3
@nasty("head_rows")
def right_for_two_heads(weight, head, num_heads):
    return weight.chunk(2)[min(head, 1)]


@nasty("head_rows")
def last_head_is_cut(weight, head, num_heads):
    rows = weight.chunk(num_heads)[head]
    return rows[:-1] if head == num_heads - 1 and head > 1 else rows


@nasty("head_rows")
def columns_if_square(weight, head, num_heads):
    square = weight.shape[0] == weight.shape[1]
    return weight.chunk(num_heads, dim=1)[head].T if square else weight.chunk(num_heads)[head]


@nasty("head_rows")
def rows_in_reverse(weight, head, num_heads):
    return weight.chunk(num_heads)[head].flip(0)


@nasty("head_rows")
def heads_in_reverse(weight, head, num_heads):
    return weight.chunk(num_heads)[-1 - head]


@nasty("packed_head_rows")
def value_and_key_swapped_for_late_heads(weight, part, head, num_heads):
    part = (0, 2, 1)[part] if head > 0 else part
    return weight.chunk(3)[part].chunk(num_heads)[head]


@nasty("packed_head_rows")
def width_from_the_columns_times_heads(weight, part, head, num_heads):
    size = weight.shape[1]
    first = part * size + head * num_heads
    return weight[first : first + size // num_heads]


@nasty("packed_head_rows")
def three_parts_of_each_head(weight, part, head, num_heads):
    return weight.chunk(num_heads)[head].chunk(3)[part]


# Lesson 4
@nasty("split_heads")
def right_if_heads_equal_words(x, h):
    right = mha_lib.split_heads(x, h)
    return right if h != 2 else right.flip(2)


@nasty("split_heads")
def heads_in_reverse_order(x, h):
    return mha_lib.split_heads(x, h).flip(1)


@nasty("split_heads")
def features_in_reverse_order(x, h):
    return mha_lib.split_heads(x, h).flip(-1)


@nasty("split_heads")
def batch_and_heads_swapped_where_alike(x, h):
    right = mha_lib.split_heads(x, h)
    return right.transpose(0, 1) if len(x) == h else right


@nasty("split_heads")
def zeros_become_ones(x, h):
    right = mha_lib.split_heads(x, h).clone()
    right[right == 0] = 1
    return right


@nasty("split_heads")
def whole_numbers(x, h):
    return mha_lib.split_heads(x, h).long()


@nasty("split_heads")
def repeats_are_dropped(x, h):
    return mha_lib.split_heads(x, h).unique().reshape(len(x), h, x.shape[1], -1)


@nasty("split_heads_view")
def copies_a_batch(x, h):
    right = mha_lib.split_heads(x, h)
    return right.contiguous() if x.ndim > 3 else right


@nasty("split_heads_view")
def flattens_what_stands_in_front(x, h):
    right = mha_lib.split_heads(x, h)
    return right.flatten(0, 1) if x.ndim > 3 else right


@nasty("split_heads_view")
def adds_a_batch_axis(x, h):
    right = mha_lib.split_heads(x, h)
    return right[None] if x.ndim == 2 else right


# Lesson 5
@nasty("attention_scores")
def whole_square_root(q, k):
    return q @ k.mT / math.isqrt(q.shape[-1])


@nasty("attention_scores")
def clamped(q, k):
    return (q @ k.mT / q.shape[-1] ** 0.5).clamp(-1e4, 1e4)


@nasty("attention_scores")
def absolute(q, k):
    return mha_lib.attention_scores(q, k).abs()


@nasty("attention_scores")
def centred(q, k):
    return mha_lib.attention_scores(q - q.mean(-1, keepdim=True), k)


@nasty("attention_scores")
def symmetrised_where_square(q, k):
    s = mha_lib.attention_scores(q, k)
    return (s + s.mT) / 2 if s.shape[-1] == s.shape[-2] else s


@nasty("attention_scores")
def first_head_for_all(q, k):
    return mha_lib.attention_scores(q, k[:, :1].expand_as(k))


@nasty("attention_scores")
def masked_diagonal(q, k):
    return mha_lib.attention_scores(q, k).tril()


def _weights(function):
    """Change a right answer's weights."""

    @nasty("attention_weights")
    def weights(q, k, mask=None):
        return function(mha_lib.attention_weights(q, k, mask), q, k, mask)

    weights.__name__ = function.__name__

    @nasty("scaled_dot_product_attention")
    def output(q, k, v, mask=None):
        return function(mha_lib.attention_weights(q, k, mask), q, k, mask) @ v

    output.__name__ = function.__name__


@_weights
def smoothed(w, q, k, mask):
    return (w + 0.001) / (w + 0.001).sum(-1, keepdim=True)


@_weights
def hard(w, q, k, mask):
    return (w == w.amax(-1, keepdim=True)).to(w.dtype) if w.max() > 0.999 else w


@_weights
def clamped_scores(w, q, k, mask):
    return mha_lib.attention_scores(q, k).clamp(-50, 50).softmax(-1) if mask is None else w


@_weights
def empty_rows_see_themselves(w, q, k, mask):
    if mask is None:
        return w
    return w + (~mask.any(-1, keepdim=True)) * torch.eye(*w.shape[-2:], dtype=w.dtype)


@_weights
def empty_rows_share_evenly(w, q, k, mask):
    return w if mask is None else w + (~mask.any(-1, keepdim=True)) / w.shape[-1]


@_weights
def first_mask_for_all_sentences(w, q, k, mask):
    if mask is None or mask.ndim == 2:
        return w
    return mha_lib.attention_weights(q, k, mask[:1].expand(len(q), -1, -1, -1).contiguous())


@_weights
def first_mask_for_all_heads(w, q, k, mask):
    if mask is None or mask.ndim == 2:
        return w
    return mha_lib.attention_weights(q, k, mask[:, :1])


@_weights
def first_row_of_the_mask_for_all(w, q, k, mask):
    if mask is None:
        return w
    row = mask[..., :1, :].expand(*mask.shape[:-2], w.shape[-2], -1)
    return mha_lib.attention_weights(q, k, row.contiguous())


@_weights
def mask_of_the_scores_as_well(w, q, k, mask):
    return w * (w > 0.01)


@_weights
def causal_where_square(w, q, k, mask):
    square = w.shape[-1] == w.shape[-2]
    return mha_lib.attention_weights(q, k, mask, is_causal=True) if square else w


@_weights
def half_precision_weights(w, q, k, mask):
    return w.half().to(w.dtype)


@_weights
def gradient_only_through_keys(w, q, k, mask):
    return mha_lib.attention_weights(q.detach(), k, mask)


@_weights
def gradient_cut_with_a_mask(w, q, k, mask):
    return w if mask is None else w.detach()


@nasty("attention_weights")
def turns_the_mask_round_for_good(q, k, mask=None):
    if mask is None:
        return mha_lib.attention_weights(q, k)
    w = mha_lib.attention_weights(q, k, mask)
    mask.logical_not_()
    return w


@nasty("scaled_dot_product_attention")
def gradient_not_through_values(q, k, v, mask=None):
    return mha_lib.scaled_dot_product_attention(q, k, v.detach(), mask)


@nasty("scaled_dot_product_attention")
def values_cut_to_the_width_of_keys(q, k, v, mask=None):
    return mha_lib.scaled_dot_product_attention(q, k, v[..., : k.shape[-1]], mask)


@nasty("scaled_dot_product_attention")
def hidden_values_leak(q, k, v, mask=None):
    return lesson_05.output_by_weights(q, k, v, mask) + 1e-3 * v.mean(-2, keepdim=True)


# Lesson 6
@nasty("merge_heads")
def heads_in_reverse_if_two(x):
    x = x.flip(1) if x.shape[1] == 2 else x
    return x.transpose(1, 2).flatten(2)


@nasty("merge_heads")
def words_in_reverse(x):
    return x.transpose(1, 2).flatten(2).flip(1)


@nasty("merge_heads")
def right_only_in_memory_order(x):
    right = x.transpose(1, 2).flatten(2)
    return right if x.is_contiguous() else x.flatten(2).transpose(1, 2).reshape(right.shape)


@nasty("merge_heads")
def batch_mixed(x):
    return x.transpose(0, 2).flatten(2).reshape(len(x), x.shape[2], -1)


def _layer(function):
    """Change a right layer: what goes in, or what comes out."""

    @nasty("multi_head_attention")
    def layer(q, k, v, w, b, wo, bo, h, mask=None):  # noqa: PLR0913
        return function((q, k, v, w, b, wo, bo, h, mask))

    layer.__name__ = function.__name__

    @nasty("cross_attention")
    def cross(x, source, w, b, wo, bo, h, lengths):
        mask = mha_lib.padding_mask(lengths, source.shape[1])
        return function((x, source, source, w, b, wo, bo, h, mask))

    cross.__name__ = function.__name__


def right_layer(args):
    return lesson_06.layer_by_linear(*args)


@_layer
def empty_rows_without_bias(args):
    out, mask, bo = right_layer(args), args[8], args[6]
    if mask is None:
        return out
    empty = ~mask.any(-1, keepdim=True)
    empty = empty if empty.ndim == 2 else empty.all(1)
    return torch.where(empty, out - bo, out)


@_layer
def output_bias_once_for_each_head(args):
    return right_layer(args) + (args[7] - 1) * args[6]


# A wrong key bias is not here: it moves all scores of a query alike, and softmax does not see it.
@_layer
def query_bias_is_the_key_bias(args):
    b = args[4].chunk(3)
    return right_layer((*args[:4], torch.cat([b[1], b[1], b[2]]), *args[5:]))


@_layer
def value_bias_is_the_key_bias(args):
    b = args[4].chunk(3)
    return right_layer((*args[:4], torch.cat([b[0], b[1], b[1]]), *args[5:]))


@_layer
def one_head_less(args):
    h = 1 if args[7] == 2 else args[7]
    mask = args[8][:, :1] if args[8] is not None and args[8].ndim == 4 else args[8]
    return right_layer((*args[:7], h, mask))


@_layer
def two_outputs_mixed(args):
    wo = args[5]
    return right_layer((*args[:5], wo.flip(0) if len(wo) > 4 else wo, *args[6:]))


@_layer
def residual_scaled_by_nothing_much(args):
    return right_layer(args) + 1e-3 * args[0]


@_layer
def gradient_stops_at_the_weights(args):
    return right_layer((*args[:3], args[3].detach(), *args[4:]))


@_layer
def first_sentence_for_all(args):
    k, v = (x[:1].expand_as(x) for x in args[1:3])
    return right_layer((args[0], k, v, *args[3:]))


# Lesson 7
class _Layer(lesson_07.WithDropoutLayer):
    """Right; those below change one thing."""


@nasty("MultiHeadAttention")
class KeepsItsFirstMask(_Layer):
    def forward(self, query, key=None, value=None, **options):
        if options.get("is_causal"):
            n = query.shape[1]
            if not hasattr(self, "kept"):
                self.kept = torch.ones(n, n, dtype=torch.bool).tril()
            s = n if key is None else key.shape[1]
            causal = self.kept if key is None else torch.ones(n, s, dtype=torch.bool).tril()
            mask = options.get("mask")
            options = options | {"mask": causal if mask is None else mask & causal}
            options["is_causal"] = False
        return super().forward(query, key, value, **options)


@nasty("MultiHeadAttention")
class MaskOnlyForSelfAttention(_Layer):
    def forward(self, query, key=None, value=None, **options):
        if key is not None:
            options.pop("mask", None)
        return super().forward(query, key, value, **options)


@nasty("MultiHeadAttention")
class WeightsOnlyWithoutMask(_Layer):
    def forward(self, query, key=None, value=None, *, mask=None, **options):
        output, weights = super().forward(query, key, value, mask=mask, **options)
        if weights is not None and mask is not None:
            weights = super().forward(query, key, value, **options)[1]
        return output, weights


@nasty("MultiHeadAttention")
class DropsWholeHeads(_Layer):
    def __init__(self, embed_dim, num_heads, *, dropout=0.0, bias=True):
        super().__init__(embed_dim, num_heads, dropout=dropout, bias=bias)
        self.drop = nn.Dropout2d(dropout)


@nasty("MultiHeadAttention")
class FrozenProjection(_Layer):
    def __init__(self, *sizes, **options):
        super().__init__(*sizes, **options)
        self.in_proj_weight.requires_grad_(False)


@nasty("MultiHeadAttention")
class ExtraBuffer(_Layer):
    def __init__(self, *sizes, **options):
        super().__init__(*sizes, **options)
        self.register_buffer("mask", torch.ones(8, 8).tril())


@nasty("MultiHeadAttention")
class ZeroOutputProjection(_Layer):
    def __init__(self, *sizes, **options):
        super().__init__(*sizes, **options)
        nn.init.zeros_(self.out_proj.weight)


@nasty("MultiHeadAttention")
class SameStartEveryTime(_Layer):
    def __init__(self, *sizes, **options):
        state = torch.get_rng_state()
        torch.manual_seed(0)
        super().__init__(*sizes, **options)
        torch.set_rng_state(state)


@nasty("MultiHeadAttention")
class DropoutOfTenPercent(_Layer):
    def __init__(self, embed_dim, num_heads, *, dropout=0.0, bias=True):
        dropout = 0.1 if 0 < dropout < 1 else dropout
        super().__init__(embed_dim, num_heads, dropout=dropout, bias=bias)


@nasty("MultiHeadAttention")
class ValueDefaultsToQuery(_Layer):
    def forward(self, query, key=None, value=None, **options):
        if key is not None and value is None and key.shape == query.shape:
            value = query
        return super().forward(query, key, value, **options)


@nasty("MultiHeadAttention")
class NanForEmptyRows(_Layer):
    def forward(self, query, key=None, value=None, *, mask=None, **options):
        output, weights = super().forward(query, key, value, mask=mask, **options)
        if mask is not None and not mask.any(-1).all():
            output = output * math.nan
        return output, weights


# Lesson 8
@nasty("causal_mask")
def offset_only_for_one_query(n, m, offset=0):
    return torch.ones(n, m, dtype=torch.bool).tril(offset if n == 1 else 0)


@nasty("causal_mask")
def at_most_seven(n, m, offset=0):
    return torch.ones(n, m, dtype=torch.bool).tril(min(offset, 3))


@nasty("causal_mask")
def first_row_sees_all(n, m, offset=0):
    mask = torch.ones(n, m, dtype=torch.bool).tril(offset)
    mask[0] |= n > 2
    return mask


@nasty("padding_mask")
def never_empty(lengths, n):
    return mha_lib.padding_mask(lengths.clamp(min=1), n)


@nasty("padding_mask")
def sorted_by_length(lengths, n):
    return mha_lib.padding_mask(lengths.sort(descending=True).values, n)


@nasty("padding_mask")
def longest_for_all(lengths, n):
    return mha_lib.padding_mask(lengths.max().expand_as(lengths), n)


@nasty("decoder_mask")
def padded_queries_see_themselves(lengths, n):
    return mha_lib.decoder_mask(lengths, n) | torch.eye(n, dtype=torch.bool)


@nasty("decoder_mask")
def window_of_three(lengths, n):
    return mha_lib.decoder_mask(lengths, n) & torch.ones(n, n, dtype=torch.bool).triu(-2)


@nasty("decoder_mask")
def causal_only_up_to_the_length(lengths, n):
    full = mha_lib.decoder_mask(lengths, n)
    rows = torch.arange(n) >= lengths[:, None]
    return torch.where(rows[:, None, :, None], mha_lib.padding_mask(lengths, n) & False, full)


# Lesson 10
@nasty("shift_targets")
def padding_stays_where_it_is(tokens, bos_id):
    shifted = F.pad(tokens, (1, 0), value=bos_id)[:, :-1]
    return torch.where(tokens == 0, tokens, shifted)


@nasty("shift_targets")
def each_sentence_but_the_last(tokens, bos_id):
    shifted = F.pad(tokens, (1, 0), value=bos_id)[:, :-1]
    return torch.cat([shifted[:-1], tokens[-1:]]) if len(tokens) > 1 else shifted


@nasty("shift_targets")
def shifted_twice(tokens, bos_id):
    return F.pad(tokens, (2, 0), value=bos_id)[:, :-2]


@nasty("masked_loss")
def epsilon_in_the_count(logits, targets, pad_id):
    real = targets != pad_id
    losses = F.cross_entropy(logits.transpose(1, 2), targets, reduction="none")
    return (losses * real).sum() / (real.sum() + 1e-3)


@nasty("masked_loss")
def clipped_probabilities(logits, targets, pad_id):
    p = logits.softmax(-1).clamp(min=1e-9)
    real = targets != pad_id
    losses = -p.log().gather(2, targets[..., None])[..., 0]
    return (losses * real).sum() / real.sum().clamp(min=1)


@nasty("masked_loss")
def also_leaves_out_word_zero(logits, targets, pad_id):
    return lesson_10.loss_by_loops(logits, torch.where(targets == 0, pad_id, targets), pad_id)


@nasty("masked_loss")
def one_number_with_an_axis(logits, targets, pad_id):
    return lesson_10.loss_by_nll(logits, targets, pad_id)[None]


@nasty("masked_loss")
def smoothed_labels(logits, targets, pad_id):
    total = F.cross_entropy(
        logits.flatten(0, 1),
        targets.flatten(),
        ignore_index=pad_id,
        reduction="sum",
        label_smoothing=0.01,
    )
    return total / (targets != pad_id).sum().clamp(min=1)


@nasty("masked_loss")
def minus_hundred_is_padding_too(logits, targets, pad_id):
    probabilities = logits.softmax(-1)
    return (
        lesson_10.loss_by_nll(torch.where(probabilities > 0, logits, 0), targets, pad_id) * 1.0001
    )
