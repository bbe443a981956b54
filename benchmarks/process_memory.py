"""The most memory that a process, its workers and their sandboxes held at once."""

import threading
from dataclasses import dataclass, field

import psutil

EVERY = 0.5  # seconds between two looks


@dataclass
class Peaks:
    """The most that was seen, in bytes.

    Memory that several processes share (torch's program files) is counted in equal parts (PSS).

    Args:
        parent: The process itself.
        worker: One process that it started.
        sandboxes: All that the workers started, together.
        all: All processes together.
    """

    parent: int = 0
    worker: int = 0
    sandboxes: int = 0
    all: int = 0
    looks: int = field(default=0)


class Watch:
    """Looks at a process and all below it until `stop`, from a thread of its own."""

    def __init__(self, pid: int) -> None:
        self.root, self.peaks = psutil.Process(pid), Peaks()
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._look_on, daemon=True)
        self.thread.start()

    def stop(self) -> Peaks:
        self.over.set()
        self.thread.join()
        return self.peaks

    def _look_on(self) -> None:
        while not self.over.is_set():
            self._look()
            self.over.wait(EVERY)

    def _look(self) -> None:
        parent, workers, sandboxes = memory(self.root), [0], 0
        for child in children(self.root):
            workers.append(memory(child))
            sandboxes += sum(memory(below) for below in children(child, recursive=True))
        seen = self.peaks
        seen.parent, seen.worker = max(seen.parent, parent), max(seen.worker, *workers)
        seen.sandboxes = max(seen.sandboxes, sandboxes)
        seen.all = max(seen.all, parent + sum(workers) + sandboxes)
        seen.looks += 1


def children(process: psutil.Process, recursive: bool = False) -> list[psutil.Process]:
    try:
        return process.children(recursive=recursive)
    except psutil.Error:
        return []


def memory(process: psutil.Process) -> int:
    """Return what a process holds, 0 if it is gone."""
    try:
        full = process.memory_full_info()
    except psutil.Error:
        return 0
    return int(getattr(full, "pss", full.rss))
