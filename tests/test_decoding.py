"""Greedy decoding: with cache as without, where it stops, which row belongs to which word."""

import pytest
import torch
from oracles import EXACT
from torch import Tensor
from torch.testing import assert_close

from mha_lib.decoding import greedy_decode
from mha_lib.training import shift_targets
from mha_lib.transformer import BOS_ID, EOS_ID, PAD_ID, Transformer

SOURCE = torch.tensor([[3, 4, 5, 6, 7, 8, 9], [10, 11, 4, 0, 0, 0, 0], [12, 3, 3, 13, 16, 0, 0]])
S, N, H, POSITIONS = 7, 3, 2, 11


def make(is_causal: bool = True) -> Transformer:
    """A random model that writes many words: its scores depend on what it has written."""
    model = Transformer(
        17, embed_dim=22, num_heads=H, num_layers=N, dim_feedforward=13,
        num_positions=POSITIONS, is_causal=is_causal,
    ).double()  # fmt: skip
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return model


def always(model: Transformer, best: int, second: int) -> Transformer:
    """Let the model prefer two words, whatever it reads."""
    with torch.no_grad():
        model.output.weight.zero_()
        model.output.bias.zero_()
        model.output.bias[best], model.output.bias[second] = 2.0, 1.0
    return model


def test_with_cache_as_without() -> None:
    model = make()
    plain = greedy_decode(model, SOURCE, use_cache=False, need_weights=True)
    cached = greedy_decode(model, SOURCE, use_cache=True, need_weights=True)
    assert len(plain.tokens.unique()) > 3  # not one word over and over
    assert_close(cached.tokens, plain.tokens)
    assert_close(cached.cross_weights, plain.cross_weights, **EXACT)
    assert greedy_decode(model, SOURCE).cross_weights is None
    assert_close(greedy_decode(model, SOURCE).tokens, plain.tokens)


@pytest.mark.parametrize(("use_cache", "widths"), [(True, [1, 1, 1, 1]), (False, [1, 2, 3, 4])])
def test_the_cache_saves_work(use_cache: bool, widths: list[int]) -> None:
    model, seen = always(make(), 5, 6), []
    projected = []
    model.decoder_layers[0].register_forward_pre_hook(lambda _, x: seen.append(x[0].shape[1]))
    inner = model.project_memory
    model.project_memory = lambda encoded: projected.append(1) or inner(encoded)
    greedy_decode(model, SOURCE, max_len=4, use_cache=use_cache)
    assert seen == widths
    assert projected == [1]  # the encoder output: once for all steps


def test_each_word_is_the_best_one_after_the_words_before() -> None:
    """Teacher forcing with its own words gives the same words and the same weights."""
    model = make()
    for row in range(3):
        source = SOURCE[row : row + 1]
        tokens, weights = greedy_decode(model, source, need_weights=True)
        mask = model.source_mask(source)
        memory = model.project_memory(model.encode(source, mask))
        whole = model.decode(shift_targets(tokens, BOS_ID), memory, mask, need_weights=True)
        assert_close(whole.logits[..., 1:].argmax(-1) + 1, tokens)  # id 0, padding, is no word
        assert_close(weights, whole.cross_weights, **EXACT)
        assert weights.shape == (1, N, H, tokens.shape[1], S)


def test_batch_mates_and_padding_change_nothing() -> None:
    model = make()
    together = greedy_decode(model, SOURCE).tokens
    for row, length in enumerate([7, 3, 5]):
        alone = greedy_decode(model, SOURCE[row : row + 1, :length]).tokens
        assert_close(together[row : row + 1, : alone.shape[1]], alone)
        assert (together[row, alone.shape[1] :] == PAD_ID).all()


def test_it_stops_at_eos() -> None:
    tokens = greedy_decode(always(make(), EOS_ID, 5), SOURCE).tokens
    assert_close(tokens, torch.full((3, 1), EOS_ID))


def test_a_finished_sentence_gets_padding_while_others_go_on() -> None:
    model = always(make(), 5, 6)
    steps = iter([[5, EOS_ID, 6], [EOS_ID, 7, 6], [9, 9, EOS_ID]])
    model.output.register_forward_hook(lambda *_: one_hot(next(steps)))
    tokens = greedy_decode(model, SOURCE).tokens
    assert tokens.tolist() == [[5, EOS_ID, 0], [EOS_ID, 0, 0], [6, 6, EOS_ID]]


def one_hot(words: list[int]) -> Tensor:
    return torch.nn.functional.one_hot(torch.tensor(words), 17).double()[:, None]


@pytest.mark.parametrize(("max_len", "length"), [(1, 1), (4, 4), (None, POSITIONS)])
def test_without_eos_it_is_cut_at_max_len(max_len: int | None, length: int) -> None:
    tokens = greedy_decode(always(make(), 5, 6), SOURCE, max_len=max_len).tokens
    assert_close(tokens, torch.full((3, length), 5))


def test_the_padding_is_never_written() -> None:
    tokens = greedy_decode(always(make(), PAD_ID, 6), SOURCE, max_len=2).tokens
    assert_close(tokens, torch.full((3, 2), 6))


def test_the_source_mask_can_be_switched_off() -> None:
    model, everything = make(), torch.ones(1, 1, 1, S, dtype=torch.bool)
    hidden = greedy_decode(model, SOURCE, need_weights=True).cross_weights
    seen = greedy_decode(model, SOURCE, source_mask=everything, need_weights=True).cross_weights
    assert hidden is not None
    assert seen is not None
    assert hidden[1, ..., 3:].max() == 0
    assert seen[1, ..., 3:].max() > 0.01


def test_a_decoder_without_causal_mask_is_run_without_cache() -> None:
    model = make(is_causal=False)
    plain = greedy_decode(model, SOURCE, use_cache=False, need_weights=True)
    default = greedy_decode(model, SOURCE, need_weights=True)
    assert_close(default.cross_weights, plain.cross_weights, rtol=0, atol=0)
    # The cache keeps what earlier words looked like before later ones came: other weights.
    cached = greedy_decode(model, SOURCE, use_cache=True, need_weights=True).cross_weights
    assert cached is not None
    assert plain.cross_weights is not None
    assert_close(cached[..., 0, :], plain.cross_weights[..., 0, :], **EXACT)
    assert (cached[0, :, :, 2] - plain.cross_weights[0, :, :, 2]).abs().max() > 1e-3


@pytest.mark.parametrize(
    ("max_len", "message"),
    [
        (0, "max_len must be at least 1, got 0"),
        (12, "max_len must be at most 11, the number of the model's positions, got 12"),
    ],
)
def test_wrong_max_len_is_refused(max_len: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        greedy_decode(make(), SOURCE, max_len=max_len)
