"""The configuration of nginx, as docs/deploy.md has it, before two servers that only tell their names."""

import http.client
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from explorer.ui.server.runs.stream import _HEADERS as HEADERS
from tests.browser.server import free_port
from tests.deploy.proxy import DEADLINE_S, PREFIX, Client, binary, proxy, trusting

WORDS = ("first", "second")
PORTS = {word: free_port() for word in WORDS}
CUT_WITHIN_S = DEADLINE_S + 3
BACK_WITHIN_S = 10.0
heard = threading.Event()  # the first event of a stream has arrived

pytestmark = pytest.mark.skipif(binary() is None, reason="nginx is not installed: tests/run does, as root")


@contextmanager
def serve_name(word: str) -> Iterator[None]:
    """Serve the name of one server at its port, with the cookie that keeps a browser there."""

    heard.clear()

    class Named(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            if self.path.endswith("/events"):
                self.tell_events()
                return
            self.send_header("Content-Type", "text/plain")
            self.send_header("Set-Cookie", f"replica={word}; HttpOnly")
            self.end_headers()
            self.wfile.write(f"{word} {self.path}".encode())

        def tell_events(self) -> None:
            """Tell two events, the second once somebody has the first."""
            self.send_header("Content-Type", "text/event-stream")
            for name, value in HEADERS.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(f"data: {'1' * 2000}\n\n".encode())
            heard.wait(DEADLINE_S)
            self.wfile.write(f"data: {heard.is_set()}\n\n".encode())

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", PORTS[word]), Named) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def ports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, int]]:
    """The ports of nginx: with TLS and without."""
    with proxy(tmp_path_factory.mktemp("proxy"), *PORTS.values()) as ports:
        yield ports


@pytest.fixture
def servers() -> Iterator[dict[str, ExitStack]]:
    """Two servers; closing a stack takes its server away."""
    with ExitStack() as every:
        stacks = {word: every.enter_context(ExitStack()) for word in WORDS}
        for word, stack in stacks.items():
            stack.enter_context(serve_name(word))
        yield stacks


@pytest.fixture
def come(ports: tuple[int, int]) -> Iterator[Callable[[], Client]]:
    """Makes clients, who leave in the end."""
    with ExitStack() as leave:
        yield lambda: leave.enter_context(closing(Client(ports[0])))


def name_of(client: Client, path: str = "/") -> str:
    return client.ask(path).read().decode().split()[0]


def test_without_tls_or_the_last_slash_a_browser_is_led_on(ports: tuple[int, int], come, servers):
    with closing(http.client.HTTPConnection("localhost", ports[1], timeout=10)) as connection:
        connection.request("GET", "/a?op=sign")
        led = connection.getresponse()
        assert (led.status, led.getheader("location")) == (308, "https://localhost/a?op=sign")
    answer = come().ask("?op=sign")
    assert (answer.status, answer.getheader("location")) == (308, f"{PREFIX}/?op=sign")
    answer = come().ask("/train?op=sign")
    assert answer.read().decode().endswith(" /train?op=sign")
    assert "max-age" in str(answer.getheader("strict-transport-security"))


def test_events_arrive_one_by_one_and_words_compressed(come, servers):
    client = come()
    events = client.ask("/runs/a/events", accept_encoding="gzip")
    assert events.getheader("content-encoding") is None
    assert events.readline().startswith(b"data: 1")
    heard.set()
    assert events.read().endswith(b"data: True\n\n")
    assert client.ask("/" + "a" * 2000, accept_encoding="gzip").getheader("content-encoding") == "gzip"


def test_a_slow_sender_is_disconnected(ports: tuple[int, int]):
    half_a_head = b"GET / HTTP/1.1\r\nHost: loc"
    lines = f"POST {PREFIX}/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{{"
    with ExitStack() as stack:
        slow = []
        for said in (half_a_head, lines.encode()):
            plain = stack.enter_context(socket.create_connection(("127.0.0.1", ports[0])))
            plain.settimeout(CUT_WITHIN_S)
            slow.append(stack.enter_context(trusting().wrap_socket(plain, server_hostname="localhost")))
            slow[-1].sendall(said)
        for each in slow:
            assert each.recv(99).partition(b"\r\n")[0] in (b"", b"HTTP/1.1 408 Request Time-out")


def test_newcomers_take_turns_and_a_browser_stays_with_its_server(come, servers):
    """Whichever process of nginx takes a newcomer: they share their counts."""
    clients = [come() for _ in range(12)]
    seen = [name_of(client) for client in clients]
    assert [seen.count(word) for word in WORDS] == [6, 6]
    assert [name_of(client) for client in clients] == seen
    assert name_of(clients[0], "/?replica=first") == "first"
    assert name_of(clients[0], "/?replica=second") == "second"


def test_while_a_server_is_away_the_other_one_answers(come, servers):
    client = come()
    client.cookies["replica"] = "first"
    assert name_of(client) == "first"
    servers["first"].close()
    client.cookies["replica"] = "first"
    assert name_of(client) == "second"
    with serve_name("first"):
        end = time.monotonic() + BACK_WITHIN_S
        seen = ""
        while seen != "first" and time.monotonic() < end:  # nginx asks it again after its fail_timeout
            client.cookies["replica"] = "first"
            seen = name_of(client)
            time.sleep(0.1)
        assert seen == "first"
