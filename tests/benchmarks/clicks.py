"""How long a click on another rule takes until its curve is on the screen, in the app and in a Dash page."""

from collections.abc import Callable
from statistics import median

from playwright.sync_api import Browser, Locator, Page

import explorer
from tests.benchmarks import Series
from tests.benchmarks.drags import open_page
from tests.browser.reading import CHART

# On clamp, beside default autograd; each click shows one of them and the next round takes it away again.
_RULES = ("straight_through", "zero", "guided", "deconvnet", "seed_relu")

# From the pointer's press to the first frame that shows a line in a new colour.
_TIME = f"""() => {{
    window.measured = new Promise(resolve => {{
        let start = null;
        const press = () => (start = performance.now());
        document.addEventListener("pointerdown", press, {{capture: true, once: true}});
        const colours = () => [...document.querySelectorAll("{CHART} .scatterlayer .js-line")]
            .filter(line => line.getAttribute("d") && line.checkVisibility())
            .map(line => line.style.stroke);
        const before = colours();
        const look = () => requestAnimationFrame(() => {{
            const isNew = colours().some(colour => !before.includes(colour));
            if (start && isNew) resolve(performance.now() - start);
            else look();
        }});
        look();
    }});
}}"""


def measure(browser: Browser, app: str, dash: str, rounds: int) -> Series:
    """Named series in milliseconds, one value for each click, and a ratio; the two pages take turns."""
    pages = open_page(browser, f"{app}/?op=clamp&rule=default&tools=all"), open_page(browser, dash)
    ours, theirs = [], []
    for number in range(rounds + 2):
        rule = _RULES[number % len(_RULES)]
        ours.append(_click(pages[0], rule, _our_option, _take_ours_away))
        theirs.append(_click(pages[1], rule, _dash_option, _take_dash_away))
    yield "app, click to curve, ms", ours[2:]  # the first two also warm up
    yield "Dash page, click to curve, ms", theirs[2:]
    yield "median / median of the Dash page", [median(ours[2:]) / median(theirs[2:])]


def _click(
    page: Page, rule: str, find: Callable[[Page, str], Locator], take_away: Callable[[Page, str], None]
) -> float:
    option = find(page, explorer.RULES[rule].label)
    page.evaluate(_TIME)
    option.click()
    curve_ms = float(page.evaluate("measured"))
    page.wait_for_timeout(300)
    take_away(page, explorer.RULES[rule].label)
    page.wait_for_function(
        f'document.querySelector("{CHART}")?._fullData?.filter(trace => trace.meta).length === 2'
    )
    page.wait_for_timeout(500)
    return curve_ms


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
