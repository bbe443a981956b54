"""Questions to a learner's `MultiHeadAttention`: a class, so more than one thing can be wrong."""

from typing import Any

import torch
from torch import Tensor, nn

from mha_lib.exercises.asks import gradients as _gradients
from mha_lib.exercises.asks import result_or_error
from mha_lib.exercises.exercise import WrongKind
from mha_lib.exercises.layer_cases import layer as weights

NAMES = ("in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias")


def made(cls: Any, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True) -> Any:
    """Build the learner's module."""
    module = cls(embed_dim, num_heads, dropout=dropout, bias=bias)
    if not isinstance(module, nn.Module):
        raise WrongKind("The class must be an `nn.Module`: class MultiHeadAttention(nn.Module).")
    return module


def count(cls: Any, embed_dim: int, num_heads: int, bias: bool) -> int:
    """Count the numbers that can be trained."""
    parameters = made(cls, embed_dim, num_heads, bias=bias).parameters()
    return sum(p.numel() for p in parameters if p.requires_grad)


def names(cls: Any, embed_dim: int, num_heads: int, bias: bool) -> str:
    """Write down names and shapes in the state dict."""
    state = made(cls, embed_dim, num_heads, bias=bias).state_dict()
    return ", ".join(f"{name} {tuple(value.shape)}" for name, value in sorted(state.items()))


def start(cls: Any, embed_dim: int, num_heads: int) -> str:
    """Say whether a new module starts with weights that were drawn."""
    drawn = []
    for seed in (1, 2):
        torch.default_generator.manual_seed(seed)
        drawn.append(made(cls, embed_dim, num_heads).state_dict())
    for name in ("in_proj_weight", "out_proj.weight"):
        one, other = drawn[0][name], drawn[1][name]
        if not bool(one.isfinite().all()) or bool((one == one.flatten()[0]).all()):
            return f"{name} holds one number only, or none at all"
        if bool((one == other).any()):
            return f"{name} is not drawn at random"
    return "weights drawn at random"


def refused(cls: Any, embed_dim: int, num_heads: int) -> Any:
    """Say what comes of heads that do not fit."""
    answer = result_or_error(cls, embed_dim, num_heads)
    return answer if isinstance(answer, str) else "no error"


def ready(
    cls: Any, num_heads: int, query: Tensor, dropout: float, bias: bool, training: bool
) -> Any:
    """Build the module and load weights that are known."""
    width = query.shape[-1]
    state = dict(zip(NAMES, weights(width), strict=True))
    if not bias:
        state = {name: value for name, value in state.items() if not name.endswith("bias")}
    module = made(cls, width, num_heads, dropout, bias).double()
    module.load_state_dict(state)
    return module.train(training)


def pair(result: Any) -> tuple[Any, Any]:
    """Return output and weights; raise if these are not two."""
    if not isinstance(result, tuple) or len(result) != 2:
        raise WrongKind(
            "`forward` must return two things, (output, weights); without need_weights the second "
            "is None."
        )
    return result[0], result[1]


def alone(cls: Any, num_heads: int, query: Tensor, bias: bool = True) -> Any:
    """Self-attention, nothing else given."""
    module = ready(cls, num_heads, query, 0.0, bias, training=False)
    output, none = pair(module(query))
    if none is not None:
        raise WrongKind("Without need_weights the second result must be None.")
    return output


def cross(cls: Any, num_heads: int, query: Tensor, key: Tensor, value: Tensor | None = None) -> Any:
    module = ready(cls, num_heads, query, 0.0, True, training=False)
    return pair(module(query, key) if value is None else module(query, key, value))[0]


def masked(cls: Any, num_heads: int, query: Tensor, mask: Tensor | None, is_causal: bool) -> Any:
    module = ready(cls, num_heads, query, 0.0, True, training=False)
    return pair(module(query, mask=mask, is_causal=is_causal))[0]


def masked_cross(cls: Any, num_heads: int, query: Tensor, key: Tensor, mask: Tensor) -> Any:
    module = ready(cls, num_heads, query, 0.0, True, training=False)
    return pair(module(query, key, mask=mask))[0]


