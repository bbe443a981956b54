"""Wrong code for lesson 10."""

from mha_lib.exercises.mistakes.wrong import Wrong
from mha_lib.exercises.solutions import transformer

WRONG = Wrong(transformer)

# The decoder's input.
SHIFT = "return torch.cat([first, tokens[:, :-1]], dim=1)"
WRONG.edit("TR-01", "shift_targets", (SHIFT, "return tokens"))
WRONG.edit("TR-01", "shift_targets", (SHIFT, "return tokens.clone()"))
WRONG.edit("SHIFT-A", "shift_targets", (SHIFT, "return torch.cat([first, tokens], dim=1)"))
WRONG.edit("SHIFT-B", "shift_targets", (SHIFT, "return torch.cat([tokens[:, 1:], first], dim=1)"))
WRONG.edit("SHIFT-B", "shift_targets", (SHIFT, "return torch.roll(tokens, -1, dims=1)"))
WRONG.edit("SHIFT-C", "shift_targets", (SHIFT, "return torch.roll(tokens, 1, dims=1)"))
WRONG.edit("SHIFT-D", "shift_targets", (SHIFT, "return torch.cat([first, tokens[:, 1:]], dim=1)"))
WRONG.edit("SHIFT-E", "shift_targets", (SHIFT, "return torch.cat([first.T, tokens[:-1]], dim=0)"))
WRONG.edit(
    "SHIFT-E",
    "shift_targets",
    (SHIFT, "return torch.cat([torch.full_like(tokens[:1], bos_id), tokens[:-1]])"),
)
WRONG.edit("SHIFT-F", "shift_targets", (SHIFT, "return tokens[:, :-1]"))
WRONG.edit(
    "SHIFT-G",
    "shift_targets",
    (SHIFT, "return torch.cat([torch.ones_like(first), tokens[:, :-1]], dim=1)"),
)
WRONG.edit(
    "SHIFT-G",
    "shift_targets",
    (SHIFT, "return torch.cat([torch.zeros_like(first), tokens[:, :-1]], dim=1)"),
)
WRONG.edit(
    "SHIFT-H", "shift_targets", (SHIFT, "return torch.cat([first, tokens[:, :-1]], dim=1).float()")
)
WRONG.edit("SHIFT-I", "shift_targets", (SHIFT, "return torch.cat([tokens[:, :-1], first], dim=1)"))
WRONG.edit(
    "MASK-19",
    "shift_targets",
    (SHIFT, "tokens[:, 1:] = tokens[:, :-1].clone()\n    tokens[:, 0] = bos_id\n    return tokens"),
)

# The loss.
LOGS = "F.log_softmax(logits, dim=-1)"
MEAN = "(losses * real).sum() / real.sum().clamp(min=1)"
REAL = "real = targets != pad_id"
WRONG.edit("TR-02", "masked_loss", (MEAN, "losses.mean()"))
WRONG.edit("SM-08", "masked_loss", (LOGS, "F.log_softmax(logits.softmax(-1), dim=-1)"))
WRONG.edit("LOSS-A", "masked_loss", (MEAN, "(losses * real).sum()"))
WRONG.edit(
    "LOSS-B", "masked_loss", (MEAN, "((losses * real).sum(1) / real.sum(1).clamp(min=1)).mean()")
)
WRONG.edit("LOSS-C", "masked_loss", (MEAN, "(losses * real).mean()"))
WRONG.edit("LOSS-D", "masked_loss", (MEAN, "(losses * real).sum() / real.sum()"))
WRONG.edit("LOSS-D", "masked_loss", (MEAN, "losses[real].mean()"))
WRONG.edit("LOSS-E", "masked_loss", (REAL, "real = targets != 0"))
WRONG.edit("LOSS-F", "masked_loss", (LOGS, "logits"))
WRONG.edit("LOSS-F", "masked_loss", (LOGS, "logits.softmax(-1)"))
WRONG.edit("LOSS-G", "masked_loss", ("-log_prob", "log_prob"))
WRONG.edit("LOSS-H", "masked_loss", (MEAN, "(losses * real).sum() / len(targets)"))
WRONG.edit("LOSS-I", "masked_loss", (REAL, "real = targets == pad_id"))
WRONG.edit("LOSS-J", "masked_loss", (REAL, "real = logits.argmax(-1) != pad_id"))
WRONG.edit("LOSS-K", "masked_loss", (MEAN, "losses * real"))
WRONG.edit("LOSS-L", "masked_loss", (LOGS, "F.log_softmax(logits, dim=1)"))
WRONG.edit("LOSS-L", "masked_loss", (LOGS, "F.log_softmax(logits, dim=0)"))
WRONG.edit("LOSS-M", "masked_loss", (LOGS, "logits.softmax(-1).log()"))
WRONG.edit(
    "LOSS-M", "masked_loss", (LOGS, "(logits.exp() / logits.exp().sum(-1, keepdim=True)).log()")
)
WRONG.edit("LOSS-N", "masked_loss", (LOGS, f"{LOGS}.detach()"))
WRONG.edit("LOSS-O", "masked_loss", (LOGS, f"{LOGS} / math.log(2)"))
SHIFTED = "logits, targets = logits[:, :-1], targets[:, 1:]\n    "
WRONG.edit("LOSS-P", "masked_loss", ("log_probabilities = ", f"{SHIFTED}log_probabilities = "))
