"""The cost of thirty watchers of thirty runs for the server, and what each of them gets."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass
from urllib.parse import urlsplit

from explorer.training.limits import MAX_STEPS
from tests.browser.server import server_at
from tests.load.http import Connection
from tests.load.machine import figures

_WATCHERS = 30
_WATCHED_S = 10.0
_QUERY = f"op=relu&rule=default&pace=full&steps={MAX_STEPS}"


@dataclass(frozen=True)
class _Seen:
    first_s: float
    step: int
    pictures: int


def measure(address: str, rounds: int) -> Iterator[tuple[str, list[float]]]:
    """Named series: of the server for each round, of the watchers for each of them."""
    pid = server_at(urlsplit(address).port or 80)
    shares, seen = [], []
    for _ in range(rounds):
        begun, spent = time.monotonic(), figures(pid)[0].seconds
        with ThreadPoolExecutor(1) as thread:  # Playwright keeps an event loop running in ours
            seen.append(thread.submit(asyncio.run, _watch_all(address)).result())
        shares.append((figures(pid)[0].seconds - spent) / (time.monotonic() - begun))
    yield "server, share of one core", shares
    yield "pictures/s of a watcher", [one.pictures / _WATCHED_S for round_ in seen for one in round_]
    yield "first picture, s", [one.first_s for round_ in seen for one in round_]
    yield (
        "slowest run / mean, steps",
        [min(one.step for one in round_) * _WATCHERS / sum(one.step for one in round_) for round_ in seen],
    )


async def _watch_all(address: str) -> list[_Seen]:
    return await asyncio.gather(*(_watch(address, number) for number in range(_WATCHERS)))


async def _watch(address: str, number: int) -> _Seen:
    """Start a run, watch it for a while, stop it."""
    connection, begun = Connection(address), time.monotonic()
    connection.cookie = f"visitor=benchmark-{number}"
    body = json.dumps({"query": f"{_QUERY}&seed={number}", "owner": f"benchmark-{number}"})
    run = json.loads(await connection.post("/runs", body.encode()))
    first_s, step, pictures = 0.0, 0, 0
    async with aclosing(connection.lines(f"/runs/{run['id']}/events")) as events:
        async for event in events:
            fields = json.loads(event.removeprefix(b"data: ")) if event.startswith(b"data: ") else {"step": 0}
            first_s = first_s or (time.monotonic() - begun if fields["step"] else 0.0)
            step, pictures = fields["step"] or step, pictures + bool(fields["step"])
            if time.monotonic() > begun + _WATCHED_S:
                break
    connection.close()
    await connection.post(f"/runs/{run['id']}/stop", json.dumps({"key": run["key"]}).encode())
    connection.close()
    return _Seen(first_s, step, pictures)
