"""Parameters of the op that learn: against torch's own optimisers, alone and in company, on and on."""

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from explorer.catalogue import RULES, Learned, Parameter, Rule
from explorer.gradient import bind
from explorer.training import Settings
from explorer.training.numerics.losses import cross_entropy
from tests.training.by_hand import run_dense, run_maps
from tests.training.driving import build, losses, train
from tests.training.runs.learning_cases import OPTIMISERS, SPIKES, UNITS, WEIGHTS

RECORDED = ("parameters",)
CHANNELS = {"learn": ("s",), "learn_each": "channel", "optimiser": "momentum", "lr": 0.01}
QUANTISED = {"op": "quantize", "rules": ("lsq",), "parameters": {"s": 0.7, "qmin": -2.0, "qmax": 1.0}}
MAPS = {"task": "digits convolution", "hidden": (4, 3)} | QUANTISED | CHANNELS
SLOW = {key: {"optimiser": key, "lr": 0.01, "learn_rate": 0.5 if key == "sgd" else 0.1} for key in OPTIMISERS}
# Settings, and how many values learn in each layer.
CASES: dict[str, tuple[dict[str, Any], list[int]]] = {
    **{f"weights {key}": (WEIGHTS | SLOW[key], [1, 1]) for key in OPTIMISERS},
    **{f"units {key}": (UNITS | SLOW[key], [1]) for key in OPTIMISERS},
    "channels of maps": (MAPS, [4, 3]),
    "channels of kernels": (WEIGHTS | {"task": "ternary kernels", "hidden": (4, 3)} | CHANNELS, [4, 3]),
    "channels of weights": (WEIGHTS | {"hidden": 6} | CHANNELS, [6, 10]),
    "channels of units": ({"task": "digits", "hidden": (6, 5)} | QUANTISED | CHANNELS, [6, 5]),
}


def apply_op(settings: Settings, x: torch.Tensor, learned: torch.Tensor) -> torch.Tensor:
    """PACT, or LSQ as its paper composes it, detached where the gradient is not to go; N is of one value."""
    if settings.op == "clamp":
        return torch.where(x < 0, 0 * x, torch.where(x >= learned, learned, x))
    low, high = (settings.parameters[name] for name in ("qmin", "qmax"))
    scale = (x.numel() / learned.numel() * high) ** -0.5
    slow = (learned - learned * scale).detach() + learned * scale
    held = (x / slow).clamp(low, high)
    return ((held.round() - held).detach() + held) * slow


@pytest.mark.parametrize("case", CASES)
def test_learned_parameters_move_as_by_autograd_with_torchs_optimiser(case):
    """By another way: autograd of composed code; the learned group has its own rate."""
    given, counts = CASES[case]
    (rule,), (name,) = given["rules"], given["learn"]
    run = build(20, RECORDED, **given)
    settings = run.settings
    x, y, start = run.tensors()
    leaves = [each.clone().requires_grad_() for each in start]
    learned = [torch.full((count,), settings.parameters[name], requires_grad=True) for count in counts]
    groups = [{"params": leaves}, {"params": learned, "lr": settings.lr * settings.learn_rate}]
    optimiser = OPTIMISERS[settings.optimiser](groups, settings.lr)
    generator = torch.Generator().manual_seed(settings.seed)
    for weights in start[::2]:
        torch.randn(weights.shape, generator=generator)
    net = run_maps if settings.hidden == (4, 3) else run_dense

    def op(values, layer):
        own = learned[layer]
        return apply_op(settings, values, own[:, None, None] if values.dim() == 4 else own)

    expected = []
    for _ in range(20):
        chosen = torch.randint(len(x), (settings.batch,), generator=generator)
        layers = list(zip(leaves[::2], leaves[1::2], strict=True))
        output = net(x[chosen], layers, op, on_weights="ternary" in settings.task)[1]
        loss = functional.cross_entropy(output, y[chosen])
        expected.append(loss.item())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    snapshot, taken = run.snapshot(), run.weights()
    assert snapshot.losses[rule].tolist() == pytest.approx(expected, rel=1e-3)
    ours = [taken[f"{rule}.0.op.{layer}.{name}"].flatten() for layer in range(len(counts))]
    for mine, theirs in zip(ours, learned, strict=True):
        moved = (theirs - settings.parameters[name]).detach()
        assert moved.abs().max() > 1e-4
        assert (len(moved.unique()) > 1) == (settings.learn_each == "channel")
        torch.testing.assert_close(mine - settings.parameters[name], moved, rtol=2e-2, atol=1e-5)
    record = snapshot.measured["parameters"][rule]
    for field, end in (("value", torch.mean), ("least", torch.amin), ("most", torch.amax)):
        assert record[field].tolist() == pytest.approx([end(each).item() for each in ours])


