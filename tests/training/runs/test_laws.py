"""Laws of a run on every kind of net: in pieces, resumed, gone back or watched, it has the same bits."""

import io
from functools import cache
from typing import Any

import pytest
import torch

from explorer.training import Run, Settings
from explorer.training.instruments import INSTRUMENTS
from tests.training.driving import train
from tests.training.runs.learning_cases import SPIKES, UNITS, WEIGHTS
from tests.training.runs.run_cases import BREAKS, assert_equal_states

PLAIN: dict[str, Any] = {"rules": ("default", "straight_through"), "hidden": 8, "device": "cpu"}
COIN: dict[str, Any] = {"task": "digits", "op": "bernoulli", "hidden": 8, "device": "cpu"}
NUMBERS = "\n".join(f"{row / 7},{row % 5},{3 * row / 7 + 1}" for row in range(50))
CASES = {
    name: Settings(**{"steps": 12, "seeds": 2} | given)
    for name, given in {
        "the same x at every step": PLAIN | {"seeds": 1},
        "one that breaks": PLAIN | {"task": "digits", "rules": ("default", BREAKS)},
        "a plane": PLAIN | {"task": "moons", "op": "sign", "batch": 16, "optimiser": "momentum"},
        "a number from a table": {"table": NUMBERS, "op": "tanh", "rules": ("default",), "device": "cpu"},
        "two layers": PLAIN | {"task": "digits", "hidden": (8, 6), "optimiser": "adam"},
        "spikes": {"task": "spikes", "optimiser": "momentum", "device": "cpu"},
        "binary weights": {"task": "binary weights", "optimiser": "sgd", "device": "cpu"},
        "ternary weights": {"task": "ternary weights", "optimiser": "adam", "device": "cpu"},
        "maps": {"task": "digits convolution", "hidden": (4, 3), "optimiser": "adam", "device": "cpu"},
        "kernels": {"task": "ternary kernels", "hidden": (4, 3), "optimiser": "sgd", "device": "cpu"},
        "weights that learn a step": WEIGHTS,
        "channels that learn a step": WEIGHTS | {"learn_each": "channel", "hidden": 6},
        "units that learn a bound": UNITS,
        "spikes that learn a threshold": SPIKES,
        "units that draw": COIN | {"rules": ("sigmoid_st", "reinforce_baseline", "disarm")},
    }.items()
}  # fmt: skip
EACH = pytest.mark.parametrize("name", CASES)


@cache
def whole(name: str) -> Run:
    return train(CASES[name])


@EACH
def test_a_run_advanced_in_pieces_has_the_same_bits(name: str):
    pieces = Run(CASES[name])
    for steps in (1, 7, 0, 99):
        pieces.advance(steps)
    assert_equal_states(pieces, whole(name))


@EACH
def test_a_run_resumed_from_a_file_has_the_same_bits(name: str):
    file = io.BytesIO()
    torch.save(train(CASES[name], steps=5).state_dict(), file)
    file.seek(0)
    resumed = Run(CASES[name])
    resumed.advance(9)  # a run that was elsewhere goes back
    resumed.load_state_dict(torch.load(file, weights_only=True))
    assert resumed.snapshot().step == 5
    resumed.advance(99)
    assert_equal_states(resumed, whole(name))


@EACH
def test_a_run_that_goes_back_and_on_has_the_same_bits(name: str):
    there = train(CASES[name])
    assert there.back(7) == 7
    assert_equal_states(there, train(CASES[name], steps=7))
    there.advance(99)
    assert_equal_states(there, whole(name))


@EACH
def test_observing_a_run_does_not_change_it(name: str):
    watched = Run(CASES[name])
    for steps in (0, 5, 99):
        watched.advance(steps)
        watched.snapshot([key for key, each in INSTRUMENTS.items() if each.kind == "visible"])
        for key in (key for key, each in INSTRUMENTS.items() if each.kind == "requested"):
            watched.measure(key)
    assert_equal_states(watched, whole(name))
