"""The printed course: a page for each lesson, and a key."""

import re

from playwright.sync_api import Page, Route, expect

from explorer.lessons import LESSONS
from tests.browser.lessons import COMPUTED_MS, strip_markup
from tests.selection import take_part

# The curves in both panels of a picture.
CURVES = """image => {
    const text = decodeURIComponent(image.src.slice(image.src.indexOf(",") + 1));
    const svg = new DOMParser().parseFromString(text, "image/svg+xml");
    const paths = panel => [...svg.querySelectorAll(`.${panel} .trace path`)];
    return ["xy", "xy2"].map(panel => paths(panel).filter(path => path.getAttribute("d")).length);
}"""


def test_the_printed_course_has_a_page_per_lesson_and_a_key(page: Page) -> None:
    """A part of the lessons is computed; the page is told of the others that they come later."""
    some = take_part(LESSONS)
    served = {key: page.request.post("/ask/lesson", data={"key": key}).json() for key in some}

    def answer_part(route: Route) -> None:
        route.fulfill(json=served.get(route.request.post_data_json["key"], {"message": "Later."}))

    page.route("**/ask/lesson*", answer_part)
    page.goto("/learn")
    page.get_by_role("link", name="Print the course").click()
    expect(page.get_by_text("Print this page")).to_be_visible(timeout=COMPUTED_MS)
    sheets, solutions = page.locator(".sheet .page"), page.locator(".sheet .key li")
    assert (sheets.count(), solutions.count()) == (len(some), len(some))
    untold = page.locator(".sheet [role=alert]")
    later = [f"{lesson.title}: Later." for key, lesson in LESSONS.items() if key not in some]
    expect(untold).to_have_text(later)
    for index, key in enumerate(some):
        data = served[key]
        sheet, solution = sheets.nth(index), solutions.nth(index)
        assert sheet.evaluate("sheet => sheet.scrollWidth <= sheet.clientWidth")
        words, solved = (strip_markup(part.text_content() or "") for part in (sheet, solution))
        asked = data["prediction"]
        for text in (data["title"], data["question"], asked["ask"], data["remember"]):
            assert strip_markup(text) in words
        given = [] if "rule" in asked else [strip_markup(answer["text"]) for answer in asked["answers"]]
        listed = sheet.locator("li").all_text_contents()
        assert all(text in strip_markup(each) for text, each in zip(given, listed, strict=True))
        right = asked["answers"][asked["right"]]
        assert strip_markup(right["why"]) in solved
        assert strip_markup(right["why"]) not in words
        op, gradient = sheet.locator("img").evaluate(CURVES)
        assert op > 0
        assert gradient == 0, "the axes to draw on are empty"
        keyed = solution.locator("img").evaluate_all(f"images => images.map({CURVES})")
        assert [gradient > 0 for _, gradient in keyed] == [True] * bool(right["picture"])
    untold.evaluate_all("untold => untold.forEach((each) => each.remove())")
    printed = page.pdf(format="A4", prefer_css_page_size=True)
    pages = len(re.findall(rb"/Type\s*/Page\b", printed))
    assert pages == len(some) + -(-len(some) // 8), "a page of the key holds eight lessons"
    page.get_by_role("link", name="All lessons").click()
    expect(page.get_by_role("link", name="Print the course")).to_be_visible()
    page.goto("/sheet")  # as older links have it
    expect(page).to_have_url(re.compile(r"/learn\?print=course$"))
