"""A visitor: what a browser's tab asks for and is told, without drawing it."""

import asyncio
import json
import random
import time
from collections.abc import AsyncGenerator, Sequence
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

    async def open(self) -> None:
        """Load the page and see its script finish. Raises ConnectionError where the page shows an error."""
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
        message = BackMsg()
        state = message.rerun_script
        state.query_string, state.page_name = self.query, self._page
        await self._socket.send(message.SerializeToString())
        await asyncio.wait_for(self._see_script_finish(), TIMEOUT_S)

    async def _see_script_finish(self) -> None:
        async for data in self._socket:
            message = ForwardMsg()
            message.ParseFromString(data)
            if message.WhichOneof("type") == "script_finished":
                return
            element = message.delta.new_element
            if element.HasField("exception") or element.alert.body:
                raise ConnectionError(str(element)[:200])
        raise ConnectionError(f"closed by the server: {self._socket.close_reason}")

    async def close(self) -> None:
        """Close the page."""
        self.http.close()
        if self._socket:
            await self._socket.close()

    async def change(self, query: str) -> None:
        """Choose something else, and wait until torch has answered; no script runs."""
        self.query = query
        await asyncio.wait_for(self.http.ask("curves", curves_of(query)), TIMEOUT_S)

    async def train(self, shown: Sequence[str] = ()) -> dict[str, Any]:
        """Start a run at full pace and watch it to its end: seconds, pictures, and the last status.

        ``shown``: keys of the instruments that are in the pictures.
        """
        begun, first, pictures = time.monotonic(), None, 0
        run = await self._start("/runs")
        address = f"/runs/{run['id']}/events?{urlencode({'show': shown}, True)}"
        async with aclosing(self._watch(address)) as events:
            async for status in events:
                pictures += 1
                if first is None and status["step"]:
                    first = time.monotonic() - begun
                if status["step"] and status["state"] not in (*ACTIVE, "silent"):
                    break
        return {"seconds": time.monotonic() - begun, "first": first, "pictures": pictures, "status": status}

    async def see_a_run_move(self) -> None:
        """Start a run at full pace, and watch it for its first steps."""
        await self._see_move("/runs", "step")

    async def see_a_study_move(self) -> None:
        """Start a study, watch it until something of it is done, and stop it."""
        study = await self._see_move("/studies", "done")
        await self.http.post(f"/studies/{study['id']}/stop", json.dumps({"key": study["key"]}).encode())

    async def _see_move(self, path: str, count: str) -> Any:
        """Start a run or a study and watch it until its count is above 0; return its id and key."""
        job = await self._start(path)
        async with asyncio.timeout(TIMEOUT_S), aclosing(self._watch(f"{path}/{job['id']}/events")) as events:
            async for status in events:
                if status[count]:
                    return job
        raise ConnectionError(f"{path} ended before anything was done")

    async def _start(self, path: str) -> Any:
        body = json.dumps({"query": self.query, "owner": f"{id(self)}"})
        return json.loads(await self.http.post(path, body.encode()))

    async def _watch(self, path: str) -> AsyncGenerator[dict[str, Any]]:
        """Yield the status in each event; close the connection at the end."""
        try:
            async for line in self.http.lines(path):
                if line.startswith(b"data: "):
                    yield json.loads(line[6:])
        finally:
            self.http.close()

    async def see_step_0(self) -> bool:
        """Ask for the net as it is before its first step; whether it came."""
        body = json.dumps({"query": self.query, "branch": []}).encode()
        async with asyncio.timeout(TIMEOUT_S):
            answer = json.loads(await self.http.post("/first", body))
        return bool(answer.get("snapshot"))


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
