import re

import numpy as np
import pytest
import torch

from explorer.training.instruments.causes import NAMES, _classify, _compute_shares, mask_causes
from explorer.training.nets.layers import OpTrace
from tests.training.driving import build, measure


def test_each_gradient_value_has_one_cause():
    """A peak of 2: a hundredth of it is 0.02 of what comes from above."""
    upstream = torch.tensor([[[1.0, 0.0], [-1.0, 0.0], [1.0, 1.0]]])
    gradient = torch.tensor([[[0.5, 0.0], [-0.019, 0.0], [0.0, 0.0]]])
    known = _classify(OpTrace(gradient, gradient, upstream, gradient), torch.tensor([2.0]))
    assert known.sum(0).eq(1).all()
    named = [[NAMES[known[:, 0, n, unit].int().argmax()] for unit in range(2)] for n in range(3)]
    above, rule = "no gradient from above", "0 by the rule"
    assert named == [["gradient", above], ["below 1 % of its peak", above], [rule, rule]]


def test_causes_shared_by_every_example_are_part_of_the_share():
    """Of two units and three examples: the second unit never gets a gradient from above."""
    none = torch.tensor([[[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]]]) == 0
    share, whole = _compute_shares(torch.stack([~none, none]))
    assert share[0].tolist() == pytest.approx([2 / 6, 4 / 6])
    assert whole[0].tolist() == [0.0, 0.5]


def test_a_zero_rule_is_the_cause_only_in_the_last_layer():
    rules = ("default", "straight_through")
    default = measure("causes", task="digits", op="sign", rules=rules, hidden=(8, 8))[1]["default"]
    assert [each.tolist() for each in default["shares"]] == [[0, 0, 0, 1], [0, 0, 1, 0]]
    assert [each.tolist() for each in default["whole"]] == [[0, 0, 0, 1], [0, 0, 1, 0]]
    every = "(100 % in units where this holds for every example)."
    first, last = default["words"]
    assert first == f"The op's inputs after w1: 100 % no gradient from above {every}"
    assert last == f"The op's inputs after w2: 100 % 0 by the rule {every}"


def test_shares_of_causes_match_a_count_by_hand():
    run, records = measure("causes", task="digits", op="sign", rules=("clipped",), parameters={"c": 0.3})
    record, nets = records["clipped"], run.recorder._nets
    op = nets.current_pass.traces[nets.op_layers[0]].op
    blocked = (op.x.abs() > 0.3).float().mean().item()
    assert 0.1 < blocked < 0.9
    assert ([len(each) for each in record["channels"]], "hannel" in record["words"][0]) == ([0], False)
    assert record["shares"][0].tolist() == pytest.approx([1 - blocked, 0, blocked, 0])
    assert sum(each.float().mean((1, 2, 3)) for each in mask_causes(nets)).sum().item() == pytest.approx(1)


def test_causes_of_weights_are_not_counted_by_example():
    record = measure("causes", task="binary weights", rules=("default",))[1]["default"]
    assert [each.tolist() for each in record["whole"]] == [[0, 0, 0, 0]] * 2
    assert record["words"][0] == "W1: 100 % 0 by the rule."


def test_shares_of_causes_are_averaged_over_seeds():
    def shares(**seeds):
        _, records = measure("causes", task="circles", rules=("clipped",), hidden=8, **seeds)
        return records["clipped"]["shares"][0]

    mean = np.mean([shares(seed=seed) for seed in range(2)], 0)
    np.testing.assert_allclose(shares(seeds=2), mean, rtol=1e-6)


@pytest.mark.parametrize(("share", "faint"), [(0.005, True), (0.015, False), (0.02, False)])
def test_gradients_below_1_percent_of_the_peak_count_as_faint(share: float, faint: bool):
    rule = f"formula: g * where(x > 0, {share}, 1)"
    shares = measure("causes", 2, task="circles", op="sign", rules=(rule,))[1][rule]["shares"][0]
    assert (shares[1] > 0.2) == faint


@pytest.mark.parametrize("task", ["digits", "binary weights", "spikes"])
def test_the_table_and_the_bar_show_the_same_blocked_share(task: str):
    own = {"op": "sign", "rules": ("clipped", "default"), "hidden": (12, 12)} if task == "digits" else {}
    snapshot = build(3, task=task, seeds=3, steps=6, **own).snapshot(("causes", "way"))
    for rule, way in snapshot.measured["way"].items():
        factor = snapshot.gradients[rule].passed
        assert factor is None or factor == pytest.approx(float(way["passed"][0]), rel=1e-5)
    for rule, record in snapshot.measured["causes"].items():
        share = record["shares"][0][record["names"].index("0 by the rule")]
        assert snapshot.gradients[rule].blocked == pytest.approx(share, abs=1e-6)
    assert any(0 < each.blocked < 1 for each in snapshot.gradients.values())


@pytest.mark.parametrize("task", ["digits convolution", "binary kernels"])
def test_causes_are_counted_for_each_channel(task):
    """A hand count: of maps a channel's units stand side by side, of weights a kernel is a column."""
    run, records = measure("causes", task=task, rules=("clipped",), hidden=(5, 3), parameters={"c": 0.3})
    record, nets = records["clipped"], run.recorder.observe(run.settings)
    for at, (number, channels) in enumerate(zip(nets.op_layers, (5, 3), strict=True)):
        op = nets.current_pass.traces[number].op
        lacks = (op.gradient[0].abs() < 0.01 * op.upstream[0].abs()) | (op.gradient[0] == 0)
        counted = [float(each.float().mean()) for each in lacks.chunk(channels, 1)]
        assert record["channels"][at].tolist() == pytest.approx(counted, abs=1e-6)
        least, most = (f"(channel {counted.index(end(counted)) + 1})" for end in (min, max))
        said = rf" By channel, .+ {re.escape(least)} to .+ {re.escape(most)} get none\.$"
        assert re.search(said, record["words"][at])
