"""Step 2 against hand values, the NumPy reference and torch's embedding."""

import math

import pytest
import torch
from oracles import array, randn
from torch import Tensor
from torch.nn import functional as F
from torch.testing import assert_close

from mha_lib import InputLayer, embed_tokens, reference, sinusoidal_positions

# Batch, length, width, words, positions: distinct primes, and an odd width.
B, L, E, V, P = 3, 5, 11, 13, 17


def example() -> tuple[Tensor, Tensor, Tensor]:
    return torch.randint(V, (B, L)), randn(V, E), randn(P, E)


# Positions


def test_positions_by_hand() -> None:
    expected = [
        [0.0, 1.0, 0.0, 1.0],
        [math.sin(1), math.cos(1), math.sin(0.01), math.cos(0.01)],
        [math.sin(2), math.cos(2), math.sin(0.02), math.cos(0.02)],
    ]
    assert_close(sinusoidal_positions(3, 4), torch.tensor(expected))


def test_odd_width_ends_with_a_sine() -> None:
    angle = 10000 ** (-2 / 3)
    expected = [[0.0, 1.0, 0.0], [math.sin(1), math.cos(1), math.sin(angle)]]
    assert_close(sinusoidal_positions(2, 3), torch.tensor(expected))


@pytest.mark.parametrize(("length", "width"), [(1, 1), (P, E), (7, 2), (211, 6)])
def test_positions_equal_the_reference_to_the_last_bit_but_one(length: int, width: int) -> None:
    expected = torch.from_numpy(reference.sinusoidal_positions(length, width)).float()
    positions = sinusoidal_positions(length, width)
    assert positions.dtype == torch.float32
    assert_close(positions, expected, rtol=0, atol=6e-8)


def test_late_positions_are_not_rounded_on_the_way() -> None:
    # In float32 the angle 99 991 would be off by up to 0.004.
    row = sinusoidal_positions(99_992, 2)[-1]
    assert_close(row, torch.tensor([math.sin(99_991), math.cos(99_991)]), rtol=0, atol=6e-8)


def test_a_shift_turns_every_pair_of_columns_by_one_angle() -> None:
    # sin(p + k), cos(p + k) come from sin(p), cos(p) by a rotation that does not depend on p.
    table = sinusoidal_positions(P, 8).double().view(P, 4, 2)
    angle = 3 / 10000 ** (torch.arange(0, 8, 2, dtype=torch.float64) / 8)
    sine, cosine = table[:-3].unbind(-1)
    turned_sine = sine * angle.cos() + cosine * angle.sin()
    turned_cosine = cosine * angle.cos() - sine * angle.sin()
    assert_close(torch.stack([turned_sine, turned_cosine], -1), table[3:], rtol=0, atol=1e-6)


# Tokens


def test_tokens_by_hand() -> None:
    table = torch.tensor([[1.0, 0.0, 0.0, 2.0], [0.0, 3.0, 0.0, 0.0]])
    positions = torch.tensor([[10.0, 20.0, 30.0, 40.0], [50.0, 60.0, 70.0, 80.0]])
    expected = [[[10.0, 26.0, 30.0, 40.0], [52.0, 60.0, 70.0, 84.0]]]
    assert_close(embed_tokens(torch.tensor([[1, 0]]), table, positions), torch.tensor(expected))


def test_tokens_equal_reference_and_torch() -> None:
    ids, table, positions = example()
    result = embed_tokens(ids, table, positions)
    expected = reference.embed_tokens(array(ids), array(table), array(positions))
    assert_close(result, torch.from_numpy(expected), rtol=0, atol=1e-12)
    theirs = F.embedding(ids, table) * math.sqrt(E) + positions[:L]
    assert_close(result, theirs, rtol=0, atol=1e-12)


def test_tokens_gradients_equal_torch() -> None:
    ids, table, positions = example()
    factors = randn(B, L, E)
    ours = [table.clone().requires_grad_(), positions.clone().requires_grad_()]
    theirs = [table.clone().requires_grad_(), positions.clone().requires_grad_()]
    (embed_tokens(ids, *ours) * factors).sum().backward()
    ((F.embedding(ids, theirs[0]) * math.sqrt(E) + theirs[1][:L]) * factors).sum().backward()
    for mine, other in zip(ours, theirs, strict=True):
        assert_close(mine.grad, other.grad, rtol=0, atol=1e-12)


