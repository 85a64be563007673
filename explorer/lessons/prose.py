"""The prose of a lesson, which is a Markdown file in the folder ``texts``.

It has a title, the question that the lesson answers, and sections: the prediction with its answers, the text,
the sentence to remember, and a challenge if there is one. An answer is ``text :: rule :: reply``, or
``text :: reply`` if no rule's gradient belongs to it. If the reader draws the prediction, it is
``rule :: reply``.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from explorer.lessons.lesson import Answer, Choice, Drawing, Lesson, Results

_FOLDER = Path(__file__).parent / "texts"
_SECTIONS = ["Prediction", "Text", "Remember"]


def make_lesson(
    key: str,
    right: Callable[[Results], str] | str,
    *,
    thumbnails: bool = False,
    at: float | None = None,
    **fields: Any,
) -> Lesson:
    """Create a lesson from its prose and the other ``fields`` of ``Lesson``.

    Args:
        key: the lesson's key, which is the name of its file without ``.md``.
        right: returns the text of the right answer; or the key of the rule whose gradient the reader draws.
        thumbnails: as in ``Choice``.
        at: as in ``Drawing``.
        fields: the fields that are code.

    Raises:
        ValueError: if the file lacks a section or has an unknown one, or an answer lacks its reply.
    """
    head, *parts = re.split(r"^## (.+)\n", (_FOLDER / f"{key}.md").read_text(encoding="utf-8"), flags=re.M)
    if parts[::2] not in (_SECTIONS, [*_SECTIONS, "Challenge"]):
        raise ValueError(
            f"{key}.md has the sections {', '.join(parts[::2])}, but a lesson has {', '.join(_SECTIONS)} and "
            "perhaps Challenge, in this order"
        )
    title, question = head.removeprefix("# ").split("\n", 1)
    prediction, text, remember, challenge = [*parts[1::2], ""][:4]
    ask, *items = map(_unwrap, prediction.split("\n- "))
    if bare := [item for item in items if " :: " not in item]:
        raise ValueError(f"the answer {bare[0]!r} in {key}.md has no reply: write one after ' :: '")
    if isinstance(right, str):
        pairs = (item.split(" :: ") for item in items)
        pictures = tuple(Answer("", why, rule) for rule, why in pairs)
        answers: Choice | Drawing = Drawing(ask, right, pictures, at)
    else:
        triples = (item.split(" :: ") for item in items)
        texts = tuple(Answer(text, why, *rule) for text, *rule, why in triples)
        answers = Choice(ask, texts, right, thumbnails, at)
    return Lesson(
        key=key,
        title=title,
        question=_unwrap(question),
        prediction=answers,
        words=text.strip(),
        remember=_unwrap(remember),
        challenge=_unwrap(challenge),
        **fields,
    )


def _unwrap(text: str) -> str:
    return " ".join(text.split())
