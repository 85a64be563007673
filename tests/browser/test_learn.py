"""Every lesson in a real browser: predict, reveal, change, open in Explore; on a stage and in a frame."""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from explorer.catalogue import find_rule
from explorer.curves import sample_curves
from explorer.lessons import GLOSSARY, LESSONS, Choice, Drawing, Lesson, Link
from explorer.ui import link
from tests.browser.conftest import Open
from tests.browser.modules import modules_page, run
from tests.browser.reading import settle, settle_train

EACH = pytest.mark.parametrize("lesson", LESSONS.values(), ids=list(LESSONS))
DRAWN = [lesson for lesson in LESSONS.values() if isinstance(lesson.prediction, Drawing)]
EACH_DRAWN = pytest.mark.parametrize("lesson", DRAWN, ids=lambda lesson: lesson.key)
FONT = re.compile(r"GET \S+/static/media/\S+ None")
MARKUP = re.compile(r"`|\*|\[([^\]]+)\]\(\w+\)")
COMPUTED_MS = 60_000  # the first visitor of a lesson waits for its numbers
CURVES = '(document.querySelector(".watch .js-plotly-plot")?._fullData ?? []).filter(trace => trace.meta)'
# Each text that is seen in letters below 24 px or in raised ones; what is drawn by Plotly included.
SMALL = """() => {
    const found = [];
    const walker = document.createTreeWalker(document.querySelector(".lesson"), NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const { parentElement: at, textContent: text } = walker.currentNode;
        const { width, height } = at.getBoundingClientRect();
        const options = { checkVisibility: true, visibilityProperty: true };
        if (!text.trim() || !width || !height || !at.checkVisibility(options)) continue;
        const size = parseFloat(getComputedStyle(at).fontSize);
        const raised = at.matches("svg *") && /[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]/.test(text);
        if (size < 24 || raised) found.push(`${text} ${size}`);
    }
    for (const field of document.querySelectorAll(".lesson :is(input, select, textarea)")) {
        const size = parseFloat(getComputedStyle(field).fontSize);
        if (field.checkVisibility() && size < 24) found.push(`${field.ariaLabel} ${size}`);
    }
    return found;
}"""


def open_lesson(page: Page, key: str, more: str = "") -> None:
    page.goto(f"/learn?lesson={key}{more}")
    expect(page.get_by_role("heading", level=2, name=LESSONS[key].title)).to_be_visible(timeout=COMPUTED_MS)


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def small_texts(page: Page) -> list[str]:
    """What the last row cannot read."""
    return page.evaluate(SMALL)


def choice_of(address: str) -> link.Choice:
    """What a link opens; there is nothing in it that cannot be had."""
    choice, notices = link.from_query(parse_qs(urlsplit(address).query))
    assert notices == []
    return choice


def plain(words: str) -> str:
    return " ".join(MARKUP.sub(r"\1", words).split())


def until_shown(page: Page, lesson: Lesson) -> None:
    """Wait for the answer's curves, as torch has confirmed them."""
    keys = ["forward", *choice_of(f"/?{lesson.scenes[0].query}").rules]
    page.wait_for_function(
        f"keys => JSON.stringify({CURVES}.map(t => t.meta)) === JSON.stringify(keys)", arg=keys
    )
    expect(page.get_by_text("Confirmed by torch")).to_be_visible()


@pytest.fixture
def sent(page: Page) -> list[str]:
    """What the page has sent since the list was cleared: requests, and messages to the server's script."""
    told: list[str] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda _: told.append("a message")))
    page.on("request", lambda request: told.append(f"{request.method} {request.url} {request.post_data}"))
    return told


def until_at_rest(page: Page) -> None:
    """Wait until the server's script has said what it says by itself."""
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")


def said_of(lesson: Lesson, sent: list[str]) -> list[str]:
    """What was sent beside fonts and the question for torch's curves, the same whoever has answered what."""
    asked = choice_of(f"/?{lesson.scenes[0].query}")
    scene = [part for part in sent if "/confirm?" in part and choice_of(part.split()[1]) == asked]
    return [part for part in sent if part not in scene and not FONT.fullmatch(part)]


