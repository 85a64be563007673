"""Own formulas, the palettes and pasted code in a real browser."""

import math
import re

import pytest
from playwright.sync_api import Page, Route, expect

import explorer
from tests.browser import reading
from tests.browser.reading import card, choose, go_back, number, settle, sign, title, traces, turn, visit
from tests.reading.documents import DOCUMENTS_CLAMP

GOOD = "The last good formula stays."


def type_into(page: Page, label: str, text: str) -> None:
    """Replace what a field holds, key by key, and leave it without Enter."""
    field = title(page, label).last
    field.press("ControlOrMeta+a")
    field.press_sequentially(text, delay=15)


def assert_drawn(page: Page, op: str, rule: str) -> None:
    """The page shows the sampled points of the op and the rule, now or once torch has confirmed them."""
    frame = explorer.sample(op, rule)

    def check() -> None:
        drawn = traces(page)
        for key, column in (("forward", "y"), (rule, "gradient")):
            points = zip(drawn[key].x.tolist(), drawn[key].y.tolist(), strict=True)
            sampled = zip(frame["x"].tolist(), frame[column].tolist(), strict=True)
            assert {(x, y) for x, y in points if not math.isnan(y)} == set(sampled)

    reading.retry(page, check)


def test_a_custom_op_chosen_by_search_is_drawn_as_its_formula_is_typed(explore: Page) -> None:
    turn(explore, "/?rule=straight_through", shows=["straight_through"])
    choose(explore, "Op", "x - floor(x)")
    settle(explore)
    assert_drawn(explore, "formula: x - floor(x)", "straight_through")
    type_into(explore, "Op", "x**3 - a*x")
    expect(card(explore, "x ** 3 - a * x")).to_be_visible()
    expect(title(explore, "Op")).to_be_focused()
    expect(number(card(explore, "x ** 3 - a * x"), "a")).to_be_visible()
    settle(explore)
    assert_drawn(explore, "formula: x ** 3 - a * x", "straight_through")
    go_back(explore)
    expect(card(explore, "x - floor(x)")).to_be_visible()  # all that was typed is one step
    own = " - ".join(["x ** 3"] * 11)
    type_into(explore, "Op", own)
    whole = card(explore, own).locator(".formula")
    expect(whole).to_be_visible()
    assert whole.evaluate("one => one.scrollHeight <= one.clientHeight")  # no line is cut off


def test_a_custom_rule_stays_while_its_formula_is_invalid(explore: Page) -> None:
    turn(explore, "/?op=identity&rule=default", shows=["default"])
    choose(explore, "Add rule", "g * sin(x)")
    expect(card(explore, "g * sin(x)")).to_be_visible()
    type_into(explore, "Rule", "g * sin(x)")
    settle(explore, shows=["default", "formula: g * sin(x)"])
    assert_drawn(explore, "identity", "formula: g * sin(x)")
    before = traces(explore)["formula: g * sin(x)"].y.tobytes()
    explore.keyboard.type(" + (")
    expect(explore.locator(".mistake:visible")).to_contain_text(GOOD)
    caret = explore.locator(".caret:visible").evaluate("caret => caret.style.getPropertyValue('--column')")
    assert int(caret) == len("g * sin(x) + (")
    expect(title(explore, "Rule").last).to_have_attribute("aria-invalid", "true")
    assert traces(explore)["formula: g * sin(x)"].y.tobytes() == before
    explore.keyboard.type("x)")
    settle(explore, shows=["default", "formula: g * sin(x) + x"])
    expect(explore.locator(".mistake:visible")).to_have_text("Formula.")
    type_into(explore, "Rule", "sin(x, g)")
    expect(explore.locator(".mistake:visible")).to_contain_text(
        re.compile("^sin at column 1 takes 1 argument")
    )