def test_the_gradient_of_a_spiking_threshold_is_the_sum_over_its_times():
    """It follows from the rule: what moves x by so much moves the threshold the other way."""
    nets = build(**SPIKES).nets
    now = nets.ensemble.observe(*nets.batch, cross_entropy)
    (trace,) = [each.op for each in now.traces if each.x is not None]
    ((pull,),) = nets.ensemble.rows.view_learned(now.flat)
    assert abs(pull.item()) > 1e-4
    assert pull.item() == pytest.approx(-trace.gradient.sum().item(), rel=1e-4)


def test_a_rule_without_learning_is_unaffected_by_one_that_learns():
    with_lsq = WEIGHTS | {"rules": ("quantize_masked", "lsq"), "learn": ("lsq.s",)}
    beside = build(30, RECORDED, **with_lsq).snapshot()
    alone = build(30, RECORDED, **WEIGHTS | {"rules": ("quantize_masked",), "learn": ()}).snapshot()
    assert beside.losses["quantize_masked"].tolist() == alone.losses["quantize_masked"].tolist()
    assert beside.learned["quantize_masked"]["s"].tolist() == [[0.5, 0.5]]
    assert alone.learned == {"quantize_masked": {}}
    assert "parameters" in alone.unmeasured
    assert np.isnan(beside.measured["parameters"]["quantize_masked"]["gradient"]).all()


def test_the_series_of_a_learned_parameter_begins_with_its_initial_value():
    snapshot = build(60, RECORDED, **WEIGHTS, seeds=2).snapshot()
    record = snapshot.measured["parameters"]["lsq"]
    assert [series[0] for series in record["values"]] == [0.5, 0.5]
    assert record["value"].tolist() == pytest.approx(snapshot.learned["lsq"]["s"].mean(0).tolist())
    assert len(record["gradients"]) == 2
    assert np.isfinite(record["gradients"]).all()


@pytest.mark.parametrize("each", ["layer", "channel"])
def test_a_parameter_that_leaves_its_domain_ends_only_its_rule(each):
    steep = (Learned("s", "abs(g)", scale="100"),)
    down = dataclasses.replace(RULES["lsq"], key="down", label="Down", learned=steep)
    run = build(20, **WEIGHTS | {"rules": (down, "lsq"), "seeds": 2, "learn_each": each})
    snapshot = run.snapshot()
    assert snapshot.diverged["down"] is not None
    assert (snapshot.diverged["lsq"], snapshot.step) == (None, 20)
    fallen = "s of w1 fell to 0 or below, where its formulas are undefined"
    assert snapshot.fallen == {"down": fallen, "lsq": None}
    again = train(run.settings, 0, recorded=())
    again.load_state_dict(run.state_dict())
    assert (again.snapshot().fallen, again.snapshot().faults) == (snapshot.fallen, snapshot.faults)


@pytest.mark.parametrize("others", [("lsq",), ()])
def test_a_parameter_that_becomes_nan_ends_only_its_rule(others):
    broken = dataclasses.replace(RULES["lsq"], key="broken", learned=(Learned("s", "g / 0"),))
    snapshot = build(5, RECORDED, **WEIGHTS | {"rules": (broken, *others)}).snapshot()
    assert snapshot.diverged == {"broken": 1} | dict.fromkeys(others)
    assert snapshot.fallen == dict.fromkeys(("broken", *others))
    assert np.isnan(snapshot.learned["broken"]["s"]).tolist() == [[True, True]]


def test_learn_accepts_a_single_name():
    assert Settings(**WEIGHTS | {"learn": "s"}) == Settings(**WEIGHTS)


