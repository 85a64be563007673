"""The share of straight-through's gradient that a rule passes on given data."""

import math

import numpy as np
import pytest
import torch

from explorer import share
from explorer.gradient import bind, share_of_all
from tests.catalogue.fixed import RULES
from tests.catalogue.oracles import RULES as ORACLES
from tests.selection import loop_over


@loop_over("rule", [key for key, each in RULES.items() if each.formula])
def test_the_share_equals_that_of_an_independent_oracle(rule):
    x = np.linspace(-2.9, 3.1, 401)
    g = np.cos(np.arange(401.0))
    op = {"lo": 0.0, "hi": 1.0}
    parameters = {p.name: op.get(p.name, p.default) for p in RULES[rule].parameters}
    y = np.round(x)
    wanted = np.abs(ORACLES[rule](x, y, g, **parameters)).mean() / np.abs(g).mean()
    found = share("round", rule, torch.from_numpy(x), torch.from_numpy(g), **parameters)
    assert found == pytest.approx(wanted, rel=1e-6, abs=1e-12)


def test_known_shares():
    x = torch.tensor([-3.0, -0.5, 0.5, 0.75], dtype=torch.float64)
    assert share("sign", "straight_through", x, -7.0) == 1.0
    assert share("sign", "zero", x) == 0.0
    assert share("sign", "default", x) == 0.0
    assert share("sign", "clipped", x) == 0.75
    assert share("sign", "formula: 3 * g", x) == 3.0
    assert share("relu", "default", x) == 0.5
    g = torch.tensor([9.0, 1.0, 1.0, 1.0], dtype=torch.float64)
    assert share("sign", "clipped", x, g) == 0.25, "weighed by g"


def test_without_a_number_there_is_no_share():
    x = torch.tensor([1.0, 2.0])
    assert math.isnan(share("sign", "clipped", x, 0.0))
    assert math.isnan(share("sign", "clipped", x[:0]))
    assert math.isnan(share("sign", "formula: g / (x - 1)", x))


def test_several_layers_count_by_the_size_of_their_gradients():
    bound = bind("sign", "clipped", {})
    seen = [(torch.tensor([0.5]), torch.tensor([3.0])), (torch.tensor([[2.0, 2.0]]), torch.ones(1, 2))]
    assert share_of_all(bound, seen) == pytest.approx(3 / 5)


def test_share_refuses_lists_and_unknown_parameters():
    with pytest.raises(TypeError, match="floating tensor, got list"):
        share("sign", "clipped", [1.0])
    with pytest.raises(ValueError, match="unknown parameter"):
        share("sign", "clipped", torch.ones(2), k=3)
