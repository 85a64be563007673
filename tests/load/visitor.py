"""A visitor: what a browser's tab asks for and is told, without drawing it."""

import asyncio
import json
import random
import time
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any
from urllib.parse import urlencode

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from explorer.catalogue import OPS, RULES
from explorer.training import ACTIVE
from explorer.ui.links.link import from_text
from explorer.ui.server.answers import make_curves_arguments
from tests.load.http import Connection

TIMEOUT_S = 60.0


class Visitor:
    """One page of the app, and what it does over HTTP beside it.

    Args:
        address: of the server.
        page: "" for Explore, "train".
        query: of the link.
    """

    def __init__(self, address: str, page: str, query: str) -> None:
        self._address, self._page, self.query = address, page, query
        self.http = Connection(address)
        self._socket: Any = None
        self._reader: asyncio.Task[None] | None = None
        self._page_hash = ""
        self._runs = 0
        self._finished = asyncio.Condition()
        self.errors: list[str] = []

    async def open(self) -> None:
        """Load the page and see its script finish once."""
        await asyncio.wait_for(self.http.get(f"/{self._page}?{self.query}"), TIMEOUT_S)
        self._socket = await websockets.connect(
            f"{self._address.replace('http', 'ws', 1)}/_stcore/stream",
            origin=websockets.Origin(self._address),
            subprotocols=[websockets.Subprotocol("streamlit")],
            additional_headers={"Cookie": self.http.cookie},
            open_timeout=TIMEOUT_S,
            max_size=None,
            compression=None,
        )
        self._reader = asyncio.create_task(self._read())
        await self.rerun()

    async def close(self) -> None:
        """Close the page."""
        self.http.close()
        if self._reader:
            self._reader.cancel()
        if self._socket:
            await self._socket.close()

    async def change(self, query: str) -> float:
        """Choose something else, and return the seconds until torch has answered; no script runs."""
        self.query = query
        begun = time.monotonic()
        async with asyncio.timeout(TIMEOUT_S):
            await self.http.ask("curves", curves_of(query))
        return time.monotonic() - begun

    async def rerun(self, *, wait: bool = True) -> None:
        """Have the script run with what is chosen."""
        message = BackMsg()
        state = message.rerun_script
        state.query_string, state.page_script_hash = self.query, self._page_hash
        state.page_name = "" if self._page_hash else self._page
        before = self._runs
        await self._socket.send(message.SerializeToString())
        if wait:
            async with asyncio.timeout(TIMEOUT_S), self._finished:
                await self._finished.wait_for(lambda: self._runs > before or self.errors)
        if self.errors:
            raise ConnectionError(self.errors[-1])

    async def train(self, shown: Sequence[str] = ()) -> dict[str, Any]:
        """Start a run at full pace and watch it to its end: seconds, pictures, and the last status.

        ``shown``: keys of the instruments that are in the pictures.
        """
        show = urlencode({"show": shown}, doseq=True)
        body = json.dumps({"query": self.query, "owner": f"{id(self)}"}).encode()
        begun = time.monotonic()
        run = json.loads(await self.http.post("/runs", body))["id"]
        first, pictures, status = None, 0, {"id": run, "state": "", "step": 0}
        async with aclosing(self.http.lines(f"/runs/{run}/events?{show}")) as events:
            async for event in events:
                if event.startswith(b"data: "):
                    status, pictures = json.loads(event[6:]), pictures + 1
                if first is None and status["step"]:
                    first = time.monotonic() - begun
                if status["step"] and status["state"] not in (*ACTIVE, "silent"):
                    break
        self.http.close()
        seconds = time.monotonic() - begun
        return {"seconds": seconds, "first": first, "pictures": pictures, "status": status}

    async def see_a_run_move(self) -> None:
        """Start a run at full pace, and watch it for its first steps."""
        body = json.dumps({"query": self.query, "owner": f"{id(self)}"}).encode()
        run = json.loads(await self.http.post("/runs", body))["id"]
        async with asyncio.timeout(TIMEOUT_S), aclosing(self.http.lines(f"/runs/{run}/events")) as events:
            async for event in events:
                if event.startswith(b"data: ") and json.loads(event[6:])["step"]:
                    break
        self.http.close()

    async def see_a_study_move(self) -> None:
        """Start a study, watch it until something of it is done, and stop it."""
        body = json.dumps({"query": self.query, "owner": f"{id(self)}"}).encode()
        study = json.loads(await self.http.post("/studies", body))
        async with asyncio.timeout(TIMEOUT_S):
            async with aclosing(self.http.lines(f"/studies/{study['id']}/events")) as events:
                async for event in events:
                    if event.startswith(b"data: ") and json.loads(event[6:])["done"]:
                        break
            self.http.close()
            await self.http.post(f"/studies/{study['id']}/stop", json.dumps({"key": study["key"]}).encode())

    async def see_step_0(self) -> bool:
        """Ask for the net as it is before its first step; whether it came."""
        body = json.dumps({"query": self.query, "branch": []}).encode()
        async with asyncio.timeout(TIMEOUT_S):
            answer = json.loads(await self.http.post("/first", body))
        return bool(answer.get("snapshot"))

    async def knows(self, run: str) -> bool:
        """Whether the server has a run; this renews its lease."""
        async with aclosing(self.http.lines(f"/runs/{run}/events")) as events:
            status = json.loads((await anext(events)).removeprefix(b"data: "))
        self.http.close()
        return bool(status["state"] != "gone")

    async def _read(self) -> None:
        try:
            async for data in self._socket:
                message = ForwardMsg()
                message.ParseFromString(data)
                await self._take(message)
            self.errors.append(f"closed by the server: {self._socket.close_reason}")
        except Exception as error:
            self.errors.append(f"{type(error).__name__}: {error}")
        async with self._finished:
            self._finished.notify_all()

    async def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self._page_hash = self._page_hash or message.new_session.page_script_hash
        elif kind == "navigation":
            self._page_hash = message.navigation.page_script_hash
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            element = message.delta.new_element
            if element.HasField("exception") or (element.HasField("alert") and element.alert.body):
                self.errors.append(str(element)[:200])
        elif kind == "script_finished":
            async with self._finished:
                self._runs += 1
                self._finished.notify_all()


def curves_of(query: str) -> dict[str, Any]:
    """Return the arguments of the question about the curves of a link."""
    return make_curves_arguments(from_text(query)[0])


def link(rng: random.Random) -> str:
    """The query of some choice."""
    rules = rng.sample(list(RULES), rng.randint(1, 3))
    span = [-rng.randint(1, 9), rng.randint(1, 9)]
    query = {"op": rng.choice(list(OPS)), "rule": rules, "g": round(rng.uniform(-3, 3), 2), "range": span}
    return urlencode(query, doseq=True)


def first_link(seed: int) -> str:
    """The query of a training on digits, the first task; each number has settings of its own."""
    rng = random.Random(seed)
    rules = ["default", *rng.sample(["straight_through", "clipped", "tanh_surrogate"], 1)]
    settings = {"task": "digits", "op": rng.choice(["round", "sign"]), "rule": rules}
    return urlencode({**settings, "seeds": 5, "seed": seed, "hidden": rng.choice([8, 16, 32])}, doseq=True)
