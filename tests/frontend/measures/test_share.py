"""The share of straight-through's gradient that a rule passes: the browser's against torch's."""

import numpy as np
import pytest
import torch

from explorer.catalogue import adapt_rule, find_op, find_rule, resolve_values
from explorer.description.net_gradient import make_normal_numbers
from explorer.gradient import share
from explorer.instrument.entries import make_entry
from tests.catalogue.fixed import OPS, RULES
from tests.frontend.modules import Node

SHARES = """
const { computeShare } = await import("./measures/share.js");
return given.pairs.map(([op, rule, settings]) =>
  computeShare(op, rule, given, settings, given.g));
"""
FLAT = ("round", "sign", "step", "quantize", "clamp", "relu")


def browsers(node, pairs, x, g, weights=None):
    found = [(find_op(op), find_rule(rule), settings) for op, rule, settings in pairs]
    entries = [(make_entry(op), make_entry(adapt_rule(op, rule)), settings) for op, rule, settings in found]
    counts = weights and np.array(weights, float)
    given = {"pairs": entries, "values": np.array(x), "g": g, "weights": counts}
    return node.run(SHARES, given | {"count": sum(weights or [1] * len(x))})


@pytest.mark.parametrize("g", [1.0, -0.4])
def test_every_rule_passes_the_same_share_in_the_browser(node: Node, g):
    numbers = make_normal_numbers()
    pairs = [(op, rule, {}) for op in FLAT for rule in RULES]
    x = torch.tensor(numbers, dtype=torch.float64)
    wanted = [share(op, rule, x, g) for op, rule, _ in pairs]
    found = [np.nan if each is None else each for each in browsers(node, pairs, numbers, g)]
    assert np.allclose(found, wanted, rtol=1e-9, atol=1e-12, equal_nan=True)
    assert len({round(each, 3) for each in wanted}) > 20


def test_numbers_count_as_often_as_they_are_there(node: Node):
    x, weights = [-2.0, 0.25, 0.75, 3.0], [3, 1, 5, 1]
    every = torch.tensor(x, dtype=torch.float64).repeat_interleave(torch.tensor(weights))
    (found,) = browsers(node, [("sign", "approx_sign", {})], x, 1.0, weights)
    assert found == pytest.approx(share("sign", "approx_sign", every))


def test_parameters_of_a_rule_are_followed(node: Node):
    x = [0.5, 1.5, 2.5]
    assert resolve_values(OPS["sign"], RULES["clipped"], {})["c"] == 1
    (found,) = browsers(node, [("sign", "clipped", {"clipped.c": 2})], x, 1.0)
    assert found == pytest.approx(2 / 3)
