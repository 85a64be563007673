"""Torch's checks of an op with each rule at the defaults, the rules near it, its row of the table."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

from explorer.catalogue import RULES
from explorer.ui.server import answers

Json = dict[str, Any]
_ASKED = {"checks": answers.checks, "neighbours": answers.neighbours, "row": answers.row}


def checked(op: str, rules: Iterable[str] = tuple(RULES)) -> Json:
    """By what is asked, then by rule, the numbers of its ``lines`` in their order; each line once.

    They are the app's answers. Where it answers with a sentence instead, that sentence.
    """
    lines: list[Json] = []
    answers: Json = {what: {} for what in _ASKED}
    for rule in rules:
        for what, answer in _ASKED.items():
            result = answer(urlencode({"op": op, "rule": rule}))
            lines += [line for line in result.get("lines", ()) if line not in lines]
            answers[what][rule] = result.get("message") or [lines.index(line) for line in result["lines"]]
    return {"lines": lines, **answers}
