"""Start the learner's side in a process that can do little, and talk to it."""

import atexit
import contextlib
import os
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import mha_course.grading.inside as inside
from mha_course.grading.inside import seccomp
from mha_course.grading.inside.waiting import TOO_MANY_THREADS
from mha_course.grading.inside.wire import BadMessage, send, take
from mha_lib.exercises import error_kind, forbidden

# How an answer's process ended -> why.
WHY = {-24: "time", 152: "time", -9: "memory", 137: "memory", TOO_MANY_THREADS: "threads"}
SCRIPT = "mha_course/grading/inside/learner_side.py"
NO_BUBBLEWRAP = (
    "bubblewrap (bwrap) is not there or does not work: learners' code can READ every file that you "
    "can read, other learners' work among them. Install bubblewrap, or grade on a machine that "
    "holds nothing else."
)
NO_FILTER = (
    "This system has no filter for system calls (it needs Linux on x86_64 or aarch64): learners' "
    "code can WRITE files, start processes and use the network. Do not grade here."
)


@dataclass(frozen=True)
class Limits:
    """What one answer may use.

    Args:
        cpu_seconds: Processor time for all its questions together.
        wall_seconds: Time for one question, asleep or not.
        memory: Bytes of its own.
    """

    cpu_seconds: int = 10
    wall_seconds: float = 20.0
    memory: int = 2_000_000_000


class Ended(Exception):
    """The learner's process is gone; `why` is "time", "memory", "threads" or "gone"."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


def write_folder(folder: Path) -> None:
    """Write everything that the learner's side may see on disk: our few files."""
    target = folder / "mha_course" / "grading" / "inside"
    target.mkdir(parents=True)
    for path in sorted(Path(inside.__file__).parent.glob("*.py")):
        shutil.copy(path, target / path.name)
    shutil.copy(forbidden.__file__, target / "noticing.py")
    shutil.copy(error_kind.__file__, target / "error_kind.py")
    for package in (folder / "mha_course", folder / "mha_course" / "grading"):
        (package / "__init__.py").touch()


@cache
def has_bubblewrap() -> bool:
    """Say whether bubblewrap is there and may make its namespaces."""
    found = shutil.which("bwrap")
    probe = [found or "", *NAMESPACES, "--ro-bind", "/", "/", "--", "/bin/true"]
    return found is not None and subprocess.run(probe, capture_output=True).returncode == 0


def weaknesses() -> list[str]:
    """Say what does not hold on this machine; nothing where all holds."""
    found = [] if seccomp.available() else [NO_FILTER]
    return found if has_bubblewrap() else [*found, NO_BUBBLEWRAP]


NAMESPACES = ("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL")


def command(folder: Path, wrapped: bool) -> list[str]:
    """Return the command that starts the learner's side."""
    plain = [sys.executable, "-I", "-B", str(folder / SCRIPT)]
    if not wrapped:
        return plain
    shown = [p for p in ("/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache") if os.path.exists(p)]
    shown += [p for p in dict.fromkeys((sys.base_prefix, sys.prefix)) if p != "/usr"]
    binds = [word for path in shown for word in ("--ro-bind", path, path)]
    hidden = [str(path) for path in _full_packages()]
    covers = [word for path in hidden for word in ("--tmpfs", path)]
    return [
        *(shutil.which("bwrap") or "bwrap", *NAMESPACES),
        # The empty /tmp comes first: Python itself may lie in a folder below it.
        *("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", *binds, *covers),
        *("--chdir", "/tmp", "--ro-bind", str(folder), str(folder), "--"),
        *plain,
    ]


def _full_packages() -> list[Path]:
    """Return where the whole library is installed, if that is inside Python's own folders."""
    import mha_course
    import mha_lib

    places = [Path(package.__file__ or "").resolve().parent for package in (mha_lib, mha_course)]
    prefixes = [Path(p).resolve() for p in (sys.prefix, sys.base_prefix)]
    return [place for place in places if any(prefix in place.parents for prefix in prefixes)]


