"""Links: one restores everything, a bad one does nothing."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from explorer.ui.server import answers
from tests.browser import reading
from tests.browser.reading import card, link, number, title, traces, turn, visit, wait_until_at_rest

FIRST = ["default", "straight_through"]
MARKUP = "<img src=x onerror=window.struck=1><script>window.struck=1</script>"
MARKDOWN = "![seen](https://example.invalid/seen.png) [click](javascript:window.struck=1) $x$ **bold**"

# All that is hostile in one link; more of them are read in tests/ui/links.
HOSTILE: dict[str, Any] = {
    "op": f"formula: {MARKUP}",
    "rule": [
        f"formula: {MARKUP}", f"formula: {MARKDOWN}", "formula: x.__class__", "formula: 9**9**9 + (",
        "\0",
    ],
    **{MARKUP: MARKUP, MARKDOWN: MARKDOWN, "g": "1\0", "range": ["\0", "\r\n"]},
}  # fmt: skip


def test_a_link_restores_the_whole_choice(page: Page) -> None:
    own_op, own_rule = "formula: x - floor(x)", "formula: g * (abs(x) <= w)"
    query = link(
        "/",
        {
            "op": own_op, "rule": [own_rule, "clipped"], "c": 0.25, "w": 0.75,
            "range": [-1.5, 2.25], "g": -0.5, "section": "paste", "tools": "",
        },
    )  # fmt: skip
    visit(page, query, shows=[own_rule, "clipped"])
    for name, text in {"From": "-1.5", "To": "2.25", "Upstream gradient g": "-0.5"}.items():
        expect(number(page, name)).to_have_value(text)
    expect(title(page, "Op")).to_have_value("x - floor(x)")
    expect(title(page, "Rule").first).to_have_value("g * (abs(x) <= w)")
    expect(number(card(page, "Clipped straight-through"), "c")).to_have_value("0.25")
    expect(number(card(page, "g * (abs(x) <= w)"), "w")).to_have_value("0.75")
    expect(page.get_by_label("Paste a torch.autograd.Function")).to_be_visible()
    curve = traces(page)[own_rule]
    assert (curve.x.min(), curve.x.max()) == (-1.5, 2.25)
    assert set(curve.y[~np.isnan(curve.y)]) == {0.0, -0.5}
    assert "This link was read" not in page.inner_text("body")
    assert reading.read_query(page) == parse_qs(urlsplit(query).query)


def test_back_restores_training_settings_and_runs_no_script(page: Page) -> None:
    sent: list[str | bytes] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))
    page.goto("/train?op=relu&rule=default&steps=40")
    reading.settle_train(page)
    wait_until_at_rest(page)
    steps = number(page, "Steps")
    reading.enter(steps, "77")
    page.wait_for_url("**steps=77*")
    before = len(sent)
    reading.go_back(page)
    page.wait_for_url("**steps=40*")
    expect(steps).to_be_focused()
    expect(steps).to_have_value("40")
    page.go_forward()
    page.wait_for_url("**steps=77*")
    expect(steps).to_have_value("77")
    wait_until_at_rest(page)
    assert len(sent) == before


def test_a_hostile_link_is_shown_as_text_and_runs_nothing(page: Page) -> None:
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("dialog", lambda dialog: requests.append(f"dialog {dialog.message}"))
    page.goto(link("/", HOSTILE))
    reading.settle(page, shows=FIRST)
    expect(page.get_by_text("This link was read with changes")).to_be_visible()
    assert page.evaluate("window.struck") is None
    assert page.locator("img").count() == 0
    assert page.locator("a[href^='javascript']").count() == 0
    assert {urlsplit(request).netloc for request in requests if request.startswith("http")} == {
        urlsplit(page.url).netloc
    }
    assert "Something went wrong" not in page.inner_text("body")


RUNNING = "document.querySelector('.link-notices').getAnimations().map(each => each.effect.getTiming().delay)"


def test_a_notice_passes_unless_it_offers_a_link_or_is_under_the_pointer(page: Page) -> None:
    page.emulate_media(reduced_motion="no-preference")
    notice = page.locator(".link-notices")
    page.goto("/?op=round&g=abc")
    notice.hover()
    strip, shown = (reading.box_of(page.locator(part)) for part in (".strip", ".link-notices"))
    assert strip["x"] + strip["width"] <= shown["x"], "it covers no control below the chart"
    assert page.evaluate(RUNNING) == []
    page.mouse.move(0, 0)
    assert page.evaluate(RUNNING) == [6000]
    page.evaluate("document.querySelector('.link-notices').getAnimations()[0].finish()")
    expect(notice).to_have_count(0)
    page.goto("/?op=rond")
    expect(notice.get_by_role("link")).to_be_visible()
    assert page.evaluate(RUNNING) == []
    notice.locator("b").click()
    expect(notice).to_have_count(1)
    page.locator(".strip").click()
    expect(notice).to_have_count(0)
    page.emulate_media(reduced_motion="reduce")


_LEFT = """async ([module, path]) => {
    const at = name => new URL(module + name, document.baseURI).href;
    const {createStore, store} = await import(at("choice/store.js"));
    const {syncAddress} = await import(at("choice/history.js"));
    const own = createStore();
    own.change(store.choice, {origin: "arrival"});
    const leave = syncAddress(own);
    own.change({...own.choice, g: 2});
    if (path) history.pushState(null, "", path);
    leave();
    return location.pathname + location.search;
}"""


@pytest.mark.parametrize(("path", "left"), [("", "/?op=sign&rule=clipped&g=2"), ("/train", "/train")])
def test_a_pending_change_is_not_written_into_another_address(explore: Page, path: str, left: str) -> None:
    turn(explore, "/?op=sign&rule=clipped", shows=["clipped"])
    assert explore.evaluate(_LEFT, [f"assets/{answers.get_folder()}/", path]) == left
