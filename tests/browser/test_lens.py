"""The noise lens on Explore: its curve is Python's, and it follows the hand."""

import numpy as np
from numpy.typing import NDArray
from playwright.sync_api import Page, expect

import explorer
from tests.browser.reading import CHART, card, enter, hold, number, read_query, slider, turn

DASHED = f"""() => {{
    const {{data}} = document.querySelector("{CHART}");
    const trace = data.find(({{line, yaxis}}) => line?.dash && yaxis === "y2");
    return trace ? [[...trace.x], [...trace.y]] : null;
}}"""
# The path on the screen, which alone moves while a hand does.
PATH = f"""() => [...document.querySelectorAll("{CHART} .xy2 .js-line")]
    .find(line => getComputedStyle(line).strokeDasharray !== "none")?.getAttribute("d") ?? "" """


def lens(page: Page) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    page.wait_for_function(f"() => ({DASHED})() !== null")
    x, y = page.evaluate(DASHED)
    return np.array(x), np.array(y)


def test_the_lens_in_the_browser_matches_python(explore: Page) -> None:
    link = "/?op=quantize&rule=straight_through&layer=lens&noise=normal&noise_width=0.2&s=0.5&section=compare"
    turn(explore, link, shows=["straight_through"])
    x, y = lens(explore)
    wanted = explorer.lens("quantize", "straight_through", noise="normal", width=0.2, s=0.5)
    # Between its points Python's is straight: over a bend that is a little off.
    near = np.isclose(x[:, None], wanted.x, atol=1e-12).any(1)
    assert near.sum() > 50
    assert np.abs(y - np.interp(x, wanted.x, wanted.gradient))[near].max() < 1e-5
    assert explore.locator(".layer-words p").inner_text() == wanted.describe()
    expect(explore.get_by_role("combobox", name="Noise on x")).to_have_count(1)  # for the table too
    turn(explore, link.replace("layer=lens&", ""))
    expect(explore.get_by_role("combobox", name="Noise on x")).to_have_count(1)  # the table's own


def test_the_lens_is_switched_on_and_off_and_follows_a_dragged_slider(explore: Page) -> None:
    page = explore
    turn(page, "/?op=quantize&rule=straight_through&tools=all", shows=["straight_through"])
    page.get_by_text("Layers and size").click()
    page.get_by_role("checkbox", name="Noise lens").press("Space")
    expect(page.locator("summary", has_text="Layers and size")).to_be_focused()
    expect(page.get_by_role("checkbox", name="Noise lens")).to_be_hidden()  # it would cover the controls
    noise = page.get_by_label("Noise on x")
    noise.select_option("triangular")
    field = number(page, "Width of the noise")
    enter(field, "2")
    page.wait_for_url("**noise_width=2*")
    query = read_query(page)
    assert (query["layer"], query["noise"]) == (["lens"], ["triangular"])
    lens(page)
    for place, name in ((page, "Width of the noise"), (card(page, "Quantise"), "s step")):
        before, path = page.url, page.evaluate(PATH)
        with hold(page, slider(place, name), 0.3, 0.12):
            page.wait_for_function(f"path => ({PATH})() !== path", arg=path)
            assert page.url == before
        page.wait_for_function("before => location.href !== before", arg=before)
    enter(field, "40")
    expect(page.get_by_text("40 is not allowed here: choose a number from 0.01 to 10.")).to_be_visible()
    page.get_by_text("Layers and size").click()
    page.get_by_role("checkbox", name="Noise lens").press("Space")
    expect(noise).to_have_count(0)
