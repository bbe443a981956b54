"""What each lesson takes where a small Binder would run it: seconds and memory."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.small_machine import MEMORY
from tools.navigation import ROOT, lessons

SECONDS, MEGABYTES = 60, MEMORY / 1e6  # the budget of a lesson
INTRODUCTION = f"""
Each lesson in a fresh kernel on one core, as on a small Binder. On Linux a kernel that asks for
more than {MEGABYTES:.0f} MB to write in is refused it (RLIMIT_DATA). Memory: the most that the
kernel had in memory at once, program files included (VmHWM). JupyterLab itself comes on top.
The budget is {SECONDS} s, and {MEGABYTES:.0f} MB for the lesson and JupyterLab together."""
# JupyterLab with nobody connected, asked when it answers.
SERVER = """
import subprocess, sys, time, psutil
options = ["--no-browser", "--ip=127.0.0.1", "--port=0", "--IdentityProvider.token="]
if sys.platform != "win32":
    options.append("--allow-root")
server = psutil.Popen([sys.executable, "-m", "jupyterlab", *options], stderr=subprocess.PIPE)
for line in server.stderr:
    if b"is running at" in line:
        break
time.sleep(3)
print(server.memory_info().rss)
server.terminate()
server.wait()
"""


class Cost(NamedTuple):
    """What one lesson takes."""

    name: str
    seconds: float
    megabytes: float


def measure_lessons(paths: list[Path] | None = None) -> Iterator[Cost]:
    """Run the lessons one after another, each in a process of its own with its limits.

    Args:
        paths: Notebooks; all lessons if None.

    Yields:
        Seconds from the kernel's start to the last output, and the kernel's peak of resident
        memory in units of a million bytes.

    Raises:
        RuntimeError: A lesson failed, perhaps for want of memory; the text is the lesson's own.
    """
    for path in lessons() if paths is None else paths:
        command = [sys.executable, "-m", "benchmarks.small_machine", str(path.resolve())]
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", timeout=600
        )
        if done.returncode:
            raise RuntimeError(f"{path.stem} failed within its limits:\n{done.stderr[-1500:]}")
        took = json.loads(done.stdout.splitlines()[-1])
        yield Cost(path.stem, took["seconds"], took["bytes"] / 1e6)


def measure_server() -> float:
    """Return the memory of JupyterLab without any kernel, in units of a million bytes."""
    command = [sys.executable, "-c", SERVER]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return int(done.stdout) / 1e6


def lesson_line(cost: Cost, server: float = 0) -> str:
    """Return one line of the table; `server` MB go off the budget.

    >>> lesson_line(Cost("04_splitting_heads", 7.25, 310.4), server=120)
    '04_splitting_heads                  7 s     310 MB  within the budget'
    """
    within = cost.seconds <= SECONDS and cost.megabytes + server <= MEGABYTES
    verdict = "within the budget" if within else "OVER the budget"
    return f"{cost.name:<32} {cost.seconds:>4.0f} s  {cost.megabytes:>6.0f} MB  {verdict}"


def report() -> None:
    """Print the table."""
    print(INTRODUCTION)
    server = measure_server()
    print(f"{'JupyterLab itself':<32}         {server:>6.0f} MB", flush=True)
    for cost in measure_lessons():
        print(lesson_line(cost, server), flush=True)
