"""The drawn chart: breaks at jumps, exchanged values, moving paths, gliding curves."""

from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page

from tests.browser.chart.conftest import Show, draw, make_change
from tests.browser.reading import FRAME, box_of

PLAIN = "const plain = values => [...values].map(v => (Number.isFinite(v) ? v : String(v)));"
DATA = f"""() => {{ {PLAIN} return document.querySelector(".js-plotly-plot").data.map(trace => {{
    const {{meta, mode, name, yaxis, visible, marker, line}} = trace;
    return {{meta, mode, name, yaxis, visible, marker, line, x: plain(trace.x), y: plain(trace.y)}};
}}); }}"""
LAYOUT = """() => { const layout = document.querySelector(".js-plotly-plot").layout;
    const {xaxis, yaxis, yaxis2, annotations} = layout;
    const notes = annotations.map(({text}) => text);
    return {x: xaxis.range, y: yaxis.range, gradient: yaxis2.range, notes}; }"""
# The corners of all curves that are drawn, and what follows where one breaks.
PATHS = """() => [...document.querySelectorAll(".scatterlayer .trace")]
    .map(trace => [...trace.querySelectorAll(".js-line")])
    .filter(lines => lines.every(path => path.style.strokeWidth === "2.5px"))
    .map(lines => lines.map(path => path.getAttribute("d")).join(""))"""
# The lines on the screen and the curves that Plotly knows, right after a change and after its first frame.
FIRST_AND_LAST = f"""async change => {{
    const read = () => {{
        const lines = [...document.querySelectorAll(".scatterlayer .trace")]
            .map(trace => [...trace.querySelectorAll(".js-line")])
            .filter(([first]) => first?.getAttribute("d"));
        return {{
            paths: lines.map(all => all.map(path => path.getAttribute("d")).join("")),
            looks: lines.map(([{{style}}]) => [style.stroke, style.strokeWidth, style.strokeDasharray]),
            plotted: document.querySelector(".js-plotly-plot").data.map(({{meta}}) => meta).filter(Boolean),
        }};
    }};
    shell.show(change);
    const first = read();
    await {FRAME};
    return [first, read()];
}}"""
LINE = "formula: 2 * x * g"
BELOW = "formula: g * (x < 0)"
SIX = ["straight_through", "masked", "clipped", BELOW, "gaussian", LINE]


def data(page: Page) -> dict[Any, Any]:
    """The curves of the chart by their meta."""
    return {trace["meta"]: trace for trace in page.evaluate(DATA) if trace.get("meta")}


def points(path: str) -> list[tuple[float, ...]]:
    return [tuple(map(float, point.split(","))) for point in path.replace("M", "L").split("L") if point]


def assert_same_path(moved: str, plotted: str) -> None:
    """A path of ours has fewer points than Plotly's; both break at the same places."""
    assert moved.count("M") == plotted.count("M")
    for part, whole in zip(moved.split("M")[1:], plotted.split("M")[1:], strict=True):
        x, y = zip(*points(whole), strict=True)
        assert len(x) > 1
        assert np.interp(x, *zip(*points(part), strict=True)) == pytest.approx(y, abs=0.3)


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
        assert_same_path(one, other)
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
    points = page.locator(".scatterlayer .points").first
    assert points.evaluate("e => getComputedStyle(e).visibility") == "hidden"
    assert page.locator(".chart-overlay .chart-open").count() == 2
    first = page.query_selector(".chart-overlay .chart-open")
    draw(page, "moving", p={"lo": -2, "hi": 2.1})
    assert page.evaluate("first => first.isConnected", first)  # a new one costs a look at all styles
    draw(page, "moving", p={"lo": -2, "hi": 2})
    bar = box_of(page.locator(".chart-overlay .chart-closed").nth(1))
    draw(page)
    page.evaluate("shell.chart.resize()")
    assert page.locator(".chart-overlay .chart-closed").count() == 0
    point = box_of(page.locator(".xy2 .points path").nth(2))
    assert bar["x"] == pytest.approx(point["x"], abs=2)


@pytest.mark.parametrize(
    ("rules", "others"),
    [
        (["default"], ["default", "straight_through"]),  # a line, and one below where both are equal
        (["default"], SIX),
        (SIX, ["masked"]),
        (["masked"], [BELOW]),  # which breaks
        (["default", "straight_through"], ["formula: g / (x - x)", "straight_through"]),  # one has no values
    ],
)
def test_the_first_frame_after_a_click_shows_all_lines_and_plotly_follows(
    show: Show, rules: list[str], others: list[str]
) -> None:
    page = show(op="clamp", rules=rules, motion="reduce")
    first, last = page.evaluate(FIRST_AND_LAST, make_change(rules=others))
    assert (first["plotted"], last["plotted"]) == (["forward", *rules], ["forward", *others])
    assert first["looks"] == last["looks"]
    for moved, plotted in zip(first["paths"], last["paths"], strict=True):
        assert_same_path(moved, plotted)


def test_curves_glide_to_another_rule_unless_motion_is_reduced(show: Show) -> None:
    for motion in ("no-preference", "reduce"):
        page = show(op="clamp", rules=["straight_through"], motion=motion)
        drawn = f"change => {{ shell.show(change); return ({PATHS})()[1]; }}"
        first = points(page.evaluate(drawn, make_change(rules=["gaussian"])))
        page.wait_for_function("() => !document.querySelector('.chart-place.quick')")
        assert list(data(page)) == ["forward", "gaussian"]
        last = points(page.evaluate(PATHS)[1])
        x, y = zip(*first, strict=True)
        is_last = np.allclose(y, np.interp(x, *zip(*last, strict=True)), atol=0.3)
        assert is_last == (motion == "reduce")
        assert max(y for _, y in last) - min(y for _, y in last) > 100
