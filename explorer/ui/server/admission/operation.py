"""Questions of those who run the server: whether it lives, whether it is ready, and how much it does."""

import hmac
import logging
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Gauge, ProcessCollector, generate_latest
from prometheus_client import Counter as Total
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from explorer.training import shared_engine
from explorer.training.scheduling import HELD

TOKEN = "EXPLORER_METRICS_TOKEN"  # the environment variable: what a reader of the metrics must show
LIVES, READY = "/healthz", "/readyz"
_CLOSED = (
    f"Metrics are closed here: start the server with {TOKEN} set to a secret, and send it as a bearer token."
)
_NOT_YOURS = f"Metrics need {TOKEN}: send it as a bearer token."
_SAID_EVERY_S = 60.0
_NOT_KEPT = {"Cache-Control": "no-store"}
_log = logging.getLogger("explorer")

registry = CollectorRegistry()
refusals = Total("explorer_refusals", "Requests that were refused, by status", ["status"], registry=registry)
events = Total("explorer_events", "Notable events, by name", ["event"], registry=registry)
pages = Gauge("explorer_pages", "Pages that are open", registry=registry)
computing = Gauge(
    "explorer_computing", "Requests for torch or the reader, computing or waiting", registry=registry
)
classes = Gauge("explorer_classes", "Classes that are open", registry=registry)
watchers = Gauge(
    "explorer_watchers", "Connections that watch, by what they watch", ["what"], registry=registry
)


class Journal:
    """One line for each notable event, and no more than one a minute of the same name.

    What visitors typed is none of its business: a line holds a name and numbers of our own.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._said: dict[str, float] = {}
        self._left: Counter[str] = Counter()

    def note(self, event: str, **facts: object) -> None:
        """Log an event, such as ``note("page refused", pages=400)``, and count it for the metrics."""
        events.labels(event).inc()
        now = self._clock()
        if now - self._said.get(event, -_SAID_EVERY_S) < _SAID_EVERY_S:
            self._left[event] += 1
            return
        self._said[event] = now
        entry = {**facts, "unsaid": left} if (left := self._left.pop(event, 0)) else facts
        _log.info(" ".join([event, *(f"{name}={fact}" for name, fact in entry.items())]))


journal = Journal()


class _Runs(Collector):
    """The number of runs in each state, asked of the engine whenever metrics are read."""

    def collect(self) -> Iterator[Metric]:
        """The runs by state; none where the engine does not answer."""
        runs = GaugeMetricFamily("explorer_runs", "Training runs by state", labels=["state"])
        up = GaugeMetricFamily("explorer_trainer_up", "Whether the training process answers")
        try:
            states = Counter(status.state for status in shared_engine().list())
        except RuntimeError:
            up.add_metric([], 0)
        else:
            up.add_metric([], 1)
            for state in HELD:
                runs.add_metric([state], states[state])
        yield from (runs, up)


async def lives(_request: Request) -> Response:
    """200 as long as this process answers."""
    return PlainTextResponse("alive", headers=_NOT_KEPT)


async def ready(_request: Request) -> Response:
    """200 where visitors can be sent here: the server is warm, and the trainer answers; else 503 and why."""
    try:
        await run_in_threadpool(shared_engine().list)
    except RuntimeError as error:
        return PlainTextResponse(f"not ready: {error}", 503, headers=_NOT_KEPT)
    return PlainTextResponse("ready", headers=_NOT_KEPT)


async def metrics(request: Request) -> Response:
    """All figures in Prometheus' format, for who shows the token."""
    token = os.environ.get(TOKEN)
    if not token:
        return PlainTextResponse(_CLOSED, 404, headers=_NOT_KEPT)
    header = request.headers.get("authorization", "").encode("latin-1", "replace")
    if not hmac.compare_digest(header, f"Bearer {token}".encode()):
        return PlainTextResponse(_NOT_YOURS, 401, headers=_NOT_KEPT | {"WWW-Authenticate": "Bearer"})
    text = await run_in_threadpool(generate_latest, registry)
    return Response(text, headers=_NOT_KEPT, media_type=CONTENT_TYPE_LATEST)


def begin() -> None:
    """Write what is noted to standard error, unless somebody has said where it goes."""
    if not _log.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        _log.addHandler(handler)
        _log.setLevel(logging.INFO)
        _log.propagate = False


registry.register(_Runs())
ProcessCollector(registry=registry)
ROUTES = (Route(LIVES, lives), Route(READY, ready), Route("/metrics", metrics))
