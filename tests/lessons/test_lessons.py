"""Every lesson: its words hold, its numbers are computed, its code runs, its links open."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from string import Formatter
from typing import Any
from urllib.parse import parse_qs

import pytest

from explorer.catalogue import RULES, find_op, find_rule
from explorer.lessons import GLOSSARY, LESSONS, Choice, Drawing, HeatMap, Lesson, Lines
from explorer.ui.link import from_query

EACH = pytest.mark.parametrize("lesson", LESSONS.values(), ids=list(LESSONS))
CODE = re.compile(r"`[^`]*`")
TERM = re.compile(r"\[[^\]]+\]\((\w+)\)")
MOST_WORDS = 150
COUNTS = "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred|thousand|million"


@cache
def data(key: str) -> dict[str, Any]:
    """What a page is given; computed once for all tests."""
    return LESSONS[key].data()


def test_the_lessons_of_the_course_are_here_in_their_order():
    course = [
        "autograd", "vanishing", "straight-through", "clamp", "leaves", "relu",
        "linear", "constants", "context", "twice", "gradcheck", "surrogates",
    ]  # fmt: skip
    assert [key for key in LESSONS if key in course] == course
    assert all(key == lesson.key for key, lesson in LESSONS.items())
    assert len({lesson.title for lesson in LESSONS.values()}) == len(LESSONS)


@EACH
def test_a_lesson_is_short(lesson: Lesson):
    words = data(lesson.key)["words"]
    assert 20 <= len(words.split()) <= MOST_WORDS
    assert lesson.question.endswith("?")
    assert not any("\n" in code for code in CODE.findall(lesson.words)), "code stands on one line"
    assert re.fullmatch(r"[^.?]+\.", lesson.remember), "one sentence"
    sentences = re.split(r"(?<=[.?:])\s", TERM.sub("term", words))
    assert max(len(sentence.split()) for sentence in sentences) <= 32, "for readers of many languages"


def written_numbers(words: str) -> list[str]:
    """Digits that are not part of a name nor of code with a name in it, and counts in words.

    "One" is too often nobody's number, and "zero" stands for the point or for "none": what the words claim
    with them stands in test_claims.
    """
    literal = "".join(text for text, *_ in Formatter().parse(words))
    bare = [code for code in CODE.findall(literal) if not re.search(r"[A-Za-z]", code)]
    return re.findall(rf"(?<!\w)\d+|\b(?:{COUNTS})\b", " ".join([CODE.sub("", literal), *bare]))


@EACH
def test_every_number_in_the_words_is_computed(lesson: Lesson):
    for text in (lesson.words, lesson.remember, lesson.question, lesson.title, lesson.prediction.ask):
        assert written_numbers(text) == [], text


def test_the_glossary_has_no_numbers():
    assert written_numbers(" ".join(GLOSSARY.values())) == []


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("falls to 1,370", ["1", "370"]),
        ("is `[0.0]` and `g = 2`", ["0", "0"]),
        ("a thousand inputs, two of them", ["thousand", "two"]),
        ("{net[last]:,.0f} in float32, x³, `w1`, the weight, once", []),
    ],
)
def test_the_search_for_numbers_itself(words: str, found: list[str]):
    assert written_numbers(words) == found


@EACH
def test_every_number_is_used(lesson: Lesson):
    used = {re.split(r"[\[.]", name)[0] for _, name, *_ in Formatter().parse(lesson.words) if name}
    computed = {number.__name__ for number in lesson.numbers}
    shown = inspect.getsource(lesson.prediction.answer) if isinstance(lesson.prediction, Choice) else ""
    others = "".join(inspect.getsource(thing) for thing in (*lesson.numbers, *lesson.pictures))
    assert used <= computed
    for name in computed - used:
        assert name in shown or f"{name}()" in others, name


@EACH
def test_the_data_are_plain(lesson: Lesson):
    assert json.loads(json.dumps(data(lesson.key)))["words"]


@EACH
def test_the_shown_code_is_the_code_that_runs(lesson: Lesson):
    """Executed on its own it gives the same results."""
    names: dict[str, Any] = {}
    shown = "".join(text for _, text in data(lesson.key)["code"])
    exec(compile(shown, f"lesson {lesson.key}", "exec"), names)  # our own text
    for number in lesson.numbers:
        assert repr(names[number.__name__]()) == repr(number()), number.__name__
        assert inspect.getsource(number).strip() in shown


@EACH
def test_a_prediction_has_its_answer(lesson: Lesson):
    match lesson.prediction:
        case Choice(ask, options, _, pictures):
            assert ask.endswith("?")
            assert len(set(options)) == len(options) >= 2
            assert data(lesson.key)["prediction"]["answer"] in options
            assert len(pictures) in (0, len(options))
            assert set(pictures) <= set(RULES)
        case Drawing(_, rule, pictures, _):
            assert rule in pictures
            assert set(pictures) <= set(RULES)
            assert rule in parse_qs(lesson.scenes[0].query)["rule"]


@EACH
def test_every_scene_opens_as_it_is_meant(lesson: Lesson):
    assert lesson.scenes[0].path == "/"
    for scene in lesson.scenes:
        assert scene.path in ("/", "/train")
        query = parse_qs(scene.query, strict_parsing=True)
        choice, notices = from_query(query)
        assert notices == []
        assert choice.op == find_op(query["op"][0]).key
        assert choice.rules == tuple(find_rule(rule).key for rule in query["rule"])


@EACH
def test_every_term_is_in_the_glossary(lesson: Lesson):
    assert set(TERM.findall(lesson.words)) <= set(GLOSSARY)


def test_every_entry_of_the_glossary_is_used_and_is_a_sentence():
    used = {term for lesson in LESSONS.values() for term in TERM.findall(lesson.words)}
    assert used == set(GLOSSARY)
    assert list(GLOSSARY) == sorted(GLOSSARY)
    assert all(text.endswith(".") for text in GLOSSARY.values())


def test_two_visitors_at_once_get_the_same_numbers():
    with ThreadPoolExecutor(4) as pool:
        several = list(pool.map(lambda _: LESSONS["leaves"].results(), range(40)))
    assert all(results == several[0] for results in several)


@pytest.mark.parametrize(
    "picture",
    [picture for lesson in LESSONS.values() for picture in lesson.pictures],
    ids=lambda picture: picture.__name__,
)
def test_a_picture_can_be_drawn(picture: Callable[[], HeatMap | Lines]):
    match picture():
        case HeatMap(_, values, entry):
            assert len({len(row) for row in values}) == 1
            assert entry is None or values[entry[0] or 0][entry[1]] is not None
        case Lines(_, _, x, y):
            for values in (x, *y.values()):
                assert len(values) == len(x)
                assert min(values) > 0, "both axes are logarithmic"
