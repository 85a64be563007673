"""The drawn chart: breaks at jumps, exchanged values, moving paths, gliding curves."""

from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page

from tests.browser.chart.conftest import Show, draw, make_change

PLAIN = "const plain = values => [...values].map(v => (Number.isFinite(v) ? v : String(v)));"
DATA = f"""() => {{ {PLAIN} return document.querySelector(".js-plotly-plot").data.map(trace => {{
    const {{meta, mode, name, yaxis, visible, marker, line}} = trace;
    return {{meta, mode, name, yaxis, visible, marker, line, x: plain(trace.x), y: plain(trace.y)}};
}}); }}"""
CURVES = f"""() => {{ {PLAIN} const {{x, y, gradients}} = shell.curves;
    const all = Object.entries(gradients).map(([key, values]) => [key, plain(values)]);
    return [plain(x), {{forward: plain(y), ...Object.fromEntries(all)}}]; }}"""
LAYOUT = """() => { const layout = document.querySelector(".js-plotly-plot").layout;
    const {xaxis, yaxis, yaxis2, annotations} = layout;
    const notes = annotations.map(({text}) => text);
    return {x: xaxis.range, y: yaxis.range, gradient: yaxis2.range, notes}; }"""
# The corners of all curves that are drawn, and what follows where one breaks.
PATHS = """() => [...document.querySelectorAll(".scatterlayer .trace")]
    .map(trace => [...trace.querySelectorAll(".js-line")])
    .filter(lines => lines.every(path => path.style.strokeWidth === "2.5px"))
    .map(lines => lines.map(path => path.getAttribute("d")).join(""))"""
LINE = "formula: 2 * x * g"
BELOW = "formula: g * (x < 0)"
SIX = ["straight_through", "masked", "clipped", BELOW, "gaussian", LINE]


def data(page: Page) -> dict[Any, Any]:
    """The curves of the chart by their meta."""
    return {trace["meta"]: trace for trace in page.evaluate(DATA) if trace.get("meta")}


def circles(page: Page) -> list[Any]:
    return [trace for trace in page.evaluate(DATA) if trace["mode"] == "markers"]


def points(path: str) -> list[tuple[float, ...]]:
    return [tuple(map(float, point.split(","))) for point in path.replace("M", "L").split("L") if point]


def test_the_chart_draws_a_kink_in_a_tiny_range(show: Show) -> None:
    depth = 2e-12
    page = show(op="clamp", rules=["masked"], p={"lo": -1, "hi": 1}, range=[1 - depth, 1 + depth])
    path = page.locator(".xy .scatterlayer .js-line").first.get_attribute("d") or ""
    corners = [tuple(map(float, point.split(","))) for point in path.removeprefix("M").split("L")]
    assert len(corners) > 500
    (x0, y0), middle, (x1, y1) = corners[0], corners[len(corners) // 2], corners[-1]
    assert middle[0] == pytest.approx((x0 + x1) / 2, abs=2)
    assert y1 == pytest.approx(middle[1], abs=2)
    assert y0 - y1 > 100
    assert page.locator(".xtitle").text_content() != "x"


def test_paths_drawn_during_a_move_match_those_at_rest(show: Show) -> None:
    page = show(op="clamp", rules=SIX, p={"lo": -2, "hi": 2})
    page.evaluate(
        """() => { window.drawn = 0;
            document.querySelector(".js-plotly-plot").on("plotly_afterplot", () => (drawn += 1)); }"""
    )
    before = data(page)
    moved = {"lo": -1.3, "hi": 0.7, "c": 1.9}
    draw(page, "moving", p=moved)
    moving = page.evaluate(PATHS)
    assert page.evaluate("drawn") == 0
    assert data(page) == before
    draw(page, p=moved)
    page.wait_for_function("() => !document.querySelector('.chart-place.quick')")
    page.evaluate("() => shell.chart.resize()")
    assert data(page)["masked"] != before["masked"]
    for one, other in zip(moving[1:7], page.evaluate(PATHS)[1:7], strict=True):
        assert one.count("M") == other.count("M")
        for part, whole in zip(one.split("M")[1:], other.split("M")[1:], strict=True):
            x, y = zip(*points(whole), strict=True)
            assert len(x) > 1
            assert np.interp(x, *zip(*points(part), strict=True)) == pytest.approx(y, abs=0.3)
    straight, curved = moving[2], moving[5]
    assert len(points(straight)) < 10 < 30 < len(points(curved))  # of a straight line its ends


def test_the_range_grows_but_does_not_shrink_during_a_move(show: Show) -> None:
    page = show(op="clamp", rules=["straight_through"])
    at_rest = page.evaluate(LAYOUT)
    draw(page, "moving", p={"hi": 2.5}, g=2)
    grown = page.evaluate(LAYOUT)
    assert grown["y"][1] > 2.5 > at_rest["y"][1]
    assert grown["gradient"][1] > 2 > at_rest["gradient"][1]
    draw(page, "moving", p={}, g=1)
    assert page.evaluate(LAYOUT) == grown
    draw(page)
    assert page.evaluate(LAYOUT) == at_rest


def test_circles_move_with_their_curve(show: Show) -> None:
    page = show(op="step", rules=["masked"])
    draw(page, "moving", p={"lo": -2, "hi": 2})
    assert (
        page.locator(".scatterlayer .points").first.evaluate("e => getComputedStyle(e).visibility")
        == "hidden"
    )
    assert page.locator(".chart-overlay .chart-open").count() == 2
    first = page.query_selector(".chart-overlay .chart-open")
    draw(page, "moving", p={"lo": -2, "hi": 2.1})
    assert page.evaluate("first => first.isConnected", first)  # a new one costs a look at all styles
    draw(page, "moving", p={"lo": -2, "hi": 2})
    bar = page.locator(".chart-overlay .chart-closed").nth(1).bounding_box()
    draw(page)
    page.evaluate("shell.chart.resize()")
    assert page.locator(".chart-overlay .chart-closed").count() == 0
    point = page.locator(".xy2 .points path").nth(2).bounding_box()
    assert bar
    assert point
    assert bar["x"] == pytest.approx(point["x"], abs=2)


def test_curves_glide_to_another_rule_unless_motion_is_reduced(show: Show) -> None:
    for motion in ("no-preference", "reduce"):
        page = show(op="clamp", rules=["straight_through"], motion=motion)
        drawn = f"change => {{ shell.show(change); return ({PATHS})()[1]; }}"
        first = page.evaluate(drawn, make_change(rules=["gaussian"]))
        assert list(data(page)) == ["forward", "gaussian"]
        page.wait_for_function("() => !document.querySelector('.chart-place.quick')")
        page.wait_for_timeout(50)
        last = page.evaluate(PATHS)[1]
        assert (first == last) == (motion == "reduce")
        assert max(y for _, y in points(last)) - min(y for _, y in points(last)) > 100