@EACH
def test_a_lesson_from_the_prediction_to_explore(page: Page, lesson: Lesson, sent: list[str]) -> None:
    open_lesson(page, lesson.key)
    expect(page.get_by_text(plain(lesson.question))).to_be_visible()
    said = page.inner_text("body")
    assert plain(lesson.remember) not in said, "the link gives the answer away"
    assert page.locator(".lesson pre, .lesson .card, .lesson .links").count() == 0
    assert page.evaluate(f"{CURVES}.filter(t => t.meta !== 'forward' && t.visible !== false).length") == 0

    until_at_rest(page)
    sent.clear()
    page.get_by_role("radio").last.focus()  # by keyboard alone
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    until_shown(page, lesson)
    assert said_of(lesson, sent) == [], "nothing that is answered leaves the browser"
    told = page.request.get(f"/lesson?key={lesson.key}").json()
    assert plain(told["words"]) in plain(page.inner_text(".lesson .text"))
    expect(page.get_by_text(plain(lesson.remember))).to_be_visible()
    assert page.locator(".lesson pre").text_content() == "".join(text for _, text in told["code"])
    verdict = page.locator(".verdict").inner_text()
    if isinstance(lesson.prediction, Choice):
        assert told["prediction"]["answer"] in verdict
    else:
        assert verdict.startswith(("Yes", "Not quite"))

    enter_g(page, "-0.5")
    opening = page.get_by_role("link", name="Open in Explore").first
    expect(opening).to_have_attribute("href", re.compile("g=-0.5"))
    asked = choice_of(opening.get_attribute("href") or "")
    assert asked == replace(choice_of(f"/?{lesson.scenes[0].query}"), g=-0.5)
    opening.click()
    settle(page, shows=asked.rules)
    assert urlsplit(page.url).path == "/"
    assert choice_of(page.url) == asked
    expect(page.get_by_label("Upstream gradient g", exact=True).last).to_have_value("-0.5")


def enter_g(page: Page, text: str) -> None:
    field = page.get_by_role("spinbutton", name="Upstream gradient g")
    field.fill(text)
    field.press("Enter")


def draw(page: Page, level: float) -> None:
    """Draw a level line over the whole width of the lower panel."""
    box = page.locator(".lesson .pad").bounding_box()
    low, high = page.evaluate('document.querySelector(".js-plotly-plot")._fullLayout.yaxis2.range')
    assert box
    y = box["y"] + box["height"] * (high - level) / (high - low)
    page.mouse.move(box["x"] + 1, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, y, steps=4)
    page.mouse.move(box["x"] + box["width"] - 1, y, steps=4)
    page.mouse.up()


def mean_distance(lesson: Lesson, level: float) -> float:
    """Of a level line from the gradient that is asked for, as torch has it."""
    assert isinstance(lesson.prediction, Drawing)
    asked = choice_of(f"/?{lesson.scenes[0].query}")
    start, stop = asked.range
    curves = sample_curves(asked.op, lesson.prediction.rule, start=start, stop=stop, points=601)
    return float(np.abs(curves.gradients[lesson.prediction.rule] - level).mean())


@EACH_DRAWN
@pytest.mark.parametrize("level", [0, 1])
def test_a_gradient_is_drawn_and_torchs_curve_over_it(
    page: Page, lesson: Lesson, level: int, sent: list[str]
) -> None:
    open_lesson(page, lesson.key)
    page.wait_for_function("document.querySelector('.pad')?.clientHeight > 50")
    until_at_rest(page)
    sent.clear()
    draw(page, level)
    assert sent == [], "nothing that is drawn leaves the browser"
    before = page.locator(".drawn").get_attribute("d") or ""
    assert before.count("L") > 250
    press(page, "Check my prediction")
    until_shown(page, lesson)
    assert said_of(lesson, sent) == []
    words = page.locator(".verdict").inner_text()
    mean = mean_distance(lesson, level)
    if mean:
        apart = re.match(r"Not quite: on average (\S+) from", words)
        assert apart, words
        assert float(apart[1]) == pytest.approx(mean, abs=0.03)
    else:
        assert words.startswith("Yes, as well as a hand draws")
    if lesson.prediction.at is not None:
        assert f"At x = {lesson.prediction.at:g} you expect" in words
    assert (page.locator(".drawn").get_attribute("d") or "").count("L") == before.count("L")
    assert page.locator(".pad").count() == 0


