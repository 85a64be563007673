"""Requests of one address begin one in a round of the event loop, those of others beside them."""

import asyncio
import re
from itertools import count
from pathlib import Path
from typing import Any

from explorer.ui.server.admission.turns import FairTurnMiddleware

MIDDLEWARE = Path(__file__).parents[4].joinpath("app.py").read_text("utf-8").partition("middleware=[\n")[2]


def begun(addresses: list[str], kind: str = "http") -> list[tuple[str, int]]:
    """The clients of requests that come at the same moment, in the order in which they begin."""
    order: list[tuple[str, int]] = []

    async def app(scope: Any, _receive: Any, _send: Any) -> None:
        order.append(scope["client"])

    async def ask() -> None:
        turns = FairTurnMiddleware(app)
        scopes = [{"type": kind, "headers": [], "client": client} for client in zip(addresses, count())]
        await asyncio.gather(*(turns(scope, None, None) for scope in scopes))

    asyncio.run(ask())
    return order


def test_a_crowd_at_one_address_keeps_its_order_and_does_not_go_before_another_address():
    order = begun(["192.0.2.1"] * 100 + ["192.0.2.2"])
    assert order.index(("192.0.2.2", 100)) <= 2
    assert [number for address, number in order if address == "192.0.2.1"] == [*range(100)]


def test_a_websocket_waits_for_no_turn():
    crowd = ["192.0.2.1"] * 3 + ["192.0.2.2"]
    assert [address for address, _ in begun(crowd, "websocket")] == crowd


def test_the_server_lets_every_request_take_its_turn_first():
    assert re.match(r"\s*Middleware\(FairTurnMiddleware\)", MIDDLEWARE)
