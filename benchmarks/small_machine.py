"""Run one lesson as a small Binder would, and print what it took: called by lessons.py.

python -m benchmarks.small_machine notebooks/04_splitting_heads.ipynb
"""

import json
import os
import sys
import time
from pathlib import Path

import nbformat

from tools.store_notebooks import execute

MEMORY = 1_000_000_000  # bytes
# Asked of the kernel itself when the lesson is over. Linux: VmHWM, the most that this process had
# in memory at once. Not ru_maxrss: it is handed on when a process starts another program, so a
# small kernel would report the peak of the large program that started it.
PEAK = """
import sys
if sys.platform == "linux":
    status = open("/proc/self/status", encoding="ascii").read()
    print(int(status.split("VmHWM:")[1].split()[0]) * 1024)
else:
    import psutil
    memory = psutil.Process().memory_info()
    print(getattr(memory, "peak_wset", memory.rss))
"""


def limit(memory: int = MEMORY) -> str:
    """Put this process, and the kernel that it will start, on one core with limited memory.

    The limit is RLIMIT_DATA, which Linux enforces: the memory that a process asks for to write in
    (tensors, stacks), whether it writes there or not. A container's limit counts what lies in
    memory, program files as well. A limit of the address space would tell nothing: torch maps
    more than 1 GB of it, most of which is never loaded.

    Returns:
        What was limited, in words.
    """
    os.environ["OMP_NUM_THREADS"] = "1"
    if sys.platform != "linux":
        return "one thread; core and memory are not limited on this system"
    import resource

    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    return f"one core, at most {memory / 1e6:.0f} MB to write in (RLIMIT_DATA)"


def run(path: Path) -> dict[str, float]:
    """Return the seconds from the kernel's start to the last output, and its peak in bytes."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(PEAK))
    start = time.perf_counter()
    execute(notebook)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "bytes": int(notebook.cells[-1].outputs[0].text)}


if __name__ == "__main__":
    limit()
    print(json.dumps(run(Path(sys.argv[1]))))
