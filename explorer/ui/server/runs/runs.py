"""Runs for the page's instrument: started and commanded here, watched as events."""

import gzip
import hmac
import json
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, get_args

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from explorer.instrument.limits import LONGEST_QUERY
from explorer.training import LIVE, SETTINGS, Command, EngineFull, Settings, Status, shared_engine
from explorer.training.instruments.base.question import whole_numbers
from explorer.training.limits import MAX_BRANCHES, MAX_TABLE_BYTES
from explorer.training.settings import Branch, read_branch
from explorer.ui.links.choice import Choice
from explorer.ui.links.link import from_text
from explorer.ui.server.admission import limits, operation
from explorer.ui.server.admission.admission import Refused
from explorer.ui.server.admission.payload import Json, LongBodies, body, parsed
from explorer.ui.server.admission.replicas import require_here
from explorer.ui.server.admission.seats import Seats
from explorer.ui.server.admission.visitors import advised, asking, signature
from explorer.ui.server.runs.stream import as_json, event, run_events

LONGEST_BODY = 4 * LONGEST_QUERY  # bytes
LONGEST_BRANCHES = 400 * MAX_BRANCHES  # bytes: each may have an own formula of 300 characters
LONGEST_START = LONGEST_BODY + LONGEST_BRANCHES + 2 * MAX_TABLE_BYTES  # JSON writes a line's end with two
LONGEST_OWNER = 64
NOT_KEPT = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
_long_bodies = LongBodies()
READERS = Seats(limits.READING, limits.WAITING)  # apart: no curve waits for a table
_WORTH_PACKING = 4_096  # bytes
_LEVEL = 1  # of gzip: higher ones take twice as long for a twentieth less


async def start(request: Request) -> Response:
    """Begin a run: ``{query, owner, paused, table, after, branch}`` gives ``{id, key}``; the key commands it.

    ``branch``: all its branch points as a link writes them; without it those of the query.
    ``after``: ``{run, key, step}`` of an earlier run that it goes on from.
    """
    return await answered(_started, request, limits.RUNS_SHARE.of(asking(request)), longest=LONGEST_START)


async def command(request: Request) -> Response:
    """Command a run, or only ``change`` it: ``{key, lr, pace}`` gives its status as an event has it.

    Whatever the command, the run goes on with the lr and pace that come with it; a lr that comes on the way
    is a branch point, and one that comes with ``reset`` holds from the start.
    """
    return await answered(_commanded, request, request.path_params["run"], request.path_params["command"])


async def measured(request: Request) -> Response:
    """The answer of an instrument, by rule; its arguments are whole numbers in the query."""
    run, key = request.path_params["run"], request.path_params["instrument"]
    return await responded(request, _measured, run, key, dict(request.query_params))


async def devices(request: Request) -> Response:
    """Which device nets train faster on, as ``{words}``."""
    return await responded(request, lambda: json.dumps({"words": shared_engine().compare_devices()}))


ROUTES = (
    Route("/devices", devices),
    Route("/runs", start, methods=["POST"]),
    Route("/runs/{run}/events", run_events),
    Route("/runs/{run}/measured/{instrument}", measured),
    Route("/runs/{run}/{command}", command, methods=["POST"]),
)


def _started(data: Json, shares: dict[Hashable, int]) -> str:
    owner, settings = owner_of(data), settings_of(data)
    paused = data.get("paused") is True
    after = _earlier(data.get("after"))
    identity = shared_engine().start(settings, owner, paused=paused, after=after, shares=shares)
    operation.journal.note("run started", task=settings.task, rules=len(settings.rules), seeds=settings.seeds)
    return json.dumps({"id": identity, "key": key_of(identity)})


def settings_of(data: Json) -> Settings:
    """The settings in a request: ``{query, table, branch}``. Raises ValueError with a clause, or Refused."""
    choice = choice_of(data)
    training = {name: getattr(choice, name) for name in SETTINGS}
    chosen: Json = {"op": choice.op, "rules": choice.rules, "parameters": choice.trained}
    return Settings(table=data.get("table"), branch=_branch(data, choice), **chosen, **training)


def _branch(data: Json, choice: Choice) -> tuple[Branch, ...]:
    """The branch points of a run: more than its link has room for. Raises ValueError with a clause."""
    points = data.get("branch")
    if not isinstance(points, list):
        return choice.branch
    return tuple(read_branch(str(text), choice.rules) for text in points[: MAX_BRANCHES + 1])


