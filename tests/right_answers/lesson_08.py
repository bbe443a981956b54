"""Right answers for lesson 8."""

import math

import numpy as np
import torch

import mha_lib


def causal_by_loops(query_len, key_len, offset=0):
    out = torch.zeros(query_len, key_len, dtype=torch.bool)
    for row in range(query_len):
        for column in range(key_len):
            out[row, column] = column <= row + offset
    return out


def causal_by_triu(query_len, key_len, offset=0):
    return ~torch.ones(query_len, key_len).triu(diagonal=offset + 1).bool()


def causal_from_minus_infinity(query_len, key_len, offset=0):
    """triu(..., diagonal=1) of minus infinity keeps the diagonal."""
    blocked = torch.triu(torch.full((query_len, key_len), -math.inf), diagonal=1 + offset)
    return blocked == 0


def padding_by_loops(lengths, max_len):
    out = torch.zeros(len(lengths), 1, 1, max_len, dtype=torch.bool)
    for b, n in enumerate(lengths.tolist()):
        out[b, :, :, :n] = True
    return out


def padding_from_lists(lengths, max_len):
    rows = [[s < n for s in range(max_len)] for n in lengths.tolist()]
    return torch.tensor(rows).view(len(lengths), 1, 1, max_len)


def decoder_by_loops(lengths, max_len):
    out = torch.zeros(len(lengths), 1, max_len, max_len, dtype=torch.bool)
    for b, n in enumerate(lengths.tolist()):
        for row in range(max_len):
            for column in range(max_len):
                out[b, 0, row, column] = column <= row and column < n
    return out


def decoder_from_parts(lengths, max_len):
    return mha_lib.padding_mask(lengths, max_len) & mha_lib.causal_mask(max_len, max_len)


def decoder_by_blocked(lengths, max_len):
    """Masks in which True means blocked are joined with `or`, then turned round."""
    future = torch.ones(max_len, max_len, dtype=torch.bool).triu(1)
    padding = torch.arange(max_len) >= lengths.unsqueeze(-1)
    return ~(future | padding[:, None, None])


def decoder_by_product(lengths, max_len):
    tri = torch.tril(torch.ones(max_len, max_len))
    pad = (torch.arange(max_len)[None] < lengths[:, None]).float()
    return (pad[:, None, None, :] * tri) == 1


def decoder_by_minimum(lengths, max_len):
    place = torch.arange(max_len)
    last = torch.minimum(place + 1, lengths[:, None])
    return (place < last[..., None]).unsqueeze(1)


RIGHT = {
    "causal_mask": [
        causal_by_loops,
        causal_by_triu,
        causal_from_minus_infinity,
        lambda n, m, offset=0: torch.ones(n, m, dtype=torch.bool).tril(offset),
        lambda n, m, offset=0: torch.arange(m) <= torch.arange(n).unsqueeze(1) + offset,
        lambda n, m, offset=0: torch.from_numpy(np.tri(n, m, offset, dtype=bool)),
        lambda n, m, offset=0: torch.arange(offset, n + offset)[:, None].ge(torch.arange(m)),
    ],
    "padding_mask": [
        padding_by_loops,
        padding_from_lists,
        lambda n, m: (torch.arange(m)[None] < n[:, None])[:, None, None],
        lambda n, m: torch.arange(m) < n.view(-1, 1, 1, 1),
        lambda n, m: ~(torch.arange(m).expand(len(n), m) >= n[:, None]).unsqueeze(1).unsqueeze(1),
        lambda n, m: torch.stack([torch.arange(m) < k for k in n]).reshape(-1, 1, 1, m),
        lambda n, m: (torch.ones(len(n), m).cumsum(1) <= n[:, None])[:, None, None, :],
    ],
    "decoder_mask": [
        decoder_by_loops,
        decoder_from_parts,
        decoder_by_blocked,
        decoder_by_product,
        decoder_by_minimum,
        lambda n, m: (torch.arange(m) < n.view(-1, 1, 1, 1)) & torch.ones(m, m).tril().bool(),
        mha_lib.decoder_mask,
    ],
}
