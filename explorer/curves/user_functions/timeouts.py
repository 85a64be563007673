"""Run code that may never return, with a time limit."""

import atexit
import ctypes
import time
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeVar

from explorer.curves.user_functions.subject import UntriedError, describe_error

Answer = TypeVar("Answer")
TIME_LIMIT_S = 10.0
_PATIENCE = 3  # how many times its limit work may take on a busy machine
_LAST_WAIT_S = 10.0  # the maximum wait for late threads at process exit
_threads: list[Thread] = []  # threads that exceeded their time limit


class HungError(Exception):
    """Raised when a function exceeds its time limit."""


def run_within(limit_s: float, work: Callable[[], Answer]) -> Answer:
    """Call ``work`` and return its result. Raises HungError if it takes longer than ``limit_s`` seconds.

    On a busy machine, which has given this process less processor time than that, it may take three times as
    long. Late work is stopped at its next line of Python. An exception in it becomes an UntriedError with the
    reason.
    """
    answers: SimpleQueue[Answer | BaseException] = SimpleQueue()

    def run() -> None:
        try:
            answers.put(work())
        except BaseException as error:  # the caller has to see any exception of the thread
            answers.put(error)

    thread = Thread(target=run, daemon=True, name="explorer.foreign")
    begun = time.process_time()
    thread.start()
    for late in range(1, _PATIENCE + 1):
        with suppress(Empty):
            answer = answers.get(timeout=limit_s)
            break
        if late == _PATIENCE or time.process_time() - begun >= limit_s:
            _threads.append(thread)
            # makes the thread raise SystemExit at its next line of Python
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(thread.ident or 0), ctypes.py_object(SystemExit)
            )
            waited = f"{late * limit_s:g} s"
            raise HungError(f"did not return within {waited} and keeps running in a daemon thread")
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
