"""The way back and the net as it is drawn: each number computed in another way."""

import numpy as np
import pytest

from explorer.training import Run, Settings


def record(key, rule, steps=0, **settings):
    run = Run(Settings(device="cpu", rules=(rule,), **settings), recorded=())
    run.advance(steps)
    return run, run.snapshot((key,)).measured[key][rule]


def test_each_layer_has_its_gradient_norm_and_its_distance_moved():
    run, way = record("way", "clipped", 5, task="circles", op="sign", hidden=(8, 6), seeds=2)
    start = Run(run.settings, recorded=()).weights()
    now = run.weights()
    for layer in range(3):
        far = [
            float((now[f"clipped.{seed}.{layer}.weight"] - start[f"clipped.{seed}.{layer}.weight"]).norm())
            for seed in (0, 1)
        ]
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


@pytest.mark.parametrize(("bias", "biased"), [(True, True), (False, False)])
def test_biases_are_reported(bias, biased):
    assert record("way", "default", task="digits", op="sign", bias=bias)[1]["biased"] is biased


def test_the_drawn_net_matches_a_forward_pass_by_hand():
    run, net = record("net", "clipped", 3, task="digits", op="sign", hidden=16)
    weights = run.weights()
    x = run.nets.data[0].train.x[0]
    assert net["inputs"] == pytest.approx(x.numpy())
    assert net["target"] == int(run.nets.data[0].train.y[0])
    w1, w2 = (weights[f"clipped.0.{layer}.weight"] for layer in (0, 1))
    before = w1 @ x + weights["clipped.0.0.bias"]
    assert net["dots"][0]["x"] == pytest.approx(before.numpy(), abs=1e-4)
    assert net["dots"][0]["y"].tolist() == before.sign().tolist()
    chances = (w2 @ before.sign() + weights["clipped.0.1.bias"]).softmax(0)
    assert net["outputs"] == pytest.approx(chances.numpy(), abs=1e-4)
    drawn = net["weights"][0]
    values = drawn["values"].reshape(64, drawn["columns"]) / 127 * drawn["largest"]
    assert values == pytest.approx(w1.T.numpy(), abs=drawn["largest"] / 250)


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