def _earlier(reference: Any) -> tuple[str, int] | None:
    """The run and the step that one goes on from.

    Raises Refused where somebody else started it, and Elsewhere where another server has it.
    """
    if not isinstance(reference, dict):
        return None
    identity, step = str(reference.get("run")), reference.get("step")
    require_here(identity)
    if not is_owned(identity, reference) or not isinstance(step, int):
        raise Refused(403, "Only the visitor who started a run can go on from it: press Start for your own.")
    return identity, step


def owner_of(data: Json) -> str:
    """The session that asks. Raises Refused where it has no name."""
    owner = data.get("owner")
    if not isinstance(owner, str) or not 1 <= len(owner) <= LONGEST_OWNER:
        raise Refused(400, f"The owner must be a text of 1 to {LONGEST_OWNER} characters.")
    return owner


def choice_of(data: Json) -> Choice:
    """The choice in the query of a request. Raises Refused where it cannot be had."""
    choice, notices = from_text(str(data.get("query", "")))
    if notices:
        raise Refused(400, notices[0])
    return choice


def _commanded(data: Json, identity: str, name: str) -> str:
    engine = shared_engine()
    status = None if is_owned(identity, data) else engine.snapshot(identity)
    if status and status.state != "gone":
        raise Refused(403, "Only the visitor who started this run can command it: press Start for your own.")
    return event(status or _obeyed(identity, name, data))


def _obeyed(identity: str, name: str, data: Json) -> Status:
    engine = shared_engine()
    if name not in ("change", *get_args(Command)):
        raise Refused(404, f"Runs know no such command: use change, {', '.join(get_args(Command))}.")
    live = {key: SETTINGS[key].read(str(data[key])) for key in LIVE if key in data}
    if name == "reset":
        engine.command(identity, "reset")  # what comes with it holds from the start
    status = engine.change(identity, **live)
    return status if name in ("change", "reset") else engine.command(identity, name)  # type: ignore[arg-type]


def _measured(identity: str, key: str, arguments: dict[str, str]) -> str:
    return as_json(shared_engine().measure(identity, key, **whole_numbers(arguments)))


def key_of(identity: str) -> str:
    """The proof that a session started a run."""
    return signature("run", identity)


def is_owned(identity: str, data: Json) -> bool:
    """Whether a request comes from who has the key."""
    return hmac.compare_digest(str(data.get("key")).encode(errors="replace"), key_of(identity).encode())


async def answered(
    work: Callable[..., str],
    request: Request,
    *arguments: Any,
    longest: int = LONGEST_BODY,
    refusal: str = "This cannot be trained: {}.",
    seats: Seats | None = None,
) -> Response:
    """The result of the work for a body of so many bytes, as JSON. Raises Refused where it cannot be done.

    What is computed while its visitor waits takes one of the ``seats``; what the engine is asked needs none.
    """
    async with _long_bodies.held(request):
        text = await body(request, longest)
        return await responded(request, lambda: work(parsed(text), *arguments), refusal=refusal, seats=seats)


async def responded(
    request: Request,
    work: Callable[..., str],
    *arguments: Any,
    refusal: str = "This cannot be measured: {}.",
    seats: Seats | None = None,
) -> Response:
    """The result of the work as JSON, compressed on request. Raises Refused where it cannot be done."""
    try:
        packed = partial(_packed, request, work, *arguments)
        taken = seats.compute(asking(request), packed) if seats else run_in_threadpool(packed)
        content, headers = await taken
    except ValueError as error:
        raise Refused(400, refusal.format(error)) from None
    except EngineFull as full:
        operation.journal.note("run refused")
        raise Refused(503, advised(str(full), full.share)) from None
    except RuntimeError as error:
        raise Refused(503, f"Training is not available just now: {error}.") from None
    return Response(content, media_type="application/json", headers=NOT_KEPT | headers)


def attached(content: str | bytes, name: str, media_type: str) -> Response:
    """A file of this name to keep."""
    headers = NOT_KEPT | {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=media_type, headers=headers)


def _packed(request: Request, work: Callable[..., str], *arguments: Any) -> tuple[bytes, dict[str, str]]:
    """A result as it is sent, with the headers that say how: numbers in it take half as much compressed."""
    body = work(*arguments).encode()
    if len(body) < _WORTH_PACKING or "gzip" not in request.headers.get("accept-encoding", ""):
        return body, {}
    return gzip.compress(body, _LEVEL, mtime=0), {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
