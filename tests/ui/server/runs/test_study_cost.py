"""The time that a study is said to take."""

import pytest

from explorer.study import Plan, format_duration
from explorer.ui.server.runs import study_cost


def test_the_cost_grows_with_what_is_asked_for(monkeypatch):
    monkeypatch.setattr(study_cost, "_measure_step_s", lambda _plan: 0.001)
    few = Plan.create("circles", "sign", ["zero"], lrs=[0.1], seeds=2, steps=10)
    many = Plan.create("circles", "sign", ["zero"], lrs=[0.1, 0.2, 0.3], seeds=2, steps=20)
    assert study_cost.estimate_seconds(few) == pytest.approx(few.runs * 10 * 0.001)
    assert study_cost.estimate_seconds(many) == pytest.approx(many.runs * 20 * 0.001)
    with study_cost._measuring_lock:  # others measure: nobody waits
        assert study_cost.estimate_seconds(many) == many.seconds


def test_durations():
    said = {0: "1 s", 12.4: "12 s", 90: "2 minutes", 5000: "83 minutes", 9000: "2.5 hours", 1e6: "12 days"}
    assert [format_duration(seconds) for seconds in said] == [f"about {words}" for words in said.values()]
