"""How long a visitor waits for the first chart, for the first time and when the browser's cache is warm."""

import time

from playwright.sync_api import Browser, BrowserContext

from tests.browser.reading import CHART

WHEN = ("new visitor", "comes again")
DRAWN = f"""() => {{
    const chart = document.querySelector("{CHART}");
    const forward = chart?._fullData?.some(trace => trace.meta === "forward");
    return forward && chart.querySelector(".js-line") !== null;
}}"""


def measure(browser: Browser, app: str, dash: str, rounds: int) -> list[tuple[str, list[float]]]:
    """Named series in seconds, the two pages in turns: a new visitor, and one who comes again."""
    series: dict[str, list[float]] = {}
    for _ in range(rounds):
        for name, address in (("app", app), ("Dash page", dash)):
            with browser.new_context(viewport={"width": 1366, "height": 768}, bypass_csp=True) as visitor:
                for when in WHEN:
                    series.setdefault(f"{name}, {when}, s", []).append(first_chart(visitor, address))
    return list(series.items())


def first_chart(visitor: BrowserContext, address: str) -> float:
    """Seconds from the address to the first chart, on a page that is closed then."""
    page = visitor.new_page()
    begun = time.perf_counter()
    page.goto(address, wait_until="commit")
    page.wait_for_function(DRAWN, timeout=60_000)
    seconds = time.perf_counter() - begun
    page.wait_for_timeout(300)
    page.close()
    return seconds
