"""A first visit to each page: little is brought and seen, nothing moves, and a link opens its section."""

from collections.abc import Callable
from functools import partial

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.reading import retry, visit
from tests.browser.test_calm import LAPTOP, NARROW, TWICE, assert_few, resize
from tests.browser.visitors import FINGER, NOTHING_CHOSEN, PHONE, Open, Tab

# At most so many controls and words on the first screen of a laptop: they were 43 and 250, 50 and 153.
OTHER_PAGES = {"/learn": (".contents a", (30, 160), 20), "/study": (".study .plan", (34, 115), 16)}


@pytest.mark.parametrize("path", OTHER_PAGES)
def test_learn_and_study_on_a_phone_open_with_few_controls_and_words(new_page: Open, path: str) -> None:
    page = new_page(viewport=PHONE, **FINGER)
    page.goto(f"{path}?op=sign&rule=clipped" if path == "/study" else path)
    opens_with_few(page, path)
    if path == "/study":
        ends = page.evaluate("""[...document.querySelectorAll(".plan tbody tr")].map(row => {
            const range = document.createRange();
            range.selectNodeContents(row.firstElementChild);
            const ring = row.querySelector(".rings i");
            return ring.getBoundingClientRect().left - range.getBoundingClientRect().right;
        })""")
        assert min(ends) > 0, "names lie beside their rings"


def opens_with_few(page: Page, path: str) -> None:
    part, most, _ = OTHER_PAGES[path]
    page.locator(part).first.wait_for()
    retry(page, partial(assert_few, page, *most))
    expect(page.locator(part).first).to_be_in_viewport(ratio=1)


_WATCH = """() => {
    window.moved = [];
    const seen = list => window.moved.push(...list.getEntries().filter(each => !each.hadRecentInput));
    new PerformanceObserver(seen).observe({ type: "layout-shift", buffered: true });
}"""
_MOVED = "moved.filter(each => each.startTime > 1000).reduce((sum, each) => sum + each.value, 0)"

# The bytes of each answer as they came, but for plotly.js, of which there are two builds.
_BROUGHT = """["navigation", "resource"].flatMap(kind => performance.getEntriesByType(kind))
    .filter(({ name }) => !name.includes("/assets/plotly-")).map(({ transferSize }) => transferSize)"""
_MOST_REQUESTS = 85  # a first visit took 117


# Faster for the others: Explore and Train, which bring most modules; a lesson brings those of Learn.
OTHERS = {"/study": 5, "/learn": 6, "/learn?lesson=vanishing": None}


@pytest.mark.parametrize(
    "path",
    ["/", "/train", *(pytest.param(path, marks=pytest.mark.thorough(part=n)) for path, n in OTHERS.items())],
)
def test_a_first_visit_loads_little_and_does_not_shift(new_page: Open, path: str) -> None:
    """In the same visits: the first stops of the keyboard, and what a window shows of each page."""
    page = visited_at_rest(new_page, path, NOTHING_CHOSEN)
    brought = page.evaluate(_BROUGHT)
    assert len(brought) <= _MOST_REQUESTS
    assert 1_000_000 < sum(brought) <= (1_400_000 if path == "/" else 1_650_000)
    if path in ("/train", "/study"):
        page.get_by_role("button", name="Start", exact=True).wait_for()
        stops = []
        for _ in range(5):
            page.keyboard.press("Tab")
            stops.append(page.evaluate("document.activeElement.textContent.trim()"))
        assert "Start" in stops
    if path in OTHER_PAGES:
        for size in (LAPTOP, NARROW):
            resize(page, size)
            opens_with_few(page, path)
    if path in ("/train", *OTHER_PAGES):
        part, most = (".contents a", 20) if path == "/learn" else (".buttons button:first-child", 16)
        resize(page, TWICE)
        expect(page.locator(part).first).to_be_in_viewport(ratio=1)
        retry(page, partial(assert_few, page, most, 85))


def visited_at_rest(new_page: Open, path: str, script: str) -> Page:
    """A page that nobody has visited before, on which nothing moves after the first second."""
    size: ViewportSize = {"width": LAPTOP[0], "height": LAPTOP[1]}
    page = new_page(viewport=size, fresh=True)
    page.add_init_script(script)
    page.add_init_script(f"({_WATCH})()")
    page.goto(path)
    page.get_by_role("link", name="Learn", exact=True).wait_for()
    page.locator(".served").wait_for(state="detached")
    page.wait_for_timeout(1000)
    assert page.evaluate(_MOVED) < 0.02
    return page


@pytest.mark.parametrize(("section", "tools"), [("code", ""), ("checks", "&tools=all")])
def test_a_link_to_a_section_opens_it_in_view(tabs: Callable[..., Tab], section: str, tools: str) -> None:
    page = tabs().page
    resize(page, LAPTOP)
    visit(page, f"/?op=round&rule=lsq&section={section}{tools}")
    expect(page.locator(".served")).to_have_count(0)
    expect(page.locator("summary", has_text="Save")).to_be_visible(visible=bool(tools))
    opened = page.locator(".sections button[aria-expanded=true]")
    expect(opened).to_have_count(1)
    expect(opened).to_be_in_viewport(ratio=1)
    panel = page.locator(".instrument .panel:visible").first
    if tools:  # the curves fill the window
        expect(panel.locator("li").nth(3)).to_be_in_viewport()
    else:  # which Python answers, after the browser's own is drawn
        expect(page.get_by_text("Download .py", exact=True).first).to_be_in_viewport()
        expect(page.locator(".instrument .chart")).to_be_in_viewport(ratio=1)
    assert not tabs().errors


def test_a_chosen_theme_holds_on_all_pages(page: Page) -> None:
    page.goto("/learn")
    page.get_by_role("button", name="Main menu").click(timeout=30_000)
    page.locator("[data-testid=stMainMenuPopover] button").filter(has_text="Dark").click()
    page.goto("/")
    expect(page.locator(".stApp")).to_have_css("background-color", "rgb(16, 22, 29)", timeout=30_000)
