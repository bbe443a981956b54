"""One learner's answer: load it, call it, follow its gradients back."""

import builtins
import contextlib
import io
import linecache
import resource
import sys
import types
import warnings
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from mha_course.grading.inside import seccomp
from mha_course.grading.inside.error_kind import kind_of
from mha_course.grading.inside.noticing import Noticing
from mha_course.grading.inside.ready_made import watch
from mha_course.grading.inside.wire import Reader, Writer

ANSWER = "<your answer>"
MORE_ADDRESSES = 1 << 30
MOST_FILES = 256
Reply = tuple[dict[str, Any], list[bytes]]


def limits(cpu_seconds: int, memory: int) -> None:
    """Limit processor time and memory of this process, and forbid it to write files.

    Memory that could be shared (mmap) is no data to the kernel, only addresses. So there is a
    limit for these, too; a wide one, as threads reserve more addresses than they use. What pipes
    hold is the kernel's own memory, so there may be few of them.
    """
    used = resource.getrusage(resource.RUSAGE_SELF)
    end = int(used.ru_utime + used.ru_stime) + cpu_seconds
    resource.setrlimit(resource.RLIMIT_CPU, (end, end + 1))
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        addresses = pages * resource.getpagesize() + memory + MORE_ADDRESSES
        resource.setrlimit(resource.RLIMIT_AS, (addresses, addresses))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (MOST_FILES, MOST_FILES))


class Answer:
    """The namespace of one answer, and what has to be kept between two questions.

    Args:
        head: "name" of the function; "parts", pieces of code to run in order, the answer last;
            "forbidden", torch's functions whose calls are noticed.
    """

    def __init__(self, head: dict[str, Any]) -> None:
        self.name, self.parts = head["name"], head["parts"]
        self.noticing = Noticing(head["forbidden"])
        # A module under its name, and the text in reach: as in a notebook, what looks up names
        # by module (get_type_hints) or wants the source (torch.jit.script) finds them.
        module = sys.modules["__main__"] = types.ModuleType("__main__")
        lines = self.parts[-1].splitlines(keepends=True)
        linecache.cache[ANSWER] = (len(self.parts[-1]), None, lines, ANSWER)
        self.namespace: dict[str, Any] = module.__dict__
        self.namespace |= {"check": _nothing, "display": _nothing, "get_ipython": _Anything}
        self.objects: list[nn.Module] = []
        self.graphs: dict[int, tuple[list[Tensor], list[Tensor]]] = {}

    def load(self) -> Reply:
        """Lock this process, run the code, and say what became of the name."""
        seccomp.lock()
        builtins.input = _no_input
        watch(self.noticing.names, self.noticing.called)
        *before, own = self.parts
        with quiet():
            for part in before:  # set-up and helpers: what fails is left out
                with contextlib.suppress(Exception):
                    exec(compile(part, "<before>", "exec"), self.namespace)
            try:
                exec(compile(own, ANSWER, "exec"), self.namespace)
                error = None
            except BaseException as raised:
                error = trouble(raised, own)
        found = self.namespace.get(self.name)
        kind = "class" if isinstance(found, type) else "function" if callable(found) else None
        return {"found": kind, "error": error}, []

    def ask(self, head: dict[str, Any], blobs: list[bytes]) -> Reply:
        """Answer one question; whatever the learner's code does becomes a reply."""
        try:
            with quiet():
                return {"call": self.call, "make": self.make, "back": self.back}[head["op"]](
                    head, Reader(blobs)
                )
        except BaseException as raised:
            return {"error": trouble(raised, self.parts[-1])}, []

    def call(self, head: dict[str, Any], reader: Reader) -> Reply:
        """Call the function, or a module that was made before."""
        args, kwargs = reader.read(head["args"]), reader.read(head["kwargs"])
        given, kept = reader.tensors, [t.clone() for t in reader.tensors]
        leaves = [given[i].requires_grad_() for i in head["leaves"]]
        target = self.namespace[self.name]
        if head["module"] is not None:
            target = self.objects[head["module"]]
            leaves += load_state(target, reader.read(head["state"]), head)
        torch.manual_seed(head["seed"])
        with torch.set_grad_enabled(bool(head["grad"])), self.noticing:
            result = target(*args, **kwargs)
        lent = {
            (t.untyped_storage().data_ptr(), t.dtype): i for i, t in enumerate(given) if t.numel()
        }
        writer = Writer({} if leaves else lent)
        reply = {"value": writer.write(result)}
        outputs = [t for t in writer.tensors if t.requires_grad]
        if outputs and leaves:
            self.graphs[head["number"]] = (outputs, leaves)
        reply["graph"] = [bool(leaves) and t.requires_grad for t in writer.tensors]
        changed = [i for i, old in enumerate(kept) if not same(given[i], old)]
        reply["changed"] = [[i, writer.write(given[i].detach().clone())] for i in changed]
        reply["called"] = self.noticing.called
        return reply, writer.blobs

    def make(self, head: dict[str, Any], reader: Reader) -> Reply:
        """Build an object of the learner's class."""
        torch.manual_seed(head["seed"])
        made = self.namespace[self.name](*reader.read(head["args"]), **reader.read(head["kwargs"]))
        writer = Writer()
        if not isinstance(made, nn.Module):
            return {"value": writer.write(made), "module": None}, writer.blobs
        self.objects.append(made)
        trained = dict(made.named_parameters())
        state = {**dict(made.state_dict(keep_vars=True)), **trained}
        described = [
            [name, name in trained, bool(value.requires_grad), writer.write(value)]
            for name, value in state.items()
            if isinstance(value, Tensor)
        ]
        return {"module": len(self.objects) - 1, "state": described}, writer.blobs

    def back(self, head: dict[str, Any], reader: Reader) -> Reply:
        """Follow the gradients of an earlier call back to its inputs."""
        outputs, leaves = self.graphs[head["number"]]
        found = torch.autograd.grad(
            outputs, leaves, reader.read(head["gradients"]), retain_graph=True, allow_unused=True
        )
        writer = Writer()
        return {"value": writer.write(tuple(found))}, writer.blobs