@EACH_DRAWN
def test_a_drawing_stays_on_its_axes(page: Page, lesson: Lesson) -> None:
    open_lesson(page, lesson.key)
    page.wait_for_function("document.querySelector('.pad')?.clientHeight > 50")
    draw(page, 1)
    press(page, "Skip")
    until_shown(page, lesson)
    enter_g(page, "2")
    page.wait_for_timeout(400)
    panel = page.evaluate(
        """() => {
            const { yaxis2 } = document.querySelector(".js-plotly-plot")._fullLayout;
            const [low, high] = yaxis2.range;
            const y = Number(document.querySelector(".drawn").getAttribute("d").match(/,([-\\d.]+)/)[1]);
            return high - ((y - yaxis2._offset) / yaxis2._length) * (high - low);
        }"""
    )
    assert panel == pytest.approx(1, abs=0.05)


def test_the_list_leads_to_every_lesson_and_back(page: Page) -> None:
    page.goto("/learn")
    entries = page.locator(".contents a")
    expect(entries).to_have_count(len(LESSONS), timeout=30_000)
    first, second = list(LESSONS.values())[:2]
    entries.first.click()
    expect(page.get_by_role("heading", level=2, name=first.title)).to_be_visible(timeout=COMPUTED_MS)
    assert page.url.endswith(f"/learn?lesson={first.key}")
    page.get_by_role("link", name=f"Lesson 2: {second.title}").click()
    expect(page.get_by_role("heading", level=2, name=second.title)).to_be_visible(timeout=COMPUTED_MS)
    page.go_back()
    expect(page.get_by_role("heading", level=2, name=first.title)).to_be_visible(timeout=COMPUTED_MS)
    page.go_back()
    expect(entries).to_have_count(len(LESSONS))


def test_an_unknown_lesson_is_named_and_the_list_is_there(page: Page) -> None:
    page.goto("/learn?lesson=%3Cb%3E")
    expect(page.get_by_role("alert")).to_have_text(
        "There is no such lesson: choose one of the list.", timeout=30_000
    )
    expect(page.locator(".contents a")).to_have_count(len(LESSONS))
    assert "Not everything in the link" not in page.inner_text("body")


def test_an_answer_that_is_none_can_be_asked_for_again(page: Page) -> None:
    page.route("**/lesson?**", lambda route: route.fulfill(body="not JSON"))
    page.goto("/learn?lesson=clamp")
    expect(page.get_by_role("alert")).to_have_text("The server does not answer.", timeout=30_000)
    page.unroute("**/lesson?**")
    press(page, "Try again")
    expect(page.get_by_role("heading", level=2, name=LESSONS["clamp"].title)).to_be_visible(
        timeout=COMPUTED_MS
    )


def test_a_term_opens_the_glossary_at_its_entry(page: Page) -> None:
    open_lesson(page, "clamp")
    press(page, "Skip")
    page.get_by_role("button", name="mask", exact=True).click()
    glossary = page.get_by_role("dialog", name="Glossary")
    expect(glossary).to_be_visible()
    expect(glossary.locator(".asked")).to_contain_text(GLOSSARY["mask"])
    page.keyboard.press("Escape")
    expect(glossary).to_be_hidden()


