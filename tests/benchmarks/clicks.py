"""How long a click on another rule takes until its curve is on the screen, in the app and in a Dash page."""

from collections.abc import Callable, Iterator

from playwright.sync_api import Locator, Page

import explorer
from tests.browser.reading import CHART

# On clamp, beside default autograd; each click shows one of them and the next round takes it away again.
_RULES = ("straight_through", "zero", "guided", "deconvnet", "seed_relu")

# From the pointer's press to the first frame that shows a line in a new colour, and to the first one after
# Plotly has drawn exactly these curves. Another page draws both at once.
_TIMES = f"""expected => {{
    window.measured = new Promise(resolve => {{
        let start = null, seen = null;
        const press = () => (start = performance.now());
        document.addEventListener("pointerdown", press, {{capture: true, once: true}});
        const colours = () => [...document.querySelectorAll("{CHART} .scatterlayer .js-line")]
            .filter(line => line.getAttribute("d") && line.checkVisibility())
            .map(line => line.style.stroke);
        const before = colours();
        const plotted = () => {{
            const chart = document.querySelector("{CHART}");
            const traces = chart?._fullData ?? [];
            return traces.map(trace => trace.meta).filter(Boolean).join() === expected
                && chart.querySelectorAll(".scatterlayer .trace").length === traces.length;
        }};
        const look = () => requestAnimationFrame(() => {{
            const now = performance.now() - start;
            if (start && !colours().every(colour => before.includes(colour))) seen ??= now;
            if (seen && plotted()) resolve([seen, now]);
            else look();
        }});
        look();
    }});
}}"""


def measure(app: Page, dash: Page, rounds: int) -> Iterator[tuple[str, list[float]]]:
    """Named series in milliseconds, one value for each click; the two pages take turns."""
    ours, theirs = [], []
    for number in range(rounds + 2):
        rule = _RULES[number % len(_RULES)]
        ours.append(_click(app, rule, _our_option, _take_ours_away))
        theirs.append(_click(dash, rule, _dash_option, _take_dash_away))
    # the first two clicks also warm up
    (our_curves, our_plots), (their_curves, their_plots) = (
        zip(*clicks[2:], strict=True) for clicks in (ours, theirs)
    )
    yield "app, click to curve, ms", [*our_curves]
    yield "Dash page, click to curve, ms", [*their_curves]
    yield "app, click to Plotly's drawing, ms", [*our_plots]
    yield "Dash page, click to Plotly's drawing, ms", [*their_plots]


def _click(
    page: Page, rule: str, find: Callable[[Page, str], Locator], take_away: Callable[[Page, str], None]
) -> tuple[float, float]:
    option = find(page, explorer.RULES[rule].label)
    page.evaluate(_TIMES, f"forward,default,{rule}")
    option.click()
    curve_ms, plot_ms = map(float, page.evaluate("measured"))
    page.wait_for_timeout(300)
    take_away(page, explorer.RULES[rule].label)
    page.wait_for_function(
        f'document.querySelector("{CHART}")?._fullData?.filter(trace => trace.meta).length === 2'
    )
    page.wait_for_timeout(500)
    return curve_ms, plot_ms


def _our_option(page: Page, label: str) -> Locator:
    page.get_by_role("button", name="Add rule", exact=True).click()
    page.get_by_label("Search rules", exact=True).fill(label)
    option = page.get_by_role("option").filter(has_text=label).first
    option.wait_for()
    return option


def _take_ours_away(page: Page, label: str) -> None:
    card = page.get_by_role("group", name=label, exact=True)
    card.get_by_role("button", name="Remove").click()


def _dash_option(page: Page, label: str) -> Locator:
    page.locator("#rules").click()
    page.locator(".dash-dropdown-search").fill(label)
    option = page.get_by_role("option").filter(has_text=label).first
    option.wait_for()
    page.wait_for_timeout(200)
    return option


def _take_dash_away(page: Page, label: str) -> None:
    page.get_by_role("option").filter(has_text=label).first.click()
    page.keyboard.press("Escape")
