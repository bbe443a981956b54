"""A learner's function or class, called from here, run in its sandbox.

The checks need not know: what they call looks like the function itself. Tensors go over and come
back, inputs that were changed are changed here too, gradients are followed back over the wire.
"""

import builtins
import re
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

import mha_lib
from mha_course.grading.inside.wire import BadMessage, Reader, Writer, whole
from mha_course.grading.library import REFUSAL, REFUSED
from mha_course.grading.sandbox import Ended, Sandbox
from mha_lib.exercises.outcome import Something, described_type
from mha_lib.exercises.watchdog import TimeUp

MOST_RESTARTS = 2
MOST_TIMES_UP = 2
LONGEST_NAME = 200  # of a parameter: each dot in it makes a module here


class GoneError(Exception):
    """The learner's process ended in the middle of a question."""

    learner_line = ""


class Learner:
    """One answer in its sandbox.

    Args:
        sandbox: Where it runs.
        head: What the learner's side needs to load it: "name", "parts", "forbidden", "library".
    """

    def __init__(self, sandbox: Sandbox, head: dict[str, Any]) -> None:
        self.sandbox, self.head = sandbox, head
        self.called: set[str] = set()
        self.refused = ""  # what the reduced library said when it was asked for too much
        self.number = 0
        self.restarts = -1
        self.alive = False
        self.times_up = 0

    def load(self) -> dict[str, Any]:
        """Run the learner's cell in a fresh process; return what it says of itself."""
        self.restarts += 1
        said = self._asked(self.head, [], start=True)[0]
        self.alive = True
        error = said.get("error")
        return {"found": said.get("found"), "error": told(error) if error else None}

    def ask(self, head: dict[str, Any], blobs: Sequence[bytes]) -> tuple[dict[str, Any], Reader]:
        """Put one question; raise here what the learner's code raised there."""
        if not self.alive and head["op"] in ("call", "make"):
            if self.times_up >= MOST_TIMES_UP:
                raise TimeUp
            if self.restarts >= MOST_RESTARTS:
                raise GoneError(GONE)
            self.load()
        reply, data = self._asked(head, blobs)
        if reply.get("error"):
            error = as_exception(reply["error"])
            self.refused = _refusal(error) or self.refused
            raise error
        # Only words of ours: what the other side says of a hidden question is not passed on.
        self.called |= set(self.head["forbidden"]) & {str(n) for n in reply.get("called", [])}
        return reply, Reader(data, other=something)

    def _asked(
        self, head: dict[str, Any], blobs: Sequence[bytes], start: bool = False
    ) -> tuple[dict[str, Any], list[bytes]]:
        try:
            return (self.sandbox.start(head), []) if start else self.sandbox.ask(head, blobs)
        except Ended as ended:
            self.alive = False
            if ended.why == "time":
                self.times_up += 1
                raise TimeUp from None
            raise GoneError(ENDINGS.get(ended.why, GONE)) from None
        except BaseException:
            self.alive = False
            raise


def _refusal(error: BaseException) -> str:
    """Return what the reduced library said, if the error is its: its words, and a name it knows."""
    found = re.search(r"mha_lib\.(\w+) " + REFUSED, str(error))
    if not isinstance(error, ImportError) or not found or not hasattr(mha_lib, found[1]):
        return ""
    return REFUSAL.format(found[1])


GONE = "It ended its own process, or broke it."
ENDINGS = {
    "memory": "It used more memory than it may.",
    "threads": "It started more threads than it may.",
}


def as_function(learner: Learner) -> Callable[..., Any]:
    """Return a function that calls the learner's."""

    def function(*args: Any, **kwargs: Any) -> Any:
        return _call(learner, args, kwargs, None)

    return function


def as_class(learner: Learner) -> Callable[..., Any]:
    """Return what makes objects of the learner's class: modules that live there, seen from here."""

    def build(*args: Any, **kwargs: Any) -> Any:
        writer = Writer()
        head = {"op": "make", "args": writer.write(args), "kwargs": writer.write(kwargs)}
        reply, reader = learner.ask({**head, "seed": _seed()}, writer.blobs)
        if reply["module"] is None:
            return reader.read(reply["value"])
        if not isinstance(reply["state"], list) or len(reply["state"]) > 200:
            raise BadMessage("a module without a state")
        state = [(str(n), p, g, reader.read(v)) for n, p, g, v in reply["state"]]
        if any(len(name) > LONGEST_NAME for name, *_ in state):
            raise BadMessage("a parameter of a very long name")
        return RemoteModule(learner, int(reply["module"]), state)

    return build


