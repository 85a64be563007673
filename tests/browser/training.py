"""What a visitor does with a training, and what a test reads from it."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.reading import TRACES

# Little work a second, and 100 seconds of it, so that there is time to press a button before the end.
LONG = "steps=5000&hidden=8&batch=8&lr=1e-9&pace=50"


def open_train(page: Page, query: str) -> None:
    page.goto(f"/train?{query}")
    expect(button(page, "Start")).to_be_visible(timeout=30_000)


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def press(page: Page, name: str) -> None:
    button(page, name).click()


def command(page: Page, name: str) -> int:
    """Press Pause, Resume, Step or Reset and wait until the page shows what the server said; the step."""
    with page.expect_response(lambda answer: answer.url.endswith(f"/{name.lower()}")) as answered:
        press(page, name)
    told: int = answered.value.json()["step"]
    wait_for(page, "told => shownStep() === told", told)
    return told


def metric(page: Page, name: str) -> Locator:
    """A metric: its text begins with its name."""
    return page.locator(".metric").filter(has=page.get_by_text(name, exact=True))


def status(page: Page) -> Locator:
    """The sentence that says how the run stands, with what to do next."""
    return page.locator(".training .status")


def verdict(page: Page) -> Locator:
    """The sentence that says how the race ended."""
    return page.locator(".training .verdict")


def steps(page: Page) -> int:
    """Steps taken, as the page says it."""
    return int(metric(page, "Step").inner_text().split()[1])


_SHOWN_STEP = """
    const shownStep = () => Number(document.querySelector(".metric")?.textContent.match(/Step (\\d+)/)?.[1]);
"""


def wait_for(page: Page, condition: str, arg: object = None) -> None:
    """Wait until a function of ``arg`` is true; ``shownStep()`` in it is the step that the page shows."""
    page.wait_for_function(f"arg => {{ {_SHOWN_STEP} return ({condition})(arg); }}", arg=arg)


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


def go_on(page: Page) -> None:
    """Resume a run that paused because nobody watched it for a while."""
    expect(status(page).locator(".main")).to_contain_text(re.compile("Running|Paused"))
    if "nobody was watching" in status(page).inner_text():
        press(page, "Resume")


def wait_for_rules(page: Page, *rules: str) -> None:
    """Wait until the loss chart has a curve of each of these rules."""
    page.wait_for_function(f"rules => {TRACES}.map(t => t.meta).join() === rules", arg=",".join(rules))


# Of a rule and another one the opacities of all their parts of the page, wherever they stand.
_OPACITIES = """([rule, other]) => {
    const of = key => [...document.querySelectorAll(`.training [data-rule="${key}"]`)]
        .filter(part => part.checkVisibility()).map(part => Number(getComputedStyle(part).opacity));
    return [of(rule), of(other)];
}"""


def wait_for_lift(page: Page, rule: str, other: str) -> None:
    """Wait until all that shows a rule stands out, and all that shows another one has faded."""
    page.wait_for_function(
        f"""rules => {{
            const [lifted, faded] = ({_OPACITIES})(rules);
            return lifted.length > 0 && faded.length > 0
                && lifted.every(each => each === 1) && faded.every(each => each > 0 && each < 0.7);
        }}""",
        arg=[rule, other],
    )


def wait_for_rest(page: Page, *rules: str) -> None:
    """Wait until no rule is lifted."""
    page.wait_for_function(
        f"rules => ({_OPACITIES})(rules).flat().every(each => each === 1)", arg=list(rules)
    )


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
