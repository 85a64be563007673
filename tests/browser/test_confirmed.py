"""What Python tells Explore: confirmed curves, a parameter that learns, answers that fail or are late."""

import re
from typing import Any
from urllib.parse import unquote_plus

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Page, Route, expect

import explorer
from tests.browser.reading import Trace, enter, link, number, settle, sign, traces, turn

CURVES: list[dict[str, Any]] = [
    {"op": "sign", "rules": ["clipped", "default"], "start": -0.1, "stop": 40.0, "c": 33.0},
    {"op": "formula: x - floor(x)", "rules": ["formula: g * sin(x) / 3"], "g": 0.1},
]
G = "Upstream gradient g"


def test_confirmed_curves_and_words_equal_those_of_the_library(explore: Page) -> None:
    for settings in CURVES:
        frame = explorer.sample(**settings)
        query = {key: value for key, value in settings.items() if key not in ("rules", "start", "stop")}
        query["range"] = [settings.get("start", -3.0), settings.get("stop", 3.0)]
        keys = list(dict.fromkeys(frame["rule"]))
        turn(explore, link("/", {"rule": settings["rules"], **query}), shows=keys)
        drawn = traces(explore)
        for key in keys:
            rows = frame[frame["rule"] == key]
            assert_same_curve(drawn["forward"], rows["x"], rows["y"])
            assert_same_curve(drawn[key], rows["x"], rows["gradient"])
    explore.get_by_text("More", exact=True).click()
    said = [explore.locator(f".words .{part}").inner_text() for part in ("main", "rest")]
    assert " ".join(said) == explorer.describe(frame)


def assert_same_curve(trace: Trace, x: "pd.Series[float]", y: "pd.Series[float]") -> None:
    """Every sampled point is there, bit for bit; what is drawn beside them are the breaks of the line."""
    drawn, sampled = np.isfinite(trace.y), np.isfinite(y.to_numpy())
    assert trace.x[drawn].tolist() == x.to_numpy()[sampled].tolist()
    assert trace.y[drawn].tolist() == y.to_numpy()[sampled].tolist()
    assert trace.kind == "Float32Array"


def test_a_late_answer_never_overwrites_a_newer_choice(explore: Page) -> None:
    turn(explore, "/?op=relu&rule=straight_through", shows=["straight_through"])
    waiting: list[Route] = []

    def hold_first(route: Route) -> None:
        if route.request.post_data_json["g"] == 2:
            waiting.append(route)
        else:
            route.continue_()

    explore.route("**/ask/curves", hold_first)
    enter(number(explore, G), "2")
    explore.wait_for_function("() => true")
    expect(sign(explore)).to_have_text("Not yet confirmed by torch")
    assert set(traces(explore)["straight_through"].y.tolist()) == {2.0}  # the browser's own
    enter(number(explore, G), "-1")
    settle(explore)
    for route in waiting:
        route.continue_()
    explore.wait_for_timeout(300)
    assert set(traces(explore)["straight_through"].y.tolist()) == {-1.0}
    expect(sign(explore)).to_have_attribute("data-status", "confirmed")


def test_curves_follow_without_a_server_and_are_confirmed_later(explore: Page) -> None:
    turn(explore, "/?op=relu&rule=straight_through", shows=["straight_through"])
    explore.route("**/ask/curves", lambda route: route.fulfill(status=200, json={"x": "nonsense"}))
    enter(number(explore, G), "2")
    expect(sign(explore)).to_contain_text("invalid answer")
    explore.unroute("**/ask/curves")
    explore.route("**/ask/curves", lambda route: route.fulfill(status=204))
    enter(number(explore, G), "1.5")
    expect(sign(explore)).to_contain_text("does not answer")
    assert set(traces(explore)["straight_through"].y.tolist()) == {1.5}
    explore.unroute("**/ask/curves")
    settle(explore)


@pytest.mark.thorough(part=5)  # faster: frontend/choice/test_learning_panel, test_offline for the panel
def test_numbers_of_ones_own_are_beneath_the_curves_of_a_learning_parameter(explore: Page) -> None:
    turn(explore, "/?op=quantize&rule=lsq&s=0.6&learns=s", shows=["lsq"])
    expect(explore.locator(".examples .then")).to_have_attribute("href", re.compile("[?&]learn=s"))
    explore.get_by_role("combobox", name="Numbers beneath the curves").select_option("pasted")
    window = explore.get_by_role("dialog", name="Your own numbers")
    for typed in ("0.5 abc", "0,5; 1,25"):
        window.get_by_role("textbox").fill(typed)
        window.get_by_role("button", name="Use these").click()
        if "abc" in typed:
            expect(window.get_by_role("alert")).to_contain_text("Number 2 cannot be read.")
    expect(explore.locator(".learning .lead")).to_have_text("Over 2 numbers of yours, each with g = y − x:")
    enter(number(explore, "To"), "1")
    expect(explore.locator(".learning .outside")).to_have_text("50 % lie outside this view.")
    assert "1,25" not in unquote_plus(explore.url)
