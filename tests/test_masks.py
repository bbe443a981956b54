"""Masks drawn by hand, against the reference, and at work. True = may attend."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import EXACT, E, array, layer64, randn
from torch import Tensor
from torch.nn import functional as F
from torch.testing import assert_close

from mha_lib import (
    attention_weights,
    causal_mask,
    decoder_mask,
    padding_mask,
    reference,
    scaled_dot_product_attention,
)

no_clock = settings(deadline=None, derandomize=True, max_examples=25)
sizes = st.integers(1, 6)


def drawn(mask: Tensor) -> str:
    """A mask of two axes as text: 1 = may attend."""
    return " ".join("".join(str(int(cell)) for cell in row) for row in mask)


# By hand


@pytest.mark.parametrize(
    ("arguments", "picture"),
    [
        ((1, 1), "1"),
        ((4, 4), "1000 1100 1110 1111"),
        ((2, 5), "10000 11000"),
        ((5, 2), "10 11 11 11 11"),
        ((2, 5, 3), "11110 11111"),
        ((1, 5, 4), "11111"),
        ((3, 3, 1), "110 111 111"),
        ((2, 3, 9), "111 111"),
    ],
)
def test_causal_by_hand(arguments: tuple[int, ...], picture: str) -> None:
    mask = causal_mask(*arguments)
    assert mask.dtype == torch.bool
    assert drawn(mask) == picture


@pytest.mark.parametrize("lengths", [[4, 0, 2, 1], torch.tensor([4, 0, 2, 1])])
def test_padding_by_hand(lengths: list[int] | Tensor) -> None:
    mask = padding_mask(lengths, 4)
    assert mask.dtype == torch.bool
    assert mask.shape == (4, 1, 1, 4)
    assert drawn(mask[:, 0, 0]) == "1111 0000 1100 1000"


def test_decoder_by_hand() -> None:
    mask = decoder_mask([4, 2, 0], 4)
    assert mask.dtype == torch.bool
    assert mask.shape == (3, 1, 4, 4)
    assert drawn(mask[0, 0]) == "1000 1100 1110 1111"
    assert drawn(mask[1, 0]) == "1000 1100 1100 1100"
    assert drawn(mask[2, 0]) == "0000 0000 0000 0000"


# Against the reference


@no_clock
@given(sizes, sizes, st.integers(0, 7))
def test_causal_equals_the_reference(length: int, keys: int, offset: int) -> None:
    expected = torch.from_numpy(reference.causal_mask(length, keys, offset))
    assert torch.equal(causal_mask(length, keys, offset), expected)


@no_clock
@given(st.lists(st.integers(0, 6), min_size=1, max_size=4), st.integers(0, 3))
def test_padding_and_decoder_equal_the_reference(lengths: list[int], extra: int) -> None:
    longest = max(1, max(lengths) + extra)
    expected = torch.from_numpy(reference.padding_mask(lengths, longest))
    assert torch.equal(padding_mask(lengths, longest), expected)
    expected = torch.from_numpy(reference.decoder_mask(lengths, longest))
    assert torch.equal(decoder_mask(lengths, longest), expected)
    assert torch.equal(decoder_mask(torch.tensor(lengths), longest), expected)


# At work


def test_causal_equals_is_causal_of_torch() -> None:
    query, key, value = randn(3, 2, 5, 11), randn(3, 2, 7, 11), randn(3, 2, 7, 13)
    theirs = F.scaled_dot_product_attention(query, key, value, is_causal=True)
    ours = scaled_dot_product_attention(query, key, value, causal_mask(5, 7))
    assert_close(ours, theirs, **EXACT)


def test_offset_continues_where_the_cache_ends() -> None:
    layer, x = layer64(), randn(3, 7, E)
    expected, _ = layer(x, is_causal=True)
    k, v = layer.project_kv(x)
    for start in (0, 1, 3, 6):
        new = x[:, start:]
        output, _ = layer.attend(new, k, v, mask=causal_mask(7 - start, 7, offset=start))
        assert_close(output, expected[:, start:], **EXACT)


def test_padded_queries_still_read_real_words() -> None:
    layer, x = layer64(), randn(3, 5, E)
    _, weights = layer(x, mask=decoder_mask([5, 2, 1], 5), need_weights=True)
    assert_close(weights.sum(-1), torch.ones(3, 2, 5, dtype=torch.float64), **EXACT)
    assert not weights[1, :, :, 2:].any()
    assert not weights[2, :, :, 1:].any()


def test_decoder_mask_leaks_nothing() -> None:
    layer, x, mask = layer64(), randn(2, 5, E), decoder_mask([5, 3], 5)
    before, _ = layer(x, mask=mask)
    for changed in range(5):
        other = x.clone()
        other[:, changed] += 10
        after, _ = layer(other, mask=mask)
        assert torch.equal(after[:, :changed], before[:, :changed])
        if changed >= 3:
            rest = [row for row in range(5) if row != changed]
            assert torch.equal(after[1, rest], before[1, rest])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_masks_combine_with_and(dtype: torch.dtype) -> None:
    mask = padding_mask([4, 2], 4) & causal_mask(4, 4)
    assert torch.equal(mask, decoder_mask([4, 2], 4))
    query = randn(2, 3, 4, 5, dtype=dtype)
    joined = attention_weights(query, query, padding_mask([4, 2], 4), is_causal=True)
    assert_close(joined, attention_weights(query, query, mask))


# Inputs of every kind


@pytest.mark.parametrize(
    "dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64], ids=str
)
def test_lengths_of_every_integer_type(dtype: torch.dtype) -> None:
    lengths = torch.tensor([200, 7, 0], dtype=torch.long).clamp(max=127).to(dtype)
    expected = torch.from_numpy(reference.padding_mask(lengths.tolist(), 300))
    assert torch.equal(padding_mask(lengths, 300), expected)


def test_lengths_are_not_changed_and_may_have_strides() -> None:
    lengths = torch.tensor([3, 9, 1, 9, 2, 9])[::2]
    before = lengths.clone()
    assert drawn(padding_mask(lengths, 3)[:, 0, 0]) == "111 100 110"
    decoder_mask(lengths, 3)
    assert torch.equal(lengths, before)
    one = torch.tensor([2]).expand(3)
    assert drawn(padding_mask(one, 3)[:, 0, 0]) == "110 110 110"


def test_no_sentences() -> None:
    none = torch.zeros(0, dtype=torch.long)
    assert padding_mask(none, 4).shape == (0, 1, 1, 4)
    assert decoder_mask(none, 4).shape == (0, 1, 4, 4)


def test_results_are_independent() -> None:
    first = causal_mask(3, 3)
    first.fill_(True)
    assert drawn(causal_mask(3, 3)) == "100 110 111"
    first = padding_mask([1], 3)
    first.fill_(True)
    assert drawn(padding_mask([1], 3)[0, 0]) == "100"


# Bad input


@pytest.mark.usefixtures("no_shape_checks")
class TestBadInput:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ((0, 3), "query_len must be at least 1, got 0"),
            ((3, 0), "key_len must be at least 1, got 0"),
            ((3, 3, -1), "offset must be at least 0, got -1"),
        ],
    )
    def test_causal_too_small(self, arguments: tuple[int, ...], message: str) -> None:
        with pytest.raises(ValueError, match=f"^{message}$"):
            causal_mask(*arguments)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ((3.0, 3), r"query_len must be an int, got 3\.0 of type float"),
            ((3, True), "key_len must be an int, got True of type bool"),
            ((3, 3, None), "offset must be an int, got None of type NoneType"),
        ],
    )
    def test_causal_not_an_int(self, arguments: tuple[object, ...], message: str) -> None:
        with pytest.raises(TypeError, match=f"^{message}$"):
            causal_mask(*arguments)  # type: ignore[arg-type]

    @pytest.mark.parametrize("make", [padding_mask, decoder_mask])
    @pytest.mark.parametrize(
        ("lengths", "wrong"), [([1, 5], 5), ([-1, 2], -1), (torch.tensor([7, -3]), -3)]
    )
    def test_lengths_out_of_range(self, make, lengths, wrong: int) -> None:
        message = rf"^lengths must lie in 0 \.\. 4 \(max_len\), got {wrong}$"
        with pytest.raises(ValueError, match=message):
            make(lengths, 4)

    @pytest.mark.parametrize("make", [padding_mask, decoder_mask])
    @pytest.mark.parametrize(
        ("lengths", "dtype"),
        [
            ([1.0, 2.0], "torch.float32"),
            ([True, False], "torch.bool"),
            (torch.ones(2, 4, dtype=torch.bool), "torch.bool"),
            ([1j], "torch.complex64"),
        ],
    )
    def test_lengths_of_another_type(self, make, lengths, dtype: str) -> None:
        with pytest.raises(TypeError, match=f"^lengths must be whole numbers, got dtype {dtype}$"):
            make(lengths, 4)

    @pytest.mark.parametrize("make", [padding_mask, decoder_mask])
    @pytest.mark.parametrize(
        ("lengths", "shape"), [(3, r"\(\)"), ([[1, 2]], r"\(1, 2\)"), (torch.tensor(2), r"\(\)")]
    )
    def test_lengths_with_other_axes(self, make, lengths, shape: str) -> None:
        message = f"^lengths must have one axis, a length for each sentence, got shape {shape}$"
        with pytest.raises(ValueError, match=message):
            make(lengths, 4)

    @pytest.mark.parametrize("make", [padding_mask, decoder_mask])
    def test_max_len(self, make) -> None:
        with pytest.raises(ValueError, match="^max_len must be at least 1, got 0$"):
            make([0], 0)
        with pytest.raises(TypeError, match=r"^max_len must be an int, got 4\.0 of type float$"):
            make([0], 4.0)


def test_reference_masks_are_bool_arrays() -> None:
    # The tests above compare with them: an int mask would be read as additive.
    for mask in (
        reference.causal_mask(2, 3),
        reference.padding_mask([1], 2),
        reference.decoder_mask([1], 2),
        array(causal_mask(2, 3)),
    ):
        assert mask.dtype == bool