def test_a_late_formula_does_not_overwrite_a_newer_choice(explore: Page) -> None:
    turn(explore, "/?op=formula:+a*x&rule=default", shows=["default"])
    field, held = title(explore, "Op"), list[Route]()
    explore.route("**/ask/entry", lambda route: held.append(route))
    with explore.expect_request("**/ask/entry"):
        field.fill("x**3 - a*x")
    reading.enter(number(card(explore, "a * x"), "a"), "2")
    settle(explore)
    expect(field).to_have_value("x**3 - a*x")  # and it is still to be drawn
    held.pop().continue_()
    expect(card(explore, "x ** 3 - a * x")).to_be_visible()
    with explore.expect_request("**/ask/entry"):
        field.fill("x**5")
    choose(explore, "Op", "sign")
    expect(card(explore, "Sign")).to_be_visible()
    with explore.expect_response("**/ask/entry"):
        held.pop().continue_()
    explore.unroute("**/ask/entry")
    settle(explore)
    expect(card(explore, "Sign")).to_be_visible()


def test_a_card_keeps_its_formula_when_the_server_does_not_answer(explore: Page) -> None:
    turn(explore, "/?op=identity&rule=formula:+g", shows=["formula: g"])
    explore.route("**/ask/entry", lambda route: route.fulfill(status=200, body="no JSON"))
    type_into(explore, "Rule", "g * 2")
    expect(explore.locator(".mistake:visible")).to_contain_text("The server does not answer")
    expect(card(explore, "g")).to_be_visible()


LEARNS = """
class Quantise(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, alpha):
        ctx.save_for_backward(x, alpha)
        return torch.round(x / alpha) * alpha

    @staticmethod
    def backward(ctx, grad_output):
        x, alpha = ctx.saved_tensors
        return grad_output, (grad_output * (torch.round(x / alpha) - x / alpha)).sum() / x.numel()
"""


def options(page: Page) -> list[str]:
    return [text.splitlines()[0] for text in page.get_by_role("option").all_inner_texts()]


@pytest.mark.parametrize("op", ["sign", "formula: 2 * sign(x) %2B x"])
def test_the_palette_lists_every_rule_with_general_and_suitable_rules_first(explore: Page, op: str) -> None:
    turn(explore, f"/?op={op}&rule=default", shows=["default"])
    explore.get_by_role("button", name="Add rule").click()
    expect(explore.get_by_label("Search rules")).to_be_focused()
    shown = options(explore)
    assert set(shown) == {rule.label for rule in explorer.RULES.values()}
    general = {rule.label for rule in explorer.RULES.values() if not rule.suits}
    suited = {rule.label for rule in explorer.RULES.values() if "sign" in rule.suits}
    assert shown[:2] == ["Default autograd", "Straight-through"]
    assert set(shown[: len(general)]) == general
    assert set(shown[len(general) : len(general) + len(suited)]) == suited
    row = explore.get_by_role("option", name=re.compile("^Triangle"))
    expect(row).to_contain_text(explorer.RULES["triangle"].purpose)
    pictures = explore.get_by_role("option").locator("path:not(.zero)")
    assert pictures.count() == len(shown)
    assert all(len(path.get_attribute("d") or "") > 50 for path in pictures.all())


def test_the_palette_can_be_searched_and_used_by_keyboard(explore: Page) -> None:
    """What a search finds, and in which order, is tested in tests/frontend/cards."""
    turn(explore, "/?op=sign&rule=default", shows=["default"])
    add = explore.get_by_role("button", name="Add rule")
    add.press("Enter")
    field = explore.get_by_label("Search rules")
    field.fill("cosh")
    assert not options(explore)
    expect(explore.get_by_text("Nothing here is called “cosh”")).to_be_visible()
    field.fill("2 g")
    expect(explore.get_by_text('such as * is missing before "g"')).to_be_visible()
    expect(explore.get_by_role("option", selected=True)).to_have_count(0)
    caret, start = (reading.box_of(each)["x"] for each in (explore.locator("dialog .caret"), field))
    assert 16 < caret - start < 28  # below the third letter
    field.fill("import torch")
    explore.keyboard.press("Escape")
    expect(field).to_be_focused()
    field.fill("straight")
    result = options(explore)
    field.press("ArrowDown")
    chosen = explore.get_by_role("option", selected=True)
    expect(chosen).to_contain_text(result[1])
    assert field.get_attribute("aria-activedescendant") == chosen.get_attribute("id")
    field.press("Escape")
    expect(explore.get_by_role("dialog")).to_have_count(0)
    expect(add).to_be_focused()


