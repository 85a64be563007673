"""Explore in a real browser: what is drawn, confirmed, undone and reported."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs, unquote_plus, urlsplit

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Page, Route, expect

import explorer
from explorer.description import pull_words
from explorer.description.pull import normal_numbers, pull
from explorer.training import FIRST as FIRST_TASK
from explorer.ui.server import answers
from tests.browser.conftest import Open, Tab
from tests.browser.reading import (
    CHART,
    PARTS,
    TRACES,
    Trace,
    back,
    card,
    choose,
    enter,
    forget,
    layout,
    link,
    number,
    settle,
    settle_train,
    sign,
    slider,
    traces,
    turn,
    visit,
)
from tests.browser.test_look import DRAWING
from tests.description.resting import rest, rest_words

CURVES: dict[str, dict[str, Any]] = {
    "the first visit": {"op": "round", "rules": ["default", "straight_through"]},
    "bounds": {"op": "clamp", "rules": ["masked", "published_clamp"], "g": -2.0, "lo": -0.5, "hi": 0.75},
    "a jump": {"op": "sign", "rules": ["clipped", "default"], "start": -0.1, "stop": 4.0, "c": 0.3},
    "outside the domain": {"op": "log", "rules": ["default"], "g": 1e-3},
    "own formulas": {"op": "formula: x - floor(x)", "rules": ["formula: g * sin(x) / 3"], "g": 0.1},
    "a value beyond the slider": {"op": "sign", "rules": ["clipped"], "stop": 40.0, "c": 33.0},
}
FIRST = ["default", "straight_through"]
G = "Upstream gradient g"
# How much of what is seen has moved of itself since the page was opened (Layout Instability API).
SHIFT = """
window.shift = 0;
new PerformanceObserver(list => list.getEntries().forEach(entry => (window.shift += entry.value)))
    .observe({type: "layout-shift", buffered: true});
