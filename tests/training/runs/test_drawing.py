"""Runs of what draws: the same numbers whatever happens, gradients right on average, judged as it is said."""

from itertools import product
from typing import Any

import pytest
import torch

from explorer.catalogue import OPS
from explorer.catalogue import RULES as CATALOGUE
from explorer.gradient import hash_uniform
from explorer.training import Settings
from explorer.training.instruments import INSTRUMENTS
from explorer.training.instruments.base.gradient_samples import sample_gradients
from explorer.training.nets.layers.moment import EVALUATION_STEP, Moment
from explorer.training.numerics import cross_entropy
from tests.training.by_hand import read_layers
from tests.training.driving import build, train
from tests.training.instruments.test_bias import COINS, mean_loss

RULES = ("sigmoid_st", "st_gumbel", "reinforce_baseline", "disarm")
COIN: dict[str, Any] = {"op": "bernoulli", "task": "digits", "rules": RULES, "seeds": 2, "device": "cpu"}
STEPS = 40
LOOKS, COPIES = 12, 4096


def test_each_seed_step_and_layer_draws_different_numbers() -> None:
    ensemble = build(**COIN | {"rules": ("sigmoid_st",), "hidden": (8, 8)}).nets.ensemble
    drawn = []
    for step in range(2):
        ensemble.optimiser.steps = step
        x = torch.zeros(2, 64, 64)
        traces = ensemble.observe(x, torch.zeros(2, 64).long(), cross_entropy).traces
        drawn += [each.u[member] for each in traces if each.u is not None for member in range(2)]
    assert len(drawn) == 8
    for one, other in product(range(8), repeat=2):
        assert torch.equal(drawn[one], drawn[other]) == (one == other)


@pytest.mark.parametrize("hidden", [(3,), (3, 2)], ids=str)
@pytest.mark.parametrize("rule", ["reinforce", "arm", "disarm", "sigmoid_st"])
def test_unbiased_rules_alone_give_the_exact_mean_gradient(rule: str, hidden: tuple[int, ...]) -> None:
    """The mean over many draws of one example, against all outputs of all units."""
    table = "\n".join(["a,b,c,kind", *(f"{row},{row % 3},{row % 5},{row % 2}" for row in range(40))])
    ensemble = build(table=table, op="bernoulli", rules=(rule,), hidden=hidden, batch=4).nets.ensemble
    x, y = torch.tensor([[0.5, -1.0, 2.0]]), torch.ones(1).long()
    looks = []
    for step in range(LOOKS):
        ensemble.optimiser.steps = step
        seen = ensemble.observe(x.expand(1, COPIES, 3), y.expand(1, COPIES), cross_entropy)
        looks.append(torch.cat([each.flatten() for layer in seen.gradients for each in layer]).double())
    together = torch.stack(looks)
    own = [each[0].double().requires_grad_() for layer in ensemble.parameter_views for each in layer]
    loss = mean_loss(x.double(), y, own, COINS["bernoulli"], torch.ones(1).double(), False)
    exact = torch.cat([each.flatten() for each in torch.autograd.grad(loss, own)])
    off, error = (together.mean(0) - exact).abs(), together.std(0) / LOOKS**0.5
    if rule == "sigmoid_st":
        assert (off > 12 * error + 1e-6).any()
    else:
        assert off.max() < 0.05 * exact.abs().max()
        assert (off <= 6 * error + 1e-6).all()


JUDGING = {
    "bernoulli": lambda x, u: (u < torch.sigmoid(x)).float(),
    "gumbel_sigmoid": lambda x, u: (u < torch.sigmoid(x)).float(), "dropout": lambda x, u: x,
    "gaussian_noise": lambda x, u: x, "noisy_round": lambda x, u: x.round(),
    "stochastic_round": lambda x, u: (x + u).floor(),
}  # fmt: skip


@pytest.mark.parametrize("op", JUDGING)
def test_nets_are_judged_by_one_draw_or_without_noise(op: str) -> None:
    rule = "sigmoid_st" if op == "bernoulli" else "straight_through"
    run = build(STEPS, task="digits", op=op, rules=(rule,), seed=3, steps=STEPS)
    held_out = run.nets.data[0].held_out
    assert held_out is not None
    (w1, b1), (w2, b2) = read_layers(run)
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


@pytest.mark.parametrize("given", [
    {"rules": RULES}, {"op": "noisy_round"}, {"task": "spikes", "rules": ("sigmoid_st", "reinforce")},
    {"op": "stochastic_round", "task": "ternary weights", "rules": ("straight_through", "reinforce")},
    {"task": "digits convolution", "rules": ("sigmoid_st", "arm")},
    {"op": "round", "rules": ("formula: 2 * g * u()", "straight_through")},
], ids=str)  # fmt: skip
def test_every_instrument_measures_random_ops_or_explains_why_not(given: dict[str, Any]) -> None:
    run = train(Settings(**COIN | {"steps": 6, "rules": ("default", "straight_through")} | given))
    snapshot = run.snapshot([key for key, each in INSTRUMENTS.items() if each.kind == "visible"])
    for key, each in INSTRUMENTS.items():
        if each.kind == "requested":
            assert run.measure(key), key
        else:
            assert (key in snapshot.unmeasured) != (key in snapshot.measured), key
    assert ("alignment" in snapshot.measured) == (run.settings.op == "round")


def test_sampled_gradients_of_a_random_op_have_the_right_mean() -> None:
    x = torch.tensor([-1.0, 0.0, 2.0], dtype=torch.float64)
    coin, p = OPS["bernoulli"], torch.sigmoid(x)
    fixed = sample_gradients(coin, CATALOGUE["sigmoid_st"], {}, x, 1.0)
    torch.testing.assert_close(fixed, (p * (1 - p)).expand_as(fixed))
    noisy = sample_gradients(OPS["dropout"], CATALOGUE["default"], {"p": 0.25}, x, 3.0)
    torch.testing.assert_close(noisy.mean(0), torch.full_like(x, 3.0))
    assert sample_gradients(coin, CATALOGUE["reinforce"], {}, x, 1.0).isnan().all()
