"""Pairs that draw on Explore: their traces, bias and spread at the probe, and the loss as a field."""

from typing import Any
from urllib.parse import urlencode

import numpy as np
from playwright.sync_api import Page, expect

import explorer
from tests.browser.reading import CHART, box_of, enter, read_query, slider, step_to, turn

OP = "formula: where(u() < sigmoid(x), 1, 0)"
RULE = "formula: g * sigmoid(x) * (1 - sigmoid(x))"
TRACES = f"""() => document.querySelector("{CHART}").data
    .map(({{x, y, line, ...look}}) => ({{...look, x: [...x], y: [...y], width: line?.width}}))"""


def show_random_pair(page: Page, **more: object) -> None:
    words = urlencode({"op": OP, "rule": RULE, **more, "tools": "all"})
    turn(page, f"/?{words}", shows=[RULE])


def test_a_random_rule_has_its_mean_band_draws_and_exact_gradient(explore: Page) -> None:
    show_random_pair(explore, target=0.2)
    traces: list[dict[str, Any]] = explore.evaluate(TRACES)
    assert [trace["meta"] for trace in traces if trace.get("meta")] == ["forward", RULE]
    others = [trace for trace in traces if not trace.get("meta")]
    assert sum(trace.get("fill") == "toself" for trace in others) == 2
    assert sum(trace["mode"] == "markers" and len(trace["x"]) == 30 for trace in others) == 2
    (mean,) = (trace for trace in traces if trace.get("meta") == RULE)
    table = explorer.expected(OP, RULE, mean["x"], target=0.2)
    np.testing.assert_allclose(mean["y"], table["mean"], atol=1e-6)


def test_the_headline_states_the_bias_and_the_sentence_below_it_the_spread(explore: Page) -> None:
    turn(explore, "/?op=bernoulli&rule=reinmax", shows=["reinmax"])
    bias, spread = "On average ReinMax is exact for this loss.", "Single draws spread by up to 0.25"
    main, below = explore.locator(".words .main"), explore.locator(".words .below")
    explore.get_by_text("More", exact=True).click()
    expect(explore.locator(".words .rest")).to_contain_text(spread)
    explore.keyboard.press("Escape")
    expect(explore.locator(".headline")).to_have_text(bias)
    expect(below).to_contain_text(spread)
    expect(main).to_be_hidden()
    turn(explore, "/?op=round&rule=straight_through", shows=["straight_through"])
    expect(main).to_contain_text("the gradient is 1 everywhere")
    expect(explore.locator(".loss")).to_be_hidden()


def test_a_typed_loss_is_in_the_link_and_readings_show_bias_and_spread(explore: Page) -> None:
    show_random_pair(explore)
    enter(explore.get_by_label("x", exact=True), "-1.3862943611198906")
    row = explore.locator(".chart-rules li")
    expect(row.locator("em")).to_have_text("bias −0.096, sd 0.128")
    expect(row.locator("strong")).to_have_text("−0.08")
    expect(explore.locator(".chart-head")).to_contain_text("0.2 ± 0.4")
    field = explore.get_by_label("Loss")
    expect(field).to_have_value("(y - target)**2")
    field.fill("y +")
    expect(explore.locator(".loss .mistake")).to_contain_text("The last good formula stays.")
    field.fill("f(1)")
    expect(explore.locator(".loss .mistake")).to_contain_text("f(…) at column 1 is not known here")
    field.fill("abs(y - middle)")
    expect(slider(explore, "middle")).to_be_visible()
    explore.wait_for_function("() => location.search.includes('middle%29')")
    assert read_query(explore)["f"] == ["abs(y - middle)"]


def test_the_legend_on_a_phone_does_not_overlap_a_button(phone_explore: Page) -> None:
    """Nor does the sentence that stands there where a mean does not exist."""
    for loss, text in {"y": "black: exact", "1 / (y - 1)": "Curves without a mean: "}.items():
        step_to(phone_explore, f"/?{urlencode({'op': OP, 'rule': RULE, 'f': loss, 'tools': 'all'})}")
        legend = box_of(phone_explore.locator(f"{CHART} .annotation", has_text=text))
        button = box_of(phone_explore.locator("summary", has_text="Save"))
        assert legend["x"] + legend["width"] <= button["x"]
