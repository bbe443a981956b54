"""Wait for the end of an answer's process, and end it where it starts too many threads."""

import os
import signal

MOST_THREADS = 200
TOO_MANY_THREADS = 1000  # told in place of how the process ended
EVERY = 0.05  # seconds between two looks


def wait_for(child: int) -> int:
    """Return how a process ended: its status, less than 0 for a signal.

    The kernel limits threads by their user, and root not at all. A thread with a small stack uses
    little memory; as many as there can be would keep other processes from starting.
    SIGCHLD must be blocked, so that it waits to be taken here.
    """
    stopped = False
    while signal.sigtimedwait([signal.SIGCHLD], EVERY) is None:
        if os.stat(f"/proc/{child}/task").st_nlink - 2 > MOST_THREADS:
            os.kill(child, signal.SIGKILL)
            stopped = True
    _, status = os.waitpid(child, 0)
    if stopped:
        return TOO_MANY_THREADS
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
