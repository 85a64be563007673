"""The time machine as a visitor uses it: back, on from there, another branch, the page loaded again."""

from pathlib import Path

from playwright.sync_api import Page, expect

from explorer.takeaway import read_settings
from explorer.training import Run
from tests.browser.training import button, press, status, turn_train, wait_for

QUERY = "task=moons&op=sign&rule=default&rule=clipped&seeds=2&steps=24&batch=16&pace=full&device=cpu"


def curve(page: Page, rule: str) -> list[float]:
    """The values of all parts of a rule's line, each step once."""
    values: list[float] = page.evaluate(
        """rule => {
            const drawn = [...document.querySelector(".curves .js-plotly-plot").data];
            const lines = drawn.filter(({name, opacity, mode}) =>
                name && opacity === 1 && mode === "lines");
            const own = lines.filter(({meta, line}) => meta === rule || line.dash === "dash");
            const points = own.flatMap(({x, y}) => [...x].map((step, at) => [step, y[at]]));
            return [...new Map(points).values()];
        }""",
        rule,
    )
    return values


def wait_until_finished(page: Page, steps: int = 24) -> None:
    expect(status(page)).to_contain_text(f"Finished after {steps} steps.", timeout=60_000)
    wait_for(page, "steps => shownStep() === steps", steps)


def scrub(page: Page, step: int) -> None:
    page.get_by_label("Step shown").evaluate(
        "(range, step) => { range.value = step; range.dispatchEvent(new Event('input')); }", str(step)
    )
    wait_for(page, "step => shownStep() === step", step)


def test_a_run_can_go_back_continue_and_branch(train: Page, tmp_path: Path) -> None:
    turn_train(train, QUERY)
    press(train, "Start")
    wait_until_finished(train)
    whole = curve(train, "default")
    score = train.locator(".lane-score").first.inner_text()

    scrub(train, 16)
    expect(status(train)).to_contain_text("Step 16 of a run that is at step 24.")
    thumb = train.get_by_label("Step shown")
    thumb.press("ArrowLeft")
    wait_for(train, "() => shownStep() === 15")
    expect(thumb).to_have_attribute("aria-valuetext", "step 15 of 24")
    for key, step in (("PageDown", 5), ("PageUp", 15)):
        thumb.press(key)
        wait_for(train, "step => shownStep() === step", step)
    assert curve(train, "default") == whole[:16]
    press(train, "Go on from step 15")
    wait_until_finished(train)
    assert curve(train, "default") == whole

    scrub(train, 16)
    train.locator("summary", has_text="Branch").click()
    train.get_by_label("Goes on with", exact=True).select_option("clipped")
    button(train, "Branch").focus()
    train.keyboard.press("Enter")
    expect(train.locator("summary", has_text="Branch")).to_be_focused()
    wait_until_finished(train)
    assert "branch=16%2Cdefault%3Aclipped" in train.url
    branched = curve(train, "default")
    assert branched[:17] == whole[:17]
    assert branched != whole
    expect(train.locator(".past")).to_contain_text("16: Default autograd → Clipped straight-through added")
    before = train.get_by_role("group", name="Default autograd").get_by_text("before ")
    expect(before).to_have_text(f"before {score}")

    train.locator("summary", has_text="Take away").click()
    with train.expect_download() as taken:
        train.get_by_role("button", name="Settings JSON").click()
    settings = read_settings(Path(taken.value.path()).read_text(encoding="utf-8"))
    assert settings.branch == ((16, "default", "clipped"),)
    alone = Run(settings)
    alone.advance(24)
    assert branched == alone.snapshot().scores["default"].tolist()

    train.reload()
    expect(button(train, "Again")).to_be_visible(timeout=30_000)
    expect(train.locator(".chips li")).to_have_count(1)
    expect(before).to_be_visible()