def test_a_card_explains_why_its_rule_does_not_suit_the_op(explore: Page) -> None:
    turn(explore, "/?op=relu&rule=triangle", shows=["triangle"])
    expect(card(explore, "Triangle")).to_contain_text(explorer.RULES["triangle"].otherwise)
    choose(explore, "Op", "step")
    expect(card(explore, "Triangle")).not_to_contain_text(explorer.RULES["triangle"].otherwise)


PASTE = """(field, text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text", text);
    field.dispatchEvent(new ClipboardEvent("paste", {clipboardData, bubbles: true, cancelable: true}));
}"""


def test_the_title_of_the_op_is_a_combobox_for_names_and_formulas(explore: Page) -> None:
    turn(explore, "/?op=round&rule=straight_through", shows=["straight_through"])
    field, popup = title(explore, "Op"), explore.locator(".card.op [role=listbox]")
    expect(field).to_have_value("Round")
    field.click()
    expect(field).to_have_attribute("aria-expanded", "true")
    chosen = popup.get_by_role("option", selected=True)
    expect(chosen).to_contain_text("round(x)")
    explore.keyboard.type("x**2 - sin(3*x")
    expect(explore.locator(".op .mistake")).to_contain_text("is never closed")
    expect(explore.locator(".op .caret")).to_be_visible()
    explore.keyboard.press("Enter")  # nothing can be taken
    expect(field).to_have_attribute("aria-invalid", "true")
    explore.keyboard.type(" + w)")
    expect(explore.locator(".op .mistake")).to_have_text("Formula with w to set.")
    expect(chosen.locator("path:not(.zero)")).to_have_count(1)
    explore.keyboard.press("Escape")
    expect(popup).to_be_hidden()
    expect(field).to_have_value("Round")
    explore.keyboard.type("sign")
    assert field.get_attribute("aria-activedescendant") == chosen.get_attribute("id")
    explore.keyboard.press("Enter")
    expect(card(explore, "Sign")).to_be_visible()
    expect(field).to_have_attribute("aria-expanded", "false")


def test_the_title_of_an_opened_card_accepts_another_rule(explore: Page) -> None:
    turn(explore, "/?op=sign&rule=straight_through&rule=zero", shows=["straight_through", "zero"])
    explore.keyboard.press("e")  # the calm page
    expect(title(explore, "Rule")).to_have_count(0)
    edit = explore.get_by_role("button", name="Edit Straight-through")
    edit.dblclick()  # the second click closes the card again: no button to remove the rule comes below it
    edit.click()
    title(explore, "Rule").click()
    explore.keyboard.press("Enter")  # an unchanged field
    expect(explore.get_by_role("listbox")).to_have_count(0)
    settle(explore, shows=["straight_through", "zero"])
    choose(explore, "Rule", "triangle")
    settle(explore, shows=["triangle", "zero"])
    choose(explore, "Rule", "g * sin(x)")
    settle(explore, shows=["formula: g * sin(x)", "zero"])
    go_back(explore)
    settle(explore, shows=["triangle", "zero"])