"""
LEAST_SHIFT = 0.02


@pytest.fixture
def page(explore: Page) -> Page:
    """One page for all tests here."""
    return explore


def asked(page: Page) -> dict[str, list[str]]:
    """The query in the address bar."""
    return parse_qs(urlsplit(page.url).query)


def test_both_pages_open_and_the_choice_goes_along(page: Page) -> None:
    turn(page, "/?op=clamp&rule=masked", shows=["masked"])
    card(page, "Clamp").get_by_role("button", name="hi learns").click()
    page.get_by_role("link", name="Train").click()
    settle_train(page)
    expect(card(page, "Masked")).to_be_visible()
    page.wait_for_url(f"**/train?*task={FIRST_TASK}*")
    assert (asked(page)["op"], asked(page)["rule"]) == (["clamp"], ["masked"])
    learns = page.get_by_role("button", name="hi learns with Masked")
    expect(learns).to_have_attribute("aria-pressed", "true")
    page.wait_for_url("**learn=hi*")
    learns.click()
    page.get_by_role("button", name="lo learns with Masked").click()
    choose(page, "Add rule", "straight-through")
    page.get_by_role("link", name="Explore").click()
    settle(page, shows=["masked", "straight_through"])
    expect(page.get_by_role("button", name="lo learns").first).to_have_attribute("aria-pressed", "true")
    assert asked(page)["learns"] == ["lo"]


@pytest.mark.parametrize("settings", CURVES.values(), ids=CURVES.keys())
def test_the_confirmed_curve_is_the_sampled_one_bit_for_bit(page: Page, settings: dict[str, Any]) -> None:
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


def assert_same_curve(trace: Trace, x: pd.Series[float], y: pd.Series[float]) -> None:
    """Every sampled point is there, bit for bit; what is drawn beside them are the breaks of the line."""
    drawn, sampled = np.isfinite(trace.y), np.isfinite(y.to_numpy())
    assert trace.x[drawn].tolist() == x.to_numpy()[sampled].tolist()
    assert trace.y[drawn].tolist() == y.to_numpy()[sampled].tolist()
    assert trace.kind == "Float32Array"


def test_the_words_are_torchs_and_the_rest_opens(page: Page) -> None:
    turn(page, "/", shows=FIRST)
    words = explorer.describe(explorer.sample("round", FIRST))
    main = page.locator(".words .main").inner_text()
    assert words.startswith(main)
    page.get_by_text("More", exact=True).click()
    assert words == f"{main} {page.locator('.words .rest').inner_text()}"


def test_a_parameter_moves_the_curve_before_it_is_let_go_and_the_address_after(page: Page) -> None:
    turn(page, "/?op=sign&rule=clipped&range=-6&range=6", shows=["clipped"])
    before = page.url
    box = slider(card(page, "Clipped straight-through"), "c").bounding_box()
    assert box
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.68 * box["width"], y)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.9 * box["width"], y, steps=5)
    value = float(number(card(page, "Clipped straight-through"), "c").input_value())
    assert value > 2
    assert page.url == before
    page.mouse.up()
    page.wait_for_url("**c=*")
    assert asked(page)["c"] == [f"{value:g}"]
    settle(page)
    edges = traces(page)["clipped"]
    assert edges.x[edges.y == 1].max() == pytest.approx(value, rel=1e-6)


def test_a_value_beyond_the_slider_widens_it(page: Page) -> None:
    turn(page, "/?op=sign&rule=clipped", shows=["clipped"])
    place = card(page, "Clipped straight-through")
    enter(number(place, "c"), "40")
    page.wait_for_url("**c=40*")
    enter(number(place, "c"), "2")
    page.wait_for_url("**c=2*")
    slider(place, "c").press("End")
    expect(number(place, "c")).to_have_value("40")
    enter(number(place, "c"), "1e99")
    said = place.get_by_role("alert").filter(has_text="1e+99 is not allowed here: choose a number from")
    expect(said).to_be_visible()
    expect(number(place, "c")).to_have_value("1e99")
    assert asked(page)["c"] == ["40"]


def test_bounds_that_must_not_cross_push_each_other(page: Page) -> None:
    turn(page, "/?op=clamp&rule=masked", shows=["masked"])
    op = card(page, "Clamp")
    enter(number(op, "lo"), "2")
    expect(number(op, "hi")).to_have_value("2")
    expect(number(card(page, "Masked"), "hi")).to_have_value("2")  # one parameter, on both cards
    page.wait_for_url("**hi=2*")
    assert {key: asked(page)[key] for key in ("lo", "hi")} == {"lo": ["2"], "hi": ["2"]}


def test_g_has_a_slider_and_a_field(page: Page) -> None:
    turn(page, "/?op=relu&rule=straight_through", shows=["straight_through"])
    enter(number(page, G), "-1.5")
    page.wait_for_url("**g=-1.5*")
    settle(page)
    assert set(traces(page)["straight_through"].y.tolist()) == {-1.5}
    page.get_by_role("slider", name=G).press("Home")
    expect(number(page, G)).to_have_value("-2")
    enter(number(page, G), "1")
    page.wait_for_function("!location.search.includes('g=')")


def test_arrow_keys_in_a_field_step_as_its_slider(page: Page) -> None:
    turn(page, "/?op=clamp&rule=masked", shows=["masked"])
    place = card(page, "Clamp")
    for field, ends in ((number(page, G), slider(page, G)), (number(place, "lo"), slider(place, "lo"))):
        step = float(ends.get_attribute("step") or "nan")
        before = float(field.input_value())
        for count in (1, 2, 3):
            field.press("ArrowUp")
            expect(field).to_have_value(f"{before + count * step:g}")
        field.press("ArrowDown")
        expect(field).to_have_value(f"{before + 2 * step:g}")
        assert 0 < step < 0.1
    back(page)
    expect(number(place, "lo")).to_have_value("0")
    enter(number(page, G), "2")
    number(page, G).press("ArrowUp")
    expect(number(page, G)).to_have_value("2")


def test_a_reversed_range_is_put_in_order(page: Page) -> None:
    turn(page, "/", shows=FIRST)
    enter(number(page, "To"), "-5")
    page.wait_for_url("**range=-5*")
    assert asked(page)["range"] == ["-5", "-3"]
    settle(page)
    assert layout(page, "xaxis.range") == [-5, -3]


@pytest.mark.parametrize(
    ("name", "typed", "said"),
    [
        (G, "2e6", "2000000 is not allowed here: choose a number from -1000000 to 1000000."),
        ("From", "-1e9", "-1000000000 is not allowed here: choose a number from -1000000 to 1000000."),
        ("To", "-3", "-3 leaves no range beside -3: the ends must be at least 3e-12 apart."),
    ],
)
def test_a_number_that_cannot_be_had_stays_in_its_field_with_a_sentence(
    page: Page, name: str, typed: str, said: str
) -> None:
    turn(page, "/", shows=FIRST)
    field = number(page, name)
    before = field.input_value()
    enter(field, typed)
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_have_accessible_description(said)
    expect(field).to_have_value(typed)
    expect(page.get_by_role("alert").filter(has_text=said)).to_be_visible()
    assert layout(page, "xaxis.range") == [-3, 3]
    field.press("Escape")
    expect(field).to_have_value(before)


def test_rules_are_added_hidden_and_removed_and_keep_their_colour(page: Page) -> None:
    turn(page, "/?op=sign&rule=default&rule=clipped", shows=["default", "clipped"])
    colour = f"{TRACES}.find(trace => trace.meta === 'clipped').line.color"
    before = page.evaluate(colour)
    page.get_by_role("button", name="Remove Default autograd").click()
    settle(page, shows=["clipped"])
    assert page.evaluate(colour) == before
    expect(page.get_by_role("button", name="Remove Clipped straight-through")).to_be_disabled()
    page.wait_for_function("location.search.includes('colours=2')")
    page.reload()
    settle(page, shows=["clipped"])
    assert page.evaluate(colour) == before
    choose(page, "Add rule", "swish")
    settle(page, shows=["clipped", "swish_sign"])
    assert page.evaluate(colour) == before
    page.get_by_role("button", name="Hide SwishSign").click()
    page.wait_for_url("**hide=swish_sign*")
    assert page.evaluate(f"{TRACES}.find(trace => trace.meta === 'swish_sign')?.visible") in (
        None,
        False,
        "legendonly",
    )


def test_back_undoes_and_forward_does_it_again(page: Page) -> None:
    turn(page, "/?op=clamp&rule=masked&g=2", shows=["masked"])
    enter(number(page, G), "-3")
    page.wait_for_url("**g=-3*")
    choose(page, "Add rule", "zero")
    settle(page, shows=["masked", "zero"])
    back(page)
    settle(page, shows=["masked"])
    expect(number(page, G)).to_have_value("-3")
    back(page)
    expect(number(page, G)).to_have_value("2")
    settle(page)
    assert 2 in traces(page)["masked"].y
    page.go_forward()
    expect(number(page, G)).to_have_value("-3")
    page.go_forward()
    settle(page, shows=["masked", "zero"])
    assert asked(page) == {"op": ["clamp"], "rule": ["masked", "zero"], "g": ["-3"]}


def test_a_field_that_keeps_the_focus_goes_back_too(page: Page) -> None:
    turn(page, "/?op=sign&rule=formula: g", shows=["formula: g"])
    for field, text in {number(page, "From"): "-1.5", page.get_by_label("Own rule"): "g * 2"}.items():
        before = field.input_value()
        enter(field, text)
        page.wait_for_url(lambda address, text=text: text in unquote_plus(address))
        settle(page)
        back(page)
        expect(field).to_be_focused()
        expect(field).to_have_value(before)


def test_back_right_after_a_choice_leaves_address_and_chart_in_step(page: Page) -> None:
    turn(page, "/?op=clamp&rule=masked", shows=["masked"])
    choose(page, "Add rule", "zero")
    settle(page, shows=["masked", "zero"])
    page.get_by_role("button", name="Hide Masked").evaluate("hide => { hide.click(); history.back(); }")
    settle(page, shows=["masked"])
    assert asked(page) == {"op": ["clamp"], "rule": ["masked"]}
    assert len(traces(page)["masked"].x)


def test_small_steps_by_keyboard_are_one_step_back(page: Page) -> None:
    turn(page, "/?op=sign&rule=clipped&g=2", shows=["clipped"])
    for _ in range(3):
        page.get_by_role("slider", name=G).press("ArrowLeft")
    expect(number(page, G)).to_have_value("1.97")
    back(page)
    expect(number(page, G)).to_have_value("2")


def test_back_over_pages_and_choices(page: Page) -> None:
    turn(page, "/?op=sign&rule=clipped", shows=["clipped"])
    page.get_by_role("link", name="Train").click()
    settle_train(page)
    choose(page, "Op", "tanh")
    expect(card(page, "Tanh")).to_be_visible()
    back(page)
    expect(card(page, "Sign")).to_be_visible()
    back(page)
    settle(page, shows=["clipped"])
    assert urlsplit(page.url).path == "/"


def test_the_address_follows_and_opens_the_same_picture(page: Page) -> None:
    turn(page, "/", shows=FIRST)
    choose(page, "Op", "Clamp")
    page.wait_for_url("**op=clamp*")
    enter(number(page, "From"), "-1.5")
    page.wait_for_url("**range=-1.5*")
    choose(page, "Add rule", "Masked")
    settle(page, shows=[*FIRST, "masked"])
    before = traces(page)
    forget(page)
    visit(page, page.url, shows=[*FIRST, "masked"])
    after = traces(page)
    assert [trace.y.tobytes() for trace in after.values()] == [trace.y.tobytes() for trace in before.values()]


def test_the_title_names_op_and_rules_and_the_link_is_copied(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    turn(page, "/?op=sign&rule=clipped", shows=["clipped"])
    choose(page, "Op", "tanh")
    page.wait_for_function("document.title.startsWith('Tanh: Clipped straight-through')")
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_text("Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    page.context.clear_permissions()


def test_an_example_is_taken_with_its_hint(page: Page) -> None:
    turn(page, "/", shows=FIRST)
    page.get_by_text("Examples", exact=True).click()
    page.get_by_role("button", name="ClampGradient's bug").click()
    settle(page, shows=["default", "published_clamp", "straight_through"])
    expect(page.locator(".hint")).to_contain_text("Above hi the published rule returns 1")
    page.wait_for_url("**range=0*")
    assert asked(page)["range"] == ["0", "2"]


def test_a_parameter_learns(page: Page) -> None:
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
    words = [pull_words(pull("quantize", rule, "s", normal_numbers(), given)) for rule in ("lsq", "default")]
    verdicts = page.locator(".verdicts li span")
    expect(verdicts).to_have_text(words)
    expect(lsq.locator(".part")).to_contain_text("The gradient for s: the rule's own.")
    expect(card(page, "Default autograd").locator(".part")).to_contain_text("torch's derivative of the op")
    probe = page.get_by_role("slider", name="Probe x")
    probe.press("ArrowRight")
    expect(probe).to_have_attribute("aria-valuetext", re.compile("part for s"))
    enter(number(lsq, "s"), "3")
    expect(verdicts.first).to_contain_text("s should shrink")
    page.get_by_role("combobox", name="Numbers beneath the curves").select_option("pasted")
    window = page.get_by_role("dialog", name="Your own numbers")
    window.get_by_role("textbox").fill("0.5 abc")
    window.get_by_role("button", name="Use these").click()
    expect(window.get_by_role("alert")).to_have_text(re.compile("Number 2 cannot be read. “abc”"))
    window.get_by_role("textbox").fill("0,5; 1,25")
    window.get_by_role("button", name="Use these").click()
    expect(page.locator(".learning .lead")).to_have_text("Over 2 numbers of yours, each with g = y − x:")
    enter(number(page, "To"), "1")
    expect(page.locator(".learning .outside")).to_have_text("50 % lie outside this view.")
    enter(number(page, "To"), "3")
    expect(page.locator(".learning .outside")).to_be_empty()
    assert "1,25" not in unquote_plus(page.url)
    page.get_by_role("combobox", name="Numbers beneath the curves").select_option("normal")
    page.get_by_role("button", name="Where does s come to rest?").click()
    page.wait_for_url("**section=rest*")
    lines = rest_words(rest("quantize", ["lsq", "default"], "s", normal_numbers(), given))
    expect(page.locator(".rest-words li")).to_have_text(lines)
    slider(page.locator(".resting"), "s").press("ArrowLeft")
    expect(number(lsq, "s")).not_to_have_value("3")
    lsq.get_by_role("button", name="s learns").click()
    page.wait_for_function("!location.search.includes('learns')")
    expect(page.locator(".learning")).to_be_hidden()
    expect(page.locator(".resting")).to_contain_text("No parameter learns yet")
    expect(page.locator(".hint")).to_be_empty()  # that of the example is about what s learns


def test_a_late_answer_never_overwrites_a_newer_choice(page: Page) -> None:
    turn(page, "/?op=relu&rule=straight_through", shows=["straight_through"])
    held: list[Route] = []

    def hold_first(route: Route) -> None:
        if "g=2" in route.request.url:
            held.append(route)
        else:
            route.continue_()

    page.route("**/confirm?*", hold_first)
    enter(number(page, G), "2")
    page.wait_for_function("() => true")
    expect(sign(page)).to_have_text("Not yet confirmed by torch")
    assert set(traces(page)["straight_through"].y.tolist()) == {2.0}  # the browser's own
    enter(number(page, G), "-1")
    settle(page)
    for route in held:
        route.continue_()
    page.wait_for_timeout(300)
    assert set(traces(page)["straight_through"].y.tolist()) == {-1.0}
    expect(sign(page)).to_have_attribute("data-status", "confirmed")


def test_an_answer_that_comes_too_early_is_asked_for_again(page: Page, explore_tab: Tab) -> None:
    turn(page, "/?op=relu&rule=straight_through", shows=["straight_through"])
    codes = iter([429, 429])

    def busy_twice(route: Route) -> None:
        code = next(codes, None)
        if code:
            route.fulfill(status=code, json={"message": "wait a moment"})
        else:
            route.continue_()

    page.route("**/confirm?*", busy_twice)
    enter(number(page, G), "2")
    expect(sign(page)).to_have_text("Not yet confirmed by torch")
    expect(sign(page)).to_have_attribute("data-status", "waiting")
    expect(sign(page)).to_have_attribute("data-status", "confirmed")
    assert next(codes, None) is None
    assert set(traces(page)["straight_through"].y.tolist()) == {2.0}
    assert all("429" in error for error in explore_tab.errors)  # which the browser itself logs
    explore_tab.errors.clear()


def test_without_a_server_curves_follow_and_are_confirmed_when_it_is_back(page: Page) -> None:
    turn(page, "/?op=relu&rule=straight_through", shows=["straight_through"])
    page.route("**/confirm?*", lambda route: route.fulfill(status=200, json={"x": "nonsense"}))
    enter(number(page, G), "2")
    expect(sign(page)).to_contain_text("was not understood")
    page.unroute("**/confirm?*")
    page.route("**/confirm?*", lambda route: route.fulfill(status=204))
    enter(number(page, G), "1.5")
    expect(sign(page)).to_contain_text("does not answer")
    assert set(traces(page)["straight_through"].y.tolist()) == {1.5}
    page.unroute("**/confirm?*")
    settle(page)


def sent_bytes(page: Page) -> int:
    """The bytes transferred for plotly.js since the page was opened."""
    return int(
        page.evaluate(f'performance.getEntriesByName(new URL("{DRAWING}", location).href)[0].transferSize')
    )


def test_nothing_moves_by_itself_and_a_second_visit_does_not_fetch_plotly_js_again(new_page: Open) -> None:
    page = new_page(viewport={"width": 1366, "height": 768}, fresh=True)
    page.add_init_script(SHIFT)
    for is_new in (True, False):
        visit(page, "/?op=clamp&rule=masked", shows=["masked"])
        page.wait_for_timeout(500)
        assert page.evaluate("window.shift") < LEAST_SHIFT
        assert (sent_bytes(page) > 350_000) if is_new else (sent_bytes(page) == 0)
    choose(page, "Add rule", "Zero")
    settle(page, shows=["masked", "zero"])
    page.wait_for_timeout(700)
    choose(page, "Op", "own formula")
    page.get_by_label("Own op").press_sequentially(" + (")
    expect(page.locator(".mistake").first).not_to_be_empty()
    page.wait_for_timeout(700)
    assert page.evaluate("window.shift") < LEAST_SHIFT
    page.goto("/train")
    settle_train(page)
    assert sent_bytes(page) == 0


def test_all_of_it_is_in_view_on_a_small_laptop(page: Page) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    turn(page, "/?op=clamp&rule=default&rule=masked&rule=zero", shows=["default", "masked", "zero"])
    for place in (CHART, ".words .main", ".strip", ".cards", "[aria-label=Sections]"):
        box = page.locator(place).first.bounding_box()
        assert box
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 768
    words = page.locator(".words .main").bounding_box()
    assert words
    assert words["y"] < 90  # no dead band above


_CHANGE_AND_LEAVE = """async module => {
    const {store} = await import(new URL(module, document.baseURI).href);
    store.change({...store.choice, g: 2}, {origin: "hand"});
    await new Promise(done => setTimeout(done, 249)); // of the rest after which Python is told
    document.querySelector("a[href$=train]").click();
}"""


def test_a_press_on_a_link_to_another_page_right_after_a_choice_leads_there(page: Page) -> None:
    turn(page, "/?op=sign&rule=clipped", shows=["clipped"])
    page.evaluate(_CHANGE_AND_LEAVE, f"assets/{answers.folder()}/choice/store.js")
    settle_train(page)
    assert urlsplit(page.url).path == "/train"
    assert asked(page)["g"] == ["2"]
