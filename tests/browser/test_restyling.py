"""How many elements the browser styles anew when something in a chart changes: it does many times a frame."""

from typing import Any

from playwright.sync_api import Page, expect

from explorer.lessons import LESSONS
from tests.browser.lessons import turn_to
from tests.browser.reading import retry, turn
from tests.browser.test_class import ends_the_class
from tests.browser.training import press, turn_train

# As Plotly measures a label
_MEASURE = """() => {
  const text = document.createElementNS("http://www.w3.org/2000/svg", "text");
  document.querySelector(".instrument:not(.heading)").append(text);
  text.getBoundingClientRect();
  text.remove();
  document.body.getBoundingClientRect();
}"""


def test_an_element_in_a_chart_restyles_itself_alone(explore: Page, train: Page, page: Page) -> None:
    for tools in ("", "&tools=all"):
        turn(explore, f"/?op=clamp{tools}")
        restyles_few(explore)
    turn_train(train, "task=digits")
    restyles_few(train)
    page.goto("/study")
    expect(page.get_by_role("button", name="Add rule")).to_be_visible(timeout=30_000)
    restyles_few(page)


def test_so_it_does_in_a_lesson_and_in_its_class(course: Page) -> None:
    page = course
    turn_to(page, LESSONS["straight-through"])
    restyles_few(page)
    page.keyboard.press("p")
    restyles_few(page)
    press(page, "Skip")
    restyles_few(page)
    page.keyboard.press("p")
    press(page, "Class")
    press(page, "Lead a class")
    page.get_by_role("dialog", name="The code of the class").wait_for()
    page.keyboard.press("Escape")
    reveal = page.get_by_role("button", name="Reveal")
    restyles_few(page)
    reveal.click()
    reveal.click()  # nobody has answered
    expect(reveal).to_have_count(0)
    restyles_few(page)
    ends_the_class(page)


def restyles_few(page: Page) -> None:
    """Check that an element that comes and goes in a chart has at most 20 elements styled anew."""
    page.bring_to_front()
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
    session.detach()
