"""The process the engine lives in: ``python -m explorer.training.process``.

It reads a key from its standard input, writes the address it listens at to its standard output, and
serves one engine there. It ends when its standard input does, so never outlives who started it.
"""

from __future__ import annotations

import signal
import sys
import threading
from multiprocessing.managers import BaseManager

import torch

from explorer.training.engine import Engine

_EXPOSED = ("start", "command", "snapshot", "list")


class _Server(BaseManager):
    """Hands out the one engine of this process."""


def main() -> None:
    """Serve until the standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the pages; they let go of us
    torch.set_num_threads(1)
    key = bytes.fromhex(sys.stdin.readline())
    engine = Engine()
    _Server.register("engine", callable=lambda: engine, exposed=_EXPOSED)
    server = _Server(authkey=key).get_server()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.address, flush=True)
    sys.stdin.read()
    engine.close()


if __name__ == "__main__":
    main()
