"""Runs of what draws: the same numbers whatever happens, gradients right on average, judged as it is said."""

from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from explorer.catalogue import OPS
from explorer.catalogue import RULES as CATALOGUE
from explorer.gradient import hash_uniform
from explorer.training import Run, Settings
from explorer.training.instruments import INSTRUMENTS
from explorer.training.instruments.base.gradient_samples import sample_gradients
from explorer.training.nets.layers.moment import EVALUATION_STEP, Moment
from explorer.training.numerics import cross_entropy

RULES = ("sigmoid_st", "st_gumbel", "reinforce_baseline", "disarm")
COIN: dict[str, Any] = {"op": "bernoulli", "task": "digits", "rules": RULES, "seeds": 2, "device": "cpu"}
STEPS = 40


def begun(**settings: Any) -> Run:
    return Run(Settings(**COIN | {"steps": STEPS} | settings), recorded=())


def trained(**settings: Any) -> Run:
    run = begun(**settings)
    run.advance(STEPS)
    return run


def test_each_seed_step_and_layer_draws_different_numbers() -> None:
    ensemble = begun(rules=("sigmoid_st",), hidden=(8, 8)).nets.ensemble
    drawn = []
    for step in range(2):
        ensemble.optimiser.steps = step
        x = torch.zeros(2, 64, 64)
        traces = ensemble.observe(x, torch.zeros(2, 64).long(), cross_entropy).traces
        drawn += [each.u[member] for each in traces if each.u is not None for member in range(2)]
    assert len(drawn) == 8
    for one, other in product(range(8), repeat=2):
        assert torch.equal(drawn[one], drawn[other]) == (one == other)


def test_runs_with_random_ops_are_not_fused() -> None:
    assert begun().fusion_key is None
    assert begun(op="round", rules=("straight_through",), seeds=1).fusion_key is not None


DRAWS, LOOKS = 4096, 12
PIXELS = 3


def measured(rule: str, hidden: tuple[int, ...]) -> tuple[Tensor, Tensor, Tensor]:
    """Mean gradient of one example over many draws, its standard error, and the gradient of the mean loss."""
    table = "\n".join(
        "a,b,c,kind" if row < 0 else f"{row},{row % 3},{row % 5},{row % 2}" for row in range(-1, 40)
    )
    run = Run(
        Settings(table=table, op="bernoulli", rules=(rule,), hidden=hidden, batch=4, device="cpu"),
        recorded=(),
    )
    ensemble = run.nets.ensemble
    x = torch.tensor([0.5, -1.0, 2.0]).expand(1, DRAWS, PIXELS)
    y = torch.ones(1, DRAWS).long()
    looks = []
    for step in range(LOOKS):
        ensemble.optimiser.steps = step
        observed = ensemble.observe(x, y, cross_entropy)
        looks.append(torch.cat([each.flatten() for layer in observed.gradients for each in layer]).double())
    together = torch.stack(looks)
    own = [each[0].double().requires_grad_() for layer in ensemble.parameter_views for each in layer]
    exact = torch.autograd.grad(mean_loss(x[0, :1].double(), own), own)
    flat = torch.cat([each.flatten() for each in exact])
    return together.mean(0), together.std(0) / LOOKS**0.5, flat


def mean_loss(x: Tensor, own: list[Tensor], chance: float | Tensor = 1.0) -> Tensor:
    """The mean over all outputs of all units, each with its chance."""
    weights, bias, *rest = own
    z = x @ weights + bias
    if not rest:
        return chance * functional.cross_entropy(z, torch.ones(1).long())
    losses = []
    for bits in product((0.0, 1.0), repeat=z.shape[1]):
        h = torch.tensor([bits], dtype=torch.float64)
        each = torch.where(h == 1, torch.sigmoid(z), torch.sigmoid(-z)).prod()
        losses.append(mean_loss(h, rest, chance * each))
    return torch.stack(losses).sum()


@pytest.mark.parametrize("hidden", [(3,), (3, 2)], ids=str)
@pytest.mark.parametrize("rule", ["reinforce", "arm", "disarm"])
def test_unbiased_rules_give_the_exact_mean_gradient(rule: str, hidden: tuple[int, ...]) -> None:
    mean, error, exact = measured(rule, hidden)
    assert (mean - exact).abs().max() < 0.05 * exact.abs().max()
    assert ((mean - exact).abs() <= 6 * error + 1e-6).all()


def test_the_measure_of_bias_detects_a_biased_rule() -> None:
    mean, error, exact = measured("sigmoid_st", (3,))
    assert ((mean - exact).abs() > 12 * error + 1e-6).any()


