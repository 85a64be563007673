"""The course on paper: everything to predict on each page, nothing given away, and a key that holds."""

import html
import re
from html.parser import HTMLParser
from string import ascii_uppercase

import numpy as np
import pytest

from explorer.lessons import LESSONS
from explorer.ui.server import answers
from explorer.ui.server.sheet import _panel, _span, _ticks, sheet

PAGES = re.compile(r'<article class="page">.*?</article>', re.DOTALL)
KEY = re.compile(r"<li value=.*?</li>", re.DOTALL)
EACH = pytest.mark.parametrize("index", range(len(LESSONS)), ids=list(LESSONS))


@pytest.fixture(scope="module")
def paper() -> str:
    return sheet()


def plain(part: str) -> str:
    """The text of some HTML on one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", part)).split())


def marked(text: str) -> str:
    """A lesson's Markdown as text."""
    code = text.split("`")
    code[::2] = [re.sub(r"\*|\[([^\]]+)\]\(\w+\)", r"\1", part) for part in code[::2]]
    return " ".join("".join(code).split())


class _Open(HTMLParser):
    """The elements that are open, by name."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in ("meta", "hr", "line", "polyline", "polygon", "circle"):
            self.names.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("line", "polyline", "polygon", "circle"):
            assert self.names.pop() == tag


def test_every_element_is_closed_and_nothing_is_fetched(paper: str) -> None:
    parser = _Open()
    parser.feed(paper)
    assert parser.names == []
    assert not re.search(r"<script|src=|url\(|<link", paper)


@EACH
def test_a_page_has_all_that_is_asked_and_not_the_answer(paper: str, index: int) -> None:
    lesson = answers.lesson([*LESSONS][index])
    pages = PAGES.findall(paper)
    assert len(pages) == len(LESSONS)
    page, prediction = pages[index], lesson["prediction"]
    said = plain(page)
    for text in (lesson["title"], lesson["question"], prediction["ask"], lesson["remember"]):
        assert marked(text) in said
    if "rule" not in prediction:
        texts = [marked(answer["text"]) for answer in prediction["answers"]]
        assert [plain(each) for each in re.findall(r"<li>(.*?)</li>", page)] == texts
    if lesson["excerpt"]:
        (code,) = re.findall(r"<pre>(.*?)</pre>", page, re.DOTALL)
        lines = ["".join(text for _, text in line) for line in lesson["excerpt"]["lines"]]
        assert html.unescape(code).split("\n") == lines
    op, blank = re.findall(r"<svg.*?</svg>", page)
    assert "<polyline" in op
    assert "<polyline" not in blank
    assert '<line class="zero"' in blank
    remembered = page.index("What to remember")
    assert "<footer>" in page[:remembered][-20:], "upside down"


@EACH
def test_the_key_has_the_right_answer_and_its_curve(paper: str, index: int) -> None:
    prediction = answers.lesson([*LESSONS][index])["prediction"]
    solved = KEY.findall(paper)[index]
    right = prediction["answers"][prediction["right"]]
    assert marked(right["why"]) in plain(solved)
    if "rule" in prediction:
        assert "the curve beside this" in solved
    else:
        assert f"{ascii_uppercase[prediction['right']]}: {marked(right['text'])}" in plain(solved)
    assert ("<polyline" in solved) == bool(right["picture"])


def test_a_drawn_curve_lies_where_its_numbers_say() -> None:
    picture = _panel((-1.0, 1.0), (-2.0, 2.0), [{"x": np.array([-1.0, 0, 1]), "y": np.array([-2.0, 0, 2])}])
    (points,) = re.findall(r'points="([^"]+)"', picture)
    assert points == "0.0,105.0 150.0,52.5 300.0,0.0"
    broken = _panel((0.0, 3.0), (0.0, 1.0), [{"x": np.arange(4.0), "y": np.array([0.0, 1, np.nan, 1])}])
    assert len(re.findall("<polyline", broken)) == 2


def test_what_draws_has_one_curve_in_a_band_and_is_asked_for_the_gradient_of_its_mean_loss() -> None:
    page = PAGES.search(sheet(("unbiased-or-quiet",)))
    assert page
    assert (page[0].count("<polyline"), page[0].count("<polygon")) == (1, 1)
    assert "Below: draw the gradient of the mean of (y - target)**2." in plain(page[0])
    (axis,) = re.findall(r'<polygon points="([^"]+)"', page[0])
    heights = [float(point.split(",")[1]) for point in axis.split()]
    assert 0 < min(heights) < max(heights) < 105  # all of it is on the panel


def test_a_band_is_a_ring_for_each_stretch() -> None:
    gaps = np.array([np.nan, 0, 1, 1, 0, np.nan, 2, 3, 3, 2, np.nan])
    band = {"fill": "toself", "x": gaps, "y": gaps / 4}
    panel = _panel((0.0, 3.0), (0.0, 1.0), [band])
    assert [len(each.split()) for each in re.findall(r'<polygon points="([^"]+)"', panel)] == [4, 4]


@pytest.mark.parametrize("span", [(-3.0, 3.0), (-1.5, 1.5), (0.0, 1e6), (-1e-3, 2e-3), (-0.2, 0.6)])
def test_ticks_are_round_and_within(span: tuple[float, float]) -> None:
    ticks = _ticks(span)
    assert 4 <= len(ticks) <= 10
    assert span[0] - 1e-9 <= ticks[0] < ticks[-1] <= span[1] + 1e-9
    assert np.allclose(np.diff(ticks), ticks[1] - ticks[0])


def test_an_axis_holds_zero_and_stops_at_a_pole() -> None:
    low, high = _span(np.array([1.0, 3.0, np.nan]))
    assert low < 0 < 3 < high < 4
    assert _span(np.array([1.0, 1e9, np.inf]))[1] < 30