def load_state(module: nn.Module, state: dict[str, Tensor], head: dict[str, Any]) -> list[Tensor]:
    """Put numbers into a module; return those of its parameters that gradients are asked for."""
    first = next((t for t in state.values() if t.is_floating_point()), None)
    if first is not None:
        module.to(first.dtype)
    named = {**module.state_dict(keep_vars=True), **dict(module.named_parameters())}
    with torch.no_grad():
        for name, value in state.items():
            named[name].copy_(value)
    module.train(head["training"])
    return [named[name] for name in head["trained"]]


def same(one: Tensor, other: Tensor) -> bool:
    plain = one.detach()
    alike = plain.shape == other.shape and plain.dtype == other.dtype
    return alike and torch.equal(plain.nan_to_num(), other.nan_to_num())


def trouble(error: BaseException, source: str) -> dict[str, str]:
    """Describe an error: its kind, its text, the learner's line."""
    try:
        message = str(error)
    except BaseException:  # an exception whose own text fails
        message = ""
    trace, line = error.__traceback__, 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == ANSWER:
            line = trace.tb_lineno
        trace = trace.tb_next
    if isinstance(error, SyntaxError) and error.filename == ANSWER:
        line, message = error.lineno or 0, error.msg
    lines = source.splitlines()
    text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    return {"name": kind_of(error)[:100], "message": message[:1000], "line": text[:200]}


@contextlib.contextmanager
def quiet() -> Any:
    """Swallow what is printed and warned, and put back what code may change for everybody."""
    depth, dtype = sys.getrecursionlimit(), torch.get_default_dtype()
    nowhere = _Nowhere()
    with (
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            sys.setrecursionlimit(depth)
            torch.set_default_dtype(dtype)


class _Nowhere(io.TextIOBase):
    def write(self, text: str) -> int:
        return len(str(text))


class _Anything:
    """Stands for IPython: any of its methods can be called and does nothing."""

    def __getattr__(self, name: str) -> Any:
        return _nothing


def _nothing(*args: object, **kwargs: object) -> None:
    return None


def _no_input(prompt: object = "") -> str:
    raise RuntimeError("input() cannot be used here: nobody is there to type")
