"""Two servers behind nginx, as docs/deploy.md has it: each run, page and class on its server.

Thorough. Faster: ``test_proxy`` asks nginx before servers that tell their names; what the app does with a
request for another server is in ``ui/server/admission/test_replicas``, a class's code in
``ui/server/classes/test_codes``.
"""

import base64
import gzip
import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import websockets
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from tests.browser.server import ROOT, free_port, serve
from tests.deploy.proxy import DEADLINE_S, PREFIX, Client, binary, proxy, trusting

SLOW = "op=relu&rule=default&hidden=4&batch=4&steps=5000&pace=20"
CUT_WITHIN_S = DEADLINE_S + 3
WORDS = ("first", "second")
CUTS = 15
TOKEN = "for the tests"
FORGOTTEN_WITHIN_S = 5.0
BACK_WITHIN_S = 20.0

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(binary() is None, reason="nginx is not installed: tests/run does, as root"),
]


class Replica:
    """One of the servers, which can be started anew."""

    def __init__(self, word: str, folder: Path) -> None:
        self.word, self.port, self._log = word, free_port(), folder / f"{word}.txt"
        self._running: AbstractContextManager[str] | None = None

    def start(self) -> None:
        settings = {
            "EXPLORER_REPLICA": self.word, "EXPLORER_SECRET": "the same for both",
            "EXPLORER_PROFILE": "hosted", "EXPLORER_ENGINE": "thread", "EXPLORER_METRICS_TOKEN": TOKEN,
            "FORWARDED_ALLOW_IPS": "127.0.0.1",
        }  # fmt: skip
        with pytest.MonkeyPatch.context() as patch:
            for name, value in settings.items():
                patch.setenv(name, value)
            self._running = serve(ROOT / "app.py", self._log, port=self.port)
            self._running.__enter__()

    def stop(self) -> None:
        if self._running:
            self._running.__exit__(None, None, None)
        self._running = None


@dataclass
class Site:
    tls: int
    replicas: dict[str, Replica]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("proxy")
    replicas = {word: Replica(word, folder) for word in WORDS}
    with ExitStack() as stack:
        for replica in replicas.values():
            replica.start()
            stack.callback(replica.stop)
        tls, _ = stack.enter_context(proxy(folder, *(each.port for each in replicas.values())))
        yield Site(tls, replicas)


@pytest.fixture
def leave() -> Iterator[ExitStack]:
    """A stack that ends with the test."""
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def come(site: Site, leave: ExitStack) -> Callable[..., Client]:
    """Makes clients, who leave in the end."""

    def one(**more: bool) -> Client:
        client = Client(site.tls, **more)
        leave.callback(client.close)
        return client

    return one


@pytest.fixture
def client(come: Callable[..., Client]) -> Client:
    return come()


def opened(site: Site, client: Client) -> AbstractContextManager[ClientConnection]:
    """A page that is open, as its server sees it."""
    shown = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    return connect(
        f"wss://localhost:{site.tls}{PREFIX}/_stcore/stream",
        ssl=trusting(),
        origin=websockets.Origin(f"https://localhost:{site.tls}"),
        subprotocols=[websockets.Subprotocol("streamlit")],
        additional_headers={"Cookie": shown},
    )


def watchers(client: Client) -> float:
    """How many connections watch a training, as the client's server counts them."""
    metrics = client.ask("/metrics", authorization=f"Bearer {TOKEN}").read().decode()
    (line,) = re.findall(r'^explorer_watchers{what="training"} (.+)$', metrics, re.MULTILINE)
    return float(line)


def replica_of(run: dict[str, str]) -> str:
    return run["id"].partition("~")[0]


def test_a_page_and_all_it_needs_come_compressed_through_tls_below_a_prefix(site: Site, client: Client):
    answer = client.ask("/train?op=sign", accept_encoding="gzip")
    page = gzip.decompress(answer.read()).decode()
    assert answer.status == 200
    assert "max-age" in str(answer.getheader("strict-transport-security"))
    cookies = answer.headers.get_all("set-cookie") or []
    assert {text.partition("=")[0] for text in cookies if "Secure" in text} >= {"visitor", "replica"}
    script = re.search(r'src="\./(static/js/index\.[^"]+\.js)"', page)
    assert script
    for path in (script[1], "healthz", "_stcore/health"):
        assert client.ask(f"/{path}").read()
    packed = client.ask(f"/{script[1]}", accept_encoding="gzip")
    assert packed.getheader("content-encoding") == "gzip"
    assert json.loads(client.ask("/ask/checks", {"op": "sign", "rule": "clipped", "parameters": {}}).read())


