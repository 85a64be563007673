"""The program of the training process: ``python -m explorer.training.engine.process FD HOME``.

It answers requests that arrive through a pipe, and ends when the pipe's other end is closed, so it never
outlives its parent. FD is the pipe's file descriptor, HOME the prefix of the ids of its runs and studies.
"""

import pickle
import signal
import sys
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import torch

from explorer.training.engine.engine import Engine
from explorer.training.engine.host import BEAT, HELLO
from explorer.training.runs import Run, compare_devices
from explorer.training.settings import Settings
from explorer.training.system import WoundClock, limit_memory
from explorer.training.tasks import FIRST


def main() -> None:
    """Answer requests from the server until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which then closes the pipe
    torch.set_num_threads(1)
    pipe: Connection = Connection(int(sys.argv[1]))
    warm = Run(Settings(task=FIRST, steps=1))
    warm.advance()
    warm.snapshot()  # prepares the task that most visitors see first, which saves half a second
    compare_devices()  # before the first run, which would disturb the timing
    try:
        limit_memory()
    except ValueError as error:
        pipe.send((HELLO, None, error))
        return
    clock = WoundClock()
    serve(pipe, Engine(lease_clock=clock, home=sys.argv[2]), clock.wind)


def serve(pipe: Connection, engine: Engine, on_message: Callable[[], object]) -> None:
    """Answer the requests that arrive through a pipe, until the other process closes the pipe.

    ``on_message`` is called for every message, whether it is a request or a beat.
    """
    sending = threading.Lock()

    def send(number: int, answer: Any, error: Exception | None = None) -> None:
        # Pickle tensors by value: the pipe's own send would share their memory, which only forked processes
        # can open.
        with sending:
            pipe.send_bytes(pickle.dumps((number, answer, error)))

    def answer(number: int, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        try:
            result = getattr(engine, name)(*args, **kwargs)
        except Exception as error:
            send(number, None, error)
        else:
            send(number, result)

    send(HELLO, None)
    try:
        while True:
            question = pipe.recv()
            on_message()
            if question == BEAT:
                continue
            try:  # in a separate thread, because it may wait for the end of a step
                threading.Thread(target=answer, args=question, daemon=True).start()
            except RuntimeError as error:
                send(question[0], None, error)
    except (EOFError, OSError):
        engine.close()


if __name__ == "__main__":
    main()
