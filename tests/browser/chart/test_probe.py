"""The probe: tangents, values and the readout at one x."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chart.conftest import Show, draw
from tests.browser.chart.test_hand import moves

PLOT = ".js-plotly-plot"
CUBE = "formula: x ** 3"
PX_OF = f"""x => {{ const {{xaxis, _size}} = document.querySelector("{PLOT}")._fullLayout;
    return _size.l + xaxis.d2p(x); }}"""
# The slopes of the tangents by colour, in the units of the axes.
SLOPES = f"""() => {{ const {{xaxis, yaxis}} = document.querySelector("{PLOT}")._fullLayout;
    return Object.fromEntries([...document.querySelectorAll(".chart-tangent")].map(tangent => {{
        const ends = tangent.getAttribute("d").slice(1).split("L").map(at => at.split(",").map(Number));
        const [[x0, y0], [x1, y1]] = ends;
        const slope = (yaxis.p2d(y1) - yaxis.p2d(y0)) / (xaxis.p2d(x1) - xaxis.p2d(x0));
        return [shell.colours.rules.indexOf(tangent.getAttribute("stroke")), slope]; }})); }}"""
READOUT = """() => { const texts = all => [...all].map(one => one.textContent);
    return {x: document.querySelector(".chart-readout input").value,
        head: texts(document.querySelectorAll(".chart-head strong")),
        rules: [...document.querySelectorAll(".chart-rules li")].map(row => texts(row.children))}; }"""


def point(page: Page, x: float, aside: float = 0) -> None:
    page.mouse.move(page.evaluate(PX_OF, x) + aside, 120)


def type_x(page: Page, text: str) -> dict[str, Any]:
    page.get_by_role("textbox", name="x").fill(text)
    return page.evaluate(READOUT)


def test_each_rule_has_a_tangent_unless_g_is_0(show: Show) -> None:
    g = -0.5
    page = show(op=CUBE, rules=["default", "straight_through", "gaussian", "zero"], range=[-2, 2], g=g)
    type_x(page, "0.5")
    rows = page.evaluate(READOUT)["rules"]
    assert rows[0][-1] == "g · dy/dx = −0.5 × 0.75"
    claimed = [float(row[1].replace("−", "-")) / g for row in rows]
    assert claimed == pytest.approx([0.75, 1, claimed[2], 0], rel=1e-3)
    slopes = page.evaluate(SLOPES)
    assert [slopes[str(place)] for place in range(4)] == pytest.approx(claimed, rel=0.01, abs=1e-9)
    draw(page, g=0)
    assert [float(row[1]) for row in page.evaluate(READOUT)["rules"]] == [0, 0, 0, 0]
    assert page.evaluate(SLOPES) == {}
    draw(page, op="sign", g=1)
    tops = page.locator(".chart-tangent").evaluate_all("all => all.map(line => line.getBBox().y)")
    layout = f"document.querySelector('{PLOT}')._fullLayout"
    assert min(tops) > page.evaluate(f"{layout}.yaxis.d2p(1) + {layout}._size.t - 0.5")  # above 1 is no y


def test_the_probe_follows_the_pointer_and_snaps_to_kinks(show: Show) -> None:
    page = show(op="clamp", rules=["masked"], p={"lo": -0.777, "hi": 1})
    point(page, -0.777, aside=5)
    assert page.evaluate(READOUT)["x"] == "-0.777"
    point(page, -0.777, aside=8)
    assert page.evaluate(READOUT)["x"] != "-0.777"
    assert page.locator(".chart-probe-line").count() == 1
    assert moves(page, "probe")[0] == [-0.777]
    page.mouse.move(300, 690)
    assert page.evaluate(READOUT)["x"] == ""
    assert page.locator(".chart-overlay .chart-dot").count() == 0


def test_the_slope_at_a_kink_is_shown_for_both_sides(show: Show) -> None:
    page = show(op="abs", rules=["default"])
    assert [type_x(page, x)["head"][1] for x in ("0", "2")] == ["−1 | 1", "1"]


def test_the_probe_accepts_a_number_outside_the_view_but_no_text(show: Show) -> None:
    page = show(op=CUBE, rules=["straight_through"])
    assert type_x(page, "−10")["head"][0] == "−1000"
    assert page.locator(".chart-probe-line").count() == 0
    said = page.locator(".chart-aside")
    expect(said).to_have_text("outside the view")
    assert type_x(page, "one")["head"] == ["", ""]
    assert page.evaluate(READOUT)["x"] == "one"
    expect(said).to_have_text("not a number")
    type_x(page, "")
    expect(said).to_have_text("")


def test_arrow_keys_move_the_probe_and_stop_at_kinks(show: Show) -> None:
    page = show(op="clamp", rules=["masked"], p={"lo": -1, "hi": 0.04})
    probe = page.get_by_role("slider", name="Probe x")
    page.keyboard.press("Tab")
    result = []
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "Shift+ArrowRight", "ArrowLeft", "Shift+ArrowLeft"):
        probe.press(key)
        result.append(page.evaluate(READOUT)["x"])
    assert result == ["0.03", "0.04", "0.07", "0.37", "0.34", "0.04"]
    assert probe.get_attribute("aria-valuetext") == "x 0.04, forward 0.04, Masked 1"
    probe.press("Escape")
    assert page.evaluate(READOUT)["x"] == ""


def test_a_click_pins_the_probe_until_a_second_click(show: Show) -> None:
    page = show(op=CUBE, rules=["default"])
    page.mouse.click(page.evaluate(PX_OF, 1.5), 100)
    page.mouse.move(300, 690)
    pinned = page.evaluate(READOUT)
    assert float(pinned["x"]) == pytest.approx(1.5, abs=0.02)
    draw(page, g=2)
    assert page.evaluate(READOUT)["rules"][0][1] != pinned["rules"][0][1]
    page.mouse.click(page.evaluate(PX_OF, 1.5), 100)
    page.mouse.move(300, 690)
    assert page.evaluate(READOUT)["x"] == ""


def test_a_tap_pins_the_probe(show: Show) -> None:
    page = show(op=CUBE, rules=["default"], width=390, touch=True)
    page.touchscreen.tap(page.evaluate(PX_OF, 1.5), 100)
    page.wait_for_function("() => document.querySelector('.chart-probe-line')")
    assert float(page.evaluate(READOUT)["x"]) == pytest.approx(1.5, abs=0.05)


@pytest.mark.parametrize(("width", "touch"), [(900, False), (390, True)])
def test_the_chart_stays_in_place_when_rules_are_added(show: Show, width: int, touch: bool) -> None:
    page = show(op="clamp", rules=["masked"], width=width, touch=touch)
    place = page.locator(".chart-place").bounding_box()
    draw(page, rules=["default", "masked", "clipped", "atan_surrogate", "gaussian", "laplace"])
    type_x(page, "-0.123456789")
    assert page.locator(".chart-place").bounding_box() == place
    assert page.locator(".chart-readout").evaluate("one => one.scrollHeight - one.clientHeight") <= 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    names = page.locator(".chart-rules b")
    expect(names).to_have_count(6)
    assert names.evaluate_all("all => all.every(name => name.scrollWidth <= name.clientWidth)")
