"""Explore in a real browser: what is drawn, and what stays while it changes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Page, expect

import explorer
from tests.browser.conftest import Open
from tests.browser.reading import (
    CHART,
    TRACES,
    Trace,
    choose,
    enter,
    layout,
    link,
    settle,
    traces,
    visit,
)

CURVES: dict[str, dict[str, Any]] = {
    "the first visit": {"op": "round", "rules": ["default", "straight_through"]},
    "bounds": {"op": "clamp", "rules": ["masked", "published_clamp"], "g": -2.0, "lo": -0.5, "hi": 0.75},
    "a jump": {"op": "sign", "rules": ["clipped", "default"], "start": -0.1, "stop": 4.0, "c": 0.3},
    "outside the domain": {"op": "log", "rules": ["default"], "g": 1e-3},
    "own formulas": {"op": "formula: x - floor(x)", "rules": ["formula: g * sin(x) / 3"], "g": 0.1},
}

ADDRESS_SETTLES_MS = 600  # after a change the pages do not take the old address for a Back for 0.4 s


def test_both_pages_open(page: Page) -> None:
    visit(page, "/", shows=["default", "straight_through"])
    page.get_by_role("link", name="Train").click()
    expect(page.get_by_role("button", name="Start")).to_be_visible()
    assert page.url.rstrip("/").endswith("/train")
    page.get_by_role("link", name="Explore").click()
    settle(page, shows=["default", "straight_through"])


@pytest.mark.parametrize("settings", CURVES.values(), ids=CURVES.keys())
def test_the_curve_on_the_page_is_the_sampled_one_bit_for_bit(page: Page, settings: dict[str, Any]) -> None:
    frame = explorer.sample(**settings)
    query = {key: value for key, value in settings.items() if key not in ("rules", "start", "stop")}
    if "start" in settings:
        query["range"] = [settings["start"], settings["stop"]]
    keys = list(dict.fromkeys(frame["rule"]))
    visit(page, link("/", {"rule": settings["rules"], **query}), shows=keys)
    drawn = traces(page)
    for key in keys:
        rows = frame[frame["rule"] == key]
        assert_same_curve(drawn["forward"], rows["x"], rows["y"])
        assert_same_curve(drawn[key], rows["x"], rows["gradient"])


def assert_same_curve(trace: Trace, x: pd.Series[float], y: pd.Series[float]) -> None:
    """Every sampled point is there, bit for bit; what is drawn beside them are the breaks of the line."""
    assert trace.kind == "Float32Array"
    drawn, order = ~np.isnan(trace.y), np.argsort(trace.x, kind="stable")
    sampled = y.notna().to_numpy()
    for ours, theirs in ((trace.x, x), (trace.y, y)):
        assert ours[order][drawn[order]].tobytes() == theirs.to_numpy()[sampled].tobytes()


def test_zoom_survives_another_rule(page: Page) -> None:
    visit(page, "/?op=relu&rule=default", shows=["default"])
    box = plot_area(page)
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 0.25 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 0.25 * box["height"], steps=5)
    page.mouse.up()
    page.wait_for_function(f'document.querySelector("{CHART}")._fullLayout.xaxis.range[0] > -2.9')
    zoomed = layout(page, "xaxis.range")
    choose(page, "Backward rules", "Straight-through")
    settle(page, shows=["default", "straight_through"])
    assert layout(page, "xaxis.range") == zoomed
    assert zoomed[1] - zoomed[0] == pytest.approx(0.3 * 6, rel=0.05)


def test_hover_shows_both_panels(page: Page) -> None:
    visit(page, "/", shows=["default", "straight_through"])
    box = plot_area(page)
    for height in (0.25, 0.75):
        page.mouse.move(box["x"] + 0.4 * box["width"], box["y"] + height * box["height"], steps=3)
        label = page.locator(".hoverlayer .legend")
        expect(label).to_contain_text("Round")
        expect(label).to_contain_text("Default autograd")
        expect(label).to_contain_text("Straight-through")


def plot_area(page: Page) -> dict[str, float]:
    """Where both panels are on the screen."""
    return page.locator(CHART).evaluate(
        """chart => {
            const {l, t, w, h} = chart._fullLayout._size, {x, y} = chart.getBoundingClientRect();
            return {x: x + l, y: y + t, width: w, height: h};
        }"""
    )


def test_back_undoes_and_forward_does_it_again(page: Page) -> None:
    visit(page, "/?op=clamp&rule=masked&g=2", shows=["masked"])
    enter(page, "Upstream gradient g", "-3")
    page.wait_for_url("**g=-3*")
    page.wait_for_function(f"{TRACES}[1].y.includes(-3)")
    settle(page)
    page.wait_for_timeout(ADDRESS_SETTLES_MS)
    page.go_back()
    expect(page.get_by_label("Upstream gradient g", exact=True)).to_have_value("2")
    page.wait_for_function(f"{TRACES}[1].y.includes(2)")
    settle(page)
    page.wait_for_timeout(ADDRESS_SETTLES_MS)
    page.go_forward()
    expect(page.get_by_label("Upstream gradient g", exact=True)).to_have_value("-3")
    page.wait_for_function(f"{TRACES}[1].y.includes(-3)")


def test_the_address_follows_and_opens_the_same_picture(page: Page, new_page: Open) -> None:
    visit(page, "/", shows=["default", "straight_through"])
    choose(page, "Op", "Clamp")
    page.wait_for_url("**op=clamp*")
    settle(page)
    enter(page, "Range", "-1.5")
    page.wait_for_url("**range=-1.5*")
    settle(page)
    choose(page, "Backward rules", "Masked")
    page.wait_for_url("**rule=masked*range=-1.5*")
    settle(page, shows=["default", "straight_through", "masked"])
    other = new_page()
    visit(other, page.url, shows=["default", "straight_through", "masked"])
    mine, theirs = traces(page), traces(other)
    assert [trace.y.tobytes() for trace in theirs.values()] == [trace.y.tobytes() for trace in mine.values()]


def test_the_chart_says_in_words_what_it_shows(page: Page) -> None:
    visit(page, "/", shows=["default", "straight_through"])
    chart = page.get_by_role("img", name="With Default autograd the gradient is 0 everywhere.")
    expect(chart).to_have_class(re.compile("js-plotly-plot"))