class RemoteModule(nn.Module):
    """Has the learner's parameters and buffers under the learner's names; runs its forward there.

    Args:
        learner: Whose.
        number: Of the object on the other side.
        state: Name, is it a parameter?, is it trained?, and the numbers.
    """

    def __init__(
        self, learner: Learner, number: int, state: Sequence[tuple[str, bool, bool, Tensor]]
    ) -> None:
        super().__init__()
        self._other_side = (learner, number)
        for name, is_parameter, trained, value in state:
            *path, last = name.split(".")
            holder: nn.Module = self
            for part in path:
                if part not in holder._modules:
                    holder.add_module(part, nn.Module())
                holder = holder.get_submodule(part)
            if is_parameter:
                holder.register_parameter(last, nn.Parameter(value, bool(trained)))
            else:
                holder.register_buffer(last, value)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        learner, number = self._other_side
        return _call(learner, args, kwargs, (number, self))


class _Graph(torch.autograd.Function):
    """Ties tensors that came back to the inputs they depend on."""

    @staticmethod
    def forward(ctx: Any, learner: Learner, number: int, outputs: Any, *leaves: Tensor) -> Any:
        ctx.learner, ctx.number = learner, number
        return tuple(output.clone() for output in outputs)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        writer = Writer()
        head = {"op": "back", "number": ctx.number, "gradients": writer.write(tuple(gradients))}
        reply, reader = ctx.learner.ask(head, writer.blobs)
        return (None, None, None, *reader.read(reply["value"]))


def _call(learner: Learner, args: Any, kwargs: Any, module: tuple[int, nn.Module] | None) -> Any:
    """Call the learner's function, or a module of the learner's."""
    writer = Writer()
    learner.number += 1
    head = {"op": "call", "number": learner.number, "seed": _seed(), "module": None}
    head |= {"args": writer.write(args), "kwargs": writer.write(kwargs)}
    given, grad = list(writer.tensors), torch.is_grad_enabled()
    leaves = [i for i, tensor in enumerate(given) if grad and tensor.requires_grad]
    inputs = [given[i] for i in leaves]
    if module is not None:
        named = dict(module[1].named_parameters())
        trained = [name for name, value in named.items() if grad and value.requires_grad]
        state = writer.write({**dict(module[1].state_dict()), **named})
        head |= {"module": module[0], "state": state, "trained": trained}
        head |= {"training": module[1].training}
        inputs += [named[name] for name in trained]
    reply, reader = learner.ask({**head, "leaves": leaves, "grad": grad}, writer.blobs)
    # Only what lies in order in memory can be shown as a view of our own tensor.
    reader.lent = [t.detach() if t.is_contiguous() else t.detach().contiguous() for t in given]
    changed = [(int(i), reader.read(value)) for i, value in reply["changed"]]
    for i, value in changed:
        _change(given[i], value)
    reader.tensors.clear()
    value = reader.read(reply["value"])
    graph = [bool(flag) for flag in reply["graph"]]
    if len(graph) != len(reader.tensors) or not any(graph) or not inputs:
        return value
    tied = [t for t, flag in zip(reader.tensors, graph, strict=True) if flag]
    new = iter(_Graph.apply(learner, head["number"], tied, *inputs))
    swap = {id(old): next(new) for old in tied}
    return _swapped(value, swap)


def _change(mine: Tensor, theirs: Any) -> None:
    """Make our tensor differ as the learner's side changed it."""
    with torch.no_grad():
        if isinstance(theirs, Tensor) and theirs.shape == mine.shape and theirs.dtype == mine.dtype:
            mine.detach().copy_(theirs)
        elif mine.dtype == torch.bool:
            mine.detach().logical_not_()
        else:
            mine.detach().add_(1)


def _swapped(value: Any, swap: dict[int, Tensor]) -> Any:
    if isinstance(value, tuple | list):
        return type(value)(_swapped(part, swap) for part in value)
    if isinstance(value, dict):
        return {key: _swapped(part, swap) for key, part in value.items()}
    return swap.get(id(value), value)


def _seed() -> int:
    return int(torch.randint(2**31, ()))


def something(kind: str = "", detail: str = "") -> Something:
    """Stand for a value that cannot be sent."""
    return Something(f"a tensor of {detail}" if kind == "tensor" else described_type(kind))


def as_exception(error: Any) -> BaseException:
    """Make an exception of the kind that the learner's code raised."""
    error = told(error)
    name, message = error["name"], error["message"]
    known = getattr(builtins, name, None)
    kind = known if isinstance(known, type) and issubclass(known, BaseException) else None
    if kind is None or kind in (BaseExceptionGroup, ExceptionGroup) or "Unicode" in name:
        kind = type(name or "Exception", (Exception,), {})
    made = kind(message) if message or kind is not NotImplementedError else kind()
    made.learner_line = error["line"]  # type: ignore[attr-defined]
    return made


def told(error: Any) -> dict[str, str]:
    """Return an error as it came over the wire in its three parts, none of them long."""
    parts = error if isinstance(error, dict) else {}
    most = {"name": 100, "message": 1000, "line": 200}
    cut = {part: whole(str(parts.get(part, ""))[:length]) for part, length in most.items()}
    return {**cut, "name": cut["name"] or "Exception"}
