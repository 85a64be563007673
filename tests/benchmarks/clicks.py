"""How long a click on another rule takes until its curve is on the screen, in the app and in a naive page."""

from __future__ import annotations

from collections.abc import Iterator

from playwright.sync_api import Page

import explorer
from tests.browser.reading import CHART

# For relu, and without parameters: the naive page has no sliders.
_RULES = ("straight_through", "zero", "guided", "deconvnet", "seed_relu")

# From the pointer's press to the first frame that shows these curves.
_TIME = f"""expected => {{
    window.measured = new Promise(resolve => {{
        let start = null;
        const press = () => (start = performance.now());
        document.addEventListener("pointerdown", press, {{capture: true, once: true}});
        const drawn = () => {{
            const chart = document.querySelector("{CHART}");
            const traces = chart?._fullData ?? [];
            return traces.map(trace => trace.meta).filter(Boolean).join() === expected
                && chart.querySelectorAll(".scatterlayer .trace").length === traces.length;
        }};
        const look = () => requestAnimationFrame(() => {{
            if (start !== null && drawn()) resolve(performance.now() - start);
            else look();
        }});
        look();
    }});
}}"""


def measure(app: Page, naive: Page, rounds: int) -> Iterator[tuple[str, list[float]]]:
    """Named series in milliseconds, one value for each click; the two pages take turns."""
    ours, theirs = [], []
    for number in range(rounds + 2):
        rule = _RULES[number % len(_RULES)]
        ours.append(click(app, rule))
        theirs.append(click(naive, rule))
    del ours[:2], theirs[:2]
    yield "app, click to curve, ms", ours
    yield "naive page, click to curve, ms", theirs


def click(page: Page, rule: str) -> float:
    """Add a rule to default autograd, and take it away again: milliseconds from click to curve."""
    field = page.get_by_label("Backward rules", exact=True)
    field.click()
    field.fill(explorer.RULES[rule].label)
    option = page.get_by_role("option").filter(has_text=explorer.RULES[rule].label).first
    option.wait_for()
    page.evaluate(_TIME, f"forward,default,{rule}")
    option.click()
    milliseconds = float(page.evaluate("measured"))
    page.wait_for_timeout(300)
    field.press("Backspace")
    page.wait_for_function(
        f'document.querySelector("{CHART}")?._fullData?.filter(trace => trace.meta).length === 2'
    )
    page.keyboard.press("Escape")
    page.wait_for_timeout(500)
    return milliseconds
