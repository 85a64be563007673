"""Requests of one address begin one in a round of the event loop, those of others beside them."""

import asyncio
import re
from pathlib import Path
from typing import Any

from explorer.ui.server.admission.turns import FairTurnMiddleware

MIDDLEWARE = Path(__file__).parents[4].joinpath("app.py").read_text("utf-8").partition("middleware=[\n")[2]


def begun(addresses: list[str], kind: str = "http") -> list[str]:
    """The addresses of requests that come at the same moment, in the order in which they begin."""
    order: list[str] = []

    async def app(scope: Any, _receive: Any, _send: Any) -> None:
        order.append(scope["client"][0])

    async def ask() -> None:
        turns = FairTurnMiddleware(app)
        scopes = [{"type": kind, "headers": [], "client": (address, 1)} for address in addresses]
        await asyncio.gather(*(turns(scope, None, None) for scope in scopes))

    asyncio.run(ask())
    return order


def test_a_crowd_at_one_address_does_not_go_before_another_address():
    order = begun(["192.0.2.1"] * 100 + ["192.0.2.2"])
    assert order.index("192.0.2.2") <= 2
    assert order.count("192.0.2.1") == 100


def test_requests_of_one_address_keep_their_order():
    async def numbers() -> list[int]:
        order: list[int] = []

        async def app(scope: Any, _receive: Any, _send: Any) -> None:
            order.append(scope["number"])

        turns = FairTurnMiddleware(app)
        scopes = [{"type": "http", "headers": [], "client": ("192.0.2.1", 1), "number": n} for n in range(20)]
        await asyncio.gather(*(turns(scope, None, None) for scope in scopes))
        return order

    assert asyncio.run(numbers()) == list(range(20))


def test_a_websocket_waits_for_no_turn():
    assert begun(["192.0.2.1"] * 3, "websocket") == ["192.0.2.1"] * 3


def test_the_server_lets_every_request_take_its_turn_first():
    assert re.match(r"\s*Middleware\(FairTurnMiddleware\)", MIDDLEWARE)
