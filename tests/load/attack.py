"""One attacker: all that was found to hurt others on one server, at the same time."""

from __future__ import annotations

import asyncio
import json
import random
import secrets
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from urllib.parse import urlencode

import websockets

from tests.load.http import Connection
from tests.load.scenarios import Tally

SOCKETS, OWNERS, FORGED, HEAVY, SAVES, NAMES = 400, 80, 20, 70, 20, 60  # connections of each kind
SCALE = 1.0  # of these, from 0 to 1
_AGAIN_S = 0.2  # before a connection that was cut or refused is opened once more
_RUN = "op=relu&rule=default&steps=5000&pace=full"
_STUDY = "task=circles&op=sign&rule=straight_through&rates=0.003,0.01,0.03,0.1&seeds=10&steps=2000"
_OWN_ADDRESS = "127.0.0.2"  # where it has names signed, as many as it likes


class Attacker:
    """Holds its connections until it is cancelled, and counts how it was answered.

    Args:
        address: of the server.
        tally: what is counted.
    """

    def __init__(self, address: str, tally: Tally) -> None:
        self._address, self._tally = address, tally

    async def attack(self) -> None:
        """All at once, until cancelled."""
        kinds = {
            self._silent_page: SOCKETS,
            self._invented_owner: OWNERS,
            self._forged_cookie: FORGED,
            self._heavy_formula: HEAVY,
            self._save: SAVES,
            self._many_names: NAMES,
        }
        works = (work for work, count in kinds.items() for _ in range(max(1, round(count * SCALE))))
        await asyncio.gather(*map(self._again, works))

    async def _again(self, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            with suppress(OSError, EOFError, ValueError, TimeoutError, websockets.WebSocketException):
                await work()
            await asyncio.sleep(_AGAIN_S)

    async def _silent_page(self) -> None:
        address = f"{self._address.replace('http', 'ws', 1)}/_stcore/stream"
        async with websockets.connect(address, origin=websockets.Origin(self._address)) as socket:
            self._tally.counts["silent pages opened"] += 1
            await socket.wait_closed()

    async def _invented_owner(self) -> None:
        connection = Connection(self._address)
        try:
            body = json.dumps({"query": _RUN, "owner": secrets.token_hex(8)}).encode()
            run = json.loads(await connection.post("/runs", body))["id"]
            async with aclosing(connection.lines(f"/runs/{run}/events")) as events:
                async for _ in events:
                    pass
        finally:
            self._told("run of an invented owner", connection)

    async def _forged_cookie(self) -> None:
        connection = Connection(self._address)
        connection.cookie = f"visitor={secrets.token_urlsafe(12)}.{secrets.token_hex(32)}"
        try:
            await connection.get("/confirm?op=relu&rule=default")
        finally:
            self._told("forged cookie", connection)

    async def _heavy_formula(self) -> None:
        connection = Connection(self._address)
        try:
            while True:
                await connection.get(f"/confirm?{_heavy()}")
                self._tally.counts["heavy formula answered 200"] += 1
        finally:
            self._told("heavy formula", connection)

    async def _save(self) -> None:
        connection = Connection(self._address)
        try:
            await connection.get(f"/save?{_heavy()}")
        finally:
            self._told("save", connection)

    async def _many_names(self) -> None:
        connection = Connection(self._address, _OWN_ADDRESS)
        try:
            await connection.get("/study")
            body = json.dumps({"query": _STUDY, "owner": secrets.token_hex(8)}).encode()
            study = json.loads(await connection.post("/studies", body))["id"]
            async with aclosing(connection.lines(f"/studies/{study}/events")) as events:
                async for _ in events:
                    pass
        finally:
            self._told("study under another name", connection)

    def _told(self, name: str, connection: Connection) -> None:
        self._tally.counts[f"{name} answered {connection.status}"] += 1
        connection.close()


def _heavy() -> str:
    """Six own rules as deep as the language allows, of which the server has seen none."""
    formulas = [f"formula: g*{'sin(exp(' * 6}x*{random.random():.9f}{'))' * 6}" for _ in range(6)]
    return urlencode({"op": "sigmoid", "rule": formulas, "range": [-1e6, 1e6]}, doseq=True)
