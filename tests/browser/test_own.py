"""Own formulas, the palettes and pasted code in a real browser."""

import math
import re

import pytest
from playwright.sync_api import Page, Route, expect

import explorer
from tests.browser.reading import back, card, choose, enter, number, settle, sign, traces, turn
from tests.reading.documents import DOCUMENTS_CLAMP

GOOD = "The last good formula stays."


@pytest.fixture
def page(explore: Page) -> Page:
    """One page for all tests here."""
    return explore


def type_into(page: Page, label: str, text: str) -> None:
    """Replace what a field holds, key by key, and leave it without Enter."""
    field = page.get_by_label(label)
    field.press("ControlOrMeta+a")
    field.press_sequentially(text, delay=15)


def assert_drawn(page: Page, op: str, rule: str) -> None:
    """The page shows the sampled points of the op and the rule."""
    frame, drawn = explorer.sample(op, rule), traces(page)
    for key, column in (("forward", "y"), (rule, "gradient")):
        points = zip(drawn[key].x.tolist(), drawn[key].y.tolist(), strict=True)
        sampled = zip(frame["x"].tolist(), frame[column].tolist(), strict=True)
        assert {(x, y) for x, y in points if not math.isnan(y)} == set(sampled)


def test_a_custom_op_chosen_by_search_is_drawn_as_its_formula_is_typed(page: Page) -> None:
    turn(page, "/?rule=straight_through", shows=["straight_through"])
    choose(page, "Op", "own formula")
    settle(page)
    assert_drawn(page, "formula: x - floor(x)", "straight_through")
    type_into(page, "Own op", "x**3 - a*x")
    expect(card(page, "x ** 3 - a * x")).to_be_visible()
    expect(page.get_by_label("Own op")).to_be_focused()
    expect(number(card(page, "x ** 3 - a * x"), "a")).to_be_visible()
    settle(page)
    assert_drawn(page, "formula: x ** 3 - a * x", "straight_through")
    back(page)
    expect(card(page, "x - floor(x)")).to_be_visible()  # all that was typed is one step


def test_an_own_rule_stays_while_what_is_typed_is_wrong(page: Page) -> None:
    turn(page, "/?op=identity&rule=default", shows=["default"])
    choose(page, "Add rule", "own formula")
    expect(page.get_by_label("Own rule")).to_be_focused()
    type_into(page, "Own rule", "g * sin(x)")
    settle(page, shows=["default", "formula: g * sin(x)"])
    assert_drawn(page, "identity", "formula: g * sin(x)")
    before = traces(page)["formula: g * sin(x)"].y.tobytes()
    page.keyboard.type(" + (")
    expect(page.locator(".mistake:not(.loss *)")).to_contain_text(GOOD)
    caret = page.locator(".caret:not(.loss *)").evaluate("caret => caret.style.getPropertyValue('--column')")
    assert int(caret) == len("g * sin(x) + (")
    expect(page.get_by_label("Own rule")).to_have_attribute("aria-invalid", "true")
    assert traces(page)["formula: g * sin(x)"].y.tobytes() == before
    page.keyboard.type("x)")
    settle(page, shows=["default", "formula: g * sin(x) + x"])
    expect(page.locator(".mistake:not(.loss *)")).to_be_empty()
    type_into(page, "Own rule", "sin(x, g)")
    expect(page.locator(".mistake:not(.loss *)")).to_contain_text(
        re.compile("^sin at column 1 takes 1 argument")
    )


def test_any_name_may_be_a_parameter(page: Page) -> None:
    turn(page, "/?op=identity&rule=formula:+g", shows=["formula: g"])
    for name in ("constructor", "range"):
        type_into(page, "Own rule", f"g * {name}")
        of_rule = number(card(page, f"g * {name}"), name)
        expect(of_rule).to_have_value("1")
        enter(of_rule, "2.5")
        settle(page, shows=[f"formula: g * {name}"])
        assert set(traces(page)[f"formula: g * {name}"].y.tolist()) == {2.5}
        page.wait_for_url(f"**{name}=2.5*")


def test_two_own_rules_side_by_side(page: Page) -> None:
    turn(page, "/?op=identity&rule=default", shows=["default"])
    for count in (1, 2):
        choose(page, "Add rule", "own formula")
        field = page.get_by_label("Own rule").nth(count - 1)
        expect(field).to_be_focused()
        field.fill(f"{count} * g")
        expect(card(page, f"{count} * g")).to_be_visible()
    settle(page, shows=["default", "formula: 1 * g", "formula: 2 * g"])
    drawn = traces(page)
    assert [set(drawn[key].y.tolist()) for key in list(drawn)[2:]] == [{1.0}, {2.0}]


