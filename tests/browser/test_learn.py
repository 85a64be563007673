"""Learn in a real browser: what is drawn and revealed, kept, copied, opened in Explore and Train."""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from explorer.catalogue import find_op, find_rule
from explorer.lessons import GLOSSARY, LESSONS, PATHS, Link
from explorer.lessons.by_hand import masked
from explorer.lessons.recipe import steps
from explorer.lessons.retest import question
from tests.browser.lessons import (
    COMPUTED_MS,
    choice_of,
    draw,
    enter_g,
    present,
    press,
    turn_to,
    until_ready_to_draw,
    until_shown,
)
from tests.browser.reading import settle, settle_train, step_to, turn


def test_each_lesson_opens_explore_in_its_state(course: Page) -> None:
    """The first by a press; from there the page goes on to what the links of the others open."""
    first, *others = LESSONS.values()
    turn_to(course, first)
    press(course, "Skip")
    until_shown(course, first)
    enter_g(course, "-0.5")
    opening = course.get_by_role("link", name="Open in Explore").first
    expect(opening).to_have_attribute("href", re.compile("g=-0.5"))
    opening.click()
    asked = replace(choice_of(f"/?{first.scenes[0].query}"), g=-0.5)
    settle(course, shows=asked.rules)
    assert urlsplit(course.url).path == "/"
    assert choice_of(course.url) == asked
    field = course.get_by_label("Upstream gradient g", exact=True).last
    expect(field).to_have_value("-0.5")
    for lesson in others:
        asked = choice_of(f"/?{lesson.scenes[0].query}")
        turn(course, f"/?{lesson.scenes[0].query}", shows=asked.rules)
        expect(field).to_have_value(f"{asked.g:g}")


def test_the_last_lesson_leads_to_the_list_and_the_list_to_every_lesson_and_back(course: Page) -> None:
    turn_to(course, list(LESSONS.values())[-1])
    press(course, "Skip")
    course.get_by_role("link", name="All lessons").click()
    entries = course.locator(".contents a")
    expect(entries).to_have_count(len(LESSONS))
    first, second = list(LESSONS.values())[:2]
    entries.first.click()
    expect(course.get_by_role("heading", level=2, name=first.title)).to_be_visible()
    assert course.url.endswith(f"/learn?lesson={first.key}")
    course.get_by_role("link", name=f"Lesson 2: {second.title}").click()
    expect(course.get_by_role("heading", level=2, name=second.title)).to_be_visible()
    course.go_back()
    expect(course.get_by_role("heading", level=2, name=first.title)).to_be_visible()
    course.go_back()
    expect(entries).to_have_count(len(LESSONS))


def test_the_rules_of_a_lesson_are_not_put_on_one_size(course: Page) -> None:
    lesson = next(iter(LESSONS.values()))
    turn_to(course, lesson)
    press(course, "Skip")
    until_shown(course, lesson)
    strip = course.locator(".watch .strip").first
    expect(strip.get_by_label("Noise lens")).to_be_visible()
    expect(strip.get_by_text("Size", exact=True)).to_have_count(0)


def test_an_unknown_lesson_is_named_and_the_list_is_there(course: Page) -> None:
    course.goto("/learn?lesson=%3Cb%3E")
    expect(course.get_by_role("alert")).to_have_text(
        "There is no such lesson: choose one of the list.", timeout=30_000
    )
    expect(course.locator(".contents a")).to_have_count(len(LESSONS))
    expect(course.get_by_role("button", name="Try again")).to_have_count(0)
    assert "Not everything in the link" not in course.inner_text("body")


def test_an_answer_that_is_none_can_be_asked_for_again(course: Page) -> None:
    turn_to(course, LESSONS["leaves"])
    course.route("**/lesson?**", lambda route: route.fulfill(body="not JSON"))
    course.get_by_role("link", name=re.compile(LESSONS["clamp"].title)).click()
    expect(course.get_by_role("alert")).to_have_text("The server does not answer.")
    course.unroute("**/lesson?**")
    press(course, "Try again")
    expect(course.get_by_role("heading", level=2, name=LESSONS["clamp"].title)).to_be_visible()


# How often charts are drawn from now on.
COUNTED = """() => {
    const { react } = Plotly;
    window.drawings = 0;
    Plotly.react = (...all) => ((window.drawings += 1), react(...all));
}"""
AT_LAST = """async () => {
    for (let frame = 0; frame < 5; frame += 1) await new Promise(requestAnimationFrame);
    return window.drawings;
}"""


