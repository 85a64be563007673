"""The questions that Python in the browser answers: own formulas, pasted code, and words on curves.

The app's own modules answer. They need the standard library, for words numpy.py in place of NumPy, and for
the layout of code black.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from explorer.catalogue import find_op, find_rule
from explorer.instrument.entries import own_entry
from explorer.site.formulas import formulas
from explorer.ui.sections.code import learned_with, refusal, written

Json = dict[str, Any]


def answer(question: str, arguments: str) -> str:
    """The answer to a question of ``_ANSWERS``; its arguments and the answer are JSON."""
    return json.dumps(_ANSWERS[question](**json.loads(arguments)))


def _formulas(op: str, rules: Sequence[str]) -> Json:
    return formulas([find_op(op)], [find_rule(rule) for rule in rules])


def _code(
    language: str, op: str, rule: str, parameters: Mapping[str, str], learns: str, drawing: Mapping[str, Any]
) -> Json:
    """The code of an op with a rule, or the sentence in its place.

    Numbers are texts as Python writes them; ``learns`` is the parameter that was chosen to learn, or "".
    """
    entries = find_op(op), find_rule(rule)
    values = {name: float(value) for name, value in parameters.items()}
    ends = {name: float(drawing[name]) for name in ("start", "stop", "g")}
    drawn = {**ends, "kinks": [float(x) for x in drawing["kinks"]], "f": drawing["f"]}
    text = written(language, *entries, values, learned_with(*entries, learns), lambda: drawn)
    return {"text": text or "", "note": refusal(language, *entries) if text is None else ""}


def _read(**asked: Any) -> Json:
    from explorer.ui.sections.pasted import (
        read,  # a tenth of a second, which who pastes nothing need not wait for
    )

    return read(**asked)


def _judge(**asked: Any) -> Json:
    from explorer.ui.sections.judged import judge

    return judge(**asked)


def _words(**asked: Any) -> Json:
    from explorer.site.words import words

    return words(**asked)


_ANSWERS: Mapping[str, Callable[..., Json]] = {
    "entry": own_entry, "formulas": _formulas, "code": _code, "read": _read, "judge": _judge,
    "words": _words,
}  # fmt: skip
