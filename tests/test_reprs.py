"""What a notebook shows of an object of ours is one line, which says what it is of."""

import pytest
import torch

import explorer
from explorer.curves import sample_curves
from explorer.measures.lens import lens


def observed() -> object:
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU())
    with explorer.observe(model) as seen:
        model(torch.ones(2, 3)).sum().backward()
    return seen


OBJECTS = {
    "Curves": (lambda: sample_curves("round", ["straight_through"]), "round with straight_through"),
    "Lens": (lambda: lens("round"), "round, uniform noise of width 1"),
    "RuleMap": (lambda: explorer.rule_map("round", "straight_through"), "round"),
    "Observation": (observed, "Sequential, sites: 1"),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_reprs_are_one_short_line(name: str):
    make, words = OBJECTS[name]
    shown = repr(make())
    assert shown.startswith(f"{name}({words}")
    assert len(shown) < 120
    assert "\n" not in shown
