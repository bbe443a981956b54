"""Stop code that does not come back.

On Linux and macOS a timer sends a signal to the main thread, which also ends a sleep. Elsewhere
(Windows, or another thread) a helper thread asks Python to raise an exception in the thread that
hangs. Neither can stop a loop inside C code, such as `sum(range(10**12))` or a huge matrix
product: there the only help is to restart the kernel.
"""

import ctypes
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

REPEAT = 0.02  # seconds between two attempts, for code that catches everything
PATIENCE = 5  # attempts before every further line of the hanging code is made to fail


class TimeUp(BaseException):
    """The time is over. Not an `Exception`, so that `except Exception` does not swallow it."""


@contextmanager
def limit(seconds: float) -> Iterator[None]:
    """Raise `TimeUp` in the block when it takes longer than `seconds`.

    >>> with limit(0.01):
    ...     while True:
    ...         pass
    Traceback (most recent call last):
        ...
    mha_lib.exercises.watchdog.TimeUp
    """
    in_main = threading.current_thread() is threading.main_thread()
    by = _by_signal if in_main and hasattr(signal, "setitimer") else _by_thread
    with by(max(seconds, 0.001)):
        yield


@contextmanager
def _by_signal(seconds: float) -> Iterator[None]:
    attempts = 0
    running = True

    def ring(signum: int, frame: FrameType | None) -> None:
        nonlocal attempts
        if not running:
            return
        attempts += 1
        if attempts > PATIENCE:
            _fail_every_line(frame)
        raise TimeUp

    trace = sys.gettrace()
    old_handler = signal.signal(signal.SIGALRM, ring)
    old_timer = signal.setitimer(signal.ITIMER_REAL, seconds, REPEAT)
    try:
        yield
    finally:
        while running:
            try:
                running = False
                signal.setitimer(signal.ITIMER_REAL, *old_timer)
                signal.signal(signal.SIGALRM, old_handler)
                sys.settrace(trace)
            except TimeUp:  # it rang at the last moment; the timer must not stay
                running = True


def _fail_every_line(frame: FrameType | None) -> None:
    """For `while True: try: ... except: pass`: also the lines of the handler raise."""

    def fail(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            raise TimeUp
        return fail

    sys.settrace(lambda *_: None)  # switches tracing on; functions called from now on are let be
    while frame is not None and not frame.f_code.co_filename.startswith(_HERE):
        frame.f_trace = fail
        frame = frame.f_back


_HERE = __file__.rsplit("watchdog", 1)[0]


@contextmanager
def _by_thread(seconds: float) -> Iterator[None]:
    target = ctypes.c_ulong(threading.get_ident())
    over = threading.Event()
    lock = threading.Lock()

    def ring() -> None:
        wait = seconds
        while not over.wait(wait):
            wait = REPEAT
            with lock:
                if not over.is_set():
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(target, ctypes.py_object(TimeUp))

    threading.Thread(target=ring, daemon=True).start()
    try:
        yield
    finally:
        with lock:
            over.set()
            # Take back an exception that was asked for and has not been raised yet.
            ctypes.pythonapi.PyThreadState_SetAsyncExc(target, None)
