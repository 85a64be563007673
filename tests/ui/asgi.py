"""Questions to a server's app, without a network."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope

from explorer.ui.server.admission import replicas
from explorer.ui.server.admission.admission import RefusedError, handle_refused
from tests.ui.visitors import scope_of


@dataclass
class Answer:
    """A response; headers of one name are joined by blanks."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode(errors="replace")

    @property
    def data(self) -> Any:
        return json.loads(self.body)


async def messages_of(
    app: ASGIApp, scope: Scope, *parts: bytes, receive: Receive | None = None, events: int = 1
) -> list[Message]:
    """Return what an app sends to a client with a body in so many parts, who leaves after so many events."""
    sent: list[Message] = []
    left, gone = [*parts] or [b""], asyncio.Event()

    async def given() -> Message:
        if not left:
            await gone.wait()
            return {"type": "http.disconnect"}
        part = left.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(left)}

    async def send(message: Message) -> None:
        sent.append(message)
        if sum(bool(each.get("body")) for each in sent) == events:
            gone.set()

    await app(scope, receive or given, send)
    return sent


async def ask(app: ASGIApp, scope: Scope, *parts: bytes, **more: Any) -> Answer:
    """Return the answer of an app; ``more``: as for ``messages_of``."""
    start, *rest = await messages_of(app, scope, *parts, **more)
    headers: dict[str, str] = {}
    for key, value in start["headers"]:
        headers[key.decode()] = f"{headers.get(key.decode(), '')} {value.decode()}".strip()
    return Answer(start["status"], headers, b"".join(part.get("body", b"") for part in rest))


class Client:
    """A browser at some routes, of which some may be another server's."""

    def __init__(self, routes: Sequence[Route]) -> None:
        kept = [Middleware(replicas.ReplicaMiddleware)]
        handlers = {RefusedError: handle_refused, replicas.WrongReplicaError: replicas.handle_wrong_replica}
        listed = [Route(each.path, each.endpoint, methods=each.methods, middleware=kept) for each in routes]
        self._app = Starlette(routes=listed, exception_handlers=handlers)

    async def ask(self, method: str, target: str, body: bytes = b"", name: str = "", **more: Any) -> Answer:
        """Return an answer; ``more``: the body's ``kind``, further headers, and as for ``messages_of``."""
        path, _, query = target.partition("?")
        scope = scope_of(path=path, name=name) | {"method": method, "query_string": query.encode()}
        named = {"content-type": more.pop("kind", "application/json")} | more.pop("headers", {})
        scope["headers"] = [*scope["headers"], *((key.encode(), own.encode()) for key, own in named.items())]
        return await ask(self._app, scope, body[:5000], body[5000:], **more)

    def post(self, path: str, data: Any = None, *, content: bytes | None = None, **more: Any) -> Answer:
        body = json.dumps(data).encode() if content is None else content
        return asyncio.run(self.ask("POST", path, body, **more))

    def get(self, target: str, **headers: str) -> Answer:
        return asyncio.run(self.ask("GET", target, headers=headers))
