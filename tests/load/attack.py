"""An attacker: all that was found to hurt others on one server."""

import asyncio
import json
import random
import secrets
import sys
from asyncio.subprocess import PIPE
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from functools import partial
from typing import Any

import websockets

from tests.load.http import Connection

SOCKETS, OWNERS, FORGED, HEAVY, LENSES = 400, 80, 20, 70, 20  # connections of each kind
COSTS, SETTINGS, FORMULAS = 40, 20, 20
CONNECTIONS = SOCKETS + OWNERS + FORGED + HEAVY + LENSES + COSTS + SETTINGS + FORMULAS
_AGAIN_S = 0.2  # before a connection that was cut or refused is opened once more
_END_S = 60.0  # until the process of an attacker is over that was told to end
_RUN = "op=relu&rule=default&steps=5000&pace=full"
_TABLE = json.dumps({"query": "task=data", "table": "1\n" * 499_990}).encode()
_RULES = [f"formula: g*{number}" for number in range(90_000)]
_MANY_RULES = json.dumps({"text": json.dumps({"rules": _RULES})}).encode()
_LONG_FORMULA = json.dumps({"text": json.dumps({"op": f"formula: {'x*' * 450_000}x"})}).encode()


class Attacker:
    """Holds its connections until it is cancelled, and counts how it was answered.

    Args:
        address: of the server.
        scale: of its connections, from 0 to 1.
    """

    def __init__(self, address: str, scale: float = 1.0) -> None:
        self.counts: Counter[str] = Counter()
        self._address, self._scale = address, scale

    async def attack(self) -> None:
        """All at once, until cancelled."""
        kinds: dict[Callable[[], Awaitable[None]], int] = {
            self._silent_page: SOCKETS, self._invented_owner: OWNERS, self._forged_cookie: FORGED,
            self._heavy_formula: HEAVY, self._lens: LENSES,
            partial(self._posted, "cost of a table of 499,990 rows", "/studies/cost", _TABLE): COSTS,
            partial(self._posted, "settings of 90,000 rules", "/settings", _MANY_RULES): SETTINGS,
            partial(self._posted, "settings of a long formula", "/settings", _LONG_FORMULA): FORMULAS,
        }  # fmt: skip
        works = [work for work, count in kinds.items() for _ in range(max(1, round(count * self._scale)))]
        await asyncio.gather(*map(self._again, works))

    async def _again(self, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            with suppress(OSError, EOFError, ValueError, TimeoutError, websockets.WebSocketException):
                await work()
            await asyncio.sleep(_AGAIN_S)

    async def _silent_page(self) -> None:
        address = f"{self._address.replace('http', 'ws', 1)}/_stcore/stream"
        async with websockets.connect(address, origin=websockets.Origin(self._address)) as socket:
            self.counts["silent pages opened"] += 1
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
            self._noted("run of an invented owner", connection)

    async def _forged_cookie(self) -> None:
        connection = Connection(self._address)
        connection.cookie = f"visitor={secrets.token_urlsafe(12)}.{secrets.token_hex(32)}"
        try:
            await connection.ask("curves", _curves("relu", ["default"], 3))
        finally:
            self._noted("forged cookie", connection)

    async def _heavy_formula(self) -> None:
        connection = Connection(self._address)
        try:
            while True:
                await connection.ask("curves", _curves("sigmoid", _heavy_rules(), 1e6))
                self.counts["heavy formula answered 200"] += 1
        finally:
            self._noted("heavy formula", connection)

    async def _lens(self) -> None:
        connection = Connection(self._address)
        try:
            noise = {"noise": "cauchy", "width": 0.5 + random.random()}
            await connection.ask("lens", _curves("sigmoid", _heavy_rules(), 1e6) | noise)
        finally:
            self._noted("lens", connection)

    async def _posted(self, name: str, path: str, body: bytes) -> None:
        connection = Connection(self._address)
        try:
            await connection.post(path, body)
        finally:
            self._noted(name, connection)

    def _noted(self, name: str, connection: Connection) -> None:
        self.counts[f"{name} answered {connection.status}"] += 1
        connection.close()


@asynccontextmanager
async def attacking(address: str, scale: float = 1.0) -> AsyncIterator[Counter[str]]:
    """One attacker meanwhile, in a process of its own: what it is busy with is no delay of others.

    How it was answered is counted in what is yielded, at the end.
    """
    command = [sys.executable, "-m", __name__, address, str(scale)]
    process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
    counts: Counter[str] = Counter()
    try:
        yield counts
    finally:
        output, _ = await asyncio.wait_for(process.communicate(b""), _END_S)
        counts.update(json.loads(output))


def main() -> None:
    """Attack until the standard input ends; then print the counts."""
    address, scale = sys.argv[1:]
    attacker = Attacker(address, float(scale))
    asyncio.run(_until_readable(sys.stdin.fileno(), attacker.attack()))
    print(json.dumps(attacker.counts))


async def _until_readable(file: int, work: Awaitable[None]) -> None:
    """Cancel some work as soon as a file can be read, or has ended."""
    output = asyncio.Event()
    asyncio.get_running_loop().add_reader(file, output.set)
    working = asyncio.ensure_future(work)
    await output.wait()
    asyncio.get_running_loop().remove_reader(file)
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)


def _heavy_rules() -> list[str]:
    """Return six own rules as deep as the language allows, new to the server."""
    return [f"formula: g*{'sin(exp(' * 6}x*{random.random():.9f}{'))' * 6}" for _ in range(6)]


def _curves(op: str, rules: list[str], end: float) -> dict[str, Any]:
    """Return the arguments of the question about curves from −`end` to `end`."""
    return {"op": op, "rules": rules, "parameters": {}, "start": -end, "stop": end, "g": 1}


if __name__ == "__main__":
    main()
