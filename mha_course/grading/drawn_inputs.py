"""Inputs drawn at random, for asking whether two functions behave alike.

They have nothing to do with the cases of the checks. Marks are made with them too, so that knowing
the visible checks by heart is not enough; and the proof of the checks decides with them,
independently, whether an edited answer is still right.
"""

import random
from collections.abc import Callable, Sequence
from typing import Any

import torch

from mha_lib.exercises import module_asks
from mha_lib.exercises.asks import numbers_in_error, result_or_error

FLOATS = (torch.float64, torch.float32)
Question = tuple[Callable[..., Any], tuple[Any, ...]]


def _plain(function: Callable[..., Any], *args: Any) -> Any:
    return function(*args)


class Draw:
    """Draws the arguments of every exercise, always in the same order.

    Args:
        seed: Of everything that is drawn.
        floats: Which dtypes the inputs of lesson 5 have.
    """

    def __init__(self, seed: int, floats: Sequence[torch.dtype] = FLOATS) -> None:
        self.random, self.floats, self.turn = random.Random(seed), floats, 0
        self.generator = torch.Generator().manual_seed(seed)

    def size(self, most: int = 5) -> int:
        return self.random.randint(1, most)

    def numbers(self, *shape: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
        return torch.randn(shape, generator=self.generator, dtype=torch.float64).to(dtype)

    def ids(self, low: int, high: int, *shape: int) -> torch.Tensor:
        return torch.randint(low, high, shape, generator=self.generator)

    def mask(self, b: int, h: int, n: int, s: int) -> torch.Tensor | None:
        shape = self.random.choice([(n, s), (b, 1, 1, s), (b, 1, n, s), (b, h, n, s), None])
        if shape is None:
            return None
        return torch.rand(shape, generator=self.generator) < self.random.choice([0.3, 0.7])

    def head_dim(self) -> Question:
        h = self.size(9)
        return _plain, (h * self.size(9), h)

    def head_dim_checked(self) -> Question:
        ask = self.random.choice([result_or_error, numbers_in_error])
        args = (self.size(30), self.size(30))
        if ask is numbers_in_error and args[0] % args[1] == 0:
            ask = result_or_error
        return ask, args

    def embed_tokens(self) -> Question:
        b, n, v, e = self.size(), self.size(), self.size(), self.size()
        p = self.size(7)
        args = (self.ids(0, v, b, n), self.numbers(v, e), self.numbers(p, e))
        return (result_or_error if n > p else _plain), args

    def sinusoidal_positions(self) -> Question:
        return _plain, (self.size(9), self.size(9))

    def head_rows(self) -> Question:
        h, d, e = self.size(), self.size(), self.size(9)
        return _plain, (self.numbers(h * d, e), self.random.randrange(h), h)

    def packed_head_rows(self) -> Question:
        h, d = self.size(), self.size()
        weight = self.numbers(3 * h * d, h * d)
        return _plain, (weight, self.random.randrange(3), self.random.randrange(h), h)

    def split_heads(self) -> Question:
        b, n, h, d = (self.size() for _ in range(4))
        return _plain, (self.numbers(b, n, h * d), h)

    def split_heads_view(self) -> Question:
        front = [self.size(3) for _ in range(self.random.randrange(3))]
        n, h, d = (self.size() for _ in range(3))
        return _plain, (self.numbers(*front, n, h * d), h)

    def _qk(self) -> tuple[Any, ...]:
        b, h, n, s, d = (self.size(4) for _ in range(5))
        dtype, size = self.random.choice(self.floats), self.random.choice([1, 30])
        q, k = self.numbers(b, h, n, d, dtype=dtype), self.numbers(b, h, s, d, dtype=dtype)
        return size * q, k, self.mask(b, h, n, s)

    def attention_scores(self) -> Question:
        return _plain, self._qk()[:2]

    def attention_weights(self) -> Question:
        return _plain, self._qk()

    def scaled_dot_product_attention(self) -> Question:
        q, k, mask = self._qk()
        return _plain, (q, k, self.numbers(*k.shape[:-1], self.size(), dtype=k.dtype), mask)

    def merge_heads(self) -> Question:
        return _plain, (self.numbers(*(self.size() for _ in range(4))),)

    def _layer(self, e: int) -> tuple[torch.Tensor, ...]:
        shapes = ((3 * e, e), (3 * e,), (e, e), (e,))
        return tuple(self.numbers(*shape) for shape in shapes)

    def multi_head_attention(self) -> Question:
        b, n, s, h, d = (self.size(4) for _ in range(5))
        e = h * d
        states = self.numbers(b, n, e), self.numbers(b, s, e), self.numbers(b, s, e)
        return _plain, (*states, *self._layer(e), h, self.mask(b, h, n, s))

    def cross_attention(self) -> Question:
        b, n, s, h, d = (self.size(4) for _ in range(5))
        e = h * d
        lengths = self.ids(0, s + 1, b)
        states = self.numbers(b, n, e), self.numbers(b, s, e)
        return _plain, (*states, *self._layer(e), h, lengths)

    def causal_mask(self) -> Question:
        return _plain, (self.size(6), self.size(6), self.random.randrange(4))

    def padding_mask(self) -> Question:
        n = self.size(6)
        return _plain, (self.ids(0, n + 1, self.size()), n)

    def decoder_mask(self) -> Question:
        n = self.size(6)
        return _plain, (self.ids(1, n + 1, self.size()), n)

    def shift_targets(self) -> Question:
        return _plain, (self.ids(0, 9, self.size(), self.size()), self.random.randrange(5))

    def masked_loss(self) -> Question:
        b, n, v = self.size(), self.size(), self.size()
        size = self.random.choice([1, 500])
        logits = size * self.numbers(b, n, v)
        return _plain, (logits, self.ids(0, v, b, n), self.random.randrange(v))

    def MultiHeadAttention(self) -> Question:
        b, n, s, h, d = self.size(), self.size(), self.size(), self.size(3), self.size(3)
        x, key, value = (self.numbers(b, m, h * d) for m in (n, s, s))
        mask = self.mask(b, h, n, n)
        ask = module_asks
        choices: list[Question] = [
            (ask.count, (h * d, h, self.random.random() < 0.5)),
            (ask.names, (h * d, h, self.random.random() < 0.5)),
            (ask.refused, (h * d + 1, h + 1) if (h * d + 1) % (h + 1) else (3, 2)),
            (ask.start, (h * d, h)),
            (ask.alone, (h, x, self.random.random() < 0.7)),
            (ask.cross, (h, x, key)),
            (ask.cross, (h, x, key, value)),
            (ask.masked, (h, x, mask, False)),
            (ask.masked, (h, x, mask, True)),
            (ask.causal_cross, (h, x, key)),
            (ask.with_weights, (h, x, mask)),
            (ask.with_dropout, (h, x, 1.0, True)),
            (ask.with_dropout, (h, x, 0.4, False)),
            (ask.dropped, (9,)),
            (ask.dropped, (9, 0.25, self.random.random() < 0.5)),
            (ask.weights_before_dropout, (h, x, 0.3)),
            (ask.all_at_once, (h, x, None, None, mask, True, True)),
            (ask.all_at_once, (h, x, key, value, self.mask(b, h, n, s), True, False)),
            (ask.all_at_once, (h, x, key, None, self.mask(b, h, n, s), False, True)),
        ]
        self.turn += 1  # each of them in turn: none is left out
        return choices[self.turn % len(choices)]


def questions(
    exercise: str, count: int, seed: int = 7, floats: Sequence[torch.dtype] = FLOATS
) -> list[Question]:
    """Draw questions for one exercise."""
    draw = Draw(seed, floats)
    return [getattr(draw, exercise)() for _ in range(count)]