def test_any_leading_axes() -> None:
    ids, table, positions = example()
    whole = embed_tokens(ids, table, positions)
    assert_close(embed_tokens(ids[1], table, positions), whole[1])
    assert_close(embed_tokens(ids[None, :, None], table, positions), whole[None, :, None])
    assert embed_tokens(ids[:0], table, positions).shape == (0, L, E)


@pytest.mark.parametrize(
    "dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64], ids=str
)
def test_every_integer_type_is_an_id(dtype: torch.dtype) -> None:
    # Plain indexing would read uint8 as a mask and refuse int8 and int16.
    ids, table, positions = example()
    expected = embed_tokens(ids, table, positions)
    assert_close(embed_tokens(ids.to(dtype), table, positions), expected)
    layer = InputLayer(V, E, P)
    assert_close(layer(ids.to(dtype)), layer(ids))


def test_odd_strides_and_inputs_unchanged() -> None:
    ids, table, positions = example()
    expected = embed_tokens(ids, table, positions)
    strange = [ids.T.contiguous().T, table.T.contiguous().T, positions.flip(0).flip(0)]
    before = [x.clone() for x in strange]
    assert_close(embed_tokens(*strange), expected)
    for x, copy in zip(strange, before, strict=True):
        assert torch.equal(x, copy)
    row = ids[:1].expand(B, L)
    assert_close(embed_tokens(row, table, positions)[2], expected[0])


def test_nan_in_the_table_stays_visible() -> None:
    _, table, positions = example()
    table[4] = torch.nan
    result = embed_tokens(torch.tensor([4, 5]), table, positions)
    assert result[0].isnan().all()
    assert not result[1].isnan().any()


# The layer


def test_layer_equals_function_and_reference() -> None:
    layer = InputLayer(V, E, P).double()
    ids = torch.randint(V, (B, L))
    result = layer(ids)
    assert_close(result, embed_tokens(ids, layer.embedding.weight, layer.positions))
    expected = reference.embed_tokens(
        array(ids), array(layer.embedding.weight), array(layer.positions)
    )
    assert_close(result.detach(), torch.from_numpy(expected), rtol=0, atol=1e-12)
    assert_close(layer.positions, sinusoidal_positions(P, E).double())


def test_only_the_word_table_is_trained_and_saved() -> None:
    layer = InputLayer(V, E, P)
    assert list(layer.state_dict()) == ["embedding.weight"]
    assert [name for name, _ in layer.named_parameters()] == ["embedding.weight"]
    other = InputLayer(V, E, P)
    other.load_state_dict(layer.state_dict(), strict=True)
    ids = torch.randint(V, (B, L))
    assert_close(other(ids), layer(ids))


def test_new_rows_have_length_about_one() -> None:
    lengths = InputLayer(997, 512, 2).embedding.weight.norm(dim=1)
    # 512 features leave a spread of 0.03, so 0.15 is five times that.
    assert lengths.min() > 0.85
    assert lengths.max() < 1.15


def test_padding_row_is_zero_and_stays_so() -> None:
    layer = InputLayer(V, E, P, padding_idx=2)
    ids = torch.tensor([[2, 5, 2]])
    assert_close(layer(ids)[0, 0], layer.positions[0])
    layer(ids).square().sum().backward()
    gradient = layer.embedding.weight.grad
    assert isinstance(gradient, Tensor)
    assert torch.equal(gradient[2], torch.zeros(E))
    assert gradient[5].abs().min() > 0


@pytest.mark.usefixtures("no_shape_checks")
@pytest.mark.parametrize("strict", [False, True])
def test_layer_exports_with_any_batch_and_length(strict: bool) -> None:
    layer = InputLayer(V, E, P)
    axes = {0: torch.export.Dim("batch", max=64), 1: torch.export.Dim("length", max=P)}
    ids = torch.randint(V, (B, L))
    program = torch.export.export(layer, (ids,), dynamic_shapes=(axes,), strict=strict).module()
    longer = torch.randint(V, (2, 7))
    assert_close(program(longer), layer(longer))