def test_events_arrive_one_by_one_while_it_trains(client: Client):
    client.ask("/").read()
    run = client.start(SLOW)
    begun = time.monotonic()
    seen = [event for event, _ in zip(client.events(f"/runs/{run['id']}/events"), range(12), strict=False)]
    assert time.monotonic() - begun < 10
    assert {event["state"] for event in seen} <= {"waiting", "running"}
    steps = [event["step"] for event in seen]
    assert len(set(steps)) >= 10
    assert max(later - one for one, later in pairwise(steps)) < 10  # at 20 steps a second


def test_a_connection_that_is_cut_fifteen_times_loses_nothing_and_leaves_nothing(come: Callable[..., Client]):
    watcher, other = come(), come()
    watcher.ask("/").read()
    other.cookies |= watcher.cookies
    run = watcher.start(SLOW)
    path, seen = f"/runs/{run['id']}/events", [0]
    before = watchers(other)
    for _ in range(CUTS):
        status = next(event for event in watcher.events(path) if event["step"] >= seen[-1])
        assert status["state"] in ("waiting", "running")
        seen.append(status["step"])
        watcher.cut()
    last = next(event for event in watcher.events(path) if event["step"] > seen[-1])
    assert last["state"] == "running"
    metrics = last["snapshot"]["loss_steps"]["default"]
    curve = np.frombuffer(base64.b64decode(metrics["bdata"]), metrics["dtype"])
    assert list(curve) == list(range(len(curve)))  # it is whole, from the start
    assert len(curve) >= last["step"]
    end = time.monotonic() + FORGOTTEN_WITHIN_S
    while watchers(other) > before + 1:
        assert time.monotonic() < end
        time.sleep(0.05)
    watcher.ask(f"/runs/{run['id']}/stop", {"key": run["key"]}).read()


def test_a_stopped_server_is_named_the_other_goes_on(
    site: Site, come: Callable[..., Client], leave: ExitStack
):
    clients = {word: come() for word in WORDS}
    for word, client in clients.items():
        client.cookies["replica"] = word
        client.ask("/").read()
    runs = {word: client.start(SLOW) for word, client in clients.items()}
    assert {word: replica_of(run) for word, run in runs.items()} == dict(zip(WORDS, WORDS, strict=True))
    watched = {word: clients[word].events(f"/runs/{runs[word]['id']}/events") for word in WORDS}
    assert [next(events)["state"] for events in watched.values()] == ["running"] * 2
    pages = {word: leave.enter_context(opened(site, client)) for word, client in clients.items()}

    site.replicas["first"].stop()
    with pytest.raises(ConnectionClosed):
        pages["first"].recv(timeout=CUT_WITHIN_S)
    with pytest.raises(TimeoutError):
        pages["second"].recv(timeout=0.1)  # nothing happens to it
    with opened(site, clients["first"]) as again_open:  # as its browser does, and the other server takes it
        assert again_open.subprotocol == "streamlit"
    assert [event["state"] for event in watched["first"]][-1:] in ([], ["running"])  # they end
    again = next(clients["first"].events(f"/runs/{runs['first']['id']}/events"))
    assert again["state"] == "silent"
    assert "it is on the server first, which cannot be reached" in again["sentence"]
    assert clients["first"].ask("/train").status == 200  # another page opens, on the other server

    site.replicas["first"].start()
    end = time.monotonic() + BACK_WITHIN_S
    anew = again
    while anew["state"] == "silent" and time.monotonic() < end:  # nginx leaves it alone for its fail_timeout
        anew = next(clients["first"].events(f"/runs/{runs['first']['id']}/events"))
    found = (anew["state"], anew["sentence"])
    assert found == ("gone", "The server was restarted, so this run is lost: press Start to run it again.")
    assert next(watched["second"])["state"] == "running"
