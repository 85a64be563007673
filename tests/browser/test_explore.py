"""Explore in a real browser: what is drawn, confirmed, undone and reported."""

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from explorer.training import FIRST as FIRST_TASK
from explorer.ui.server import answers
from tests.browser import reading
from tests.browser.reading import card, choose, enter, number, read_query, settle, slider, traces, turn

FIRST = ["default", "straight_through"]
G = "Upstream gradient g"


@pytest.fixture
def page(explore: Page) -> Page:
    """One page for all tests here."""
    return explore


def test_the_choice_is_kept_between_explore_and_train(page: Page) -> None:
    turn(page, "/?op=clamp&rule=masked", shows=["masked"])
    card(page, "Clamp").get_by_role("button", name="hi learns").click()
    page.get_by_role("link", name="Train", exact=True).click()
    reading.settle_train(page)
    expect(card(page, "Masked")).to_be_visible()
    page.wait_for_url(f"**/train?*task={FIRST_TASK}*")
    assert (read_query(page)["op"], read_query(page)["rule"]) == (["clamp"], ["masked"])
    learns = page.get_by_role("button", name="hi learns with Masked")
    expect(learns).to_have_attribute("aria-pressed", "true")
    page.wait_for_url("**learn=hi*")
    learns.click()
    page.get_by_role("button", name="lo learns with Masked").click()
    choose(page, "Add rule", "straight-through")
    page.get_by_role("link", name="Explore").click()
    settle(page, shows=["masked", "straight_through"])
    expect(page.get_by_role("button", name="lo learns").first).to_have_attribute("aria-pressed", "true")
    assert read_query(page)["learns"] == ["lo"]


def test_a_dragged_slider_moves_the_curve_at_once_and_the_address_later(page: Page) -> None:
    turn(page, "/?op=sign&rule=clipped&range=-6&range=6", shows=["clipped"])
    before = page.url
    place = card(page, "Clipped straight-through")
    with reading.hold(page, slider(place, "c"), 0.68, 0.9):
        value = float(number(place, "c").input_value())
        assert value > 2
        assert page.url == before
    page.wait_for_url("**c=*")
    assert read_query(page)["c"] == [f"{value:g}"]
    settle(page)
    edges = traces(page)["clipped"]
    assert edges.x[edges.y == 1].max() == pytest.approx(value, rel=1e-6)


def test_a_value_beyond_the_slider_widens_it(page: Page) -> None:
    turn(page, "/?op=sign&rule=clipped", shows=["clipped"])
    place = card(page, "Clipped straight-through")
    enter(number(place, "c"), "40")
    page.wait_for_url("**c=40*")
    enter(number(place, "c"), "2")
    page.wait_for_url("**c=2*")
    slider(place, "c").press("End")
    expect(number(place, "c")).to_have_value("40")
    enter(number(place, "c"), "1e99")
    said = place.get_by_role("alert").filter(has_text="1e+99 is not allowed here: choose a number from")
    expect(said).to_be_visible()
    expect(number(place, "c")).to_have_value("1e99")
    assert read_query(page)["c"] == ["40"]


def test_the_arrows_of_a_field_step_as_its_slider_does(page: Page) -> None:
    turn(page, "/?op=clamp&rule=straight_through&rule=masked", shows=["straight_through", "masked"])
    field, ends = number(page, G), slider(page, G)
    enter(field, "-1.5")
    page.wait_for_url("**g=-1.5*")
    settle(page)
    assert set(traces(page)["straight_through"].y.tolist()) == {-1.5}
    ends.press("Home")
    expect(field).to_have_value("-2")
    enter(field, "1")
    page.wait_for_function("!location.search.includes('g=')")
    place = card(page, "Clamp")
    for each in ((field, ends), (number(place, "lo"), slider(place, "lo"))):
        field, ends = each
        step, before = float(ends.get_attribute("step") or "nan"), float(field.input_value())
        for count in (1, 2, 3):
            field.press("ArrowUp")
            expect(field).to_have_value(f"{before + count * step:g}")
        ends.press("ArrowLeft")
        expect(field).to_have_value(f"{before + 2 * step:g}")
        assert 0 < step < 0.1
    reading.go_back(page)
    expect(field).to_have_value("0")


REFUSED = {
    G: ("2e6", "2000000 is not allowed here: choose a number from −1000000 to 1000000."),
    "From": ("-1e9", "−1000000000 is not allowed here: choose a number from −1000000 to 1000000."),
    "To": (
        "-3",
        "−3 makes the range too narrow: its other end is −3, and both must be at least 3e−12 apart.",
    ),
}


