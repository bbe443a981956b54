"""Call a learner's function so that nothing it does can hurt: what comes back is an `Outcome`."""

import inspect
import linecache
import re
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mha_lib.exercises.error_kind import kind_of
from mha_lib.exercises.exercise import Case, WrongKind
from mha_lib.exercises.forbidden import Noticing
from mha_lib.exercises.guard import Printed, guarded
from mha_lib.exercises.outcome import Outcome, Trouble, snapshot
from mha_lib.exercises.watchdog import TimeUp, limit

SECONDS = 5.0  # for all calls of one check together


class Runner:
    """Calls one function, and adds up the time it takes and the text it prints.

    Args:
        function: The learner's.
        seconds: For all calls together.
        forbidden: Names of torch's functions; those that it calls are kept in `noticing.called`.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        seconds: float = SECONDS,
        forbidden: Sequence[str] = (),
    ) -> None:
        self.function = function
        self.noticing = Noticing(forbidden)
        self.seconds = seconds
        self.printed = Printed()
        self.calls = 0

    def ask(self, case: Case) -> Outcome:
        """Put the case's question to the function."""
        args = [a.clone() if isinstance(a, Tensor) else a for a in case.args]
        self.calls += 1
        start = time.monotonic()
        value, trouble = None, None
        try:
            with ExitStack() as around:
                around.enter_context(guarded(self.printed))
                around.enter_context(limit(self.seconds))
                if self.noticing.names:
                    around.enter_context(self.noticing)
                torch.default_generator.manual_seed(self.calls)  # draws differ from call to call
                value = snapshot(case.ask(self.function, *args))
        except TimeUp:
            trouble = Trouble("endless")
        except BaseException as error:
            trouble = _trouble(error)
        self.seconds -= time.monotonic() - start
        pairs = enumerate(zip(case.args, args, strict=True))
        return Outcome(value, trouble, tuple(i for i, (a, b) in pairs if _changed(a, b)))


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
    return Trouble("raised", kind_of(error), message[:300], _line(error))


def _line(error: BaseException) -> str:
    """Return the last line of the learner's own code that the error went through.

    An error that comes from another process brings the line along, as `learner_line`.
    """
    if hasattr(error, "learner_line"):
        return str(error.learner_line)
    found, trace = "", error.__traceback__
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