class Sandbox:
    """One process for one submission; each answer gets a fresh fork of it.

    Args:
        folder: As made by `write_folder`.
        limits: For each answer.
        wrapped: Use bubblewrap; by default where it works.
    """

    def __init__(self, folder: Path, limits: Limits, wrapped: bool | None = None) -> None:
        self.folder, self.limits = folder, limits
        self.wrapped = has_bubblewrap() if wrapped is None else wrapped
        self.process: subprocess.Popen[bytes] | None = None
        self.ends = -1  # where the learner's side says that an answer's process has ended
        self.running = False

    def start(self, head: dict[str, Any]) -> dict[str, Any]:
        """Load an answer into a fresh process; return what it says of itself."""
        self.stop_answer()
        if self.process is None:
            # "safe" here: nothing of the caller's environment reaches the learner's code.
            kept = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "OMP_NUM_THREADS": "1"}
            kept |= {k: v for k, v in os.environ.items() if k.startswith("OPENBLAS")}
            kept["TORCHDYNAMO_DISABLE"] = "1"  # torch.compile would write files and start programs
            # Matplotlib and torch.compile ask for a folder when they are imported.
            kept |= {"MPLCONFIGDIR": "/tmp", "TORCHINDUCTOR_CACHE_DIR": "/tmp"}
            self.ends, their_end = os.pipe()
            self.process = subprocess.Popen(
                [*command(self.folder, self.wrapped), str(their_end)],
                pass_fds=(their_end,),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=kept,
                cwd="/",
                start_new_session=True,
            )
            os.close(their_end)
        limits = {"cpu_seconds": self.limits.cpu_seconds, "memory": self.limits.memory}
        self.running = True
        return self.ask({**head, **limits}, [])[0]

    def ask(
        self, head: dict[str, Any], blobs: Sequence[bytes]
    ) -> tuple[dict[str, Any], list[bytes]]:
        """Put a question and wait for its reply.

        Raises:
            Ended: The process took too long, died, or sent what is no reply. It is gone then.
        """
        if self.process is None or self.process.stdin is None or not self.running:
            raise Ended("gone")
        self.deadline = time.monotonic() + self.limits.wall_seconds
        try:
            send(self.process.stdin, head, list(blobs))  # type: ignore[arg-type]
            reply, data = take(self._read)
        except Ended:
            if self.running:
                self.close()
            raise
        except (OSError, BadMessage) as error:
            self.close()
            raise Ended("gone") from error
        except BaseException:  # also a time limit of the caller: the reply would come too late
            self.close()
            raise
        return reply, data

    def _answer_ended(self) -> str:
        """Take note that the answer's process has ended, and return why it has.

        What it may have written and nobody asked for is thrown away: it is no reply to anything.
        """
        assert self.process is not None
        assert self.process.stdout is not None
        code = os.read(self.ends, 4)
        if len(code) < 4:  # not only the answer: all is gone
            raise Ended("gone")
        self.running = False
        number = self.process.stdout.fileno()
        while select.select([number], [], [], 0)[0] and os.read(number, 1 << 20):
            pass
        return WHY.get(struct.unpack("<i", code)[0], "gone")

    def _read(self, count: int) -> bytes:
        assert self.process is not None
        assert self.process.stdout is not None
        number, pieces = self.process.stdout.fileno(), []
        while count:
            left = self.deadline - time.monotonic()
            ready = select.select([number, self.ends], [], [], left)[0] if left > 0 else []
            if not ready:
                raise Ended("time")
            if number not in ready:
                raise Ended(self._answer_ended())
            piece = os.read(number, min(count, 1 << 20))
            if not piece:
                raise Ended("gone")
            pieces.append(piece)
            count -= len(piece)
        return b"".join(pieces)

    def stop_answer(self) -> None:
        """End the process of the last answer, and only that."""
        if self.process is None or not self.running:
            return
        assert self.process.stdin is not None
        try:
            send(self.process.stdin, {"op": "stop"}, [])  # type: ignore[arg-type]
        except OSError:
            self.close()
            return
        with contextlib.suppress(Ended):
            if select.select([self.ends], [], [], self.limits.wall_seconds)[0]:
                self._answer_ended()
        if self.running:  # it should have ended
            self.close()

    def close(self) -> None:
        """End everything."""
        self.running = False
        if self.process is None:
            return
        process, self.process = self.process, None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # without bubblewrap: the answer's process, too
        process.wait()
        os.close(self.ends)
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def new_folder() -> Path:
    """Make a temporary folder for the learner's side, readable for all."""
    folder = Path(tempfile.mkdtemp(prefix="mha-course-"))
    folder.chmod(0o755)
    write_folder(folder)
    return folder


@cache
def shared_folder() -> Path:
    """Return a folder for the learner's side that lasts as long as this process."""
    folder = new_folder()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