def test_turning_to_a_lesson_draws_its_chart_once(course: Page) -> None:
    turn_to(course, LESSONS["clamp"])
    until_ready_to_draw(course)
    course.evaluate(COUNTED)
    turn_to(course, LESSONS["relu"])
    until_ready_to_draw(course)
    assert course.evaluate(AT_LAST) == 1


def test_the_code_stands_beside_its_question_and_an_answer_lights_the_line_that_decides(course: Page) -> None:
    turn_to(course, LESSONS["in-place"])
    code = course.get_by_role("region", name="The code that is asked about")
    expect(code).to_contain_text("class GreedyReLU(CloningReLU):")
    expect(code.locator(".decides")).to_have_count(0)
    question = course.locator(".prediction").bounding_box()
    beside = code.bounding_box()
    assert question
    assert beside
    assert beside["x"] >= question["x"] + question["width"]
    course.get_by_role("radio").first.check()
    expect(code.locator(".decides")).to_have_text(re.compile(re.escape("g[x <= 0] = 0")))
    press(course, "Skip")
    expect(code).to_have_count(0)


def answer(course: Page, right: bool) -> None:
    """Answer the fresh question that is shown."""
    shown = course.get_by_role("region", name="Code of the question").inner_text().strip()
    asked = next(each for each in FRESH if "".join(text for _, text in each["code"]).strip() == shown)
    index = asked["right"] if right else (asked["right"] + 1) % 4
    course.locator(".retest").get_by_role("radio").nth(index).check()
    press(course, "Check")


FRESH = [question(variant, ["straight_through"]) for variant in LESSONS["straight-through"].retest]


def test_two_fresh_questions_fill_the_dot_of_a_lesson_which_stays(course: Page) -> None:
    turn_to(course, LESSONS["straight-through"])
    press(course, "Skip")
    press(course, "Two fresh questions")
    first = course.get_by_role("region", name="Code of the question").inner_text()
    answer(course, right=False)
    press(course, "Two others")
    assert course.get_by_role("region", name="Code of the question").inner_text() != first
    answer(course, right=True)
    answer(course, right=True)
    expect(course.get_by_text("Both right.")).to_contain_text("kept in this browser alone")
    course.goto("/learn")
    course.get_by_role("button", name="Spikes").click()
    expect(course.locator(".contents a b")).to_have_text(
        [re.compile(LESSONS[key].title.replace("?", r"\?") + "$") for key in PATHS["Spikes"]]
    )
    expect(course.locator(".contents .dot[data-filled]")).to_have_count(1)
    learned = course.get_by_role("link", name=re.compile("Straight-through"))
    expect(learned).to_have_attribute("aria-description", re.compile("learned"))
    learned.click()
    press(course, "Predict again")
    press(course, "Skip")
    expect(course.get_by_role("link", name=f"Next: {LESSONS['surrogates'].title}")).to_be_visible()
    course.evaluate("localStorage.removeItem('gradient-explorer.learned')")


def test_a_term_opens_the_glossary_at_its_entry(course: Page) -> None:
    turn_to(course, LESSONS["clamp"])
    press(course, "Skip")
    course.get_by_role("button", name="mask", exact=True).click()
    glossary = course.get_by_role("dialog", name="Glossary")
    expect(glossary).to_be_visible()
    expect(glossary.locator(".requested")).to_contain_text(GLOSSARY["mask"])
    course.keyboard.press("Escape")
    expect(glossary).to_be_hidden()


def test_a_net_trains_in_its_lesson(course: Page) -> None:
    turn_to(course, LESSONS["vanishing"])
    press(course, "Skip")
    press(course, "Train it here")
    net = course.get_by_role("region", name="The net, live")
    expect(net.get_by_role("group", name="Quantise")).to_be_visible()
    net.get_by_role("button", name="Start", exact=True).click()
    net.get_by_label("full", exact=True).check()
    expect(net.get_by_text(re.compile("Finished after 500 steps"))).to_be_visible(timeout=40_000)
    opening = course.get_by_role("link", name="Open in Train")
    expect(opening).to_have_attribute("href", re.compile("/train.op=quantize"))


