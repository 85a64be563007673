"""The explorer in a frame of another site: it works there, and the site itself can have nothing done."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open

SITE = "http://127.0.0.2:8080/"  # another site, of this machine as well: Chromium keeps others from it
RUN = json.dumps({"query": "op=relu&rule=default", "owner": "another"})
_ASK = """([address, body]) => fetch(address, {method: "POST", mode: "no-cors", body})"""


@pytest.fixture
def framed(new_page: Open, address: str):
    """Opens a page of the explorer in a frame of another site."""

    def opened(path: str) -> Page:
        page = new_page(fresh=True)
        frame = f'<!doctype html><title>a blog</title><iframe src="{address}{path}" width=1200 height=800>'
        page.route(SITE, lambda route: route.fulfill(body=frame, content_type="text/html"))
        page.goto(SITE)
        return page

    return opened


def test_a_frame_on_another_site_trains(framed):
    frame = framed("/train?embed=true&op=relu&rule=default&steps=40&pace=full").frame_locator("iframe")
    frame.get_by_role("button", name="Start").click()
    expect(frame.locator(".status .main")).to_contain_text("Finished after 40 steps")


def test_a_frame_on_another_site_reads_code(framed):
    frame = framed("/?embed=true&section=paste").frame_locator("iframe")
    frame.get_by_label("Paste a torch.autograd.Function").fill("def f(x):\n    return x.clamp(0, 1)")
    expect(frame.get_by_role("button", name="Show its curve")).to_be_visible()


@pytest.mark.parametrize("path", ["/runs", "/read"])
def test_another_site_can_have_nothing_done(framed, address, path):
    page = framed("/?embed=true")
    with page.expect_response(f"{address}{path}") as answer:
        page.evaluate(_ASK, [f"{address}{path}", RUN])
    assert answer.value.status == 403
