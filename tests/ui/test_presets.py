"""What the examples promise of a training is what happens."""

from __future__ import annotations

import pytest

from explorer.training import Run, Settings
from explorer.ui.presets import PRESETS


@pytest.mark.parametrize(
    ("name", "lower"),
    [("Why round stops learning", "default"), ("Learning through sign", "straight_through")],
)
def test_a_race_of_an_example_ends_as_its_hint_says(name: str, lower: str):
    (choice,) = [preset.choice for preset in PRESETS if preset.name == name]
    run = Run(Settings(op=choice.op, rules=choice.rules, device="cpu"))
    run.advance(1)
    begun = run.snapshot().loss["default"]
    run.advance(499)
    ended = run.snapshot()
    assert ended.gradients["default"].w1_moved == 0 < ended.gradients["straight_through"].w1_moved
    assert min(ended.loss, key=ended.loss.get) == lower
    assert (ended.loss["default"] > begun / 2) == (lower == "straight_through")
    assert min(ended.loss.values()) < max(ended.loss.values()) / 5
