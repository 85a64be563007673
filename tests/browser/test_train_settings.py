"""Settings of Train in a real browser: links, fields, rates that change in mid-run, examples.

Which rate goes with a command is tested without a page, in ``tests/frontend/train/client/test_request.py``.
"""

from playwright.sync_api import Locator, Page, expect

from explorer.takeaway import settings_json
from explorer.training import Settings
from explorer.ui.links.presets import TRAINING
from tests.browser import training
from tests.browser.reading import TRACES
from tests.browser.training import command, metric, press, status, steps, turn_train, wait_for, wait_for_steps
from tests.browser.visitors import Tab


def live(page: Page, name: str) -> Locator:
    """The number beside the slider of a setting that may change in mid-run."""
    return page.locator(".training .live").get_by_role("spinbutton", name=name, exact=True)


def test_start_right_after_a_change_trains_the_shown_settings(train: Page) -> None:
    """Before the page has let the run of the earlier settings go."""
    turn_train(train, "op=relu&rule=default&steps=20&pace=full")
    press(train, "Step")
    expect(metric(train, "Step")).to_have_text("Step 1 / 20")
    command(train, "Reset")
    set_and_press = """([label, text]) => {
        const fields = [...document.querySelectorAll(".training .setting")];
        const field = fields.find(each => each.textContent === label).querySelector("input");
        field.value = text;
        field.dispatchEvent(new Event("change"));
        [...document.querySelectorAll("button")].find(each => each.textContent === "Start").click();
    }"""
    with train.expect_request("**/runs") as sent:
        train.evaluate(set_and_press, ["Seed", "3"])
    assert "seed=3" in sent.value.post_data_json["query"]
    expect(metric(train, "Step")).to_have_text("Step 20 / 20")
    train.wait_for_url("**seed=3*")


def test_exported_settings_are_opened_before_any_run(train: Page, train_tab: Tab) -> None:
    turn_train(train, "op=relu&rule=default")
    text = settings_json(Settings(task="moons", op="sign", rules=("default", "clipped"), steps=77))
    for content, said in ((text, "Opened: press Start."), ("{", "not JSON: open a file that was exported")):
        file = {"name": "a.json", "mimeType": "text/json", "buffer": content.encode()}
        train.get_by_label("Load from a file").set_input_files(file)
        expect(train.locator(".setup")).to_contain_text(said)
    train_tab.errors.clear()  # the browser logs what the server refuses
    expect(train.get_by_label("Steps", exact=True)).to_have_value("77")
    expect(train.get_by_role("group", name="Clipped straight-through")).to_be_visible()


def test_events_of_a_run_do_not_overwrite_a_typed_number(train: Page) -> None:
    turn_train(train, f"op=relu&rule=default&{training.LONG}")
    press(train, "Start")
    wait_for_steps(train, 2)

    def stays(name: str, text: str) -> None:
        wait_for_steps(train, steps(train))
        expect(live(train, name)).to_have_value(text)

    for name, text, key in (("Learning rate lr", "2e-8", "Enter"), ("Pace", "17", "Tab")):
        live(train, name).fill(text)
        stays(name, text)
        live(train, name).press(key)
        train.wait_for_url(f"**pace={text}*" if name == "Pace" else f"**lr%3A{text[0]}*")
        stays(name, text)
        assert (train.evaluate("document.activeElement.ariaLabel") == name) == (key == "Enter")


def test_the_hint_of_an_example_is_shown_with_a_run_and_only_for_its_settings(train: Page) -> None:
    turn_train(train, "op=relu&rule=default")
    train.get_by_text("Examples", exact=True).click()
    menu = train.locator(".about .window")
    assert menu.locator("b").all_inner_texts() == [preset.name for preset in TRAINING]
    chosen = TRAINING[-1]
    menu.get_by_role("button", name=chosen.name).click()
    rate = live(train, "Learning rate lr")
    expect(rate).to_have_value("0.00001")
    expect(menu).to_be_hidden()
    expect(train.locator(".about .hint")).not_to_have_text(chosen.hint)
    press(train, "Start")
    expect(train.locator(".about .hint")).to_have_text(chosen.hint)
    expect(status(train)).to_contain_text("Diverged at step")
    expect(status(train)).to_contain_text("Try a smaller learning rate or another rule.")
    wait_for(train, f"() => {TRACES}[0]?.x.length >= 1")  # the curve up to there is kept
    assert f"Diverged at step {steps(train)}:" in status(train).inner_text()
    rate.fill("1e-6")
    rate.press("Enter")
    expect(train.locator(".about .hint")).not_to_have_text(chosen.hint)  # which is not so at this rate
