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


def test_the_choice_is_kept_between_explore_and_train(explore: Page) -> None:
    turn(explore, "/?op=clamp&rule=masked", shows=["masked"])
    card(explore, "Clamp").get_by_role("button", name="hi: its gradient").click()
    explore.get_by_role("link", name="Train", exact=True).click()
    reading.settle_train(explore)
    expect(card(explore, "Masked")).to_be_visible()
    explore.wait_for_url(f"**/train?*task={FIRST_TASK}*")
    assert (read_query(explore)["op"], read_query(explore)["rule"]) == (["clamp"], ["masked"])
    learns = explore.get_by_role("button", name="hi learns with Masked")
    expect(learns).to_have_attribute("aria-pressed", "true")
    explore.wait_for_url("**learn=hi*")
    learns.click()
    explore.get_by_role("button", name="lo learns with Masked").click()
    choose(explore, "Add rule", "straight-through")
    explore.get_by_role("link", name="Explore").click()
    settle(explore, shows=["masked", "straight_through"])
    expect(explore.get_by_role("button", name="lo: its").first).to_have_attribute("aria-pressed", "true")
    assert read_query(explore)["learns"] == ["lo"]


def test_a_dragged_slider_moves_the_curve_at_once_and_the_address_later(explore: Page) -> None:
    turn(explore, "/?op=sign&rule=clipped&range=-6&range=6", shows=["clipped"])
    before = explore.url
    place = card(explore, "Clipped straight-through")
    with reading.hold(explore, slider(place, "c"), 0.68, 0.9):
        value = float(number(place, "c").input_value())
        assert value > 2
        assert explore.url == before
    explore.wait_for_url("**c=*")
    assert read_query(explore)["c"] == [f"{value:g}"]
    settle(explore)
    edges = traces(explore)["clipped"]
    assert edges.x[edges.y == 1].max() == pytest.approx(value, rel=1e-6)


def test_a_value_beyond_the_slider_widens_it(explore: Page) -> None:
    turn(explore, "/?op=sign&rule=clipped", shows=["clipped"])
    place = card(explore, "Clipped straight-through")
    enter(number(place, "c"), "40")
    explore.wait_for_url("**c=40*")
    enter(number(place, "c"), "2")
    explore.wait_for_url("**c=2*")
    slider(place, "c").press("End")
    expect(number(place, "c")).to_have_value("40")
    enter(number(place, "c"), "1e99")
    said = place.get_by_role("alert").filter(has_text="1e+99 is not allowed here: choose a number from")
    expect(said).to_be_visible()
    expect(number(place, "c")).to_have_value("1e99")
    assert read_query(explore)["c"] == ["40"]


def test_the_arrows_of_a_field_step_as_its_slider_does(explore: Page) -> None:
    turn(explore, "/?op=clamp&rule=straight_through&rule=masked", shows=["straight_through", "masked"])
    field, ends = number(explore, G), slider(explore, G)
    enter(field, "-1.5")
    explore.wait_for_url("**g=-1.5*")
    settle(explore)
    assert set(traces(explore)["straight_through"].y.tolist()) == {-1.5}
    ends.press("Home")
    expect(field).to_have_value("-2")
    enter(field, "1")
    explore.wait_for_function("!location.search.includes('g=')")
    place = card(explore, "Clamp")
    for each in ((field, ends), (number(place, "lo"), slider(place, "lo"))):
        field, ends = each
        step, before = float(ends.get_attribute("step") or "nan"), float(field.input_value())
        for count in (1, 2, 3):
            field.press("ArrowUp")
            expect(field).to_have_value(f"{before + count * step:g}")
        ends.press("ArrowLeft")
        expect(field).to_have_value(f"{before + 2 * step:g}")
        assert 0 < step < 0.1
    reading.go_back(explore)
    expect(field).to_have_value("0")


REFUSED = {
    G: ("2e6", "2000000 is not allowed here: choose a number from −1000000 to 1000000."),
    "From": ("-1e9", "−1000000000 is not allowed here: choose a number from −1000000 to 1000000."),
    "To": (
        "-3",
        "−3 makes the range too narrow: its other end is −3, and both must be at least 3e−12 apart.",
    ),
}


def test_an_invalid_number_stays_in_its_field_with_a_message(explore: Page) -> None:
    turn(explore, "/", shows=FIRST)
    for name, (typed, said) in REFUSED.items():
        field = number(explore, name)
        before = field.input_value()
        enter(field, typed)
        expect(field).to_have_attribute("aria-invalid", "true")
        expect(field).to_have_accessible_description(said)
        expect(field).to_have_value(typed)
        expect(explore.get_by_role("alert").filter(has_text=said)).to_be_visible()
        assert reading.layout(explore, "xaxis.range") == [-3, 3]
        field.press("Escape")
        expect(field).to_have_value(before)


