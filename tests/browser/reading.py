"""Steps of a visitor on a page, and what a test reads from it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import numpy as np
from numpy.typing import NDArray
from playwright.sync_api import FloatRect, Locator, Page, expect

from explorer.ui.links.link import from_query
from explorer.ui.server import answers

CHART = ".js-plotly-plot"
TRACES = (
    f'[...document.querySelectorAll("{CHART}")].flatMap(chart => chart.data ?? [])'
    ".filter(trace => trace.meta)"
)

# After a change: its first frame has moved paths, and once this promise resolves, Plotly has drawn them too.
FRAME = "new Promise(done => requestAnimationFrame(() => setTimeout(done)))"

OFTEN_MS = 50  # between two looks: who looks at each frame has the page draw them all


@dataclass(frozen=True)
class Trace:
    """A curve as the browser holds it: ``meta`` is the rule's key, ``kind`` the class of its arrays."""

    name: str
    meta: str
    kind: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]


def link(path: str, query: Mapping[str, object]) -> str:
    """An address; a list gives its key several times."""
    return f"{path}?{urlencode(query, doseq=True)}"


def read_query(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def visit(page: Page, address: str, *, shows: Sequence[str] | None = None) -> None:
    """Go to an address, and wait for the page; ``shows`` as in ``settle``."""
    page.goto(address)
    settle(page, shows=shows)


def forget(page: Page) -> None:
    """Have the tab know nothing of who was there, but for the address."""
    page.evaluate("sessionStorage.clear()")


# Where somebody has been before goes, and a link becomes the choice as by a step of Back.
_TURN = """async ([folder, message, address]) => {
    const at = name => new URL(folder + name, document.baseURI).href;
    const [{parseMessage}, {getCustomEntries}] = await Promise.all(
        ["choice/message.js", "choice/entries.js"].map(name => import(at(name))));
    document.activeElement.blur();
    document.querySelectorAll("details[open]").forEach(menu => (menu.open = false));
    document.querySelector(".stMain").scrollTo(0, 0);
    const choice = parseMessage(message);
    history.pushState({instrument: {choice, own: getCustomEntries(choice)}}, "", address);
    dispatchEvent(new PopStateEvent("popstate", {state: history.state}));
}"""


def turn(page: Page, address: str, *, shows: Sequence[str] | None = None) -> None:
    """Go to a link on Explore, which the page shows already, without a load; ``shows`` as in ``settle``."""
    step_to(page, address)
    settle(page, shows=shows)


def step_to(page: Page, address: str) -> None:
    """As ``turn``, without waiting for anything."""
    choice, notices = from_query(parse_qs(urlsplit(address).query))
    assert notices == []
    page.mouse.move(0, 0)
    page.evaluate(_TURN, [f"assets/{answers.get_folder()}/", answers.serialize_choice(choice), address])


def settle(page: Page, *, shows: Sequence[str] | None = None) -> None:
    """Wait until the chart is drawn and confirmed by torch, with these rules if any are named."""
    page.locator(f"{CHART} .cartesianlayer").first.wait_for(timeout=30_000)
    expect(sign(page)).to_have_attribute("data-status", "confirmed", timeout=30_000)
    if shows is not None:
        keys = ["forward", *shows]
        page.wait_for_function(
            f"keys => JSON.stringify({TRACES}.map(t => t.meta)) === JSON.stringify(keys)",
            arg=keys,
            polling=OFTEN_MS,
        )
        expect(sign(page)).to_have_attribute("data-status", "confirmed")


def settle_train(page: Page) -> None:
    """Wait until Train's chart and its cards are drawn."""
    page.locator(f".curves {CHART}").first.wait_for(timeout=30_000)
    page.get_by_role("button", name="Add rule").wait_for()


def wait_until_at_rest(page: Page) -> None:
    """Wait until the server's script has ended: what it drew before and not again has gone."""
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")


def sign(page: Page) -> Locator:
    """The sign beside the words that says whether torch has confirmed the curves."""
    return page.locator(".instrument .sign")


def traces(page: Page) -> dict[str, Trace]:
    """The curves of the chart by their key."""
    page.evaluate(FRAME)
    rows = page.evaluate(
        f"{TRACES}.map(({{name, meta, x, y}}) => [name, meta, [...x], [...y], y.constructor.name])"
    )
    return {meta: Trace(name, meta, kind, _array(x), _array(y)) for name, meta, x, y, kind in rows}


def _array(values: Sequence[float | None]) -> NDArray[np.float64]:
    return np.array([np.nan if value is None else value for value in values], np.float64)


def tab_to(page: Page, name: str, most: int = 40) -> None:
    """Press Tab until the focus is on what has this text or label; fails after ``most`` stops."""
    seen = []
    for _ in range(most):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate("document.activeElement.ariaLabel ?? document.activeElement.textContent.trim()")
        )
        if seen[-1] == name:
            return
    raise AssertionError(f"{name} is not among {seen}")


def retry(page: Page, check: Callable[[], object], patience_ms: int = 20_000) -> None:
    """Repeat a check until it neither fails nor returns False: what it reads may be drawn a moment later."""
    for _ in range(patience_ms // 50):
        try:
            assert check() is not False
        except AssertionError:
            page.wait_for_timeout(50)
        else:
            return
    assert check() is not False


def layout(page: Page, path: str) -> Any:
    """A value of the drawn layout, such as "xaxis.range"."""
    page.evaluate(FRAME)
    return page.evaluate(f'document.querySelector("{CHART}")._fullLayout.{path}')


def card(page: Page, label: str) -> Locator:
    return page.get_by_role("group", name=label, exact=True)


def slider(place: Page | Locator, name: str) -> Locator:
    """The slider of a parameter; its meaning follows its name."""
    return place.locator("input[type=range]").and_(place.get_by_role("slider", name=name))


def number(place: Page | Locator, name: str) -> Locator:
    return place.get_by_role("spinbutton", name=name, exact=True)


def box_of(place: Locator) -> FloatRect:
    """Return where a place is on the screen, in px. A chart that draws itself anew has none for a moment."""
    for _ in range(40):
        if box := place.bounding_box():
            return box
        place.page.wait_for_timeout(50)
    raise AssertionError(f"{place} is not on the screen")


@contextmanager
def hold(page: Page, place: Locator, start: float, stop: float) -> Iterator[None]:
    """Hold the mouse on a place and move it sideways between two shares of its width; let go at the end."""
    box = box_of(place)
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + start * box["width"], y)
    page.mouse.down()
    page.mouse.move(box["x"] + stop * box["width"], y, steps=5)
    yield
    page.mouse.up()


def title(place: Page | Locator, name: str) -> Locator:
    """The field in the title of a card: "Op" or "Rule"."""
    return place.get_by_role("combobox", name=name, exact=True)


def press_section(page: Page, name: str) -> None:
    """Press the tab of a section, which may be in the menu of sections."""
    button = page.locator(".sections").get_by_role("button", name=name, exact=True)
    if not button.is_visible():
        page.locator(".sections summary").click()
    button.click()


def choose(page: Page, name: str, text: str) -> None:
    """Type into the op's title, or into the dialog of "Add rule", and take the first that is found."""
    if name == "Add rule":
        page.get_by_role("button", name=name, exact=True).click()
    field = page.get_by_label("Search rules") if name == "Add rule" else title(page, name)
    field.fill(text)
    field.press("Enter")


def go_back(page: Page) -> None:
    """Go one step back, once the last choice is in the address, where it is written after its frame."""
    page.evaluate(FRAME)
    page.go_back()


def enter(field: Locator, text: str) -> None:
    field.fill(text)
    field.press("Enter")
