"""Call a learner's function so that nothing it does can hurt: what comes back is an `Outcome`."""

import builtins
import inspect
import io
import linecache
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from types import TracebackType
from typing import Any

import torch
from torch import Tensor

from mha_lib.exercises.exercise import Case, WrongKind
from mha_lib.exercises.watchdog import TimeUp, limit

SECONDS = 5.0  # for all calls of one check together
MOST_NUMBERS = 1_000_000  # a bigger result is not looked into
LONGEST_PRINT = 2_000  # characters that are kept of what a function prints


@dataclass(frozen=True)
class Trouble:
    """Why there is no result. `kind`: "raised", "endless", "wrong kind" or "not attempted"."""

    kind: str
    name: str = ""
    message: str = ""
    line: str = ""


@dataclass(frozen=True)
class Outcome:
    """What one call did: a result or trouble, and the arguments that it changed."""

    value: Any = None
    trouble: Trouble | None = None
    changed: tuple[int, ...] = ()


@dataclass(frozen=True)
class Something:
    """Stands for a result that is no number, text or tensor."""

    described: str


class Runner:
    """Calls one function, and adds up the time it takes and the text it prints."""

    def __init__(self, function: Callable[..., Any], seconds: float = SECONDS) -> None:
        self.function = function
        self.seconds = seconds
        self.printed = _Printed()
        self.calls = 0

    def ask(self, case: Case) -> Outcome:
        """Put the case's question to the function."""
        args = [a.clone() if isinstance(a, Tensor) else a for a in case.args]
        self.calls += 1
        start = time.monotonic()
        value, trouble = None, None
        try:
            with _guarded(self.printed), limit(self.seconds):
                torch.default_generator.manual_seed(self.calls)  # draws differ from call to call
                value = snapshot(case.ask(self.function, *args))
        except TimeUp:
            trouble = Trouble("endless")
        except BaseException as error:
            trouble = _trouble(error)
        self.seconds -= time.monotonic() - start
        pairs = enumerate(zip(case.args, args, strict=True))
        return Outcome(value, trouble, tuple(i for i, (a, b) in pairs if _changed(a, b)))


def snapshot(value: Any, depth: int = 0) -> Any:
    """Copy a result, so that nothing done later changes it.

    >>> snapshot([1, 2])
    Something(described='a list')
    """
    if isinstance(value, Tensor):
        if value.numel() > MOST_NUMBERS:
            return Something(f"a tensor of shape {tuple(value.shape)}")
        if value.layout != torch.strided or value.is_complex() or value.device.type != "cpu":
            return Something(f"a tensor of dtype {value.dtype}, layout {value.layout}")
        return value.detach().as_subclass(Tensor).clone()
    if isinstance(value, tuple) and depth < 3 and len(value) < 50:
        return tuple(snapshot(part, depth + 1) for part in value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Integral):  # a NumPy integer
        return int(value)
    name = type(value).__name__
    return Something("a NumPy array" if name == "ndarray" else f"{_article(name)} {name}")


def _article(name: str) -> str:
    return "an" if name[:1].lower() in "aeiou" else "a"


def _changed(before: Any, after: Any) -> bool:
    if not isinstance(before, Tensor):
        return False
    same = before.shape == after.shape and before.dtype == after.dtype
    return not (same and torch.equal(before.nan_to_num(), after.detach().nan_to_num()))


def _trouble(error: BaseException) -> Trouble:
    try:
        message = re.sub(r"0x[0-9a-f]+", "0x...", str(error)).strip()
    except BaseException:  # an exception whose own text fails
        message = ""
    if isinstance(error, WrongKind):
        return Trouble("wrong kind", message=message)
    if type(error) is NotImplementedError and not message:
        return Trouble("not attempted")
    return Trouble("raised", type(error).__name__, message[:300], _line(error.__traceback__))


def _line(trace: TracebackType | None) -> str:
    """Return the last line of the learner's own code that the error went through."""
    found = ""
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if not any(name.startswith(folder) for folder in _NOT_THE_LEARNERS):
            found = linecache.getline(name, trace.tb_lineno).strip() or found
        trace = trace.tb_next
    return found


_NOT_THE_LEARNERS = (
    str(Path(inspect.getfile(inspect)).parent),
    str(Path(inspect.getfile(torch)).parents[1]),
    str(Path(__file__).parents[1]),
)


class _Printed(io.StringIO):
    """Keeps the beginning of what is printed and drops the rest."""

    def write(self, text: str) -> int:
        room = LONGEST_PRINT - self.tell()
        super().write(str(text)[: max(room, 0)])
        return len(text)


def _no_input(prompt: object = "") -> str:
    raise RuntimeError("input() cannot be used here: nobody is there to type")


@contextmanager
def _guarded(printed: _Printed) -> Iterator[None]:
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
