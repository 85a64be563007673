"""Run code that may never return, with a time limit."""

import atexit
import ctypes
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeVar

from explorer.curves.user_functions.subject import UntriedError, describe_error

Answer = TypeVar("Answer")
TIME_LIMIT_S = 10.0
_LAST_WAIT_S = 10.0  # the maximum wait for late threads at process exit
_threads: list[Thread] = []  # threads that exceeded their time limit


class HungError(Exception):
    """Raised when a function exceeds its time limit."""


def run_within(limit_s: float, work: Callable[[], Answer]) -> Answer:
    """Call ``work`` and return its result. Raises HungError if it takes longer than ``limit_s`` seconds.

    Late work is stopped at its next line of Python. An exception in it becomes an UntriedError with the
    reason.
    """
    answers: SimpleQueue[Answer | BaseException] = SimpleQueue()

    def run() -> None:
        try:
            answers.put(work())
        except BaseException as error:  # the caller has to see any exception of the thread
            answers.put(error)

    thread = Thread(target=run, daemon=True, name="explorer.foreign")
    thread.start()
    try:
        answer = answers.get(timeout=limit_s)
    except Empty:
        _threads.append(thread)
        # makes the thread raise SystemExit at its next line of Python
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident or 0), ctypes.py_object(SystemExit)
        )
        raise HungError(f"did not return within {limit_s:g} s and keeps running in a daemon thread") from None
    if isinstance(answer, UntriedError):
        raise answer
    if isinstance(answer, BaseException):
        raise UntriedError(f"it raises {describe_error(answer)}") from answer
    return answer


@atexit.register
def _wait_for_late_threads() -> None:
    """Wait for late threads to end: Python aborts if one returns from torch's C++ during shutdown."""
    end = time.monotonic() + _LAST_WAIT_S
    for thread in _threads:
        thread.join(max(end - time.monotonic(), 0.0))
