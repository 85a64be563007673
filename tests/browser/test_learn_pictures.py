"""Pictures of lessons in a real browser, by hand and by keyboard, and the colours of code and curves.

What each picture says, and the walker's numbers, tests/frontend/learn/pictures asks without a page.
"""

from playwright.sync_api import Locator, Page, expect

from explorer.lessons import LESSONS
from explorer.lessons.stories import by_hand, recipe, unbiased_or_quiet
from tests.browser.lessons import turn_to
from tests.browser.reading import box_of, enter
from tests.browser.training import press

COUNTED_MS = 20_000  # all runs of all estimators on a busy machine


def open_picture(course: Page, key: str, name: str) -> Locator:
    """Return a picture of a lesson whose answer is shown."""
    turn_to(course, LESSONS[key])
    press(course, "Skip")
    return course.get_by_role("region", name=name)


def test_one_step_can_be_computed_by_hand(course: Page) -> None:
    turn_to(course, LESSONS["by-hand"])
    press(course, "Skip")
    press(course, "Do one step by hand")
    step = course.get_by_role("region", name="One step by hand")
    expect(step.get_by_role("combobox")).to_be_visible()
    said = step.get_by_role("status")
    product = step.get_by_role("table", name="gradient of w1 = inputsᵀ @ gradient of x")
    found = by_hand.take_masked_step()

    def field(row: int, column: int) -> Locator:
        return step.get_by_role("textbox", name=f"gradient of x, example {row + 1}, unit {column + 1}")

    enter(field(0, 0), "-0.5")
    expect(said).to_have_text("Not yet. At example 1, unit 1: x = 1.1, g = -0.5.")
    enter(field(0, 0), "nothing")
    expect(said).to_have_text("“nothing” is not a finite number: write it as 2.5, 1/3, pi/2 or 1e-3.")
    for row, values in enumerate(found["gradient"]):
        for column, value in enumerate(values):
            expect(product).to_have_count(0)
            enter(field(row, column), f"{value}")
    expect(said).to_contain_text("All are right")
    expect(product.locator("td")).to_have_text([f"{value:g}" for row in found["w1_grad"] for value in row])
    step.get_by_role("combobox", name="Rule of the step").select_option("Straight-through")
    expect(product).to_have_count(0)
    step.get_by_role("button", name="Show them").click()
    expect(field(0, 0)).to_have_value("-0.5")
    expect(product).to_be_visible()


def test_the_steps_of_the_recipe_can_be_put_in_order(course: Page) -> None:
    turn_to(course, LESSONS["recipe"])
    press(course, "Skip")
    press(course, "Put the steps in order")
    order = course.get_by_role("region", name="The recipe, out of order")
    items, said = order.get_by_role("listitem"), order.get_by_role("status")
    first = [text.replace("`", "")[:20] for text, _ in recipe.make_order().steps]
    order.get_by_role("button", name="Check the order").click()
    expect(said).to_have_text(f"Not yet at 1: another step belongs there. {recipe.make_order().steps[0][1]}")
    for start in first[::-1]:  # each to the top, the first one last
        earlier = order.get_by_role("button", name=f"Earlier: {start}")
        for _ in first:
            earlier.press("Enter")
            expect(earlier).to_be_focused()
    expect(items).to_contain_text(first)
    expect(said).to_be_empty()
    order.get_by_role("button", name="Check the order").click()
    expect(said).to_have_text("That is the order.")


def test_the_gradient_at_the_corner_can_be_dragged(course: Page) -> None:
    corner = open_picture(course, "relu", "The gradient at the corner")
    said, field = corner.get_by_role("status"), corner.get_by_role("slider", name="Gradient at x = 0")
    expect(said).to_contain_text("0.5 is a subgradient, as right as any other")
    field.fill("1")
    expect(said).to_have_text("1 is a subgradient: the choice of MyReLU.")
    drag(course, corner.locator("svg"), (0.9, 0.4), (0.9, 0.02))
    expect(said).to_contain_text("is not a subgradient: right of the corner")
    field.press("Home")
    expect(said).to_contain_text("is not a subgradient: left of the corner")


def drag(page: Page, picture: Locator, start: tuple[float, float], to: tuple[float, float]) -> None:
    """Drag from one place of a picture to another, given as shares of its width and height."""
    picture.scroll_into_view_if_needed()
    box = box_of(picture)
    ((x, y), (x_to, y_to)) = (
        (box["x"] + across * box["width"], box["y"] + down * box["height"]) for across, down in (start, to)
    )
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move((x + x_to) / 2, (y + y_to) / 2, steps=3)
    page.mouse.move(x_to, y_to, steps=3)
    page.mouse.up()


def walker_of(page: Page) -> Locator:
    """Return the walker, its runs counted."""
    walker = open_picture(page, "unbiased-or-quiet", "The walker")
    questions = page.locator(".asked")
    for index in (1, 1):
        expect(walker).to_have_count(0)
        questions.last.get_by_role("radio").nth(index).check()
        questions.last.get_by_role("button", name="Check").click()
        expect(questions.get_by_role("status").filter(has_text="Yes.")).not_to_have_count(0)
    expect(walker.locator(".estimators td:last-child").last).to_have_text("0.0", timeout=COUNTED_MS)
    return walker


def p_of(walker: Locator) -> Locator:
    return walker.get_by_role("spinbutton", name="p", exact=True)


def test_the_walker_counts_its_runs_and_can_be_moved(course: Page) -> None:
    walker = walker_of(course)
    expect(walker.locator(".walker-end")).to_have_text(
        "After 150 steps 795 of 2,000 runs are above p = 0.5, 1,205 below."
    )
    assert walker.locator(".run").count() == unbiased_or_quiet.make_walker().drawn
    here, slider = walker.locator(".walker-here"), walker.get_by_role("slider", name="p where")
    expect(here).to_contain_text("the wrong way")
    first_share = walker.locator(".estimators td:last-child").first
    share_before = first_share.inner_text()
    assert walker.locator(".walker-loss").evaluate("one => getComputedStyle(one).touchAction") == "pan-y"
    drag(course, walker.locator(".walker-loss"), (0.2, 0.5), (0.8, 0.5))
    expect(here).not_to_contain_text("the wrong way")
    expect(here).to_contain_text("comes to rest at p = 0.45")
    assert 0.7 < float(p_of(walker).input_value()) < 0.9
    expect(first_share).not_to_have_text(share_before)
    slider.press("End")
    expect(p_of(walker)).to_have_value("0.99")
    slider.press("ArrowLeft")
    expect(p_of(walker)).to_have_value("0.989")
    enter(p_of(walker), "2")
    expect(walker.get_by_role("alert").filter(has_text="2 is not allowed here")).to_be_visible()
    enter(p_of(walker), "0.2")
    expect(here).to_contain_text("the wrong way")


def test_a_focus_ring_is_drawn_only_after_a_key(course: Page) -> None:
    turn_to(course, LESSONS["clamp"])
    title = course.get_by_role("heading", level=2)
    expect(title).to_be_focused()
    ring = "one => getComputedStyle(one).outlineStyle"
    assert title.evaluate(ring) == "none"
    course.keyboard.press("Tab")
    assert course.locator(":focus").evaluate(ring) == "solid"
