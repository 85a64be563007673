"""The explorer in a frame of another site: it works there, and the site itself can have nothing done."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Browser, FrameLocator, expect

from tests.browser.visitors import Tab, profile


class _Blog(BaseHTTPRequestHandler):
    """Answers a page with a frame of the address that its query holds."""

    def do_GET(self) -> None:
        (framed,) = parse_qs(urlsplit(self.path).query).get("framed", [""])
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        frame = f'<iframe src="{framed.replace("&", "&amp;")}" width="1200" height="800"></iframe>'
        self.wfile.write(f"<!doctype html><title>A blog</title><link rel=icon href='data:'>{frame}".encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """Another site, by its address; of this machine as well: a public page is kept from such."""
    with HTTPServer(("127.0.0.2", 0), _Blog) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        yield f"http://127.0.0.2:{server.server_port}"
        server.shutdown()
        serving.join()


@pytest.fixture(scope="module")
def visitor(chromium: Browser, address: str) -> Iterator[Tab]:
    """Of a browser that keeps no other site's cookie."""
    with profile(chromium, address) as context:
        yield Tab(context)


@pytest.fixture
def framed(visitor: Tab, site: str, address: str) -> Iterator[Callable[[str], FrameLocator]]:
    """Opens a page of another site with the explorer in a frame."""

    def opened(path: str) -> FrameLocator:
        visitor.page.goto(f"{site}/?{urlencode({'framed': address + path})}")
        return visitor.page.frame_locator("iframe")

    yield opened
    assert not visitor.errors


def test_a_frame_on_another_site_can_train(framed):
    frame = framed("/train?embed=true&op=relu&rule=default&steps=40&pace=full")
    frame.get_by_role("button", name="Start").click()
    expect(frame.locator(".status .main")).to_contain_text("Finished after 40 steps")
