"""Answers for lesson 10."""

import torch
from torch import Tensor
from torch.nn import functional as F


def shift_targets(tokens: Tensor, bos_id: int) -> Tensor:
    first = torch.full_like(tokens[:, :1], bos_id)
    return torch.cat([first, tokens[:, :-1]], dim=1)


def masked_loss(logits: Tensor, targets: Tensor, pad_id: int) -> Tensor:
    log_probabilities = F.log_softmax(logits, dim=-1)
    losses = -log_probabilities.gather(-1, targets[..., None])[..., 0]
    real = targets != pad_id
    return (losses * real).sum() / real.sum().clamp(min=1)
