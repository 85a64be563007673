"""Steps of a visitor on Train, and what a test reads from it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qs

from playwright.sync_api import Locator, Page, Request, expect

from explorer.instrument.assets import read_skeleton
from explorer.ui.links.link import from_query
from explorer.ui.server import answers
from tests.browser.reading import OFTEN_MS, TRACES

# Little work a second, and four minutes of it, so that no button is pressed after the end.
LONG = "steps=5000&hidden=8&batch=8&lr=1e-9&pace=20"

# What moves without a press: how much of the window by how much of it, and what it is.
SHIFTS = """
    window.shifts = [];
    const nameOf = ({node}) => `${node?.className ?? node?.parentElement?.className} ${node?.textContent}`;
    new PerformanceObserver(list => {
        for (const {hadRecentInput, value, sources} of list.getEntries())
            if (!hadRecentInput) window.shifts.push([value, sources.map(nameOf)]);
    }).observe({type: "layout-shift", buffered: true});
"""


def open_train(page: Page, query: str, address: str = "") -> None:
    """Load a link on Train, of the server at another address if one is given."""
    page.goto(f"{address}/train?{query}")
    expect(button(page, "Start")).to_be_visible(timeout=30_000)


_MODULES = """
    const module = name => import(new URL(`assets/${folder}/${name}.js`, document.baseURI).href);
    const [{ mount, unmount }, { store }, { saveInSession, loadFromSession }, { postJson, toServerUrl }] =
        await Promise.all(["pages/mount", "choice/store", "choice/session", "choice/server"].map(module));
    const host = document.querySelector("[data-testid=stBidiComponentRegular]:has(.instrument.training)");
"""

# The run that the session has stops, and it keeps nothing.
_FORGET = """
    const run = loadFromSession("run");
    if (run) await postJson(toServerUrl(`runs/${run.id}/stop`), { key: run.key });
    if (host) unmount(host);
    Object.keys(sessionStorage).forEach(name => saveInSession(name.replace("gradient-explorer.", ""), null));
    sessionStorage.clear();
"""
_LEAVE = f"async folder => {{ {_MODULES} {_FORGET} }}"

# The same places, empty again, are filled as those of a page that has just come.
_TURN = f"""async ([folder, places, data, query, anew]) => {{
    {_MODULES}
    if (anew) {{ {_FORGET} }}
    document.activeElement.blur();
    document.querySelector(".stMain").scrollTo(0, 0);
    unmount(host);
    host.querySelector(".instrument").outerHTML = places;
    store.change(null);
    history.pushState(null, "", `${{location.pathname}}?${{query}}`);
    await mount({{ parentElement: host, data }});
}}"""


def leave_train(page: Page) -> None:
    """Leave what a page of trainings shows, and the run that the session has."""
    page.evaluate(_LEAVE, answers.get_folder())


def turn_train(page: Page, query: str, *, anew: bool = True) -> None:
    """Go to a link on Train, which the page shows already, without a load; ``anew`` as somebody new."""
    choice, notices = from_query(parse_qs(query))
    assert notices == []
    page.mouse.move(0, 0)
    data = answers.make_page_data(choice, "training")
    page.evaluate(_TURN, [answers.get_folder(), read_skeleton("training"), data, query, anew])
    expect(button(page, "Start")).to_be_visible()
    if anew:
        expect(status(page)).to_have_attribute("data-state", "idle")


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def press(page: Page, name: str) -> None:
    button(page, name).click()


def finish(page: Page, query: str | None = None) -> None:
    """Train to the end what the page shows, or a link."""
    if query is not None:
        turn_train(page, query)
    press(page, "Start")
    expect(status(page)).to_have_attribute("data-state", "finished", timeout=60_000)


def command(page: Page, name: str) -> int:
    """Press Pause, Resume, Step or Reset and wait until the page shows what the server said; the step."""
    with page.expect_response(lambda answer: answer.url.endswith(f"/{name.lower()}")) as answered:
        press(page, name)
    step: int = answered.value.json()["step"]
    wait_for(page, "told => shownStep() === told", step)
    return step


@contextmanager
def requests(page: Page, part: str) -> Iterator[list[str]]:
    """The addresses with this part that a page asks for meanwhile."""
    addresses: list[str] = []

    def note(request: Request) -> None:
        if part in request.url:
            addresses.append(request.url)

    page.on("request", note)
    yield addresses
    page.remove_listener("request", note)


def metric(page: Page, name: str) -> Locator:
    """A metric: its text begins with its name."""
    return page.locator(".metric").filter(has=page.get_by_text(name, exact=True))


def status(page: Page) -> Locator:
    """The sentence that says how the run stands, with what to do next."""
    return page.locator(".training .status")


def verdict(page: Page) -> Locator:
    """The whole sentence that says how the race ended: the headline, or the longer text below the chart."""
    whole = ".whole-verdict:not(:empty)"
    return page.locator(f".training {whole}, .training:not(:has({whole})) .verdict")


def steps(page: Page) -> int:
    return int(metric(page, "Step").inner_text().split()[1])


_SHOWN_STEP = """
    const shownStep = () => Number(document.querySelector(".metric")?.textContent.match(/Step (\\d+)/)?.[1]);