def one_after_the_other(cls: Any, num_heads: int, first: Tensor, then: Tensor) -> Any:
    """Use one module for two texts: what it kept of the first must not matter."""
    module = ready(cls, num_heads, first, 0.0, True, training=False)
    return tuple(pair(module(x, is_causal=True))[0] for x in (first, then))


def causal_cross(cls: Any, num_heads: int, query: Tensor, key: Tensor) -> Any:
    module = ready(cls, num_heads, query, 0.0, True, training=False)
    return pair(module(query, key, is_causal=True))[0]


def with_weights(cls: Any, num_heads: int, query: Tensor, mask: Tensor | None = None) -> Any:
    module = ready(cls, num_heads, query, 0.0, True, training=False)
    return pair(module(query, mask=mask, need_weights=True))


def all_at_once(
    cls: Any,
    num_heads: int,
    query: Tensor,
    key: Tensor | None,
    value: Tensor | None,
    mask: Tensor | None,
    is_causal: bool,
    training: bool,
) -> Any:
    """Give everything that can be given, and return output and weights."""
    module = ready(cls, num_heads, query, 0.0, True, training)
    return pair(module(query, key, value, mask=mask, is_causal=is_causal, need_weights=True))


def with_dropout(cls: Any, num_heads: int, query: Tensor, dropout: float, training: bool) -> Any:
    """Return output and weights. A dropout of 1 drops everything: no chance is left."""
    module = ready(cls, num_heads, query, dropout, True, training)
    return pair(module(query, need_weights=True))


def weights_before_dropout(cls: Any, num_heads: int, query: Tensor, dropout: float) -> Any:
    return with_dropout(cls, num_heads, query, dropout, training=True)[1]


def gradients(cls: Any, num_heads: int, query: Tensor, mask: Tensor | None = None) -> Any:
    module = ready(cls, num_heads, query, 0.0, True, training=True)
    loss = _gradients(lambda x: pair(module(x, mask=mask))[0], query)
    output = pair(module(query, mask=mask))[0]
    sizes = torch.cos(torch.arange(output.numel())).view(output.shape)
    parameters = dict(module.named_parameters())
    found = torch.autograd.grad(
        (output * sizes).sum(), [parameters[name] for name in NAMES], allow_unused=True
    )
    return loss + tuple(torch.zeros(1) if grad is None else grad for grad in found)


def dropped(cls: Any, words: int, dropout: float = 0.5, need_weights: bool = False) -> str:
    """Look at single weights: which are dropped, and how are the others rescaled?

    Every word has the same weight 1 / words, and word s hands over its number twice, at places s
    and words + s. So the output shows the weights of each query twice.
    """
    width = 2 * words
    module = made(cls, width, 1, dropout=dropout).double()
    state = {name: torch.zeros_like(value) for name, value in module.state_dict().items()}
    eye = torch.eye(words, dtype=torch.float64)
    state["in_proj_weight"][2 * width :, :words] = torch.cat([eye, eye])
    state["out_proj.weight"] = torch.eye(width, dtype=torch.float64)
    module.load_state_dict(state)
    module.train()
    x = torch.cat([eye, torch.zeros(words, words, dtype=torch.float64)], dim=1)[None]
    shown = pair(module(x, need_weights=need_weights))[0][0].detach() * words
    return _said(shown, words, round(1 / (1 - dropout), 6))


def _said(shown: Tensor, words: int, scale: float) -> str:
    one, other = shown[:, :words], shown[:, words:]
    if bool((one == 1).all()):
        return "no weight is dropped"
    if not torch.equal(one, other):
        if bool((shown == shown[:1]).all()):
            return "single features of the values are dropped, the same for every query"
        return "single features of a word are dropped, not its weight"
    kinds = set(one.round(decimals=6).unique().tolist())
    if kinds <= {0.0, 1.0}:
        return "weights are dropped; the others are not doubled"
    if kinds != {0.0, scale}:
        return "the weights are neither dropped nor doubled"
    if bool((one == one[:1]).all()):
        return "the same words are dropped for every query"
    return "half the weights are dropped, the others doubled"
