"""The request that begins a run, and what goes with a command, as the browser has them."""

from typing import Any

import pytest

from tests.frontend.train.conftest import Run, choice

OWN = {"text": "x,y\n1,2", "target": "y", "without": []}
HELD = choice("round", "straight_through", task="circles", lr="0.1", branch="3,lr:0.2\n9,lr:0.3")
OTHER = choice("round", "straight_through", task="circles", lr="0.5")


def state(step: int, *, rate: str | None = None, trained: dict[str, Any] | None = None) -> dict[str, Any]:
    status = {"step": step, "state": "running" if step else "ready"}
    return {"trained": trained, "view": {"status": status}, "rate": rate}


@pytest.mark.parametrize(
    ("at", "command", "rate"),
    [
        (state(0, trained=HELD), "resume", None),
        (state(0, trained=OTHER), "resume", "0.1"),
        (state(5, trained=OTHER), "resume", None),
        (state(5, trained=HELD, rate="0.4"), "change", "0.4"),
        (state(5, trained=HELD, rate="0.4"), "reset", "0.1"),
        (state(0), "change", None),
    ],
    ids=["known", "news before the first step", "on its way", "set in mid-run", "reset", "no run"],
)
def test_a_new_rate_goes_with_a_command(tell: Run, at: dict[str, Any], command: str, rate: str | None):
    live = tell("client/request", "getCommandSettings", at, HELD, command)
    assert live.get("lr") == rate
    assert "pace" in live


def test_an_order_has_each_branch_point_and_the_table_of_a_task_that_takes_one(tell: Run):
    order = tell("client/request", "makeRunRequest", HELD, OWN)
    assert (order["branch"], order["table"], order["lr"]) == (["3,lr:0.2", "9,lr:0.3"], None, "0.1")
    own = tell("client/request", "makeRunRequest", choice("round", "straight_through", task="data"), OWN)
    assert (own["branch"], own["table"]) == ([], OWN)
