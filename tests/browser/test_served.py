"""Explore before Streamlit has come: it is drawn with the page, can be used, and is taken over as it is."""

from base64 import b64encode
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, expect

from tests.browser.reading import CHART, box_of, choose, enter, go_back, number, settle, slider, title, traces
from tests.browser.visitors import PHONE, Tab

SIZES: dict[str, ViewportSize] = {"wide": {"width": 1366, "height": 768}, "phone": PHONE}
G = "Upstream gradient g"
NOTICE = "This link was read with changes"
# Where the parts of the page lie.
PLACES = """() => [".words .main", ".chart", ".strip", ".cards"].map(part => {
    const {x, y, width, height} = document.querySelector(`.instrument ${part}`).getBoundingClientRect();
    return [x, y, width, height];
})"""


class Held:
    """Streamlit's front end, which does not come to a page before it is let.

    Routes of Playwright's would have all else come without what the browser has compiled of it.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self._fetching = page.context.new_cdp_session(page)
        self._fetching.send("Fetch.enable", {"patterns": [{"urlPattern": "*/static/js/index.*"}]})

    def let(self) -> None:
        self._fetching.send("Fetch.disable")

    def come(self) -> None:
        """Let it come, and wait until it has taken over."""
        self.let()
        expect(self.page.locator(".served")).to_have_count(0)
        self.page.get_by_role("link", name="Train", exact=True).wait_for()


@pytest.fixture
def held(request: pytest.FixtureRequest, tab: Tab) -> Iterator[Held]:
    """A page of one of the sizes; where parts lie is the style sheet's, what is kept depends on neither."""
    tab.page.set_viewport_size(request.param)
    yield Held(tab.page)
    assert not tab.errors


def sized(*names: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("held", [SIZES[name] for name in names], ids=names, indirect=True)


def visit(held: Held, address: str) -> Locator:
    """Go to an address; the chart, which is there without Streamlit."""
    held.page.goto(address, wait_until="commit")
    settle(held.page)
    return held.page.locator(f".served {CHART}")


@sized("wide")
def test_curves_focus_and_an_open_list_stay_when_streamlit_loads(held: Held) -> None:
    chart = visit(held, "/?op=identity&rule=formula:+g&rule=default")
    expect(chart).to_have_count(1)
    field = title(held.page, "Rule").first
    field.focus()
    held.page.keyboard.type(" + 1")
    settle(held.page, shows=["formula: g + 1", "default"])
    expect(held.page.locator(".failing:visible")).to_have_text("✗ fails: linear in g")
    before = held.page.evaluate(PLACES)
    held.page.evaluate("chart => (window.first = chart)", chart.element_handle())
    held.come()
    assert held.page.evaluate(f"first === document.querySelector('.stMain {CHART}')")
    assert held.page.evaluate(PLACES) == [pytest.approx(place, abs=1) for place in before]
    assert list(traces(held.page)) == ["forward", "formula: g + 1", "default"]
    expect(field).to_be_focused()
    expect(held.page.get_by_role("listbox", name="Rules")).to_be_visible()
    held.page.keyboard.type(" + 2")
    expect(field).to_have_value("g + 1 + 2")


@sized("phone")
def test_an_open_section_keeps_its_height_when_streamlit_loads(held: Held) -> None:
    visit(held, "/?op=round&rule=default&section=formula")
    panel = held.page.locator(".instrument .panel:visible")
    before = box_of(panel)
    held.come()
    after = box_of(panel)
    assert after["height"] == pytest.approx(before["height"], abs=1)


@sized("phone")
def test_changes_before_streamlit_loads_are_kept_and_undone_by_back(held: Held) -> None:
    visit(held, "/?op=clamp&rule=masked&g=2")
    enter(number(held.page, G), "-1.5")
    choose(held.page, "Add rule", "zero")
    held.page.wait_for_function("location.search.includes('g=-1.5')")
    held.come()
    settle(held.page, shows=["masked", "zero"])
    assert -1.5 in traces(held.page)["masked"].y
    go_back(held.page)
    settle(held.page, shows=["masked"])
    go_back(held.page)
    expect(number(held.page, G)).to_have_value("2")
    held.page.get_by_role("button", name="Formula", exact=True).click()
    held.page.get_by_text("Forward: Clamp").wait_for()


@sized("wide")
def test_a_drag_continues_while_streamlit_loads_and_a_wrong_link_is_explained(held: Held) -> None:
    visit(held, "/?op=sign&rule=clipped&c=nan")
    assert "c=nan" in held.page.url
    box = box_of(slider(held.page, G))
    y = box["y"] + box["height"] / 2
    held.page.mouse.move(box["x"] + 0.74 * box["width"], y)
    held.page.mouse.down()
    held.page.mouse.move(box["x"] + 0.6 * box["width"], y, steps=3)
    held.let()
    held.page.locator(".stMain .instrument.heading").wait_for(state="attached")
    held.page.wait_for_timeout(500)
    expect(held.page.locator(".served")).to_have_count(1)
    held.page.mouse.move(box["x"] + 0.9 * box["width"], y, steps=3)
    held.page.mouse.up()
    expect(held.page.locator(".served")).to_have_count(0)
    assert float(number(held.page, G).input_value()) == pytest.approx(1.6, abs=0.2)
    expect(held.page.get_by_text(NOTICE)).to_be_visible()
    held.page.wait_for_url(
        lambda address: "c=nan" not in address and address.split("/")[-1].startswith("?op=sign&rule=clipped")
    )


def test_a_failed_download_shows_a_message_instead_of_an_empty_page(tab: Tab) -> None:
    answering = tab.page.context.new_cdp_session(tab.page)
    half = {"responseCode": 200, "body": b64encode(b"{").decode()}
    answering.on(
        "Fetch.requestPaused",
        lambda paused: answering.send("Fetch.fulfillRequest", {"requestId": paused["requestId"], **half}),
    )
    answering.send("Fetch.enable", {"patterns": [{"urlPattern": "*/document.json"}]})
    tab.page.goto("/")
    sentence = tab.page.get_by_text("The instrument could not be loaded: reload the page.")
    expect(sentence.first).to_be_visible()