@EACH
def test_on_a_stage_nothing_is_small(page: Page, lesson: Lesson) -> None:
    open_lesson(page, lesson.key, "&present=1")
    assert small_texts(page) == []
    press(page, "Skip")
    until_shown(page, lesson)
    for button in page.get_by_role("button", name="Train it here").all():
        button.click()
        net = page.get_by_role("region", name="The net, live")
        net.get_by_role("button", name="Start", exact=True).click()
        many = re.compile(r"Step ([4-9]\d|\d{3}) / 500")
        expect(net.get_by_text(many)).to_be_visible(timeout=COMPUTED_MS)  # of several decades
        expect(net.locator(".norms .ytick")).not_to_have_count(0)
        expect(net.locator(".preactivations .bars")).not_to_have_count(0)
    assert small_texts(page) == []
    assert page.locator(".lesson").evaluate("one => one.getBoundingClientRect().top") == 0
    assert page.evaluate("document.elementFromPoint(100, 20).closest('.lesson') !== null"), (
        "no bar of the page"
    )


def test_keys_on_a_stage(page: Page) -> None:
    first, second, *_ = LESSONS.values()
    open_lesson(page, first.key)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("p")
    expect(page.locator(".lesson.presenting")).to_be_visible()
    assert page.url.endswith(f"lesson={first.key}&present=1")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("heading", level=2, name=second.title)).to_be_visible(timeout=COMPUTED_MS)
    press(page, "Skip")
    expect(page.get_by_role("link", name="Open in Train")).to_have_attribute("href", re.compile("pace=10$"))
    page.keyboard.press("PageUp")
    expect(page.get_by_role("heading", level=2, name=first.title)).to_be_visible(timeout=COMPUTED_MS)
    page.get_by_role("radio").first.focus()
    page.keyboard.press("ArrowRight")  # belongs to the answers
    expect(page.get_by_role("radio").nth(1)).to_be_checked()
    expect(page.get_by_role("heading", level=2, name=first.title)).to_be_visible(timeout=COMPUTED_MS)
    page.get_by_role("heading", level=2).focus()
    page.keyboard.press("Escape")
    expect(page.locator(".lesson.presenting")).to_have_count(0)
    assert page.url.endswith(f"lesson={first.key}")


def test_a_frame_holds_the_lesson_alone(page: Page) -> None:
    open_lesson(page, "clamp", "&embed=true")
    expect(page.get_by_role("button", name="Skip")).to_be_visible()
    for name in ("Copy link", "Present (p)", "Glossary"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)
    expect(page.get_by_role("link", name="Train", exact=True)).to_have_count(0)
    press(page, "Skip")
    expect(page.get_by_role("link", name="Open in Explore")).to_have_attribute("target", "_blank")


def test_a_frame_holds_the_chart_alone(page: Page) -> None:
    page.goto("/?op=sign&rule=clipped&embed=true")
    settle(page, shows=["clipped"])
    expect(page.get_by_role("button", name="Copy link")).to_have_count(0)
    expect(page.get_by_role("group", name="Sections")).to_be_hidden()
    assert "embed=true" in page.url


def test_a_net_trains_in_its_lesson(page: Page) -> None:
    open_lesson(page, "vanishing")
    press(page, "Skip")
    press(page, "Train it here")
    net = page.get_by_role("region", name="The net, live")
    expect(net.get_by_role("group", name="Quantise")).to_be_visible()
    net.get_by_role("button", name="Start", exact=True).click()
    expect(net.get_by_text(re.compile("Finished after 500 steps"))).to_be_visible(timeout=40_000)
    opening = page.get_by_role("link", name="Open in Train")
    expect(opening).to_have_attribute("href", re.compile("/train.op=quantize"))


def test_a_lesson_on_a_phone(new_page: Open) -> None:
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True)
    open_lesson(page, "vanishing")
    page.wait_for_function("document.querySelector('.pad')?.clientHeight > 50")
    draw(page, 0)
    press(page, "Check my prediction")
    until_shown(page, LESSONS["vanishing"])
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(page.locator(".verdict")).to_contain_text("Yes")


