"""Right answers for lesson 3."""

import torch


def rows_by_loop(weight, head, num_heads):
    width = len(weight) // num_heads
    return torch.stack([weight[head * width + row] for row in range(width)])


def rows_by_index(weight, head, num_heads):
    width = weight.shape[0] // num_heads
    return weight[torch.arange(width) + head * width]


def rows_by_mask(weight, head, num_heads):
    owner = torch.arange(len(weight)) // (len(weight) // num_heads)
    return weight[owner == head]


def rows_by_copy(weight, head, num_heads):
    width = weight.shape[0] // num_heads
    out = torch.empty(width, weight.shape[1], dtype=weight.dtype)
    out[:] = weight[head * width : head * width + width]
    return out


def packed_by_loop(in_proj_weight, part, head, num_heads):
    rows = in_proj_weight.shape[0] // 3
    width = rows // num_heads
    return torch.stack([in_proj_weight[part * rows + head * width + r] for r in range(width)])


def packed_by_slices(in_proj_weight, part, head, num_heads):
    size = in_proj_weight.shape[1]
    projection = in_proj_weight[part * size : (part + 1) * size]
    return projection[head * (size // num_heads) : (head + 1) * (size // num_heads)]


def packed_by_split(in_proj_weight, part, head, num_heads):
    query, key, value = in_proj_weight.split(in_proj_weight.shape[0] // 3)
    return (query, key, value)[part].tensor_split(num_heads)[head]


def packed_in_float64(in_proj_weight, part, head, num_heads):
    return in_proj_weight.double().chunk(3)[part].chunk(num_heads)[head].clone()


RIGHT = {
    "head_rows": [
        rows_by_loop,
        rows_by_index,
        rows_by_mask,
        rows_by_copy,
        lambda weight, head, num_heads: weight.chunk(num_heads)[head],
        lambda w, h, n: w.view(n, -1, w.shape[1])[h],
        lambda w, h, n: w.T[:, h * len(w) // n : (h + 1) * len(w) // n].T,
        lambda w, h, n: w.narrow(0, h * (w.size(0) // n), w.size(0) // n),
    ],
    "packed_head_rows": [
        packed_by_loop,
        packed_by_slices,
        packed_by_split,
        packed_in_float64,
        lambda w, p, h, n: w.view(3, n, -1, w.shape[1])[p, h],
        lambda w, p, h, n: w.chunk(3 * n)[p * n + h],
        lambda w, p, h, n: w.unflatten(0, (3, n, w.shape[0] // (3 * n)))[p][h],
    ],
}
