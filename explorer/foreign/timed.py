"""Code that may never come back, with a limit of time: an exception becomes a sentence."""

import os
from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeVar

import torch

from explorer.foreign.subject import UntriedError, describe_error

Answer = TypeVar("Answer")
TIME_LIMIT_S = 10.0
_IMPORTED_BY = os.getpid()


class HungError(Exception):
    """Something did not come back in time."""


def use_one_thread_after_fork() -> None:
    """Set torch to one thread in a process that was forked since this module was imported.

    OpenMP's threads stay behind in the parent: where it has used them, the child would wait for them forever.
    """
    if os.getpid() != _IMPORTED_BY:
        torch.set_num_threads(1)


def run_within(limit_s: float, work: Callable[[], Answer]) -> Answer:
    """Return the result of ``work``; raise HungError after ``limit_s``, leaving it in a daemon thread.

    Whatever it raises becomes an UntriedError with the reason.
    """
    answers: SimpleQueue[Answer | BaseException] = SimpleQueue()

    def run() -> None:
        try:
            answers.put(work())
        except BaseException as error:  # a thread must hand on whatever ends it
            answers.put(error)

    Thread(target=run, daemon=True, name="explorer.foreign").start()
    try:
        answer = answers.get(timeout=limit_s)
    except Empty:
        raise HungError(
            f"did not come back within {limit_s:g} s and is left behind in a daemon thread"
        ) from None
    if isinstance(answer, UntriedError):
        raise answer
    if isinstance(answer, BaseException):
        raise UntriedError(f"it raises {describe_error(answer)}") from answer
    return answer
