"""Exercises where there is no server: the judge in the browser says what the app's says."""

from tests.questions.asking import ask as ask_app
from tests.reading.exercises.fresh import FRESH
from tests.reading.exercises.solutions import HELD_OUT, RIGHT, WRONG
from tests.selection import take_part
from tests.site.alone import Ask


def test_the_browser_judges_as_the_app_does(ask: Ask) -> None:
    texts = [(key, text) for some in (RIGHT, WRONG) for key, each in some.items() for text in each]
    texts = take_part([*texts, *HELD_OUT, *FRESH])
    texts += [("clamp", ""), ("clamp", "class F("), ("clamp", "\ud800")]
    result = ask([("judge", {"exercise": key, "code": text}) for key, text in texts])
    expected = [ask_app("judge", exercise=key, code=text) for key, text in texts]
    wrong = [(each, one, other) for each, one, other in zip(texts, result, expected, strict=True)
             if one != other]  # fmt: skip
    assert wrong == []
    assert {answer["kind"] for answer in expected} == {"right", "wrong", "unread"}