def test_a_parameter_of_one_rule_starts_from_its_own_value():
    own: dict[str, Any] = {"parameters": (Parameter("c", 1.0),), "learned": (Learned("c", "g"),)}
    one, other = (Rule(key, key, "g * (0 <= x <= c)", **own) for key in ("one", "other"))
    settings = UNITS | {"rules": (one, other, "default"), "learn": ("c",), "parameters": {"one.c": 0.25}}
    learned = build(**settings).snapshot().learned
    assert [learned[key]["c"].tolist() for key in ("one", "other")] == [[[0.25]], [[1.0]]]
    assert learned["default"] == {}


def test_a_unit_is_computed_with_the_learned_value_of_its_layer_or_channel():
    run = build(20, **UNITS | {"learn_rate": 3.0})
    (hi,) = run.snapshot().learned["pact"]["hi"][0]
    assert abs(hi - 0.5) > 0.1
    answer = run.measure("unit", layer=0, cause=2)["pact"]
    assert answer["parameters"]["hi"] == pytest.approx(hi)
    assert answer["x"] < 0 or answer["x"] >= hi
    op = bind("clamp", "pact", {"hi": float(hi)})
    x, g = (torch.tensor([answer[name]]) for name in ("x", "g"))
    assert op.gradient(x, op.forward(x), g).item() == answer["gradient"] == 0
    run = build(10, **MAPS | {"lr": 0.1})
    values, answer = run.weights()["lsq.0.op.0.s"], run.measure("unit", layer=0, cause=2)["lsq"]
    assert len(values.unique()) == 4
    assert answer["parameters"]["s"] == pytest.approx(values[answer["unit"] // 64].item())


def test_pictures_use_the_mean_of_the_channel_values():
    run = build(10, **MAPS | {"lr": 0.1})
    nets, values = run.recorder.observe(run.settings), run.weights()["lsq.0.op.0.s"]
    assert nets.get_parameters(0, 0)["s"] == pytest.approx(values.mean().item())
    assert [nets.get_parameters(0, 0, 64 * at)["s"] for at in range(4)] == pytest.approx(values.tolist())


def test_learned_parameters_are_exported_with_the_weights():
    run = build(10, RECORDED, **WEIGHTS | {"seeds": 2, "seed": 4})
    weights, values = run.weights(), run.snapshot().learned["lsq"]["s"]
    own = {name: value.item() for name, value in weights.items() if ".op." in name}
    assert own == {f"lsq.{4 + seed}.op.{at}.s": values[seed, at] for seed in range(2) for at in range(2)}
    assert weights["lsq.4.0.weight"].shape == (16, 64)
    assert weights["lsq.5.1.bias"].shape == (10,)
    assert run.history()["parameters_value_2"][0] == pytest.approx(0.5)


AFTER = {"rests": {"lsq": "quantize_masked"}, "gone": {"op": "sign", "lsq": "zero"}, "": {"lr": 0.02}}


def learned_of(run):
    return {name: value.tolist() for name, value in run.snapshot().learned["lsq"].items()}


@pytest.mark.parametrize("optimiser", OPTIMISERS)
@pytest.mark.parametrize("words", AFTER)
def test_a_branch_with_learned_values_equals_a_run_of_its_settings(words, optimiser):
    """From a kept step on, and back and on from there, bit for bit."""
    given = WEIGHTS | {"optimiser": optimiser, "learn": ("lsq.s",), "learn_rate": 0.3}
    run = build(30, RECORDED, **given)
    before = losses(run), learned_of(run)
    other = run.branch(20, **AFTER[words])
    step, kept = other.step, learned_of(other)
    assert 0 < step <= 20
    other.advance(40)
    whole = train(other.settings, step + 40, recorded=RECORDED)
    assert (losses(run), learned_of(run)) == before
    assert (losses(other), learned_of(other)) == (losses(whole), learned_of(whole))
    if words != "gone" and optimiser == "sgd":  # the others have momentum
        assert (learned_of(other) == kept) is (words == "rests")
    assert np.isfinite(other.snapshot().measured["parameters"]["lsq"]["value"]).all()
    assert other.back(step) == step
    other.advance(40)
    assert losses(other) == losses(whole)