def test_an_invalid_number_stays_in_its_field_with_a_message(page: Page) -> None:
    turn(page, "/", shows=FIRST)
    for name, (typed, said) in REFUSED.items():
        field = number(page, name)
        before = field.input_value()
        enter(field, typed)
        expect(field).to_have_attribute("aria-invalid", "true")
        expect(field).to_have_accessible_description(said)
        expect(field).to_have_value(typed)
        expect(page.get_by_role("alert").filter(has_text=said)).to_be_visible()
        assert reading.layout(page, "xaxis.range") == [-3, 3]
        field.press("Escape")
        expect(field).to_have_value(before)


def test_a_rule_keeps_its_colour_when_others_are_added_or_removed(page: Page) -> None:
    turn(page, "/?op=sign&rule=default&rule=clipped", shows=["default", "clipped"])
    colour = f"{reading.TRACES}.find(trace => trace.meta === 'clipped').line.color"
    before = page.evaluate(colour)
    page.get_by_role("button", name="Remove Default autograd").click()
    settle(page, shows=["clipped"])
    assert page.evaluate(colour) == before
    expect(page.get_by_role("button", name="Remove Clipped straight-through")).to_be_disabled()
    page.wait_for_function("location.search.includes('colours=2')")
    page.reload()
    settle(page, shows=["clipped"])
    assert page.evaluate(colour) == before
    choose(page, "Add rule", "swish")
    settle(page, shows=["clipped", "swish_sign"])
    assert page.evaluate(colour) == before
    page.get_by_role("button", name="Hide SwishSign").click()
    page.wait_for_url("**hide=swish_sign*")
    assert not page.evaluate(f"{reading.TRACES}.find(trace => trace.meta === 'swish_sign')?.visible ?? false")


def test_the_first_frame_after_a_click_has_the_new_curve_which_plotly_draws_after_it(page: Page) -> None:
    turn(page, "/?op=clamp&rule=default", shows=["default"])
    page.get_by_role("button", name="Add rule", exact=True).click()
    page.get_by_label("Search rules").fill("Zero")
    option = page.get_by_role("option").filter(has_text="Zero").first
    first, last = option.evaluate(f"""async option => {{
        const colours = () => [...document.querySelectorAll("{reading.CHART} .scatterlayer .js-line")]
            .filter(line => line.getAttribute("d"))
            .map(line => line.style.stroke);
        const read = () => [new Set(colours()).size, {reading.TRACES}.map(trace => trace.meta)];
        option.click();
        const first = read();
        await {reading.FRAME};
        return [first, read()];
    }}""")
    assert first == [3, ["forward", "default"]]
    assert last == [3, ["forward", "default", "zero"]]


def test_back_undoes_and_forward_redoes_a_change(page: Page) -> None:
    turn(page, "/?op=clamp&rule=masked&g=2", shows=["masked"])
    enter(number(page, G), "-3")
    page.wait_for_url("**g=-3*")
    choose(page, "Add rule", "zero")
    settle(page, shows=["masked", "zero"])
    reading.go_back(page)
    settle(page, shows=["masked"])
    expect(number(page, G)).to_have_value("-3")
    reading.go_back(page)
    expect(number(page, G)).to_have_value("2")
    settle(page)
    assert 2 in traces(page)["masked"].y
    page.go_forward()
    expect(number(page, G)).to_have_value("-3")
    page.go_forward()
    settle(page, shows=["masked", "zero"])
    assert read_query(page) == {"op": ["clamp"], "rule": ["masked", "zero"], "g": ["-3"]}


def test_back_right_after_a_choice_leaves_address_and_chart_in_step(page: Page) -> None:
    turn(page, "/?op=clamp&rule=masked", shows=["masked"])
    choose(page, "Add rule", "zero")
    settle(page, shows=["masked", "zero"])
    page.get_by_role("button", name="Hide Masked").evaluate("hide => { hide.click(); history.back(); }")
    settle(page, shows=["masked"])
    assert read_query(page) == {"op": ["clamp"], "rule": ["masked"]}
    assert len(traces(page)["masked"].x)


def test_the_title_names_op_and_rules_and_the_link_is_copied(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    turn(page, "/?op=sign&rule=clipped", shows=["clipped"])
    choose(page, "Op", "tanh")
    page.wait_for_function("document.title.startsWith('Tanh: Clipped straight-through')")
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_text("Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    page.context.clear_permissions()


_CHANGE_AND_LEAVE = """async module => {
    const {store} = await import(new URL(module, document.baseURI).href);
    store.change({...store.choice, g: 2}, {origin: "hand"});
    await new Promise(done => setTimeout(done, 249)); // of the rest after which Python is told
    document.querySelector("a[href$=train]").click();
}"""


def test_a_link_pressed_right_after_a_choice_opens_its_page(page: Page) -> None:
    turn(page, "/?op=sign&rule=clipped", shows=["clipped"])
    page.evaluate(_CHANGE_AND_LEAVE, f"assets/{answers.get_folder()}/choice/store.js")
    reading.settle_train(page)
    assert urlsplit(page.url).path == "/train"
    assert read_query(page)["g"] == ["2"]
