"""Numbers as the lessons print them: two decimals, no negative zero, words beside the rows."""

from collections.abc import Sequence

from torch import Tensor


def number(value: float | int, whole: bool = False) -> str:
    """Write a number with two decimals and a true minus; whole numbers without.

    >>> number(-0.001), number(2.5), number(-3.0, whole=True)
    ('0.00', '2.50', '−3')

    Args:
        value: The number.
        whole: Leave the decimals out.

    Returns:
        Text of the same width on every machine: a rounded zero never has a sign.
    """
    text = f"{value:.0f}" if whole else f"{value:.2f}"
    if float(text) == 0:
        text = text.lstrip("-")
    return text.replace("-", "−")


def is_whole(x: Tensor) -> bool:
    """Say whether every number is an integer, as typed by hand: then no decimals are shown.

    >>> import torch
    >>> is_whole(torch.tensor([2.0, -3.0])), is_whole(torch.tensor([0.5]))
    (True, False)
    """
    return bool((x == x.round()).all())


def table(
    x: Tensor, rows: Sequence[object] | None = None, columns: Sequence[object] | None = None
) -> None:
    """Print a matrix with its labels.

    >>> import torch
    >>> table(torch.tensor([[1.0, 0.5], [0.0, -2.0]]), rows=["dogs", "cats"])
              0      1
    dogs   1.00   0.50
    cats   0.00  −2.00

    Args:
        x: Two axes, or one (then it is printed as one row).
        rows: A label for each row.
        columns: A label for each column; its index if None.

    Raises:
        ValueError: `x` has more than two axes, or the labels do not fit.
    """
    cells = x.detach().reshape(1, -1) if x.ndim < 2 else x.detach()
    if cells.ndim != 2:
        raise ValueError(f"x must have one or two axes, got shape {tuple(x.shape)}")
    names = [str(r) for r in rows] if rows is not None else [""] * cells.shape[0]
    heads = [str(c) for c in (columns if columns is not None else range(cells.shape[1]))]
    check_labels("rows", names, cells.shape[0])
    check_labels("columns", heads, cells.shape[1])
    whole = is_whole(cells)
    body = [[number(float(value), whole) for value in row] for row in cells]
    width = max(5, *(len(text) for line in [heads, *body] for text in line))
    margin = max(len(name) for name in names)
    print(" " * margin + "".join(f"  {text:>{width}}" for text in heads))
    for name, line in zip(names, body, strict=True):
        print(f"{name:<{margin}}" + "".join(f"  {text:>{width}}" for text in line))


def check_labels(name: str, labels: Sequence[object], count: int) -> None:
    """Raise unless there is one label for each row or column.

    >>> check_labels("rows", ["dogs"], 4)
    Traceback (most recent call last):
        ...
    ValueError: rows must have 4 labels, got 1: ['dogs']
    """
    if len(labels) != count:
        raise ValueError(f"{name} must have {count} labels, got {len(labels)}: {list(labels)}")
