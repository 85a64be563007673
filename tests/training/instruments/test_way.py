"""The way back and the net as it is drawn: each number computed in another way."""

import numpy as np
import pytest

from tests.training.by_hand import read_layers, run_dense
from tests.training.driving import measure, train


def record(key, rule, steps=0, **settings):
    run, records = measure(key, steps, rules=(rule,), **settings)
    return run, records[rule]


def test_each_layer_has_its_gradient_norm_and_its_distance_moved():
    run, way = record("way", "clipped", 5, task="circles", op="sign", hidden=(8, 6), seeds=2)
    start, now = (each.weights() for each in (train(run.settings, 0, recorded=()), run))
    for layer in range(3):
        names = [f"clipped.{seed}.{layer}.weight" for seed in (0, 1)]
        far = [float((now[name] - start[name]).norm()) for name in names]
        assert way["moved"][layer] == pytest.approx(np.mean(far), rel=1e-5)
    norms = run.snapshot(("norms",)).measured["norms"]["clipped"]["norms"]
    assert way["reached"] == pytest.approx(norms)


def test_each_op_layer_passes_its_factor_and_a_dead_one_passes_0():
    run, way = record("way", "clipped", 2, task="circles", op="sign", hidden=(8, 6))
    traces = [each.op for each in run.nets.run_pass().traces if each.gradient is not None]
    factors = [float(op.gradient.abs().sum() / op.upstream.abs().sum()) for op in traces]
    assert way["passed"] == pytest.approx(factors, rel=1e-5)
    _, dead = record("way", "default", 2, task="circles", op="sign", hidden=(8, 6))
    assert dead["passed"].tolist() == pytest.approx([np.nan, 0], nan_ok=True)
    assert (dead["moved"] == 0).tolist() == [True, True, False]


def test_the_gradients_of_other_rules_are_compared_at_the_same_inputs():
    rules = ("clipped", "formula: -g/4", "sigmoid_surrogate")
    run, records = measure("way", 3, task="circles", op="sign", rules=rules, hidden=(8, 6), seeds=1)
    traces = [each.op for each in run.nets.run_pass().traces if each.gradient is not None]
    x, g = (np.concatenate([np.ravel(getattr(op, name)[0]) for op in traces]) for name in ("x", "upstream"))
    own, other = g * (abs(x) <= 1), -g / 4
    cosine = own @ other / np.linalg.norm(own) / np.linalg.norm(other)
    wanted = (0, cosine, abs(other).sum() / abs(own).sum())
    assert records["clipped"]["others"][1] == pytest.approx(wanted, rel=1e-4)
    assert records["clipped"]["others"][2][0] == 1


@pytest.mark.parametrize(("bias", "biased"), [(True, True), (False, False)])
def test_biases_are_reported(bias, biased):
    assert record("way", "default", task="digits", op="sign", bias=bias)[1]["biased"] is biased


def test_the_drawn_net_matches_a_forward_pass_by_hand():
    run, net = record("net", "clipped", 3, task="digits", op="sign", hidden=16)
    x = run.nets.data[0].train.x[0]
    assert net["inputs"] == pytest.approx(x.numpy())
    assert net["target"] == int(run.nets.data[0].train.y[0])
    layers = read_layers(run)
    ((y,), outputs), ((w1, bias), _) = run_dense(x, layers, lambda x, _: x.sign()), layers
    assert net["dots"][0]["x"] == pytest.approx((x @ w1 + bias)[0].numpy(), abs=1e-4)
    assert net["dots"][0]["y"].tolist() == y[0].tolist()
    assert net["outputs"] == pytest.approx(outputs[0].softmax(0).numpy(), abs=1e-4)
    drawn = net["weights"][0]
    values = drawn["values"].reshape(64, drawn["columns"]) / 127 * drawn["largest"]
    assert values == pytest.approx(w1.numpy(), abs=drawn["largest"] / 250)


def test_drawn_weights_are_quantised_and_limited_in_number():
    _, binary = record("net", "straight_through", task="binary weights", op="binarize", hidden=40)
    assert set(binary["weights"][0]["values"].tolist()) == {-127, 127}
    assert [each["columns"] for each in binary["weights"]] == [25, 10]
    _, documents = record("net", "default", task="documents")
    assert (len(documents["inputs"]), documents["of"], len(documents["aim"])) == (64, 1000, 10)
    assert documents["target"] is None


def test_a_spiking_net_is_drawn_for_one_example_at_all_times():
    run, net = record("net", "fast_sigmoid", task="spikes", op="step", hidden=6)
    now = run.recorder._nets.current_pass
    op = now.traces[run.recorder._nets.op_layers[0]].op
    every = run.recorder._nets.x.shape[1]
    by_time = op.x[0].view(8, every, 6)[:, 0]
    assert net["dots"][0]["x"] == pytest.approx(by_time.flatten().numpy())
