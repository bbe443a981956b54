"""Run beside a learner's code, in a limited process: takes questions, hands back plain numbers.

Started as a script in a folder that holds copies of these files and the libraries. It loads torch
once; for each answer it makes a new process of itself (fork), which then locks itself in.
Standard input and output are the wire; a learner's own prints go nowhere. That an answer's
process has ended is told on a third pipe, which that process does not have: so it can't say so
itself and live on.
"""

import os
import resource
import signal
import struct
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(FOLDER))

import jaxtyping  # noqa: E402, F401  loaded before the fork, so once
import numpy  # noqa: E402, F401
import torch  # noqa: E402

from mha_course.grading.inside.answering import Answer, limits  # noqa: E402
from mha_course.grading.inside.reduced_library import put_in_place  # noqa: E402
from mha_course.grading.inside.waiting import wait_for  # noqa: E402
from mha_course.grading.inside.wire import send, take  # noqa: E402


def read(count: int) -> bytes:
    """Read exactly so many bytes from the wire; the end of the wire ends the process."""
    data = b""
    while len(data) < count:
        piece = os.read(WIRE_IN, min(count - len(data), 1 << 20))
        if not piece:
            os._exit(0)
        data += piece
    return data


def serve() -> None:
    """Make a process for each answer until the wire ends."""
    while True:
        head, _ = take(read)
        if "parts" not in head:  # a question to an answer that ended just before
            continue
        child = os.fork()
        if child == 0:
            os.close(ENDS)
            answer(head)
            os._exit(0)
        os.write(ENDS, struct.pack("<i", wait_for(child)))


def answer(head: dict) -> None:
    """Load one answer, then put questions to it until the other side says stop."""
    limits(head["cpu_seconds"], head["memory"])
    put_in_place(head["library"])
    tempfile.tempdir = "/tmp"  # some imports ask for one; looking for it would write files
    loaded = Answer(head)
    reply, blobs = loaded.load()
    while True:
        send(OUT, reply, blobs)
        question, data = take(read)
        if question.get("op") == "stop":
            return
        reply, blobs = loaded.ask(question, data)


if __name__ == "__main__":
    # The wire moves to numbers that nobody expects; 0, 1 and 2 lead nowhere.
    WIRE_IN, out, ENDS = os.dup(0), os.dup(1), int(sys.argv[1])
    OUT = os.fdopen(out, "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])  # for wait_for
    torch.set_num_threads(1)
    serve()