def test_pasted_code_is_read_while_it_changes_and_its_curve_is_drawn(explore: Page) -> None:
    rules = ["zero", "scale", "straight_through", "sigmoid_surrogate", "tanh_surrogate", "default"]
    visit(explore, reading.link("/", {"op": "tanh", "rule": rules, "section": "paste"}), shows=rules)
    box, says = explore.get_by_label("Paste a torch.autograd.Function"), explore.locator(".op .mistake")
    found = explore.locator(".op").get_by_role("option")
    expect(box).to_be_focused()
    expect(explore.locator(".instrument.opened")).to_have_count(0)  # no section takes room from the chart
    expect(says).to_have_text("The code is read, not run: lines that cannot be drawn are named.")
    box.fill("class RoundGradient(torch.autograd.Function:\n")
    expect(says).to_contain_text("Line 1: ")
    expect(explore.locator(".editor-lines .marked")).to_have_text("1")
    box.fill(LEARNS)
    lines = [
        "y = round(x / alpha) * alpha", "gradient = g",
        "gradient for alpha = (1 / N) * sum(g * (round(x / alpha) - x / alpha))",
    ]  # fmt: skip
    expect(found.locator("code")).to_have_text(lines)
    assert found.locator("code").evaluate_all("all => all.every(one => one.scrollWidth <= one.clientWidth)")
    full = "It takes the place of Default autograd."
    expect(found.locator("small")).to_have_text([*explorer.read_source(LEARNS).notes, full])
    explore.keyboard.press("Escape")
    title(explore, "Op").evaluate(PASTE, DOCUMENTS_CLAMP)
    expect(box).to_have_value(DOCUMENTS_CLAMP)
    expect(says).to_contain_text(re.compile("^[2-9] Functions found: RoundGradient, "))
    found.first.click()
    op, rule = explorer.read_source(DOCUMENTS_CLAMP)
    settle(explore, shows=[*rules[:5], rule])
    assert_drawn(explore, op, rule)
    expect(explore.locator(".card.rule .formula:visible").last).to_have_text(rule.split(" = ")[1])
    expect(box).to_be_hidden()
    expect(sign(explore)).to_have_text("Confirmed by torch")
    title(explore, "Rule").first.evaluate(PASTE, LEARNS)  # a backward alone replaces this card's rule
    expect(explore.get_by_role("option", name="Quantise").last).not_to_contain_text("takes the place")


def test_pasted_code_adds_its_backward_as_a_rule(explore: Page) -> None:
    turn(explore, "/?op=tanh&rule=zero", shows=["zero"])
    explore.get_by_role("button", name="Add rule").click()
    explore.get_by_label("Search rules").evaluate(PASTE, LEARNS)
    rows = explore.get_by_role("option", name="Quantise, line 2")
    expect(rows).to_contain_text(["Its forward becomes the op.", "Only its backward is taken: the op stays."])
    rows.last.click()
    expect(card(explore, "Tanh")).to_be_visible()
    noted = card(explore, "Quantise").locator(".doubt:not(:empty)")
    expect(noted).to_have_text([*explorer.read_source(LEARNS).notes])
    explore.get_by_role("button", name="Add rule").click()
    explore.get_by_label("Search rules").evaluate(PASTE, LEARNS)
    rows.first.click()
    op, rule = explorer.read_source(LEARNS)
    settle(explore, shows=["zero", rule])
    assert_drawn(explore, op, rule)


def test_code_opens_on_the_rule_added_last_until_another_one_is_picked(explore: Page) -> None:
    link = "/?op=sign&rule=straight_through&rule=default&section=code"
    turn(explore, link, shows=["straight_through", "default"])
    picked = explore.get_by_label("Code for")
    expect(picked).to_have_value("straight_through")
    choose(explore, "Add rule", "g * sin(x)")
    expect(picked).to_have_value("formula: g * sin(x)")
    picked.select_option("straight_through")
    choose(explore, "Op", "step")
    expect(explore.get_by_role("region", name="Code", exact=True)).to_contain_text("step_straight_through")
    expect(picked).to_have_value("straight_through")
    choose(explore, "Add rule", "zero")
    expect(picked).to_have_value("zero")
