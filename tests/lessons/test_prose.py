"""The Markdown files of lessons: what is read from them, and what is refused."""

from pathlib import Path

import pytest

from explorer.lessons import prose
from explorer.lessons.lesson import Answer, Drawing
from explorer.lessons.prose import make_lesson

TEXT = """# A title
Is it a
question?

## Prediction
What is
it?
- [1, 2] :: formula: g * x :: The
  first.
- None :: The second.

## Text
A line
and *another*.

- A point.

## Remember
This.
"""
CODE = {"numbers": (), "scenes": ()}


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(prose, "_FOLDER", tmp_path)
    return tmp_path


def test_wrapped_lines_are_joined_except_in_the_text(texts: Path):
    (texts / "one.md").write_text(TEXT + "\n## Challenge\nDo\nit.\n")
    lesson = make_lesson("one", lambda _: "None", thumbnails=True, **CODE)
    assert (lesson.key, lesson.title, lesson.question) == ("one", "A title", "Is it a question?")
    assert lesson.words == "A line\nand *another*.\n\n- A point."
    assert (lesson.remember, lesson.challenge) == ("This.", "Do it.")
    answers = (Answer("[1, 2]", "The first.", "formula: g * x"), Answer("None", "The second."))
    assert (lesson.prediction.ask, lesson.prediction.answers) == ("What is it?", answers)
    assert lesson.prediction.thumbnails


def test_a_rule_as_the_right_answer_is_drawn(texts: Path):
    (texts / "one.md").write_text(TEXT.replace("[1, 2] :: ", "").replace("None", "default"))
    lesson = make_lesson("one", "default", at=0.5, **CODE)
    answers = (Answer("", "The first.", "formula: g * x"), Answer("", "The second.", "default"))
    assert lesson.prediction == Drawing("What is it?", "default", answers, 0.5)
    assert lesson.challenge == ""


@pytest.mark.parametrize(
    "change", [("## Remember", "## Recall"), ("## Text", "Text"), (" :: The second", "")]
)
def test_a_file_without_a_section_or_a_reply_is_refused(texts: Path, change):
    (texts / "one.md").write_text(TEXT.replace(*change))
    with pytest.raises(ValueError, match=r"has the sections|has no reply"):
        make_lesson("one", lambda _: "None", **CODE)
