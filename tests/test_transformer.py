"""The whole model against torch's stacks, and what each word may depend on."""

import math
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from mha_lib import sinusoidal_positions
from mha_lib.transformer import Transformer

B, H, T, S, D, F, N, V = 3, 2, 5, 7, 11, 13, 3, 17
E = H * D
EXACT = {"rtol": 0.0, "atol": 1e-12}
SOURCE = torch.tensor([[3, 4, 5, 6, 7, 8, 9], [10, 11, 4, 0, 0, 0, 0], [12, 3, 3, 13, 16, 0, 0]])
TARGET = torch.tensor([[1, 4, 5, 6, 7], [1, 8, 9, 0, 0], [1, 10, 10, 16, 0]])


def make(is_causal: bool = True) -> Transformer:
    model = Transformer(
        V, embed_dim=E, num_heads=H, num_layers=N, dim_feedforward=F, num_positions=11,
        is_causal=is_causal,
    )  # fmt: skip
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return model.double()


def torch_logits(model: Transformer, source: Tensor, target: Tensor) -> Tensor:
    """The same computation by torch's encoder and decoder with the weights copied."""
    options = {"dropout": 0.0, "norm_first": True, "batch_first": True, "dtype": torch.float64}
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(E, H, F, **options), N, nn.LayerNorm(E).double(),
        enable_nested_tensor=False,
    )  # fmt: skip
    decoder = nn.TransformerDecoder(
        nn.TransformerDecoderLayer(E, H, F, **options), N, nn.LayerNorm(E).double()
    )
    for name, stack in (("encoder", encoder), ("decoder", decoder)):
        stack.load_state_dict(
            {
                key.removeprefix(f"{name}_"): value
                for key, value in model.state_dict().items()
                if key.startswith(f"{name}_")
            }
        )
    state, positions = model.state_dict(), sinusoidal_positions(11, E).double()

    def embed(side: str, ids: Tensor) -> Tensor:
        table = state[f"{side}_input.embedding.weight"]
        return nn.functional.embedding(ids, table) * math.sqrt(E) + positions[: ids.shape[1]]

    hidden = source == 0  # torch's polarity: True = must not attend
    encoded = encoder(embed("source", source), src_key_padding_mask=hidden)
    later = torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).triu(1)
    out = decoder(
        embed("target", target), encoded, tgt_mask=later,
        tgt_key_padding_mask=target == 0, memory_key_padding_mask=hidden,
    )  # fmt: skip
    return out @ state["output.weight"].T + state["output.bias"]


def test_the_whole_model_equals_torch() -> None:
    model = make()
    assert_close(model(SOURCE, TARGET), torch_logits(model, SOURCE, TARGET), rtol=0.0, atol=1e-10)


def test_a_later_target_word_cannot_change_an_earlier_row() -> None:
    model, changed = make(), TARGET.clone()
    changed[:, 3] = 2
    before, after = model(SOURCE, TARGET), model(SOURCE, changed)
    assert_close(after[:, :3], before[:, :3], **EXACT)
    assert (after[0, 3:] - before[0, 3:]).abs().amax(-1).min() > 1e-3  # it does change later ones


def test_without_the_causal_mask_it_does() -> None:
    model, changed = make(is_causal=False), TARGET.clone()
    changed[0, 3] = 2
    difference = (model(SOURCE, changed) - model(SOURCE, TARGET)).abs().amax(-1)
    assert difference[0].min() > 1e-3
    assert_close(difference[1:], torch.zeros(2, T, dtype=torch.float64), **EXACT)


@pytest.mark.parametrize("is_causal", [True, False])
def test_padding_and_batch_mates_change_nothing(is_causal: bool) -> None:
    model = make(is_causal)
    together = model(SOURCE, TARGET)
    for row in range(B):
        source, target = SOURCE[row : row + 1], TARGET[row : row + 1]
        s, t = int((source != 0).sum()), int((target != 0).sum())
        alone = model(source[:, :s], target[:, :t])
        assert_close(together[row : row + 1, :t], alone, **EXACT)