GRID = [-2 + 4 * place / 40 for place in range(41)]
DISTANCE = """
    const { distanceOf, distanceWords } = await import("./lesson-distance.js");
    const values = new Map(given.x.map((x, place) => [x, given.guess[place] ?? NaN]));
    const truth = { x: given.x, y: given.truth, marks: given.x.map(() => 0) };
    const distance = distanceOf((x) => values.get(x), truth);
    return distance && { ...distance, words: distanceWords(distance, "torch's own gradient") };
"""


@pytest.mark.parametrize(
    ("guess", "mean", "words"),
    [
        (lambda x: x**2, 0, "Yes, exactly: this is torch's own gradient."),
        (
            lambda x: x**2 + 0.1,
            0.1,
            "Yes, as well as a hand draws: on average 0.1 from torch's own gradient.",
        ),
        (lambda x: x**2 - 2, 2, "Not quite: on average 2 from torch's own gradient. Farthest at x = "),
        (
            lambda x: x**2 if x <= 0 else None,
            0,
            "Yes, exactly: this is torch's own gradient. You drew 51 %",
        ),
        (lambda x: None, None, None),
    ],
)
def test_the_distance_in_words(chromium: Browser, guess, mean, words) -> None:
    given = {"x": GRID, "truth": [x**2 for x in GRID], "guess": [guess(x) for x in GRID]}
    with modules_page(chromium) as page:
        found = run(page, DISTANCE, given)
    if mean is None:
        assert found is None
    else:
        assert found["mean"] == pytest.approx(mean)
        assert found["words"].startswith(words)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (lambda x: 1, "1 everywhere"),
        (lambda x: x >= 0, "0 until x = 0, then 1"),
        (lambda x: abs(x) <= 1, "0 until x = −1, 1 until x = 1, then 0"),
        (
            lambda x: max(0, 2 - 2 * abs(x)),
            "0 until x = −1, rises to 2 until x = 0, falls to 0 until x = 1, then 0",
        ),
        (lambda x: x, "rises to 2"),
        (lambda x: np.sin(9 * x), "up and down between −1 and 1"),
    ],
)
def test_a_picture_in_words(chromium: Browser, y, words: str) -> None:
    x = np.linspace(-2, 2, 601)
    given = {"x": x.tolist(), "y": [float(y(at)) for at in x]}
    body = 'return (await import("./lesson-shape.js")).shapeWords(given.x, given.y);'
    with modules_page(chromium) as page:
        assert run(page, body, given) == words


def test_the_value_at_a_corner_in_words(chromium: Browser) -> None:
    body = """
        const { pointWords } = await import("./lesson-distance.js");
        const rules = [{ label: "torch", value: 0 }, { label: "MyReLU", value: 1 }];
        return [pointWords(0, 0.52, rules), pointWords(0, NaN, rules)];
    """
    with modules_page(chromium) as page:
        assert run(page, body, None) == [
            "At x = 0 you expect 0.52: torch returns 0, MyReLU returns 1.",
            "At x = 0 torch returns 0, MyReLU returns 1.",
        ]


TRAINED = [
    (lesson, scene) for lesson in LESSONS.values() for scene in lesson.scenes if scene.path == "/train"
]


@pytest.mark.parametrize(("lesson", "scene"), TRAINED, ids=[lesson.key for lesson, _ in TRAINED])
def test_a_lesson_opens_its_training_in_its_state(page: Page, lesson: Lesson, scene: Link) -> None:
    open_lesson(page, lesson.key)
    press(page, "Skip")
    page.get_by_role("link", name="Open in Train").click()
    settle_train(page)
    assert urlsplit(page.url).path == "/train"
    assert choice_of(page.url) == choice_of(f"/train?{scene.query}")
    for rule in choice_of(page.url).rules:
        expect(page.get_by_role("group", name=find_rule(rule).label, exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_enabled()
    expect(page.locator(".training .status")).to_contain_text("Start")
