"""Right beside wrong: the numbers of a counter-example as rows of a small table."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import torch
from torch import Tensor

from mha_lib.exercises.comparing import close, described
from mha_lib.exercises.outcome import Outcome

MOST_ROWS, MOST_CELLS = 6, 8  # what fits under a cell without scrolling
MOST_WRITTEN = 48  # numbers of an argument that are written out
MARK = "≠"


@dataclass(frozen=True)
class Row:
    """One row of the comparison: its place, the right numbers, the learner's."""

    place: str
    right: str
    yours: str


@dataclass(frozen=True)
class Example:
    """An input, and what comes out of it: `inputs` holds name and text of each argument."""

    inputs: tuple[tuple[str, str], ...]
    says: str
    rows: tuple[Row, ...]


def example(
    inputs: Mapping[str, Any], says: str, right: Outcome, got: Outcome, tolerance: float
) -> Example:
    """Make the texts of a counter-example."""
    shown = tuple((name, written(value)) for name, value in inputs.items())
    if got.trouble is not None:
        return Example(shown, says, ())
    return Example(shown, says, tuple(_rows(right.value, got.value, tolerance)))


def written(value: Any) -> str:
    """Write an argument: a small tensor in full, a large one by its shape.

    >>> written(torch.tensor([[0.5, 2.0]]))
    '[[0.5, 2]]'
    """
    if not isinstance(value, Tensor):
        return str(value)
    if value.numel() > MOST_WRITTEN:
        return f"a tensor of shape {tuple(value.shape)}"
    kind = {torch.bool: " (True = may attend)", torch.float16: " (float16)"}.get(value.dtype, "")
    return _nested(value) + kind


def number(value: float, decimals: int) -> str:
    """Write a number with at most so many decimals, without zeros at the end.

    >>> number(-0.001, 2), number(2.50, 2)
    ('0', '2.5')
    """
    if value != value or value in (float("inf"), float("-inf")):
        return {"nan": "NaN", "inf": "∞", "-inf": "-∞"}[str(value)]
    if abs(value) >= 1e7:
        return f"{value:.3g}"
    text = f"{value:.{decimals}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text


def _nested(value: Tensor) -> str:
    if value.ndim == 0:
        item = value.item()
        return str(item) if isinstance(item, bool) else number(item, 2)
    return "[" + ", ".join(_nested(part) for part in value) + "]"


def _rows(right: Any, got: Any, tolerance: float) -> Iterator[Row]:
    if isinstance(right, tuple) and isinstance(got, tuple):
        pairs = zip(right, got, strict=False)
        parts = [
            Row(f"part {part} {row.place}", row.right, row.yours)
            for part, (r, g) in enumerate(pairs)
            for row in _rows(r, g, tolerance)
        ]
        yield from [row for row in parts if MARK in row.yours][:MOST_ROWS]
        return
    if not (isinstance(right, Tensor) and isinstance(got, Tensor)):
        yield Row("", _one(right), _one(got))
    elif right.shape == got.shape:
        yield from _tensor_rows(right, got, tolerance)
    else:
        yield Row("shape", str(tuple(right.shape)), f"{tuple(got.shape)} {MARK}")
        if right.numel() <= 24 and got.numel() <= 24:
            yield Row("numbers", _nested(right), _nested(got))


def _one(value: Any) -> str:
    return described(value) if not isinstance(value, (str, Tensor)) else written(value)


def _tensor_rows(right: Tensor, got: Tensor, tolerance: float) -> Iterator[Row]:
    differs = ~close(right, got, tolerance)
    differs |= torch.tensor((right.dtype == torch.bool) != (got.dtype == torch.bool))
    decimals = _decimals(right, got, differs)
    if right.ndim == 0:
        right, got, differs = right[None], got[None], differs[None]
    places = list(product(*map(range, right.shape[:-1])))
    wrong = [index for index in places if bool(differs[index].any())]
    small = len(places) <= MOST_ROWS
    for index in (places if small else wrong)[:MOST_ROWS]:
        yield Row(
            _place(index),
            _cells(right[index], differs[index] & False, decimals),
            _cells(got[index], differs[index], decimals),
        )
    if not small and len(wrong) > MOST_ROWS:
        yield Row("...", f"{len(wrong)} rows differ,", f"of {len(places)}")


def _place(index: tuple[int, ...]) -> str:
    return "[" + ", ".join(map(str, index)) + "]" if index else ""


def _decimals(right: Tensor, got: Tensor, differs: Tensor) -> int:
    """Return how many decimals it takes to see every difference."""
    pairs = list(zip(right[differs].tolist(), got[differs].tolist(), strict=True))[:50]
    for decimals in range(2, 7):
        if all(number(a, decimals) != number(b, decimals) for a, b in pairs):
            return decimals
    return 6


def _cells(row: Tensor, differs: Tensor, decimals: int) -> str:
    pairs = list(zip(row.tolist(), differs.tolist(), strict=True))
    texts = [
        (str(v) if isinstance(v, bool) else number(v, decimals)) + (MARK if wrong else "")
        for v, wrong in pairs
    ]
    more = " ..." if len(texts) > MOST_CELLS else ""
    return "  ".join(texts[:MOST_CELLS]) + more
