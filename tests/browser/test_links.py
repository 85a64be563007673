"""What a link brings back, and what a bad one cannot do."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.reading import link, settle, shown, traces, visit

FIRST = ["default", "straight_through"]
MARKUP = "<img src=x onerror=window.struck=1><script>window.struck=1</script>"
MARKDOWN = "![seen](https://example.invalid/seen.png) [click](javascript:window.struck=1) $x$ **bold**"

HOSTILE: dict[str, dict[str, Any]] = {
    "markup in formulas": {"op": f"formula: {MARKUP}", "rule": f"formula: {MARKUP}"},
    "Markdown in formulas": {"op": f"formula: {MARKDOWN}", "rule": f"formula: {MARKDOWN}"},
    "markup as keys": {MARKUP: MARKUP, MARKDOWN: MARKDOWN, "op": MARKUP, "rule": MARKDOWN},
    "Python in a formula": {"op": "formula: __import__('os').system('true')", "rule": "formula: x.__class__"},
    "a tower of powers": {"op": "formula: 9**9**9**9", "rule": "formula: " + "(" * 200 + "g" + ")" * 200},
    "very long": {"op": "formula: " + "x+" * 1_500 + "x"},
    "NUL and control characters": {"op": "round\0", "rule": "\x1b[2J\0", "g": "1\0", "range": ["\0", "\r\n"]},
}

BROKEN = {
    "infinite": ("g=1e999", 'The link asks for "g" = "1e999"'),
    "not a number": ("range=nan&range=3", 'The link asks for "range" = "nan"'),
    "one end only": ("range=4", "range needs two values"),
    "reversed": ("range=3&range=-3", "is reversed: its ends were swapped"),
    "an unknown op": ("op=rund", 'unknown op "rund"'),
    "an unknown rule": ("rule=default&rule=straight_through&rule=straight", 'unknown rule "straight"'),
    "an unknown name": ("colour=red", 'sets "colour", which nothing here uses'),
    "not UTF-8": ("op=%ff%fe", "unknown op"),
}


def test_a_link_restores_everything(page: Page) -> None:
    own_op, own_rule = "formula: x - floor(x)", "formula: g * (abs(x) <= w)"
    query = link(
        "/",
        {"op": own_op, "rule": [own_rule, "clipped"], "range": [-1.5, 2.25], "g": -0.5, "c": 0.25, "w": 0.75},
    )
    visit(page, query, shows=[own_rule, "clipped"])
    names = ("Range", "to", "Upstream gradient g", "Own op: y =", "Own rule 1: gradient =")
    assert shown(page, names) == ["-1.5", "2.25", "-0.5", "x - floor(x)", "g * (abs(x) <= w)"]
    assert slider(page, "c") == "0.25"
    assert slider(page, "w") == "0.75"
    curve = traces(page)[own_rule]
    assert (curve.x.min(), curve.x.max()) == (-1.5, 2.25)
    assert set(curve.y[~(curve.y != curve.y)]) == {0.0, -0.5}
    assert "Not everything in the link" not in page.inner_text("body")
    assert urlsplit(page.url).query == urlsplit(query).query


def test_a_link_to_train_restores_everything_and_starts_nothing(page: Page) -> None:
    wanted = {"task": "documents", "steps": 40, "lr": 2e-06, "hidden": 20, "batch": 32, "seed": 7}
    page.goto(link("/train", {"op": "relu", "rule": ["seed_relu", "default"], **wanted}))
    settle(page)
    page.get_by_text("Training settings").click()
    names = ("Steps", "Learning rate lr", "Hidden units", "Batch", "Seed")
    assert [float(text) for text in shown(page, names)] == [40, 2e-6, 20, 32, 7]
    assert "seed_relu" in page.url
    expect(page.get_by_text("0 / 40", exact=True)).to_be_visible()
    page.wait_for_timeout(500)
    expect(page.get_by_text("0 / 40", exact=True)).to_be_visible()


@pytest.mark.parametrize("query", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("path", ["/", "/train"])
def test_a_hostile_link_shows_text_and_does_nothing(page: Page, path: str, query: dict[str, Any]) -> None:
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("dialog", lambda dialog: requests.append(f"dialog {dialog.message}"))
    page.goto(link(path, query))
    settle(page, shows=FIRST if path == "/" else None)
    expect(page.get_by_text("Not everything in the link could be used")).to_be_visible()
    assert page.evaluate("window.struck") is None
    assert page.locator("img").count() == 0
    assert page.locator("a[href^='javascript']").count() == 0
    assert {urlsplit(request).netloc for request in requests if request.startswith("http")} == {
        urlsplit(page.url).netloc
    }
    assert "Something went wrong" not in page.inner_text("body")


@pytest.mark.parametrize(("query", "notice"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_link_says_what_it_could_not_have(page: Page, query: str, notice: str) -> None:
    visit(page, f"/?{query}", shows=FIRST)
    expect(page.get_by_text(notice)).to_be_visible()
    assert shown(page, ("Range", "to", "Upstream gradient g")) == ["-3", "3", "1"]


def test_a_formula_with_angle_brackets_stands_in_the_legend_as_written(page: Page) -> None:
    rule = "formula: g * (x<1)"
    visit(page, link("/", {"op": "relu", "rule": rule}))
    name = next(trace.name for key, trace in traces(page).items() if key != "forward")
    legend = page.locator(".legend .legendtext").last
    assert "<" in str(legend.evaluate("element => element.textContent"))
    assert "&lt;" in name


def slider(page: Page, name: str) -> str:
    return page.get_by_role("group", name=name, exact=True).get_by_role("slider").input_value()
