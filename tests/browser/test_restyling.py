"""How many elements the browser styles anew when something in a chart changes: it does many times a frame."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.reading import retry

# As Plotly measures a label
_MEASURE = """() => {
  const text = document.createElementNS("http://www.w3.org/2000/svg", "text");
  document.querySelector(".instrument:not(.heading)").append(text);
  text.getBoundingClientRect();
  text.remove();
  document.body.getBoundingClientRect();
}"""


@pytest.mark.parametrize("path", ["/?op=clamp", "/?op=clamp&tools=all", "/train", "/study"])
def test_an_element_in_a_chart_restyles_itself_and_not_the_page(page: Page, path: str) -> None:
    page.goto(path)
    expect(page.locator(".stApp").get_by_role("button", name="Add rule")).to_be_visible(timeout=30_000)
    session = page.context.new_cdp_session(page)
    events: list[dict[str, Any]] = []
    ended: list[bool] = []
    session.on("Tracing.dataCollected", lambda part: events.extend(part["value"]))
    session.on("Tracing.tracingComplete", lambda _: ended.append(True))
    categories = {"includedCategories": ["devtools.timeline"], "excludedCategories": ["*"]}

    def measure() -> None:
        events.clear()
        ended.clear()
        session.send("Tracing.start", {"transferMode": "ReportEvents", "traceConfig": categories})
        page.evaluate(_MEASURE)
        session.send("Tracing.end")
        while not ended:
            page.wait_for_timeout(20)
        restyled = [event["args"] for event in events if event["name"] == "UpdateLayoutTree"]
        assert restyled
        assert max(found.get("elementCount", 0) for found in restyled) <= 20

    retry(page, measure)  # something else may have changed on the page at the same time
