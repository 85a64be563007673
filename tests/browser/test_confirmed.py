"""What Python tells Explore: confirmed curves, a parameter that learns, answers that fail or are late."""

import re
from typing import Any
from urllib.parse import unquote_plus

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Page, Route, expect

import explorer
from explorer.description import describe_net_gradient
from explorer.description.equilibria import describe_equilibria, find_equilibria
from explorer.description.net_gradient import compute_net_gradient, make_normal_numbers
from tests.browser.reading import PARTS, Trace, card, enter, link, number, settle, sign, slider, traces, turn

CURVES: list[dict[str, Any]] = [
    {"op": "sign", "rules": ["clipped", "default"], "start": -0.1, "stop": 40.0, "c": 33.0},
    {"op": "formula: x - floor(x)", "rules": ["formula: g * sin(x) / 3"], "g": 0.1},
]
G = "Upstream gradient g"


@pytest.fixture
def page(explore: Page) -> Page:
    """One page for all tests here."""
    return explore


def test_confirmed_curves_and_words_equal_those_of_the_library(page: Page) -> None:
    for settings in CURVES:
        frame = explorer.sample(**settings)
        query = {key: value for key, value in settings.items() if key not in ("rules", "start", "stop")}
        query["range"] = [settings.get("start", -3.0), settings.get("stop", 3.0)]
        keys = list(dict.fromkeys(frame["rule"]))
        turn(page, link("/", {"rule": settings["rules"], **query}), shows=keys)
        drawn = traces(page)
        for key in keys:
            rows = frame[frame["rule"] == key]
            assert_same_curve(drawn["forward"], rows["x"], rows["y"])
            assert_same_curve(drawn[key], rows["x"], rows["gradient"])
    page.get_by_text("More", exact=True).click()
    said = [page.locator(f".words .{part}").inner_text() for part in ("main", "rest")]
    assert " ".join(said) == explorer.describe(frame)


def assert_same_curve(trace: Trace, x: "pd.Series[float]", y: "pd.Series[float]") -> None:
    """Every sampled point is there, bit for bit; what is drawn beside them are the breaks of the line."""
    drawn, sampled = np.isfinite(trace.y), np.isfinite(y.to_numpy())
    assert trace.x[drawn].tolist() == x.to_numpy()[sampled].tolist()
    assert trace.y[drawn].tolist() == y.to_numpy()[sampled].tolist()
    assert trace.kind == "Float32Array"


def test_a_late_answer_never_overwrites_a_newer_choice(page: Page) -> None:
    turn(page, "/?op=relu&rule=straight_through", shows=["straight_through"])
    waiting: list[Route] = []

    def hold_first(route: Route) -> None:
        if route.request.post_data_json["g"] == 2:
            waiting.append(route)
        else:
            route.continue_()

    page.route("**/ask/curves", hold_first)
    enter(number(page, G), "2")
    page.wait_for_function("() => true")
    expect(sign(page)).to_have_text("Not yet confirmed by torch")
    assert set(traces(page)["straight_through"].y.tolist()) == {2.0}  # the browser's own
    enter(number(page, G), "-1")
    settle(page)
    for route in waiting:
        route.continue_()
    page.wait_for_timeout(300)
    assert set(traces(page)["straight_through"].y.tolist()) == {-1.0}
    expect(sign(page)).to_have_attribute("data-status", "confirmed")


def test_curves_follow_without_a_server_and_are_confirmed_later(page: Page) -> None:
    turn(page, "/?op=relu&rule=straight_through", shows=["straight_through"])
    page.route("**/ask/curves", lambda route: route.fulfill(status=200, json={"x": "nonsense"}))
    enter(number(page, G), "2")
    expect(sign(page)).to_contain_text("invalid answer")
    page.unroute("**/ask/curves")
    page.route("**/ask/curves", lambda route: route.fulfill(status=204))
    enter(number(page, G), "1.5")
    expect(sign(page)).to_contain_text("does not answer")
    assert set(traces(page)["straight_through"].y.tolist()) == {1.5}
    page.unroute("**/ask/curves")
    settle(page)


@pytest.mark.thorough(part=5)  # faster: frontend/choice/test_learning_panel, description/test_equilibria
def test_a_learning_parameter_shows_its_gradient_and_equilibrium(page: Page) -> None:
    """A third panel, the numbers beneath it, what they make of the parameter, and where it comes to rest."""
    given = {"s": 0.6, "qmin": -2.0, "qmax": 1.0}
    query = {"op": "quantize", "rule": ["lsq", "default"], **given}
    turn(page, link("/", query), shows=["lsq", "default"])
    lsq = card(page, "LSQ (learned step size)")
    lsq.get_by_role("button", name="s learns").click()
    page.wait_for_url("**learns=s*")
    settle(page, shows=["lsq", "default"])
    frame = explorer.sample("quantize", ["lsq", "default"], learns="s", **given)
    for place, rule in enumerate(("lsq", "default")):
        drawn = page.evaluate(f"[...{PARTS}.filter(trace => trace.name)[{place}].y]")
        sampled = frame[frame["rule"] == rule]["part"]
        assert [y for y in drawn if y is not None and y == y] == sampled.tolist()
    words = [
        describe_net_gradient(compute_net_gradient("quantize", rule, "s", make_normal_numbers(), given))
        for rule in ("lsq", "default")
    ]
    verdicts = page.locator(".verdicts li span")
    expect(verdicts).to_have_text(words)
    expect(lsq.locator(".part")).to_contain_text("The gradient for s: the rule's own.")
    probe = page.get_by_role("slider", name="Probe x")
    probe.press("ArrowRight")
    expect(probe).to_have_attribute("aria-valuetext", re.compile("part for s"))
    enter(number(lsq, "s"), "3")
    expect(verdicts.first).to_contain_text("s should shrink")
    beneath = page.get_by_role("combobox", name="Numbers beneath the curves")
    beneath.select_option("pasted")
    window = page.get_by_role("dialog", name="Your own numbers")
    for typed in ("0.5 abc", "0,5; 1,25"):
        window.get_by_role("textbox").fill(typed)
        window.get_by_role("button", name="Use these").click()
        if "abc" in typed:
            expect(window.get_by_role("alert")).to_contain_text("Number 2 cannot be read.")
    expect(page.locator(".learning .lead")).to_have_text("Over 2 numbers of yours, each with g = y − x:")
    enter(number(page, "To"), "1")
    expect(page.locator(".learning .outside")).to_have_text("50 % lie outside this view.")
    assert "1,25" not in unquote_plus(page.url)
    beneath.select_option("normal")
    page.get_by_role("button", name="Where does s come to rest?").click()
    page.wait_for_url("**section=rest*")
    lines = describe_equilibria(
        find_equilibria("quantize", ["lsq", "default"], "s", make_normal_numbers(), given)
    )
    expect(page.locator(".rest-words li")).to_have_text(lines)
    slider(page.locator(".resting"), "s").press("ArrowLeft")
    expect(number(lsq, "s")).not_to_have_value("3")
    lsq.get_by_role("button", name="s learns").click()
    page.wait_for_function("!location.search.includes('learns')")
    expect(page.locator(".learning")).to_be_hidden()
    expect(page.locator(".resting")).to_contain_text("No parameter learns yet")
