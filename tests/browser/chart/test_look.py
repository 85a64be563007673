"""Themes, the saved picture, and what is said to those who cannot see the chart."""

import html
from typing import Any
from urllib.parse import unquote

import pytest
from playwright.sync_api import Page

from tests.browser.chart.conftest import DARK, Pages, Show, draw, make_change, open_chart

PLOT = ".js-plotly-plot"
# A chart that cannot load plotly.js.
BROKEN = """async () => { const {createChart} = await import("/js/chart/view/chart.js");
    const nothing = () => undefined;
    const told = {onView: nothing, onParameter: nothing, onProbe: nothing};
    const host = document.querySelector("#host");
    host.style = "height: 300px";
    createChart(host, {plotly: "/none.js", ...told}); }"""

# How often it has been drawn, some frames later.
_DRAWN = """async () => {
    for (const _ of [1, 2, 3]) await new Promise(requestAnimationFrame);
    return drawn;
}"""


def test_a_chart_is_drawn_once_when_it_appears(show: Show) -> None:
    page = show()
    page.evaluate(
        """() => {
            window.react = Plotly.react;
            window.drawn = 0;
            Plotly.react = (...all) => ((drawn += 1), react(...all));
        }"""
    )
    page.evaluate(
        "change => { shell.start(520, shell.colours); shell.show(change); }",
        make_change(op="sign", rules=["clipped"]),
    )
    assert page.evaluate(_DRAWN) == 1
    page.evaluate("() => { Plotly.react = react; }")


# A figure above the chart whose pictures come one after another before it is seen, and how often it is drawn.
_FIGURE = """async dark => {
    const {createFigure} = await import("/js/chart/plotly/figure.js");
    const host = document.createElement("div");
    document.body.prepend(host);
    const frames = async () => {
        for (const _ of [1, 2, 3]) await new Promise(requestAnimationFrame);
        return [drawn, host.querySelector(".main-svg")?.getBoundingClientRect().width];
    };
    const react = Plotly.react;
    let drawn = 0;
    Plotly.react = (...all) => ((drawn += 1), react(...all));
    host.style = "height: 300px; width: 500px";
    const trace = x => ({x: [0, x], y: [0, 1], mode: "lines+markers", line: {width: x}});
    const compose = ({x}, _width, isMoving) =>
        ({traces: [trace(x)], layout: {xaxis: {}, yaxis: {}}, isRough: isMoving && x === 6});
    const figure = createFigure(host, {plotly: "/plotly.js", hover: false, compose});
    [1, 2, 3].forEach(x => figure.draw({words: "A line", x}));
    const counts = [await frames()];
    host.style.width = "400px";
    counts.push(await frames());
    Object.entries(dark).forEach(([name, value]) => host.style.setProperty(name, value));
    await new Promise(done => host.addEventListener("transitionend", done, {once: true}));
    counts.push(await frames());
    for (const x of [4, 4, 5]) {
        figure.draw({words: "A line", x});
        counts.push(await frames());
    }
    figure.draw({words: "A line", x: 6});
    for (let frame = 0; drawn < 7 && frame < 600; frame += 1) await frames();
    counts.push(await frames());
    figure.destroy();
    host.remove();
    Plotly.react = react;
    return counts;
}"""


def test_a_figure_is_redrawn_only_when_size_theme_or_data_change(show: Show) -> None:
    """And not where nothing has changed. A rough drawing is redrawn once, at rest."""
    page = show()
    counts = page.evaluate(_FIGURE, DARK)
    assert counts == [[1, 500], [2, 400], [3, 400], [4, 400], [4, 400], [5, 400], [7, 400]]


@pytest.mark.parametrize("width", [390, 900])
def test_both_ends_of_the_axis_are_labelled(show: Show, width: int) -> None:
    page = show(op="tanh", rules=["default"], width=width)
    labels = page.locator(f"{PLOT} .xtick text")
    for ends in ([-2, 2], [0.9999, 1.0001], [100_000, 100_001], [-0.002, 0], [-5000, 100_000]):
        draw(page, range=ends)
        shown = [float(text.replace("−", "-")) for text in labels.all_text_contents()]
        assert [shown[0], shown[-1]] == ends or (shown[0], shown[-1]) == (0, ends[1])
        assert max(labels.evaluate_all("all => all.map(e => e.getBoundingClientRect().right)")) <= width


@pytest.mark.parametrize("width", [390, 900])
def test_the_title_of_an_axis_does_not_overlap_its_labels(show: Show, width: int) -> None:
    page = show(rules=["default"], width=width)
    for op in ("x * 100000", "x + 1000000", "-x / 10000", "x * 12345", "x / 80 - 12345.6"):
        draw(page, op=f"formula: {op}")
        for axis in ("y", "y2"):
            name = page.locator(f"{PLOT} .{axis}title").evaluate("name => name.getBoundingClientRect().right")
            labels = page.locator(f"{PLOT} .{axis}tick text")
            lefts = labels.evaluate_all("all => all.map(label => label.getBoundingClientRect().left)")
            assert len(lefts) > 1, op
            assert 0 <= name <= min(lefts), op


def test_the_saved_picture_names_its_op_and_visible_rules(show: Show) -> None:
    page = show(
        op="clamp", rules=["masked", "formula: g * (x < 0)", "clipped"], hidden=["clipped"], p={"lo": -2}, g=2
    )
    svg = html.unescape(unquote(image(page, "svg")))
    assert svg.startswith("data:image/svg+xml,<svg")
    assert "Clamp with Masked, g * (x < 0) · lo = −2 · hi = 1 · g = 2" in svg
    assert svg.count('class="traces"') == 2  # of the legend
    assert "Clipped" not in svg
    assert image(page, "png").startswith("data:image/png;base64,")


def image(page: Page, kind: str) -> str:
    return str(page.evaluate("kind => shell.chart.image(kind)", kind))


def test_the_chart_has_an_accessible_name_and_no_plotly_buttons(show: Show) -> None:
    page = show(op="sign", rules=["clipped"])
    assert page.get_by_role("img", name="Sign with Clipped straight-through").count() == 1
    draw(page, op="round", rules=["default"])
    assert page.get_by_role("img", name="Round with Default autograd").count() == 1
    context: Any = page.evaluate(f"document.querySelector('{PLOT}')._context")
    assert (context["showSendToCloud"], context["responsive"]) == (False, False)
    assert page.locator(".modebar").count() == 0


def test_a_chart_without_plotly_shows_an_error(pages: Pages) -> None:
    with pages.new_context() as context:
        open_chart(page := context.new_page())
        page.evaluate(BROKEN)
        page.get_by_text("The chart could not be loaded: reload the page to try again").wait_for()
