"""Which answers share seats: what takes long holds up its own kind alone."""

from __future__ import annotations

import re
from pathlib import Path

ROUTES = Path(__file__).parents[3].joinpath("app.py").read_text("utf-8")


def test_checks_do_not_wait_for_near_rules():
    seats = dict(re.findall(r'answered\("/(\w+)", [^)]*seats=(\w+)\)', ROUTES))
    assert seats["neighbours"] not in (seats["checks"], seats["row"], "_seats")
    assert re.findall(rf"^{seats['neighbours']} = Seats\(", ROUTES, re.MULTILINE)
