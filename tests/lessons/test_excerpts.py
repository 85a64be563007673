"""The code beside a question: short, the lesson's own, and nothing that gives the answer away."""

import re

import pytest

from explorer.lessons import LESSONS, Lesson
from explorer.lessons.excerpt import Excerpt

SHOWN = [lesson for lesson in LESSONS.values() if lesson.excerpt]
CODE = re.compile(r"`([^`]+)`")


@pytest.mark.parametrize("lesson", SHOWN, ids=lambda lesson: lesson.key)
def test_an_excerpt_has_six_to_twelve_lines_of_the_lessons_own_code(lesson: Lesson) -> None:
    sent = lesson.excerpt.data()
    lines = ["".join(part for _, part in line).strip() for line in sent["lines"]]
    assert 6 <= len(lines) <= 12
    assert lines[sent["decides"]] == lesson.excerpt.key_line
    known = {line.split("  #")[0].strip() for line in lesson.source.splitlines()}
    assert {*lines} <= known | {*lesson.excerpt.blanks.values()}


def test_a_question_about_code_of_the_lesson_has_it_beside_it() -> None:
    for lesson in (lesson for lesson in LESSONS.values() if lesson.excerpt is None):
        asked = " ".join(CODE.findall(lesson.prediction.ask))
        assert not {thing.__name__ for thing in lesson.code} & {*re.findall(r"\w+", asked)}, lesson.key


def test_no_docstring_no_comment_no_empty_line() -> None:
    def shown(x):  # type: ignore[no-untyped-def]
        """Says more
        than it should."""
        # so does this
        text = "a # b"  # and this

        return x, text

    excerpt = Excerpt((shown,), "return x, text", {'text = "a # b"': "text = ..."})
    assert excerpt.lines[1:] == ["    text = ...", "    return x, text"]
    with pytest.raises(ValueError, match="the excerpt does not contain the line 'no such line'"):
        _ = Excerpt((shown,), "no such line").lines
