"""Step 1 against arithmetic done by hand, and against what torch accepts."""

import pytest
import torch
from torch import nn

from mha_lib import MultiHeadAttention, head_dim
from mha_lib.hyperparameters import check_count, check_share

pytestmark = pytest.mark.usefixtures("no_shape_checks")


@pytest.mark.parametrize(
    ("embed_dim", "num_heads", "width"),
    [(6, 2, 3), (6, 1, 6), (6, 6, 1), (1, 1, 1), (512, 8, 64), (384, 12, 32), (77, 7, 11)],
)
def test_values_by_hand(embed_dim: int, num_heads: int, width: int) -> None:
    assert head_dim(embed_dim, num_heads) == width
    assert type(head_dim(embed_dim, num_heads)) is int


def test_accepts_exactly_what_torch_accepts() -> None:
    for embed_dim in range(1, 32):
        for num_heads in range(1, 40):
            try:
                with torch.device("meta"):
                    theirs = nn.MultiheadAttention(embed_dim, num_heads).head_dim
            except AssertionError:
                with pytest.raises(ValueError, match="num_heads must divide embed_dim"):
                    head_dim(embed_dim, num_heads)
            else:
                assert head_dim(embed_dim, num_heads) == theirs


def test_message_when_heads_do_not_divide() -> None:
    with pytest.raises(ValueError, match="num_heads must divide") as error:
        head_dim(6, 4)
    assert str(error.value) == (
        "num_heads must divide embed_dim: got embed_dim=6, num_heads=4, "
        "which leaves a remainder of 2; embed_dim=6 allows num_heads in 1, 2, 3, 6"
    )


def test_every_choice_that_the_message_names_works() -> None:
    for embed_dim in (6, 13, 48, 100):
        with pytest.raises(ValueError, match="allows num_heads in") as error:
            head_dim(embed_dim, embed_dim + 1)
        choices = [int(word) for word in str(error.value).split(" in ")[-1].split(", ")]
        assert choices == [h for h in range(1, embed_dim + 1) if embed_dim % h == 0]
        for choice in choices:
            assert head_dim(embed_dim, choice) * choice == embed_dim


def test_the_module_gives_the_same_message() -> None:
    with pytest.raises(ValueError, match=r"got embed_dim=6, num_heads=4, .* in 1, 2, 3, 6$"):
        MultiHeadAttention(6, 4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 1), "embed_dim must be at least 1, got 0"),
        ((-6, 2), "embed_dim must be at least 1, got -6"),
        ((6, 0), "num_heads must be at least 1, got 0"),
        ((6, -2), "num_heads must be at least 1, got -2"),
    ],
)
def test_too_small(arguments: tuple[int, int], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        head_dim(*arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((6.0, 2), r"embed_dim must be an int, got 6\.0 of type float"),
        (("6", 2), "embed_dim must be an int, got '6' of type str"),
        ((None, 2), "embed_dim must be an int, got None of type NoneType"),
        ((6, True), "num_heads must be an int, got True of type bool"),
        ((True, 1), "embed_dim must be an int, got True of type bool"),
        ((6, torch.tensor(2)), r"num_heads must be an int, got tensor\(2\) of type Tensor"),
    ],
)
def test_not_an_int(arguments: tuple[object, object], message: str) -> None:
    with pytest.raises(TypeError, match=f"^{message}$"):
        head_dim(*arguments)  # type: ignore[arg-type]


def test_a_length_that_export_leaves_open_is_a_count() -> None:
    class Counts(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            check_count("length", x.shape[0])
            return x + x.shape[0]

    varies = {0: torch.export.Dim("length", min=2, max=64)}
    program = torch.export.export(Counts(), (torch.zeros(3),), dynamic_shapes=(varies,)).module()
    torch.testing.assert_close(program(torch.zeros(11)), torch.full((11,), 11.0))


def test_check_count_smallest() -> None:
    check_count("offset", 0, smallest=0)
    with pytest.raises(ValueError, match="^offset must be at least 0, got -1$"):
        check_count("offset", -1, smallest=0)


@pytest.mark.parametrize("share", [0, 1, 0.0, 0.25, 1.0])
def test_shares(share: float) -> None:
    check_share("dropout", share)


@pytest.mark.parametrize("share", [-0.1, 1.5, 2, float("nan"), float("inf")])
def test_shares_out_of_range(share: float) -> None:
    with pytest.raises(ValueError, match=rf"^dropout must lie in 0 \.\. 1, got {share}$"):
        check_share("dropout", share)


@pytest.mark.parametrize("share", ["a", None, True, torch.tensor(0.5)])
def test_shares_that_are_no_numbers(share: object) -> None:
    with pytest.raises(TypeError, match="^dropout must be a number, got .* of type "):
        check_share("dropout", share)  # type: ignore[arg-type]
