"""A crew of threads that end when there is nothing to do: after a full house all is as it was before."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

_REST_S = 5.0  # of a thread without work, after which it ends


class Crew(Executor):
    """At most so many threads, each started when it is needed.

    Args:
        most: threads at the same time; what is submitted beyond that waits in its order.
        name: of the threads.
        rest_s: how long a thread without work stays.
    """

    def __init__(self, most: int, name: str, rest_s: float = _REST_S) -> None:
        self._most, self._name, self._rest_s = most, name, rest_s
        self._changed = threading.Condition()
        self._tasks: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._threads = 0
        self._resting = 0

    def submit(self, work: Callable[..., Any], /, *given: Any, **named: Any) -> Future[Any]:
        """As ``Executor.submit``."""
        future: Future[Any] = Future()
        with self._changed:
            self._tasks.append((future, lambda: work(*given, **named)))
            if self._resting >= len(self._tasks):
                self._changed.notify()
            elif self._threads < self._most:
                self._threads += 1
                threading.Thread(target=self._serve, name=self._name, daemon=True).start()
        return future

    def _serve(self) -> None:
        while task := self._next():
            future, work = task
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(work())
            except BaseException as error:
                future.set_exception(error)
            del task, future, work  # whoever rests holds nothing

    def _next(self) -> tuple[Future[Any], Callable[[], Any]] | None:
        """The next task; None when there was none for a while, and then the thread is no longer counted."""
        with self._changed:
            self._resting += 1
            self._changed.wait_for(lambda: self._tasks, self._rest_s)
            self._resting -= 1
            if self._tasks:
                return self._tasks.popleft()
            self._threads -= 1
            return None
