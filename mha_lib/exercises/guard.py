"""Around a call: swallow what is printed, put back what a function might change for everybody."""

import builtins
import io
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout

import torch

LONGEST_PRINT = 2_000  # characters that are kept of what a function prints


class Printed(io.StringIO):
    """Keeps the beginning of what is printed and drops the rest."""

    def write(self, text: str) -> int:
        room = LONGEST_PRINT - self.tell()
        super().write(str(text)[: max(room, 0)])
        return len(text)


def _no_input(prompt: object = "") -> str:
    raise RuntimeError("input() cannot be used here: nobody is there to type")


@contextmanager
def guarded(printed: Printed) -> Iterator[None]:
    """Swallow what is printed, and put back what a function might change for everybody."""
    grad, dtype = torch.is_grad_enabled(), torch.get_default_dtype()
    threads = torch.get_num_threads()
    depth, ask, numbers = sys.getrecursionlimit(), builtins.input, torch.get_rng_state()
    builtins.input = _no_input
    try:
        with redirect_stdout(printed), redirect_stderr(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.set_grad_enabled(True)
            torch.set_num_threads(1)  # such small tensors: threads would only wait for each other
            yield
    finally:
        builtins.input = ask
        sys.setrecursionlimit(depth)
        torch.set_rng_state(numbers)
        torch.set_default_dtype(dtype)
        torch.set_num_threads(threads)
        torch.set_grad_enabled(grad)
