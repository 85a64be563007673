"""Latent weights and what becomes of them, counted again by hand."""

import numpy as np
import pytest
import torch

from explorer.training import Run
from explorer.training.instruments.weights import MAX_VALUES
from explorer.training.limits import BINS
from tests.training.driving import build, read_records


def latent(run: Run, member: int, start: bool = False) -> list[torch.Tensor]:
    """The weights of one net as the op sees them."""
    nets = run.nets.ensemble
    flat = nets.rows.make_start_rows([nets.active[member]]) if start else nets.parameters[[member]]
    views = [each[0][0] for each in nets.rows.make_views(flat) if each]
    return [each * each.shape[0] ** 0.5 for each in views]


@pytest.mark.parametrize(("task", "quantised"), [
    ("binary weights", lambda x: torch.where(x >= 0, 1.0, -1.0)),
    ("ternary weights", lambda x: x.round().clamp(-1, 1)),
])  # fmt: skip
def test_counts_by_bin_and_value_match_the_weights(task: str, quantised):
    run = build(20, task=task, rules=("default", "straight_through"), seeds=2)
    seen = read_records(run, "weights")
    for rule, result in seen.items():
        assert (result.seed, len(result.layers)) == (0, 2)
        both = latent(run, 2 * rule), latent(run, 2 * rule, start=True)
        for now, before, layer in zip(*both, result.layers, strict=True):
            values = quantised(now)
            assert layer["values"].tolist() == values.unique().tolist()
            counts, edges = np.histogram(now, BINS)
            np.testing.assert_allclose(layer["edges"], edges, rtol=1e-5, atol=1e-6)
            assert np.abs(layer["counts"] - counts).max() <= 1, "one on an edge may be of either bin"
            assert layer["counts"].sum() == now.numel()
            by_value = layer["by_value"].reshape(-1, BINS)
            assert np.array_equal(by_value.sum(0), layer["counts"])
            assert by_value.sum(1).tolist() == [int((values == v).sum()) for v in values.unique()]
            assert layer["changed"] == pytest.approx((values != quantised(before)).float().mean().item())


def test_a_rule_that_blocks_everything_changes_no_weight():
    run = build(20, task="binary weights", rules=("default", "straight_through"))
    dead, alive = read_records(run, "weights").values()
    assert [layer["changed"] for layer in dead.layers] == [0, 0]
    assert min(layer["changed"] for layer in alive.layers) > 0.01
    assert "0 % of all weights" in dead.words
    assert "0 % of all weights" not in alive.words


def test_a_rounded_weight_is_never_minus_0():
    run = build(20, task="binary weights", op="round", rules=("default",))
    (result,) = read_records(run, "weights").values()
    for layer in result.layers:
        assert 0 in layer["values"]
        assert not np.signbit(layer["values"][layer["values"] == 0]).any()


def test_many_distinct_values_are_not_counted_one_by_one():
    run = build(20, task="binary weights", op="tanh", rules=("default",))
    (result,) = read_records(run, "weights").values()
    for layer in result.layers:
        assert layer["counts"].sum() > MAX_VALUES
        assert layer["values"].size == layer["by_value"].size == 0
