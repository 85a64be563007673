"""Train's area "Why" in a browser: its pictures, a rule highlighted everywhere, the way to Explore."""

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.access import colour_violations_in_both_themes
from tests.browser.training import curve_at, finish, point_at_each, press, wait_for_lift, wait_for_rest

SMALL = "task=digits&op=sign&hidden=8,8&rule=approx_sign&rule=clipped&rule=default&seeds=2&steps=20&pace=full"

# The rules of the curves of the large chart, as they lie over one another.
ORDER = "[...document.querySelectorAll('.curves .scatterlayer > .trace')].map(curve => curve.dataset.rule)"


def column(page: Page, panel: str, rule: str) -> Locator:
    """The row of a rule in a panel."""
    return page.get_by_role("region", name=re.compile(f"^{panel}")).locator(f'[data-rule="{rule}"]')


def test_panels_show_each_rule_and_layer_and_highlight_the_pointed_rule(train: Page) -> None:
    finish(train, SMALL)
    data = column(train, "Where the data sits, after w2", "clipped")
    expect(data.locator("path.data")).to_have_attribute("d", re.compile("^M"))
    expect(data.locator("path.curve")).to_have_attribute("d", re.compile("^M"))
    expect(train.get_by_role("region", name="Gradient norms")).to_have_count(0)
    press(train, "Show Gradient norms")
    expect(column(train, "Gradient norms", "clipped")).to_contain_text(re.compile("w1.*w2.*w3", re.DOTALL))
    expect(train.get_by_text("Pictures of seed 0")).to_be_visible()
    expect(train.locator(".alignment")).to_contain_text("No gradient: Default autograd")
    train.get_by_role("group", name="Layer").get_by_role("button", name="after w1").click()
    expect(column(train, "Where the data sits, after w1", "clipped")).to_be_visible()

    aligned = train.locator('.aligned .ends span[data-rule="clipped"] b')
    before = aligned.inner_text()
    expect(train.locator('tr[data-rule="clipped"] td[data-name="Alignment"]')).to_have_text(before)
    expect(train.locator(".alignment .note")).to_contain_text("Mean of the last 5 measures.")
    sigma = train.get_by_role("spinbutton", name="Noise σ")
    expect(sigma).to_have_value("0.5")
    sigma.fill("3")
    sigma.press("Enter")
    train.wait_for_url("**sigma=3*")
    expect(aligned).not_to_have_text(before)
    named = train.locator('tr[data-rule="clipped"] td[data-name="Alignment"]')
    expect(named).to_have_text(aligned.inner_text())
    press(train, "Signs")
    expect(aligned).to_have_text(re.compile(r"^\d\d?\d?\.\d$"))
    press(train, "Cosine")

    press(train, "Show Line search")
    search = train.get_by_role("region", name=re.compile("^Line search, at step 20"))
    expect(search.locator(".warning")).to_have_text(
        "This does not predict which rule ends higher: one step says little about the hundreds after it."
    )
    expect(search.locator(".js-plotly-plot")).to_have_attribute(
        "aria-label", re.compile(r"ApproxSign: \d+\.\d\d\. Clipped straight-through: \d+\.\d\d\.")
    )
    train.wait_for_function(
        """() => [...(document.querySelector(".searched .js-plotly-plot").data ?? [])]
            .map(({ x, y }) => `${x.length} ${y.length}`).join() === "21 21,21 21,21 21\""""
    )

    ends = [f"{chart} .ends span" for chart in (".curves", ".aligned", ".searched")]
    rules = ("clipped", "approx_sign")
    point_at_each(train, *rules, *ends, ".inputs .column", ".card", "tbody tr")
    train.locator(".aligned").scroll_into_view_if_needed()
    at = curve_at(train, ".aligned", "clipped")
    train.mouse.move(at["x"], at["y"])
    wait_for_lift(train, *rules)
    train.mouse.move(0, 0)
    wait_for_rest(train, *rules)
    usual = train.evaluate(ORDER)
    for rule in rules:  # its curves lie over the others, on which they lay before
        train.locator(f"tbody tr[data-rule={rule}]").first.hover()
        assert train.evaluate(ORDER)[-1] == rule
    train.mouse.move(0, 0)
    wait_for_rest(train, *rules)
    assert train.evaluate(ORDER) == usual
    train.get_by_role("button", name="Remove ApproxSign").focus()
    wait_for_lift(train, "approx_sign", "clipped")
    holder = train.locator(".measured").get_by_role("button", name="Clipped straight-through")
    holder.click()
    expect(holder).to_have_attribute("aria-pressed", "true")
    train.mouse.move(0, 0)
    wait_for_lift(train, *rules)
    assert colour_violations_in_both_themes(train) == [], "also what has faded can be read"
    holder.click()
    expect(holder).to_have_attribute("aria-pressed", "false")
    train.mouse.move(0, 0)
    wait_for_rest(train, *rules)