def test_a_rule_keeps_its_colour_when_others_are_added_or_removed(explore: Page) -> None:
    turn(explore, "/?op=sign&rule=default&rule=clipped", shows=["default", "clipped"])
    colour = f"{reading.TRACES}.find(trace => trace.meta === 'clipped').line.color"
    before = explore.evaluate(colour)
    explore.get_by_role("button", name="Remove Default autograd").click()
    settle(explore, shows=["clipped"])
    assert explore.evaluate(colour) == before
    expect(explore.get_by_role("button", name="Remove Clipped straight-through")).to_be_disabled()
    explore.wait_for_function("location.search.includes('colours=2')")
    explore.reload()
    settle(explore, shows=["clipped"])
    assert explore.evaluate(colour) == before
    choose(explore, "Add rule", "swish")
    settle(explore, shows=["clipped", "swish_sign"])
    assert explore.evaluate(colour) == before
    explore.get_by_role("button", name="Hide SwishSign").click()
    explore.wait_for_url("**hide=swish_sign*")
    assert not explore.evaluate(
        f"{reading.TRACES}.find(trace => trace.meta === 'swish_sign')?.visible ?? false"
    )


def test_the_first_frame_after_a_click_has_the_new_curve_which_plotly_draws_after_it(explore: Page) -> None:
    turn(explore, "/?op=clamp&rule=default", shows=["default"])
    explore.get_by_role("button", name="Add rule", exact=True).click()
    explore.get_by_label("Search rules").fill("Zero")
    option = explore.get_by_role("option").filter(has_text="Zero").first
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


def test_back_undoes_and_forward_redoes_a_change(explore: Page) -> None:
    turn(explore, "/?op=clamp&rule=masked&g=2", shows=["masked"])
    enter(number(explore, G), "-3")
    explore.wait_for_url("**g=-3*")
    choose(explore, "Add rule", "zero")
    settle(explore, shows=["masked", "zero"])
    reading.go_back(explore)
    settle(explore, shows=["masked"])
    expect(number(explore, G)).to_have_value("-3")
    reading.go_back(explore)
    expect(number(explore, G)).to_have_value("2")
    settle(explore)
    assert 2 in traces(explore)["masked"].y
    explore.go_forward()
    expect(number(explore, G)).to_have_value("-3")
    explore.go_forward()
    settle(explore, shows=["masked", "zero"])
    assert read_query(explore) == {"op": ["clamp"], "rule": ["masked", "zero"], "g": ["-3"]}


def test_back_right_after_a_choice_leaves_address_and_chart_in_step(explore: Page) -> None:
    turn(explore, "/?op=clamp&rule=masked", shows=["masked"])
    choose(explore, "Add rule", "zero")
    settle(explore, shows=["masked", "zero"])
    explore.get_by_role("button", name="Hide Masked").evaluate("hide => { hide.click(); history.back(); }")
    settle(explore, shows=["masked"])
    assert read_query(explore) == {"op": ["clamp"], "rule": ["masked"]}
    assert len(traces(explore)["masked"].x)


def test_the_title_names_op_and_rules_and_the_link_is_copied(explore: Page) -> None:
    explore.context.grant_permissions(["clipboard-read", "clipboard-write"])
    turn(explore, "/?op=sign&rule=clipped", shows=["clipped"])
    choose(explore, "Op", "tanh")
    explore.wait_for_function("document.title.startsWith('Tanh: Clipped straight-through')")
    explore.get_by_role("button", name="Copy link").click()
    expect(explore.get_by_text("Copied")).to_be_visible()
    assert explore.evaluate("navigator.clipboard.readText()") == explore.url
    explore.context.clear_permissions()


_CHANGE_AND_LEAVE = """async module => {
    const {store} = await import(new URL(module, document.baseURI).href);
    store.change({...store.choice, g: 2}, {origin: "hand"});
    await new Promise(done => setTimeout(done, 249)); // of the rest after which Python is told
    document.querySelector("a[href$=train]").click();
}"""


def test_a_link_pressed_right_after_a_choice_opens_its_page(explore: Page) -> None:
    turn(explore, "/?op=sign&rule=clipped", shows=["clipped"])
    explore.evaluate(_CHANGE_AND_LEAVE, f"assets/{answers.get_folder()}/choice/store.js")
    reading.settle_train(explore)
    assert urlsplit(explore.url).path == "/train"
    assert read_query(explore)["g"] == ["2"]