@pytest.mark.usefixtures("no_shape_checks")
def test_layer_compiles() -> None:
    layer = InputLayer(V, E, P)
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    ids = torch.randint(V, (B, L))
    assert_close(compiled(ids), layer(ids))


# Bad input


@pytest.mark.usefixtures("no_shape_checks")
class TestBadInput:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ((0, 6), "num_positions must be at least 1, got 0"),
            ((4, -1), "embed_dim must be at least 1, got -1"),
        ],
    )
    def test_positions(self, arguments: tuple[int, int], message: str) -> None:
        with pytest.raises(ValueError, match=f"^{message}$"):
            sinusoidal_positions(*arguments)

    def test_positions_need_ints(self) -> None:
        with pytest.raises(TypeError, match=r"^embed_dim must be an int, got 6\.0 of type float$"):
            sinusoidal_positions(4, 6.0)  # type: ignore[arg-type]

    @pytest.mark.parametrize("dtype", [torch.float32, torch.bool, torch.complex64], ids=str)
    def test_ids_of_another_type(self, dtype: torch.dtype) -> None:
        _, table, positions = example()
        for call in (InputLayer(V, E, P), lambda ids: embed_tokens(ids, table, positions)):
            with pytest.raises(TypeError, match=f"^ids must be whole numbers, got dtype {dtype}$"):
                call(torch.ones(2, dtype=dtype))

    @pytest.mark.parametrize(("ids", "wrong"), [([0, 13], 13), ([-1, 3], -1), ([-4, 99], -4)])
    def test_ids_out_of_range(self, ids: list[int], wrong: int) -> None:
        _, table, positions = example()
        message = rf"^ids must lie in 0 \.\. 12 \(table has 13 rows\), got {wrong}$"
        for call in (InputLayer(V, E, P), lambda ids: embed_tokens(ids, table, positions)):
            with pytest.raises(ValueError, match=message):
                call(torch.tensor(ids))

    def test_too_many_words(self) -> None:
        _, table, positions = example()
        message = "^ids must not be longer than positions: got 18 words and 17 positions$"
        for call in (InputLayer(V, E, P), lambda ids: embed_tokens(ids, table, positions)):
            with pytest.raises(ValueError, match=message):
                call(torch.zeros(1, 18, dtype=torch.long))

    @pytest.mark.parametrize("shape", [(0,), (3, 0), ()])
    def test_no_words(self, shape: tuple[int, ...]) -> None:
        message = r"^ids must hold at least one word, got shape \("
        with pytest.raises(ValueError, match=message):
            InputLayer(V, E, P)(torch.zeros(shape, dtype=torch.long))

    def test_widths_differ(self) -> None:
        ids, table, _ = example()
        with pytest.raises(ValueError, match="must be as wide as table: got widths 7 and 11$"):
            embed_tokens(ids, table, randn(P, 7))

    def test_a_position_table_with_a_third_axis(self) -> None:
        # It would be added along the batch: one position for each sentence, without an error.
        ids, table, positions = example()
        message = r"positions must have two axes \(rows, width\), got shape \(17, 1, 11\)"
        with pytest.raises(ValueError, match=message):
            embed_tokens(ids, table, positions.unsqueeze(1))
        with pytest.raises(ValueError, match=r"^table must have two axes .* got shape \(11,\)$"):
            embed_tokens(ids, table[0], positions)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ((0, 6, 4), "num_embeddings must be at least 1, got 0"),
            ((5, 0, 4), "embed_dim must be at least 1, got 0"),
            ((5, 6, 0), "num_positions must be at least 1, got 0"),
        ],
    )
    def test_layer_sizes(self, arguments: tuple[int, int, int], message: str) -> None:
        with pytest.raises(ValueError, match=f"^{message}$"):
            InputLayer(*arguments)

    def test_padding_idx(self) -> None:
        message = r"^padding_idx must lie in 0 \.\. 4 \(num_embeddings=5\), got 5$"
        with pytest.raises(ValueError, match=message):
            InputLayer(5, 6, 4, padding_idx=5)
        with pytest.raises(ValueError, match="^padding_idx must be at least 0, got -1$"):
            InputLayer(5, 6, 4, padding_idx=-1)
