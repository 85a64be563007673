"""Runs for the page's instrument: started and commanded here, watched as events."""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Callable
from typing import Any, get_args
from urllib.parse import parse_qs

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from explorer.instrument.limits import LONGEST_QUERY
from explorer.training import LIVE, SETTINGS, Command, EngineFull, Settings, Status, shared_engine
from explorer.ui.link import from_query
from explorer.ui.stream import event, run_events

LONGEST_BODY = 4 * LONGEST_QUERY  # bytes
LONGEST_OWNER = 64
_FRESH = {"Cache-Control": "no-store"}
_secret = secrets.token_bytes(32)

Json = dict[str, Any]


class RefusedError(Exception):
    """What is asked cannot be done; the message is a sentence for the screen, ``code`` is HTTP's."""

    def __init__(self, code: int, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


async def start(request: Request) -> Response:
    """Begin a run: ``{query, owner, paused}`` gives ``{id, key}``; whoever has the key may command it."""
    return await _answered(_started, await _body(request))


async def command(request: Request) -> Response:
    """Command a run, or ``change`` its lr and pace: ``{key, …}`` gives its status as an event has it."""
    asked = request.path_params
    return await _answered(_commanded, await _body(request), asked["run"], asked["command"])


ROUTES = (
    Route("/runs", start, methods=["POST"]),
    Route("/runs/{run}/events", run_events),
    Route("/runs/{run}/{command}", command, methods=["POST"]),
)


def _started(body: Json) -> str:
    owner = body.get("owner")
    if not isinstance(owner, str) or not 1 <= len(owner) <= LONGEST_OWNER:
        raise RefusedError(400, f"The owner must be a text of 1 to {LONGEST_OWNER} characters.")
    choice, notices = from_query(parse_qs(str(body.get("query", "")), keep_blank_values=True))
    if notices:
        raise RefusedError(400, notices[0])
    training = {name: getattr(choice, name) for name in SETTINGS}
    settings = Settings(op=choice.op, rules=choice.rules, parameters=choice.parameters, **training)
    identity = shared_engine().start(settings, owner, paused=body.get("paused") is True)
    return json.dumps({"id": identity, "key": _key(identity)})


def _commanded(body: Json, identity: str, name: str) -> str:
    engine = shared_engine()
    status = None if _owned(identity, body) else engine.snapshot(identity)
    if status and status.state != "gone":
        raise RefusedError(403, "Only who started this run can command it: press Start for your own.")
    return event(status or _obeyed(identity, name, body))


def _obeyed(identity: str, name: str, body: Json) -> Status:
    engine = shared_engine()
    if name == "change":
        live = {key: SETTINGS[key].read(str(body[key])) for key in LIVE if key in body}
        return engine.change(identity, **live)
    if name not in get_args(Command):
        raise RefusedError(404, f"Runs know no such command: use change, {', '.join(get_args(Command))}.")
    return engine.command(identity, name)  # type: ignore[arg-type]  # it is one of them


def _key(identity: str) -> str:
    """What proves that a session started a run."""
    return hmac.digest(_secret, identity.encode(), "sha256").hex()


def _owned(identity: str, body: Json) -> bool:
    return hmac.compare_digest(str(body.get("key")).encode(), _key(identity).encode())


async def _body(request: Request) -> Json | RefusedError:
    """The object a request holds, or what is wrong with it."""
    text = bytearray()
    async for part in request.stream():
        text += part
        if len(text) > LONGEST_BODY:
            return RefusedError(413, f"This is too long: at most {LONGEST_BODY} bytes.")
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        body = None
    return body if isinstance(body, dict) else RefusedError(400, "This is not understood: send JSON.")


async def _answered(work: Callable[..., str], body: Json | RefusedError, *given: str) -> Response:
    """What the work gives, as JSON; a sentence where it cannot be done."""
    try:
        if isinstance(body, RefusedError):
            raise body
        text = await run_in_threadpool(work, body, *given)
    except RefusedError as refused:
        return _message(refused.code, str(refused))
    except ValueError as error:
        return _message(400, f"This cannot be trained: {error}.")
    except EngineFull as full:
        return _message(503, str(full))
    except RuntimeError as error:
        return _message(503, f"Training is not available just now: {error}.")
    return Response(text, media_type="application/json", headers=_FRESH)


def _message(code: int, sentence: str) -> Response:
    return JSONResponse({"message": sentence}, status_code=code, headers=_FRESH)
