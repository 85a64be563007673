"""What torch's checks said, as it comes along: the app's own answers."""

from __future__ import annotations

from urllib.parse import urlencode

from explorer.site.checked import checked
from explorer.ui import answers

RULES = ("default", "straight_through", "zero", "lsq")


def test_the_lines_are_those_of_the_app() -> None:
    for op in ("round", "quantize"):
        found = checked(op, RULES)
        for rule in RULES:
            lines = [found["lines"][number] for number in found["rules"][rule]]
            assert lines == answers.checks(urlencode({"op": op, "rule": rule}))["lines"]
            assert lines
        assert len(found["lines"]) < sum(map(len, found["rules"].values()))
