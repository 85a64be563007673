"""Health checks, metrics and an event log for those who operate the server."""

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
from explorer.training.scheduling import EXISTING

TOKEN = "EXPLORER_METRICS_TOKEN"  # environment variable with the bearer token for reading metrics
LIVENESS_PATH, READINESS_PATH = "/healthz", "/readyz"
_NO_TOKEN_MESSAGE = (
    f"Metrics are closed here: start the server with {TOKEN} set to a secret, and send it as a bearer token."
)
_WRONG_TOKEN_MESSAGE = f"Metrics need {TOKEN}: send it as a bearer token."
_LOG_INTERVAL_S = 60.0
_NO_STORE = {"Cache-Control": "no-store"}
_logger = logging.getLogger("explorer")

registry = CollectorRegistry()
refusals = Total("explorer_refusals", "Requests that were refused, by status", ["status"], registry=registry)
events = Total("explorer_events", "Notable events, by name", ["event"], registry=registry)
pages = Gauge("explorer_pages", "Pages that are open", registry=registry)
computations = Gauge(
    "explorer_computing", "Requests for torch or the reader, computing or waiting", registry=registry
)
classes = Gauge("explorer_classes", "Classes that are open", registry=registry)
watchers = Gauge("explorer_watchers", "Watching connections, by kind", ["what"], registry=registry)


class EventLog:
    """A log that writes at most one line per event name and minute.

    The log contains event names and the server's own numbers only, never user input.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last_logged: dict[str, float] = {}
        self._suppressed: Counter[str] = Counter()

    def record(self, event: str, **details: object) -> None:
        """Log an event, as in ``record("page refused", pages=400)``, and count it in the metrics."""
        events.labels(event).inc()
        now = self._clock()
        if now - self._last_logged.get(event, -_LOG_INTERVAL_S) < _LOG_INTERVAL_S:
            self._suppressed[event] += 1
            return
        self._last_logged[event] = now
        fields = (
            {**details, "unsaid": suppressed} if (suppressed := self._suppressed.pop(event, 0)) else details
        )
        _logger.info(" ".join([event, *(f"{name}={fact}" for name, fact in fields.items())]))


event_log = EventLog()


class _RunCollector(Collector):
    """A Prometheus collector that asks the training engine for its runs whenever metrics are read."""

    def collect(self) -> Iterator[Metric]:
        runs = GaugeMetricFamily("explorer_runs", "Training runs by state", labels=["state"])
        trainer_up = GaugeMetricFamily("explorer_trainer_up", "Whether the training process answers")
        try:
            states = Counter(status.state for status in shared_engine().list())
        except RuntimeError:
            trainer_up.add_metric([], 0)
        else:
            trainer_up.add_metric([], 1)
            for state in EXISTING:
                runs.add_metric([state], states[state])
        yield from (runs, trainer_up)


async def get_liveness(_request: Request) -> Response:
    """Respond to a liveness probe with status 200."""
    return PlainTextResponse("alive", headers=_NO_STORE)


async def get_readiness(_request: Request) -> Response:
    """Respond to a readiness probe with 200 if the training process responds, otherwise with 503."""
    try:
        await run_in_threadpool(shared_engine().list)
    except RuntimeError as error:
        return PlainTextResponse(f"not ready: {error}", 503, headers=_NO_STORE)
    return PlainTextResponse("ready", headers=_NO_STORE)


async def get_metrics(request: Request) -> Response:
    """Return all metrics in Prometheus' text format if the request carries the bearer token.

    Returns status 401 for any other token, and 404 if the server has none.
    """
    token = os.environ.get(TOKEN)
    if not token:
        return PlainTextResponse(_NO_TOKEN_MESSAGE, 404, headers=_NO_STORE)
    header = request.headers.get("authorization", "").encode("latin-1", "replace")
    if not hmac.compare_digest(header, f"Bearer {token}".encode()):
        return PlainTextResponse(
            _WRONG_TOKEN_MESSAGE, 401, headers=_NO_STORE | {"WWW-Authenticate": "Bearer"}
        )
    text = await run_in_threadpool(generate_latest, registry)
    return Response(text, headers=_NO_STORE, media_type=CONTENT_TYPE_LATEST)


def configure_logging() -> None:
    """Make the explorer's logger write to standard error, unless it already has a handler."""
    if not _logger.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        _logger.addHandler(handler)
        _logger.setLevel(logging.INFO)
        _logger.propagate = False


registry.register(_RunCollector())
ProcessCollector(registry=registry)
ROUTES = (
    Route(LIVENESS_PATH, get_liveness),
    Route(READINESS_PATH, get_readiness),
    Route("/metrics", get_metrics),
)
