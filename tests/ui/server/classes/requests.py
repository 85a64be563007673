"""Requests to the routes of classes or of others, without a network."""

import asyncio
import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route
from starlette.types import ASGIApp

from explorer.ui.server.admission import replicas
from explorer.ui.server.admission.admission import RefusedError, handle_refused
from explorer.ui.server.classes import routes
from tests.ui.visitors import scope_of

LESSON = "straight-through"


def make_app(routes: Sequence[Route]) -> Starlette:
    """Return an app of these routes that sends what is of another server there."""
    kept = [Middleware(replicas.ReplicaMiddleware)]
    handlers = {RefusedError: handle_refused, replicas.WrongReplicaError: replicas.handle_wrong_replica}
    listed = [Route(each.path, each.endpoint, methods=each.methods, middleware=kept) for each in routes]
    return Starlette(routes=listed, exception_handlers=handlers)


_APP = make_app(routes.ROUTES)


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def data(self) -> Any:
        packed = self.headers.get("content-encoding") == "gzip"
        return json.loads(gzip.decompress(self.body) if packed else self.body)


async def asked(
    method: str, target: str, body: bytes = b"", name: str = "", events: int = 1, app: ASGIApp = _APP
) -> Answer:
    """The answer; of a stream so many events, then whoever asked has gone."""
    path, _, query = target.partition("?")
    sent: list[Any] = []
    gone, parts = asyncio.Event(), [body[5000:], body[:5000]]

    async def receive() -> Any:
        if not parts:
            await gone.wait()
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": parts.pop(), "more_body": bool(parts)}

    async def send(message: Any) -> None:
        sent.append(message)
        if sum(bool(each.get("body")) for each in sent) == events:
            gone.set()

    scope = scope_of(path=path, name=name)
    scope |= {"method": method, "query_string": query.encode(), "root_path": ""}
    kind = (b"content-type", b"application/json")
    scope["headers"] = [*scope["headers"], kind, (b"accept-encoding", b"gzip")]
    await app(scope, receive, send)
    headers: dict[str, str] = {}
    for key, value in sent[0]["headers"]:
        headers[key.decode()] = f"{headers.get(key.decode(), '')} {value.decode()}".strip()
    return Answer(sent[0]["status"], headers, b"".join(each.get("body", b"") for each in sent[1:]))


def posted(path: str, data: Any, name: str = "") -> Answer:
    return asyncio.run(asked("POST", path, json.dumps(data).encode(), name))


def got(target: str) -> Answer:
    return asyncio.run(asked("GET", target))


def first_event(target: str) -> Any:
    return json.loads(got(target).body.removeprefix(b"data: "))


def seat(room: Any, name: str) -> str:
    answer = posted(f"/classes/{room['id']}/join", {"guest": ""}, name)
    assert answer.status == 200
    return answer.data["guest"]


def commanded(room: Any, command: str, **more: Any) -> Answer:
    return posted(f"/classes/{room['id']}/{command}", {"secret": room["secret"], **more})


def answered(room: Any, guest: str, number: int = 1, **prediction: Any) -> Answer:
    return posted(f"/classes/{room['id']}/answer", {"guest": guest, "round": number, **prediction})
