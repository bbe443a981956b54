"""Step 3: the rows of a head against torch's Linear, cell by cell."""

import pytest
import torch
from oracles import EXACT, B, D, E, H, L, array, layer64, randn
from torch import nn
from torch.testing import assert_close

from mha_lib import head_rows, reference, split_heads, unpack_projections


def test_rows_by_hand() -> None:
    weight = torch.tensor([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]])
    assert_close(head_rows(weight, 0, 2), torch.tensor([[0.0, 1.0], [2.0, 3.0]]))
    assert_close(head_rows(weight, 1, 2), torch.tensor([[4.0, 5.0], [6.0, 7.0]]))
    assert_close(head_rows(weight, 2, 4), torch.tensor([[4.0, 5.0]]))
    assert_close(head_rows(weight[:, 1], 1, 2), torch.tensor([5.0, 7.0]))


def test_rows_make_the_columns_of_the_output() -> None:
    projection = nn.Linear(E, E).double()
    x = randn(B, L, E)
    columns = projection(x).chunk(H, -1)
    split = split_heads(projection(x), H)
    for head in range(H):
        rows = head_rows(projection.weight, head, H)
        bias = head_rows(projection.bias, head, H)
        assert_close(x @ rows.T + bias, columns[head], **EXACT)
        assert_close(x @ rows.T + bias, split[:, head], **EXACT)
        by_loops = reference.linear(array(x), array(rows), array(bias))
        assert_close(columns[head].detach(), torch.from_numpy(by_loops), **EXACT)


def test_rows_put_together_are_the_weight() -> None:
    weight = randn(E, 13)
    assert_close(torch.cat([head_rows(weight, head, H) for head in range(H)]), weight)


def test_rows_are_a_view() -> None:
    weight = torch.zeros(6, 2)
    head_rows(weight, 1, 3).fill_(1)
    assert weight.tolist() == [[0, 0], [0, 0], [1, 1], [1, 1], [0, 0], [0, 0]]


def test_gradient_reaches_only_the_rows_of_the_head() -> None:
    projection = nn.Linear(E, E).double()
    head_rows(projection.weight, 1, H).square().sum().backward()
    gradient = projection.weight.grad
    assert gradient is not None
    assert torch.equal(gradient[:D], torch.zeros(D, E, dtype=torch.float64))
    assert_close(gradient[D:], 2 * projection.weight.detach()[D:])


def test_unpack_by_hand() -> None:
    packed = torch.arange(12.0).view(6, 2)
    query, key, value = unpack_projections(packed)
    assert query.tolist() == [[0, 1], [2, 3]]
    assert key.tolist() == [[4, 5], [6, 7]]
    assert value.tolist() == [[8, 9], [10, 11]]
    value.fill_(-1)
    assert packed[4:].unique().tolist() == [-1]


def test_unpack_fits_the_packed_layer() -> None:
    layer = layer64()
    x = randn(B, L, E)
    weights = unpack_projections(layer.in_proj_weight)
    biases = unpack_projections(layer.in_proj_bias)
    k, v = layer.project_kv(x)
    for split, weight, bias in ((k, weights[1], biases[1]), (v, weights[2], biases[2])):
        assert_close(split, split_heads(x @ weight.T + bias, H), **EXACT)
    # Of a packed weight of 3 * E rows, the keys of head 1 are rows E + D to E + 2D - 1.
    assert_close(head_rows(weights[1], 1, H), layer.in_proj_weight[E + D : E + 2 * D])


def test_odd_strides() -> None:
    weight = randn(13, E).T
    assert_close(head_rows(weight, 1, H), weight[D:])
    expanded = randn(1, 13).expand(E, 13)
    assert_close(head_rows(expanded, 1, H), expanded[:D])


@pytest.mark.usefixtures("no_shape_checks")
class TestBadInput:
    def test_no_such_head(self) -> None:
        message = r"^head must lie in 0 \.\. 1 \(num_heads=2\), got 2$"
        with pytest.raises(ValueError, match=message):
            head_rows(torch.zeros(6, 6), 2, 2)
        with pytest.raises(ValueError, match="^head must be at least 0, got -1$"):
            head_rows(torch.zeros(6, 6), -1, 2)

    @pytest.mark.parametrize("head", [1.0, True, "1", None])
    def test_head_is_no_int(self, head: object) -> None:
        with pytest.raises(TypeError, match="^head must be an int, got "):
            head_rows(torch.zeros(6, 6), head, 2)  # type: ignore[arg-type]

    def test_heads_do_not_divide_the_rows(self) -> None:
        with pytest.raises(ValueError, match="num_heads must divide embed_dim: got embed_dim=6, n"):
            head_rows(torch.zeros(6, 8), 0, 4)

    def test_scalar(self) -> None:
        message = "^weight must have one row for each output feature, got a scalar$"
        with pytest.raises(ValueError, match=message):
            head_rows(torch.tensor(1.0), 0, 1)
        with pytest.raises(ValueError, match="^in_proj must have 3 "):
            unpack_projections(torch.tensor(1.0))

    @pytest.mark.parametrize("rows", [0, 1, 7, 8])
    def test_rows_of_a_packed_projection(self, rows: int) -> None:
        message = rf"^in_proj must have 3 \* E rows \(query, key, value\), got {rows}$"
        with pytest.raises(ValueError, match=message):
            unpack_projections(torch.zeros(rows, 2))
