"""A right answer that only calls what the exercise asks to be written is told so."""

import re

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from mha_lib.exercises import check, names, solution, statement
from mha_lib.exercises.registry import exercises


def ready_made(query, key, value, attn_mask=None):
    return F.scaled_dot_product_attention(query, key, value, attn_mask)


def through_aten(query, key, value, attn_mask=None):
    return torch.ops.aten.scaled_dot_product_attention(query, key, value, attn_mask)


@pytest.mark.parametrize(
    "answer",
    [ready_made, through_aten],
    ids=lambda f: f.__name__,
)
@pytest.mark.usefixtures("no_shape_checks")
def test_torchs_own_attention_is_noticed(answer):
    verdict = check(answer, "scaled_dot_product_attention")
    assert verdict.status == "passed"
    assert "torch's ready-made `scaled_dot_product_attention`" in verdict.problem
    assert "torch's ready-made `scaled_dot_product_attention`" in str(verdict).replace("\n", " ")


def test_who_writes_it_hears_nothing_of_it():
    namespace = {}
    exec(solution("scaled_dot_product_attention"), namespace)
    verdict = check(namespace["scaled_dot_product_attention"])
    assert (verdict.status, verdict.problem) == ("passed", "")


def layer(query, key, value, w, b, out_w, out_b, num_heads, attn_mask=None):  # noqa: PLR0913
    """Torch's layer, with the empty rows mended."""
    L, S, B = query.shape[1], key.shape[1], query.shape[0]
    mask = None if attn_mask is None else attn_mask.expand(B, num_heads, L, S)
    empty = torch.zeros(B, L, dtype=torch.bool) if mask is None else ~mask[:, 0].any(-1)
    if mask is not None:
        hidden = ~mask & ~empty[:, None, :, None]
        mask = torch.zeros(mask.shape, dtype=query.dtype).masked_fill(hidden, -torch.inf)
        mask = mask.flatten(0, 1)
    made = nn.MultiheadAttention(query.shape[-1], num_heads, batch_first=True, dtype=query.dtype)
    output, _ = F.multi_head_attention_forward(
        *(x.transpose(0, 1) for x in (query, key, value)),
        *(made.embed_dim, num_heads, w, b, None, None, False, 0.0, out_w, out_b),
        attn_mask=mask,
    )
    return torch.where(empty[..., None], out_b, output.transpose(0, 1))


@pytest.mark.usefixtures("no_shape_checks")
def test_torchs_own_layer_is_noticed():
    verdict = check(layer, "multi_head_attention")
    assert verdict.status == "passed"
    assert "torch's ready-made `multi_head_attention_forward`" in verdict.problem


@pytest.mark.parametrize("name", [n for n in names() if exercises()[n].forbidden])
def test_the_statement_says_what_is_forbidden(name):
    assert re.search(r"may not be called|ready-made layers such as .* not", statement(name))


@pytest.mark.parametrize("name", names())
def test_every_statement_has_loops_or_a_worked_case(name):
    text = statement(name)
    loops = "```" in text
    worked = re.search(r"becomes|the answer is|could be|owns? rows|are 9, 10 and 11|` is `", text)
    assert loops or worked, text
