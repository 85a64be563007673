"""Clients that ask for a large answer and read nothing of it.

``python -m tests.load.slow http://127.0.0.1:8501 /learn --pid 123`` prints the memory of the server and of
all TCP sockets: before, while 600 connections from one address are open, and after they have closed. It
prints the longest time that ``/readyz`` took meanwhile too.
"""

import argparse
import os
import re
import socket
import time
import urllib.request
from collections import Counter
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import urlsplit

from tests.load.machine import figures

COUNT = 600
A_SECOND = 60  # connections opened
HELD_S = 20.0
RECEIVE_BYTES = 4096  # the smallest buffer that Linux grants: the server has to keep the rest
_LOCAL = ("127.0.0.1", "localhost")


def open_slowly(address: str, path: str) -> socket.socket:
    """Return a connection on which a path has been asked for; nothing is read from it."""
    server = urlsplit(address)
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BYTES)
    connection.settimeout(20)
    connection.connect((server.hostname, server.port))
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {server.netloc}\r\n\r\n".encode())
    return connection


def read_status(connection: socket.socket) -> str:
    """Return the status of the response on a connection, "closed" or "nothing yet"."""
    connection.settimeout(0.01)
    try:
        head = connection.recv(20)
    except TimeoutError:
        return "nothing yet"
    except OSError:
        return "closed"
    return head.split()[1].decode() if head else "closed"


def measure_memory(pid: int) -> int:
    """Return the memory in MB of a server's own process and of all TCP sockets of the machine."""
    sockets = Path("/proc/net/sockstat").read_text("ascii")
    (pages,) = map(int, re.findall(r"^TCP:.* mem (\d+)", sockets, re.MULTILINE))
    return figures(pid)[0].memory_mb + pages * os.sysconf("SC_PAGE_SIZE") // 2**20


def time_answer(address: str) -> float:
    """Return the seconds until ``/readyz`` is answered."""
    begun = time.monotonic()
    with suppress(OSError), urllib.request.urlopen(f"{address}/readyz", timeout=60) as answer:
        answer.read()
    return time.monotonic() - begun


def read_slowly(
    address: str, path: str, pid: int, count: int = COUNT, held_s: float = HELD_S
) -> tuple[list[int], Counter[str], float]:
    """Open connections that read nothing, hold them and close them.

    Returns:
        The memory in MB before, at its highest while they are open, and 5 s after they have closed;
        how each was answered; and the longest time in seconds that ``/readyz`` took.
    """
    memory, waits = [measure_memory(pid)], [0.0]
    with ExitStack() as held:
        connections = []
        for number in range(count):
            connections.append(held.enter_context(open_slowly(address, path)))
            time.sleep(1 / A_SECOND)
            if number % A_SECOND == 0:
                waits.append(time_answer(address))
        most, end = 0, time.monotonic() + held_s
        while time.monotonic() < end:
            most = max(most, measure_memory(pid))
            waits.append(time_answer(address))
            time.sleep(0.5)
        answers = Counter(map(read_status, connections))
    time.sleep(5)
    return [*memory, most, measure_memory(pid)], answers, max(waits)


def main() -> None:
    """Print the figures for each path that is given."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("address")
    options.add_argument("paths", nargs="+")
    options.add_argument("--pid", type=int, required=True, help="of the server")
    options.add_argument("--count", type=int, default=COUNT)
    options.add_argument("--held", type=float, default=HELD_S, help="seconds")
    given = options.parse_args()
    if urlsplit(given.address).hostname not in _LOCAL:
        options.error("a server of this machine alone is asked")
    for path in given.paths:
        memory, answers, longest_s = read_slowly(given.address, path, given.pid, given.count, given.held)
        before, most, after = memory
        statuses = ", ".join(f"{count} × {status}" for status, count in answers.items())
        print(
            f"{path[:60]}: {before} MB before, {most} MB with {given.count} readers, {after} MB after; ",
            end="",
        )
        print(f"{statuses}; /readyz took at most {longest_s:.2f} s", flush=True)


if __name__ == "__main__":
    main()