def test_source_padding_counts_when_it_is_not_hidden() -> None:
    model = make()
    hidden, seen = model.encode(SOURCE, model.source_mask(SOURCE)), model.encode(SOURCE)
    assert_close(hidden[0], seen[0], **EXACT)  # no padding there
    assert (hidden[1, :3] - seen[1, :3]).abs().max() > 1e-3


def test_decode_in_two_parts_equals_decode_at_once() -> None:
    model = make()
    mask = model.source_mask(SOURCE)
    memory = model.project_memory(model.encode(SOURCE, mask))
    whole = model.decode(TARGET, memory, mask, need_weights=True)
    first = model.decode(TARGET[:, :2], memory, mask, need_weights=True)
    rest = model.decode(TARGET, memory, mask, past=first.past, need_weights=True)
    assert_close(torch.cat([first.logits, rest.logits], 1), whole.logits, **EXACT)
    assert first.cross_weights is not None
    assert rest.cross_weights is not None
    assert rest.self_weights is not None
    assert whole.self_weights is not None
    cross = torch.cat([first.cross_weights, rest.cross_weights], dim=-2)
    assert_close(cross, whole.cross_weights, **EXACT)
    assert cross.shape == (B, N, H, T, S)
    assert_close(rest.self_weights, whole.self_weights[..., 2:, :], **EXACT)
    assert_close(whole.logits, model(SOURCE, TARGET), **EXACT)
    for theirs, ours in zip(whole.past, rest.past, strict=True):
        assert_close(ours, theirs, **EXACT)


def test_weights_are_zero_where_a_mask_says_so_and_sum_to_one() -> None:
    model = make()
    mask = model.source_mask(SOURCE)
    memory = model.project_memory(model.encode(SOURCE, mask))
    out = model.decode(TARGET, memory, mask, need_weights=True)
    assert out.cross_weights is not None
    assert out.self_weights is not None
    for weights, keep in (
        (out.cross_weights, (SOURCE != 0)[:, None, None, None, :]),
        (out.self_weights, torch.ones(T, T, dtype=torch.bool).tril()),
    ):
        assert_close(weights.sum(-1), torch.ones_like(weights.sum(-1)), **EXACT)
        assert weights.masked_select(~keep.expand_as(weights)).abs().max() == 0
        assert weights.masked_select(keep.expand_as(weights) & (weights > 0)).numel() > 0


def test_every_parameter_is_trained_but_the_padding_rows() -> None:
    model = make()
    model(SOURCE, TARGET).square().sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.abs().max() > 0, name
        if name.endswith("embedding.weight"):
            assert_close(parameter.grad[0], torch.zeros(E, dtype=torch.float64))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_layers": 0}, "num_layers must be at least 1, got 0"),
        ({"dim_feedforward": 0}, "dim_feedforward must be at least 1, got 0"),
        ({"embed_dim": 10, "num_heads": 3}, "num_heads must divide embed_dim: got embed_dim=10"),
        ({"num_positions": 0}, "num_positions must be at least 1, got 0"),
    ],
)
def test_wrong_sizes_are_refused(arguments: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Transformer(V, **arguments)


def test_wrong_ids_are_refused() -> None:
    model = make()
    with pytest.raises(ValueError, match=r"ids must .*12 words.*11 positions"):
        model(torch.ones(1, 12, dtype=torch.long), TARGET[:1])
    with pytest.raises(ValueError, match=r"ids must lie in 0 \.\. 16 .*got 17"):
        model(SOURCE, TARGET.masked_fill(TARGET == 16, 17))


def test_the_command_lists_its_options() -> None:
    command = [sys.executable, "-W", "error", "-m", "mha_lib.transformer", "--help"]
    root = Path(__file__).parents[1]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=root)
    assert done.returncode == 0, done.stderr
    for option in ("--seeds", "--data {dates,numbers}", "--store"):
        assert option in done.stdout
