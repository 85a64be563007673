"""Own formulas in a real browser, as they are typed."""

from __future__ import annotations

import math

from playwright.sync_api import Page, expect

import explorer
from tests.browser.reading import CHART, TRACES, choose, settle, traces, visit

FIRST_OP = "x - floor(x)"


def type_into(page: Page, label: str, text: str) -> None:
    """Replace what a field holds, key by key, and leave it without Enter."""
    field = page.get_by_label(label, exact=True)
    field.press("ControlOrMeta+a")
    field.press_sequentially(text, delay=15)


def wait_for(page: Page, curve: str) -> None:
    """Wait for a curve of this key or name."""
    page.wait_for_function(
        f"curve => {TRACES}.some(trace => trace.meta === curve || trace.name === curve)", arg=curve
    )
    settle(page)


def assert_drawn(page: Page, op: str, rule: str) -> None:
    """The page shows the sampled points of the op and the rule, in whatever order it draws them."""
    frame, drawn = explorer.sample(op, rule), traces(page)
    for key, column in (("forward", "y"), (rule, "gradient")):
        points = zip(drawn[key].x.tolist(), drawn[key].y.tolist(), strict=True)
        sampled = zip(frame["x"].tolist(), frame[column].tolist(), strict=True)
        assert {(x, y) for x, y in points if not math.isnan(y)} == set(sampled)


def test_an_own_op_found_by_search_is_drawn_as_it_is_typed(page: Page) -> None:
    visit(page, "/?rule=straight_through", shows=["straight_through"])
    choose(page, "Op", "own formula")
    field = page.get_by_label("Own op: y =", exact=True)
    expect(field).to_have_value(FIRST_OP)
    wait_for(page, FIRST_OP)
    assert_drawn(page, f"formula: {FIRST_OP}", "straight_through")
    type_into(page, "Own op: y =", "x**3 - a*x")
    wait_for(page, "x ** 3 - a * x")
    expect(field).to_be_focused()
    expect(page.get_by_role("group", name="a", exact=True)).to_be_visible()  # a slider
    assert_drawn(page, "formula: x ** 3 - a * x", "straight_through")


def test_an_own_rule_is_drawn_as_it_is_typed_and_stays_while_it_is_wrong(page: Page) -> None:
    visit(page, "/?op=identity&rule=default", shows=["default"])
    choose(page, "Backward rules", "own formula 1")
    label = "Own rule 1: gradient ="
    expect(page.get_by_label(label, exact=True)).to_be_visible()
    type_into(page, label, "g * sin(x)")
    wait_for(page, "formula: g * sin(x)")
    assert_drawn(page, "identity", "formula: g * sin(x)")
    before = traces(page)["formula: g * sin(x)"].y.tobytes()
    page.keyboard.type(" + (")
    caret = page.get_by_test_id("stCode").filter(has_text="g * sin(x) + (").first
    expect(caret).to_contain_text("^")
    expect(page.get_by_text("The last good formula stays.")).to_be_visible()
    settle(page)
    assert traces(page)["formula: g * sin(x)"].y.tobytes() == before
    line, pointer = caret.inner_text().splitlines()[:2]
    assert pointer.index("^") == len(line)
    assert page.locator(CHART).count() == 1
    page.keyboard.type("x)")
    wait_for(page, "formula: g * sin(x) + x")
    expect(page.get_by_text("The last good formula stays.")).to_have_count(0)
    assert list(traces(page)) == ["forward", "default", "formula: g * sin(x) + x"]


def test_three_own_rules_side_by_side(page: Page) -> None:
    visit(page, "/?op=identity&rule=default", shows=["default"])
    for number in (1, 2, 3):
        choose(page, "Backward rules", f"own formula {number}")
        label = f"Own rule {number}: gradient ="
        expect(page.get_by_label(label, exact=True)).to_be_visible()
        type_into(page, label, f"{number} * g")
        wait_for(page, f"formula: {number} * g")
    drawn = traces(page)
    assert list(drawn) == ["forward", "default", *(f"formula: {number} * g" for number in (1, 2, 3))]
    assert [set(drawn[key].y.tolist()) for key in list(drawn)[2:]] == [{1.0}, {2.0}, {3.0}]
