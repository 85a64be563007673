import math
from types import SimpleNamespace

import numpy as np
import pytest

from explorer.training.instruments import inputs
from explorer.training.instruments.base.rule_shape import compute_peak, compute_span, compute_width
from explorer.training.nets import OpSite
from tests.training.driving import measure


def nets_of(**settings):
    return measure("inputs", **settings)[0].recorder._nets


@pytest.mark.parametrize(("op", "rule", "parameters", "wide"), [
    ("sign", "clipped", {"c": 0.25}, 0.5), ("clamp", "default", {"lo": -2.0, "hi": 6.0}, 8.0),
    ("step", "boxcar", {"w": 0.1}, 0.2), ("sign", "formula: g * max(0, 1 - abs(x))", {}, 1.98),
    ("sign", "formula: g / (1 + x**2)", {}, 2 * math.sqrt(99)), ("sign", "reste", {"t": 2.0}, 4.0),
    ("sign", "straight_through", {}, math.inf), ("relu", "default", {}, math.inf),
    ("sign", "zero", {}, math.nan),
])  # fmt: skip
def test_the_window_of_a_rule_is_where_it_reaches_1_percent_of_its_peak(op, rule, parameters, wide):
    nets = nets_of(task="digits", op=op, rules=(rule,), parameters=parameters)
    assert compute_width(nets, 0, 0) == pytest.approx(wide, rel=0.02, nan_ok=True)


def test_all_rules_share_one_range_that_contains_their_kinks_and_their_peaks():
    assert compute_span(nets_of(task="digits", op="relu6", rules=("default",))) == (-4.0, 10.0)
    assert compute_span(nets_of(task="digits", op="round", rules=("default",))) == (-4.0, 4.0)
    rules = ("clipped", "straight_through")
    assert compute_span(nets_of(task="digits", op="sign", rules=rules, parameters={"c": 3.0})) == (-7.0, 7.0)
    assert compute_peak(nets_of(task="digits", op="sign", rules=("formula: g*x",)), 0, 0, -2, 4) == 4


def test_every_input_is_counted_once_in_fixed_bins():
    run, records = measure("inputs", task="documents", rules=("default", "straight_through"))
    first = records["default"]
    run.advance(5)
    later = run.snapshot(("inputs",)).measured["inputs"]["default"]
    np.testing.assert_array_equal(first["edges"], later["edges"])
    nets = run.recorder._nets
    x = nets.current_pass.traces[nets.op_layers[0]].op.x[0].numpy()
    counts, edges = later["counts"][0], later["edges"]
    inside = np.histogram(x[(x > edges[1]) & (x < edges[-2])], edges[1:-1])[0]
    np.testing.assert_array_equal(counts[1:-1], inside)
    assert counts.sum() == x.size
    means, full = later["means"][0], counts > 0
    assert np.isnan(means[~full]).all()
    middles = ((edges[:-1] + edges[1:]) / 2)[1:-1][full[1:-1]]
    assert np.abs(means[1:-1][full[1:-1]] - middles).max() <= (edges[1] - edges[0]) / 2
    assert means[-1] == pytest.approx(x[x > edges[-2]].mean()), "all that lies beyond, where it is"
    assert later["beyond"][0] < 0.1, "the bins reach as far as the data"
    assert (counts * means)[full].sum() == pytest.approx(x.astype(float).sum(), rel=1e-5)
    assert later["beyond"][0] == pytest.approx(((x < edges[0]) | (x > edges[-1])).mean())


def test_the_width_ratio_is_stated_only_for_rules_of_finite_width():
    rules = ("straight_through", "clipped")
    run, found = measure("inputs", task="digits", op="sign", rules=rules, parameters={"c": 0.02})
    nets = run.recorder._nets
    expected = nets.current_pass.traces[nets.op_layers[0]].op.x[1].std().item() * math.sqrt(math.tau) / 0.04
    assert found["clipped"]["ratio"][0] == pytest.approx(expected, rel=0.02)
    times = f"{float(f'{expected:.2g}'):,.0f} times"
    assert found["clipped"]["words"] == [f"The op's inputs are {times} as wide as this rule's window."]
    assert math.isnan(found["straight_through"]["ratio"][0])
    assert found["straight_through"]["words"] == [""]


@pytest.mark.parametrize(
    ("ratio", "said"), [(1.44, "1.4 times"), (300.0, "300 times"), (1 / 16, "0.062 times")]
)
def test_the_width_of_inputs_is_given_in_windows(ratio: float, said: str):
    nets = SimpleNamespace(site=OpSite("activations"), op_layers=[1, 3])
    assert (
        inputs._describe_layer(nets, 1, ratio)
        == f"The op's inputs after w2 are {said} as wide as this rule's window."
    )


@pytest.mark.parametrize(("rule", "hangs"), [("reinforce", True), ("disarm", True), ("reinmax", False)])
def test_a_rule_that_depends_on_the_loss_has_no_width_ratio(rule, hangs):
    record = measure("inputs", task="digits", op="bernoulli", rules=(rule,))[1][rule]
    assert record["words"][0].startswith("This rule depends on the loss of each example") is hangs
    assert math.isnan(record["ratio"][0]) is hangs