def test_a_formula_that_comes_too_late_takes_nothing_back(page: Page) -> None:
    turn(page, "/?op=formula:+a*x&rule=default", shows=["default"])
    field, held = page.get_by_label("Own op"), list[Route]()
    page.route("**/ask/entry", lambda route: held.append(route))
    with page.expect_request("**/ask/entry"):
        field.fill("x**3 - a*x")
    enter(number(card(page, "a * x"), "a"), "2")
    settle(page)
    expect(field).to_have_value("x**3 - a*x")  # and it is still to be drawn
    held.pop().continue_()
    expect(card(page, "x ** 3 - a * x")).to_be_visible()
    with page.expect_request("**/ask/entry"):
        field.fill("x**5")
    choose(page, "Op", "sign")
    expect(card(page, "Sign")).to_be_visible()
    with page.expect_response("**/ask/entry"):
        held.pop().continue_()
    page.unroute("**/ask/entry")
    settle(page)
    expect(card(page, "Sign")).to_be_visible()


def test_without_a_server_a_formula_is_not_lost(page: Page) -> None:
    turn(page, "/?op=identity&rule=formula:+g", shows=["formula: g"])
    page.route("**/ask/entry", lambda route: route.fulfill(status=200, body="no JSON"))
    type_into(page, "Own rule", "g * 2")
    expect(page.locator(".mistake:not(.loss *)")).to_contain_text("The server does not answer")
    expect(card(page, "g")).to_be_visible()


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


def test_the_palette_lists_every_rule_with_what_suits_first(page: Page) -> None:
    turn(page, "/?op=sign&rule=default", shows=["default"])
    page.get_by_role("button", name="Add rule").click()
    expect(page.get_by_label("Search rules")).to_be_focused()
    shown = options(page)
    labels = {rule.label for rule in explorer.RULES.values()}
    assert set(shown) == labels | {"Own formula"}
    suited = {rule.label for rule in explorer.RULES.values() if "sign" in rule.suits}
    assert set(shown[: len(suited)]) == suited
    assert shown[-1] in {rule.label for rule in explorer.RULES.values() if rule.suits} - suited
    row = page.get_by_role("option", name=re.compile("^Triangle"))
    expect(row).to_contain_text(explorer.RULES["triangle"].purpose)
    expect(row).to_contain_text(explorer.RULES["triangle"].otherwise)
    pictures = page.get_by_role("option").locator("path:not(.zero)")
    assert pictures.count() == len(shown)
    assert all(len(path.get_attribute("d") or "") > 50 for path in pictures.all())


def test_the_palette_by_search_and_keyboard(page: Page) -> None:
    """What a search finds, and in which order, is tested in tests/frontend/cards."""
    turn(page, "/?op=sign&rule=default", shows=["default"])
    add = page.get_by_role("button", name="Add rule")
    add.press("Enter")
    field = page.get_by_label("Search rules")
    field.fill("cosh")
    assert not options(page)
    expect(page.get_by_text("Nothing here is called “cosh”")).to_be_visible()
    field.fill("MASKED open")
    assert options(page)[0] == "Masked (open)"
    field.fill("straight")
    result = options(page)
    field.press("ArrowDown")
    chosen = page.get_by_role("option", selected=True)
    expect(chosen).to_contain_text(result[1])
    assert field.get_attribute("aria-activedescendant") == chosen.get_attribute("id")
    field.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(add).to_be_focused()


def test_a_card_explains_why_its_rule_does_not_suit_the_op(page: Page) -> None:
    turn(page, "/?op=relu&rule=triangle", shows=["triangle"])
    expect(card(page, "Triangle")).to_contain_text(explorer.RULES["triangle"].otherwise)
    choose(page, "Op", "step")
    expect(card(page, "Triangle")).not_to_contain_text(explorer.RULES["triangle"].otherwise)


def test_pasted_code_is_read_as_one_types_and_its_curve_comes_into_view(page: Page) -> None:
    turn(page, "/?op=tanh&rule=zero&section=paste", shows=["zero"])
    box = page.get_by_label("Paste a torch.autograd.Function")
    box.fill("class RoundGradient(torch.autograd.Function:\n")
    expect(page.locator(".found")).to_contain_text("line 1")
    box.fill(DOCUMENTS_CLAMP)
    expect(page.locator(".found h3").first).to_contain_text("RoundGradient, line")
    page.get_by_role("button", name="Show its curve").first.click()
    op, rule = explorer.read_source(DOCUMENTS_CLAMP)
    settle(page, shows=["default", rule])
    page.wait_for_function("document.querySelector('.js-plotly-plot').getBoundingClientRect().top >= 0")
    assert_drawn(page, op, rule)
    expect(box).to_have_value(DOCUMENTS_CLAMP)
    expect(sign(page)).to_have_text("Confirmed by torch")
    box.fill(LEARNS)
    result, notes = page.locator(".found section"), explorer.read_source(LEARNS).notes
    lines = [
        "y = round(x / alpha) * alpha", "gradient = g",
        "gradient for alpha = (1 / N) * sum(g * (round(x / alpha) - x / alpha))",
    ]  # fmt: skip
    expect(result.locator("code")).to_have_text(lines)
    expect(result.locator("p")).to_have_text(list(notes))