"""


def wait_for(page: Page, condition: str, arg: object = None) -> None:
    """Wait until a function of ``arg`` is true; ``shownStep()`` in it is the step that the page shows."""
    page.wait_for_function(f"a => {{ {_SHOWN_STEP} return ({condition})(a); }}", arg=arg, polling=OFTEN_MS)


def wait_for_steps(page: Page, more_than: int) -> int:
    """Wait until more steps than these have been taken; how many then."""
    wait_for(page, "more => shownStep() > more", more_than)
    return steps(page)


def wait_for_points(page: Page, rule: str, *x: int) -> None:
    """Wait until a rule's curve has points at these steps, at some where none are named."""
    wait_for(
        page,
        f"""([rule, x]) => {{
            const trace = {TRACES}.find(trace => trace.meta === rule);
            return trace && (x.length ? [...trace.x].join() === x.join() : trace.x.length > 0);
        }}""",
        [rule, list(x)],
    )


def resume_if_unwatched(page: Page) -> None:
    """Resume a run that paused because nobody watched it for a while."""
    expect(status(page).locator(".main")).to_contain_text(re.compile("Running|Paused"))
    if "nobody was watching" in status(page).inner_text():
        press(page, "Resume")


# Of a rule and another one the opacities of all their parts of the page, wherever they stand.
_OPACITIES = """([rule, other]) => {
    const of = key => [...document.querySelectorAll(`.training [data-rule="${key}"]:not(:has(.stack))`)]
        .filter(part => part.checkVisibility()).map(part => Number(getComputedStyle(part).opacity));
    return [of(rule), of(other)];
}"""


def wait_for_lift(page: Page, rule: str, other: str) -> None:
    """Wait until all that shows a rule stands out, and all that shows another one has faded."""
    wait_for(
        page,
        f"""rules => {{
            const [lifted, faded] = ({_OPACITIES})(rules);
            return lifted.length > 0 && faded.length > 0
                && lifted.every(each => each === 1) && faded.every(each => each > 0 && each < 0.7);
        }}""",
        [rule, other],
    )


def wait_for_rest(page: Page, *rules: str) -> None:
    """Wait until no rule is lifted."""
    wait_for(page, f"rules => ({_OPACITIES})(rules).flat().every(each => each === 1)", list(rules))


def point_at_each(page: Page, rule: str, other: str, *parts: str) -> None:
    """Point at a rule in each of the parts that show it: it is lifted in all of them, and the other fades."""
    for part in parts:
        shown = page.locator(f'.training {part}[data-rule="{rule}"]').first
        assert page.locator(f'.training {part}[data-rule="{other}"]').count(), f"{part} shows both"
        shown.scroll_into_view_if_needed()
        shown.hover(position={"x": 5, "y": 5})
        wait_for_lift(page, rule, other)
        page.mouse.move(0, 0)
        wait_for_rest(page, rule, other)


def curve_at(page: Page, chart: str, rule: str) -> dict[str, float]:
    """Where a curve is halfway, on the screen."""
    place: dict[str, float] = page.evaluate(
        """([chart, rule]) => {
            const plot = document.querySelector(`${chart} .js-plotly-plot`);
            const { xaxis, yaxis, _size: size } = plot._fullLayout;
            const drawn = [...plot.querySelectorAll(".scatterlayer > .trace")];
            const trace = plot.data.find((each, at) => !each.fill && drawn[at].dataset.rule === rule);
            const at = trace.x.length >> 1;
            const { left, top } = plot.getBoundingClientRect();
            return { x: left + size.l + xaxis.d2p(trace.x[at]), y: top + size.t + yaxis.d2p(trace.y[at]) };
        }""",
        [chart, rule],
    )
    return place