def test_a_lesson_on_a_phone(phone_course: Page) -> None:
    turn_to(phone_course, LESSONS["vanishing"])
    until_ready_to_draw(phone_course)
    draw(phone_course, 0)
    press(phone_course, "Check my prediction")
    until_shown(phone_course, LESSONS["vanishing"])
    assert phone_course.evaluate("document.documentElement.scrollWidth") <= 390
    expect(phone_course.locator(".verdict")).to_contain_text("Yes")


TRAINED = [
    (lesson, scene) for lesson in LESSONS.values() for scene in lesson.scenes if scene.path == "/train"
]


def test_each_lesson_opens_its_training_in_its_state(course: Page) -> None:
    """The first by a press; from there the page goes on to what the links of the others open."""
    (first, scene), *others = TRAINED
    turn_to(course, first)
    press(course, "Skip")
    course.get_by_role("link", name="Open in Train").click()
    settle_train(course)
    assert urlsplit(course.url).path == "/train"
    assert choice_of(course.url) == choice_of(f"/train?{scene.query}")
    ready_to_train(course, scene)
    for _, scene in others:
        step_to(course, f"/train?{scene.query}")
        ready_to_train(course, scene)


def ready_to_train(page: Page, scene: Link) -> None:
    asked = choice_of(f"/train?{scene.query}")
    expect(page.get_by_role("group", name=find_op(asked.op).label, exact=True)).to_be_visible()
    for rule in asked.rules:
        expect(page.get_by_role("group", name=find_rule(rule).label, exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_enabled()
    expect(page.locator(".training .status")).to_contain_text("Start")


def draws(page: Page) -> str:
    return page.locator(".drawn").get_attribute("d") or ""


def test_what_is_drawn_stays_over_a_reload_and_on_the_way_back(course: Page) -> None:
    turn_to(course, LESSONS["clamp"])
    until_ready_to_draw(course)
    draw(course, 1)
    before = draws(course)
    course.reload()
    until_ready_to_draw(course)
    expect(course.locator(".drawn")).to_have_attribute("d", before)
    press(course, "Check my prediction")
    wrong = "This passes everything"
    expect(course.locator(".verdict")).to_contain_text(wrong)
    course.get_by_role("link", name=LESSONS["leaves"].title).click()
    expect(course.get_by_role("heading", level=2, name=LESSONS["leaves"].title)).to_be_visible(
        timeout=COMPUTED_MS
    )
    course.go_back()
    expect(course.locator(".verdict")).to_contain_text(wrong)
    expect(course.locator(".drawn")).to_have_attribute("d", before)


def test_what_is_revealed_stays_until_one_predicts_again(course: Page) -> None:
    turn_to(course, LESSONS["leaves"])
    course.get_by_role("radio", name="2 x").check()
    press(course, "Check my prediction")
    expect(course.locator(".verdict")).to_contain_text("Try again")
    press(course, "Show the answer")
    until_shown(course, LESSONS["leaves"])
    course.reload()
    until_shown(course, LESSONS["leaves"])
    expect(course.locator(".verdict")).to_contain_text("The answer is “None”.")
    expect(course.locator(".drawn")).to_have_attribute("d", re.compile("L"))
    course.get_by_role("link", name=f"Next: {LESSONS['leaf-trap'].title}").click()
    expect(course.get_by_role("heading", level=2, name=LESSONS["leaf-trap"].title)).to_be_visible(
        timeout=COMPUTED_MS
    )
    course.go_back()
    until_shown(course, LESSONS["leaves"])
    press(course, "Predict again")
    expect(course.get_by_role("button", name="Skip")).to_be_visible()
    assert course.get_by_role("radio", checked=True).count() == 0
    course.reload()
    expect(course.get_by_role("button", name="Skip")).to_be_visible(timeout=COMPUTED_MS)


def test_a_drawing_can_be_cleared_and_a_picked_picture_drawn_over(course: Page) -> None:
    turn_to(course, LESSONS["vanishing"])
    until_ready_to_draw(course)
    course.get_by_role("radio").first.check()
    expect(course.locator(".drawn")).to_have_attribute("d", re.compile("L"))
    draw(course, 0)
    assert course.get_by_role("radio", checked=True).count() == 0
    press(course, "Clear")
    expect(course.locator(".drawn")).to_have_attribute("d", "")
    expect(course.get_by_role("button", name="Check my prediction")).to_be_disabled()


def test_peaks_drawn_at_the_jumps_of_round_are_not_right(course: Page) -> None:
    turn_to(course, LESSONS["vanishing"])
    until_ready_to_draw(course)
    draw(course, 0)
    box = course.locator(".lesson .pad").bounding_box()
    assert box
    for jump in range(6):
        x = box["x"] + box["width"] * (jump + 0.5) / 6
        course.mouse.move(x - 4, box["y"] + box["height"] * 2 / 3)
        course.mouse.down()
        course.mouse.move(x, box["y"] + 5, steps=2)
        course.mouse.move(x + 4, box["y"] + box["height"] * 2 / 3, steps=2)
        course.mouse.up()
    press(course, "Check my prediction")
    expect(course.locator(".verdict")).to_contain_text("Look again in 6 places")


def test_the_code_can_be_copied(course: Page) -> None:
    course.context.grant_permissions(["clipboard-read", "clipboard-write"])
    turn_to(course, LESSONS["clamp"])
    press(course, "Skip")
    press(course, "Copy")
    expect(course.get_by_role("button", name="Copied", exact=True)).to_be_visible()
    assert course.evaluate("navigator.clipboard.readText()") == LESSONS["clamp"].source
    course.context.clear_permissions()


SCROLLED = """() => {
    let at = document.querySelector(".lesson .title");
    while (at && !(at.scrollHeight > at.clientHeight && /auto|scroll/.test(getComputedStyle(at).overflowY)))
        at = at.parentElement;
    return (at ?? document.scrollingElement).scrollTop;
}"""


# How far it is scrolled, once that has been the same for a few frames.
AT_REST = f"""async () => {{
    let [last, same] = [-1, 0];
    while (same < 10) {{
        await new Promise(requestAnimationFrame);
        const now = ({SCROLLED})();
        [last, same] = [now, now === last ? same + 1 : 0];
    }}
    return last;
}}"""


@pytest.mark.parametrize("presenting", [False, True], ids=["page", "stage"])
def test_keys_scroll_after_the_answer(course: Page, presenting: bool) -> None:
    """On a stage Page Down is a clicker's key, which goes on."""
    course.set_viewport_size({"width": 1280, "height": 720})
    turn_to(course, LESSONS["clamp"])
    present(course, presenting)
    course.get_by_role("radio").last.check()
    press(course, "Check my prediction")
    until_shown(course, LESSONS["clamp"])
    for key in ("ArrowDown", "Space", *([] if presenting else ["PageDown"]), "End"):
        if key == "End":
            course.keyboard.press("ArrowUp")  # a short lesson is at its end already
        before = course.evaluate(AT_REST)
        course.keyboard.press(key)
        course.wait_for_function(f"before => ({SCROLLED})() > before", arg=before)
    expect(course.get_by_role("heading", level=2, name=LESSONS["clamp"].title)).to_be_attached()


CODE_BELOW = """panel => panel.getBoundingClientRect().bottom
    <= panel.getRootNode().querySelector(".code").getBoundingClientRect().top"""


@pytest.mark.parametrize("size", [(1024, 768), (1440, 900)])
def test_where_a_parameter_comes_to_rest_opens_above_the_code(course: Page, size: tuple[int, int]) -> None:
    course.set_viewport_size({"width": size[0], "height": size[1]})
    turn_to(course, LESSONS["learned-step"])
    press(course, "Skip")
    press(course, "Where does s come to rest?")
    panel = course.locator(".resting")
    expect(panel.locator(".rest-words li").first).to_be_visible()
    course.wait_for_function(CODE_BELOW, arg=panel.element_handle())


@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_the_course_is_printed_a_page_a_lesson(page: Page, paper: str):
    page.goto("/learn")
    link = page.get_by_role("link", name="Print the course")
    expect(link).to_have_attribute("href", re.compile("sheet$"))
    page.goto("/sheet")
    expect(page.get_by_role("heading", name="Key")).to_be_attached(timeout=COMPUTED_MS)
    for place in page.locator(".page").all():
        assert place.evaluate("page => page.scrollWidth <= page.clientWidth")
    printed = page.pdf(format=paper, prefer_css_page_size=True)
    pages = len(re.findall(rb"/Type\s*/Page\b", printed))
    assert len(LESSONS) < pages <= len(LESSONS) + 3, "the key takes up to three"


def test_a_step_is_done_by_hand(course: Page) -> None:
    turn_to(course, LESSONS["by-hand"])
    press(course, "Skip")
    step = course.get_by_role("region", name="One step by hand")
    said = step.get_by_role("status")
    product = step.get_by_role("table", name="gradient of w1 = inputsᵀ @ gradient of x")
    found = masked()

    def field(row: int, column: int) -> Locator:
        return step.get_by_role("textbox", name=f"gradient of x, example {row + 1}, unit {column + 1}")

    field(0, 0).fill("-0.5")
    field(0, 0).press("Tab")
    expect(said).to_have_text("Not yet. At example 1, unit 1: x = 1.1, g = -0.5.")
    field(0, 0).fill("nothing")
    field(0, 0).press("Tab")
    expect(said).to_have_text("“nothing” is not a finite number: write it as 2.5, 1/3, pi/2 or 1e-3.")
    for row, values in enumerate(found["gradient"]):
        for column, value in enumerate(values):
            expect(product).to_have_count(0)
            field(row, column).fill(f"{value}")
            field(row, column).press("Tab")
    expect(said).to_contain_text("All are right")
    expect(product.locator("td")).to_have_text([f"{value:g}" for row in found["w1_grad"] for value in row])
    step.get_by_role("combobox", name="Rule of the step").select_option("Straight-through")
    expect(product).to_have_count(0)
    step.get_by_role("button", name="Show them").click()
    expect(field(0, 0)).to_have_value("-0.5")
    expect(product).to_be_visible()


def test_the_recipe_is_put_in_order(course: Page) -> None:
    turn_to(course, LESSONS["recipe"])
    press(course, "Skip")
    recipe = course.get_by_role("region", name="The recipe, out of order")
    items, said = recipe.get_by_role("listitem"), recipe.get_by_role("status")
    first = [text.replace("`", "")[:20] for text, _ in steps().steps]
    recipe.get_by_role("button", name="Check the order").click()
    expect(said).to_have_text(f"Not yet at 1: another step stands there. {steps().steps[0][1]}")
    for start in first[::-1]:  # each to the top, the first one last
        earlier = recipe.get_by_role("button", name=f"Earlier: {start}")
        for _ in first:
            earlier.press("Enter")
            expect(earlier).to_be_focused()
    expect(items).to_contain_text(first)
    expect(said).to_be_empty()
    recipe.get_by_role("button", name="Check the order").click()
    expect(said).to_have_text("That is the order.")


def test_the_slope_at_the_corner_is_dragged(course: Page) -> None:
    turn_to(course, LESSONS["relu"])
    press(course, "Skip")
    corner = course.get_by_role("region", name="The gradient at the corner")
    said, field = corner.get_by_role("status"), corner.get_by_role("slider", name="Gradient at x = 0")
    expect(said).to_contain_text("0.5 is a subgradient, as right as any other")
    field.fill("1")
    expect(said).to_have_text("1 is a subgradient: the choice of MyReLU.")
    picture = corner.locator("svg")
    picture.scroll_into_view_if_needed()
    box = picture.bounding_box()
    assert box
    course.mouse.move(box["x"] + 0.9 * box["width"], box["y"] + 0.4 * box["height"])
    course.mouse.down()
    course.mouse.move(box["x"] + 0.9 * box["width"], box["y"] + 0.02 * box["height"], steps=3)
    course.mouse.up()
    expect(said).to_contain_text("is no subgradient: right of the corner")
    field.press("Home")
    expect(said).to_contain_text("is no subgradient: left of the corner")


def test_the_faulty_line_of_a_hidden_function_is_named(course: Page) -> None:
    turn_to(course, LESSONS["find-the-bug"])
    press(course, "Skip")
    hidden = course.get_by_role("region", name="Hidden Function: the second")
    said, name = hidden.get_by_role("status"), hidden.get_by_role("button", name="Name this line")
    expect(hidden.get_by_role("row", name="g = -1")).to_contain_text("0 2 0".replace(" ", ""))
    assert "abs" not in hidden.inner_text()
    name.click()
    expect(said).to_have_text("Pick a line first.")
    hidden.get_by_role("radio", name="slope = 2.0 * inside").check()
    name.click()
    expect(said).to_contain_text("It is not this one.")
    hidden.get_by_role("radio", name="return g * slope").check()
    expect(said).to_be_empty()
    name.click()
    expect(said).to_have_text("Yes: there stands return g.abs() * slope.")
