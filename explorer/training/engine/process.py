"""The process the engine lives in: ``python -m explorer.training.engine.process FD HOME``.

It answers questions that arrive at one end of a pipe, and ends when the other end is closed, so it never
outlives who started it. HOME is what the names of its runs and studies begin with.
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
from explorer.training.system import WoundClock, bound
from explorer.training.tasks import FIRST


def main() -> None:
    """Answer until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the pages; they let go of us
    torch.set_num_threads(1)
    pipe: Connection = Connection(int(sys.argv[1]))
    warm = Run(Settings(task=FIRST, steps=1))
    warm.advance()
    warm.snapshot()  # half a second that the first visitor need not wait, who begins with this task's data
    compare_devices()  # before any run, which would take part of the time
    try:
        bound()
    except ValueError as error:
        pipe.send((HELLO, None, error))
        return
    clock = WoundClock()
    serve(pipe, Engine(lease_clock=clock, home=sys.argv[2]), clock.wind)


def serve(pipe: Connection, engine: Engine, heard: Callable[[], object]) -> None:
    """Answer until the pipe is closed; ``heard`` is called for whatever comes, questions and beats."""
    sending = threading.Lock()

    def send(number: int, answer: Any, error: Exception | None = None) -> None:
        # By value: a pipe's own send would share the memory of tensors, by a key that only forks have.
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
            heard()
            if question == BEAT:
                continue
            try:  # in a thread of its own: it may wait for the end of a step
                threading.Thread(target=answer, args=question, daemon=True).start()
            except RuntimeError as error:
                send(question[0], None, error)
    except (EOFError, OSError):
        engine.close()


if __name__ == "__main__":
    main()