def layers(run: Run) -> list[list[Tensor]]:
    return [[each[0] for each in layer] for layer in run.nets.ensemble.parameter_views if layer]


JUDGING = {
    "bernoulli": lambda x, u: (u < torch.sigmoid(x)).float(),
    "gumbel_sigmoid": lambda x, u: (u < torch.sigmoid(x)).float(), "dropout": lambda x, u: x,
    "gaussian_noise": lambda x, u: x, "noisy_round": lambda x, u: x.round(),
    "stochastic_round": lambda x, u: (x + u).floor(),
}  # fmt: skip


@pytest.mark.parametrize("op", JUDGING)
def test_nets_are_judged_by_one_draw_or_without_noise(op: str) -> None:
    rule = "sigmoid_st" if op == "bernoulli" else "straight_through"
    run = trained(op=op, rules=(rule,), seeds=1, seed=3)
    held_out = run.nets.data[0].held_out
    assert held_out is not None
    (w1, b1), (w2, b2) = layers(run)
    z = held_out.x @ w1 + b1
    u = hash_uniform(3, EVALUATION_STEP, z.numel()).view(z.shape).float()
    right = (JUDGING[op](z, u) @ w2 + b2).argmax(1) == held_out.y
    (scores,) = run.snapshot().score.values()
    assert scores is not None
    assert scores[0] == pytest.approx(right.float().mean().item(), abs=1e-6)


def test_u_and_its_twin_lie_between_0_and_1_in_float32() -> None:
    like = torch.zeros(1, 2**16)
    for step in range(40):
        u, twin = (Moment(step, twin=twin).draw([7], like) for twin in (False, True))
        for each in (u, twin):
            assert each.min() > 0
            assert each.max() < 1
        assert torch.equal(1 - u, twin)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"rules": ("flip",)}, r"flip asks for f\(1\), the loss at an output that was not drawn"),
        ({"rules": ("arm",), "task": "spikes"}, r"arm asks for fa\(\), the loss of a twin"),
        ({"rules": ("formula: g * f(1 - y)",)}, r"asks for f\(1 - y\)"),
    ],
    ids=["flip", "spikes", "own"],
)
def test_a_rule_that_needs_a_loss_the_net_lacks_is_refused(given: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Settings(**COIN | given)


MEASURED: dict[str, tuple[dict[str, Any], str]] = {
    "units": ({}, "the op is random"),
    "noise": ({"op": "noisy_round", "rules": ("default", "straight_through")}, "the op is random"),
    "weights": (
        {"op": "stochastic_round", "task": "ternary weights", "rules": ("straight_through", "reinforce")},
        "applies the op to weights",
    ),
    "spikes": ({"task": "spikes", "rules": ("sigmoid_st", "reinforce")}, "a spiking unit"),
    "maps": ({"task": "digits convolution", "rules": ("sigmoid_st", "arm")}, "the op is random"),
    "a rule alone": ({"op": "round", "rules": ("formula: 2 * g * u()", "straight_through")}, ""),
}


@pytest.mark.parametrize(("given", "why"), MEASURED.values(), ids=MEASURED)
def test_every_instrument_measures_random_ops_or_explains_why_not(given: dict[str, Any], why: str) -> None:
    run = Run(Settings(**COIN | {"steps": 6} | given))
    run.advance(6)
    snapshot = run.snapshot([key for key, each in INSTRUMENTS.items() if each.kind == "visible"])
    for key, each in INSTRUMENTS.items():
        if each.kind == "requested":
            assert run.measure(key), key
        else:
            assert (key in snapshot.unmeasured) != (key in snapshot.measured), key
    assert why in snapshot.unmeasured.get("alignment", "")
    assert ("alignment" in snapshot.unmeasured) == bool(why)


def test_sampled_gradients_of_a_random_op_have_the_right_mean() -> None:
    x = torch.tensor([-1.0, 0.0, 2.0], dtype=torch.float64)
    coin, p = OPS["bernoulli"], torch.sigmoid(x)
    fixed = sample_gradients(coin, CATALOGUE["sigmoid_st"], {}, x, 1.0)
    torch.testing.assert_close(fixed, (p * (1 - p)).expand_as(fixed))
    noisy = sample_gradients(OPS["dropout"], CATALOGUE["default"], {"p": 0.25}, x, 3.0)
    torch.testing.assert_close(noisy.mean(0), torch.full_like(x, 3.0))
    assert sample_gradients(coin, CATALOGUE["reinforce"], {}, x, 1.0).isnan().all()
