"""The server's answers to Learn: the list, a lesson with its numbers, a sentence if there is none."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from explorer.catalogue import RULES
from explorer.lessons import GLOSSARY, LESSONS, PATHS
from explorer.lessons.lesson import Lesson
from explorer.ui.links.link import from_text
from explorer.ui.server import answers
from tests.selection import take_part
from tests.ui.opening import opened, words_of


def test_the_course_is_every_lesson_in_its_order():
    course = answers.get_course()
    assert [lesson["key"] for lesson in course["lessons"]] == list(LESSONS)
    scenes = [from_text(lesson.scenes[0].query)[0] for lesson in LESSONS.values()]
    assert [lesson["choice"] for lesson in course["lessons"]] == list(map(answers.serialize_choice, scenes))
    assert {path["title"]: path["keys"] for path in course["paths"]} == PATHS
    assert course["glossary"] == GLOSSARY
    remembered = [lesson.remember for lesson in LESSONS.values()]
    assert not any(words in json.dumps(course) for words in remembered), "the list gives no answer away"


def test_the_course_is_made_once_for_a_class_that_comes_at_one_moment(monkeypatch: pytest.MonkeyPatch):
    """It parses the source of every lesson: in many threads at a time that fails, and costs each of them."""
    made = []
    monkeypatch.setattr(Lesson, "minutes", property(lambda lesson: made.append(lesson.key) or 3))
    answers._make_course.cache_clear()
    with ThreadPoolExecutor(8) as threads:
        courses = [*threads.map(lambda _: answers.get_course(), range(24))]
    assert sorted(made) == sorted(LESSONS)
    assert all(course is courses[0] for course in courses)
    answers._make_course.cache_clear()


@pytest.mark.parametrize("key", take_part(LESSONS))
def test_a_lesson_is_json_with_its_scenes_as_choices(key: str):
    lesson = json.loads(json.dumps(answers.get_lesson(key)))
    assert "".join(text for _, text in lesson["code"]) == LESSONS[key].source
    for scene, link in zip(lesson["scenes"], LESSONS[key].scenes, strict=True):
        assert (scene["path"], scene["query"]) == (link.path, link.query)
        assert scene["choice"]["rules"]
    for answer in lesson["prediction"]["answers"]:
        key = answer["picture"]
        assert key is None or key in RULES or answer["entry"]["key"] == key, "the browser knows its rule"


def test_a_lesson_that_is_none_is_a_sentence():
    for key in ("", "no such lesson", "__class__"):
        said = {"message": "There is no such lesson: choose one from the list."}
        assert answers.QUESTIONS["lesson"].answer({"key": key}) == said


def test_a_class_that_comes_at_once_has_the_numbers_computed_once(monkeypatch: pytest.MonkeyPatch):
    lesson, counted = LESSONS["constants"], []

    def block_gradient():
        counted.append(None)

    numbers = [block_gradient if n.__name__ == "block_gradient" else n for n in lesson.numbers]
    monkeypatch.setattr(answers, "LESSONS", {"a class": replace(lesson, numbers=tuple(numbers))})
    with ThreadPoolExecutor(16) as pool:
        first, *others = pool.map(lambda _: answers.get_lesson("a class"), range(32))
    assert counted == [None]
    assert others == [first] * 31


def test_the_page_opens_without_notices():
    for query in ("lesson=clamp&present=1", "class=abc", "print=course"):
        assert "link" not in words_of(opened(query, "learn")), query
    assert "link" in words_of(opened("lessons=clamp", "learn"))
