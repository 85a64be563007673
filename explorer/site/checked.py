"""What torch's checks said of an op with each rule at the defaults."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

from explorer.catalogue import RULES
from explorer.ui import answers

Json = dict[str, Any]


def checked(op: str, rules: Iterable[str] = tuple(RULES)) -> Json:
    """By rule the numbers of its ``lines``, the worst first; each line once, as the app answers it."""
    lines: list[Json] = []
    told = {}
    for rule in rules:
        found = answers.checks(urlencode({"op": op, "rule": rule}))["lines"]
        lines += [line for line in found if line not in lines]
        told[rule] = [lines.index(line) for line in found]
    return {"lines": lines, "rules": told}
