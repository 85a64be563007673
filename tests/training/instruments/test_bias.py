"""Bias and spread of a batch's gradient, against all outputs of all units with their chances, and draws."""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from explorer.training import Run
from explorer.training.instruments.base import exact
from explorer.training.instruments.base.exact import make_exact_estimator
from explorer.training.instruments.base.instrument import Nets
from explorer.training.instruments.spread import DRAWS, Bias, _compute_ratio, estimate_bias
from explorer.training.nets.layers.moment import Moment
from explorer.training.numerics import cross_entropy
from tests.selection import take_part
from tests.training.driving import build, measure

SMALL: dict[str, Any] = {"task": "moons", "steps": 100, "lr": 0.05}
DIGITS: dict[str, Any] = {"task": "digits", "steps": 100}


class Coin(NamedTuple):
    """An op with two outputs at each z: the chance of the second, both, and what its rule differentiates."""

    rule: str
    chance: Callable[[Tensor], Tensor]
    first: Callable[[Tensor], Tensor]
    second: Callable[[Tensor], Tensor]
    passes: Callable[[Tensor], Tensor]


COINS = {
    "bernoulli": Coin("sigmoid_st", torch.sigmoid, torch.zeros_like, torch.ones_like, torch.sigmoid),
    "stochastic_round": Coin(
        "straight_through",
        lambda z: z - z.detach().floor(),
        lambda z: z.detach().floor(),
        lambda z: z.detach().floor() + 1,
        lambda z: z,
    ),
    "dropout": Coin(
        "straight_through", lambda z: torch.full_like(z, 0.5), torch.zeros_like, lambda z: 2 * z, lambda z: z
    ),
    "formula: where(u() < sigmoid(2 * x), 1, -1)": Coin(
        "formula: 4 * g * sigmoid(2 * x) * sigmoid(-2 * x)",
        lambda z: torch.sigmoid(2 * z),
        lambda z: -torch.ones_like(z),
        torch.ones_like,
        lambda z: 2 * torch.sigmoid(2 * z),
    ),
}


def seen(run: Run) -> dict[str, list[Bias]]:
    """The bias by rule, by layer with the op."""
    records = run.snapshot(visible=("spread",)).measured["spread"]
    return {
        rule: [Bias(*each) for each in zip(own["bias"].tolist(), own["within"].tolist(), strict=True)]
        for rule, own in records.items()
    }


def enumerated(nets: Nets, coin: Coin, member: int) -> tuple[list[Tensor], list[Tensor]]:
    """The rule's mean gradient of the weights below each op and the exact one, in float64."""
    x, y = (each[member % len(each)] for each in nets.batch)
    found = []
    for by_rule in (True, False):
        views = [each for own in nets.ensemble.parameter_views for each in own]
        own = [each[member].double().requires_grad_() for each in views]
        loss = mean_loss(x.double(), y, own, coin, torch.ones(len(x)).double(), by_rule)
        found.append(list(torch.autograd.grad(loss, own[:-2:2])))
    return found[0], found[1]


def mean_loss(x: Tensor, y: Tensor, own: list[Tensor], coin: Coin, chance: Tensor, by_rule: bool) -> Tensor:
    """The mean over all outputs of all units; ``by_rule``: its gradient is the mean of the rule's."""
    weights, biases, *rest = own
    z = x @ weights + biases
    if not rest:
        return (chance * functional.cross_entropy(z, y, reduction="none")).mean()
    total = z.new_zeros(())
    for bits in product((False, True), repeat=z.shape[1]):
        second, p = torch.tensor(bits), coin.chance(z)
        each = torch.where(second, p, 1 - p).prod(1)
        h = torch.where(second, coin.second(z), coin.first(z))
        if by_rule:
            passes = coin.passes(z)
            each, h = each.detach(), h.detach() + passes - passes.detach()
        total = total + mean_loss(h, y, rest, coin, chance * each, by_rule)
    return total


@pytest.mark.parametrize(("op", "hidden"), take_part(product(COINS, [(4,), (3, 2)])))
def test_the_bias_matches_an_enumeration_of_all_outputs(op: str, hidden: tuple[int, ...]) -> None:
    coin = COINS[op]
    run = build(op=op, rules=(coin.rule,), hidden=hidden, seeds=3, **SMALL)
    told = 0
    for step in (0, 10, 30, 60, 100):
        run.advance(step - run.step)
        both = [enumerated(run.recorder.observe(run.settings), coin, member) for member in range(3)]
        for layer, (share, within) in enumerate(seen(run)[coin.rule]):
            between = sum(float((by_rule[layer] - own[layer]).square().sum()) for by_rule, own in both)
            wanted = (between / sum(float(own[layer].square().sum()) for _, own in both)) ** 0.5
            if share:
                assert share == pytest.approx(wanted, abs=4 * within + 1e-4)
            else:
                assert wanted < 1.2 * within
            told += share > 0
    assert told >= 2


def test_a_unit_without_outgoing_weights_has_no_gradient() -> None:
    """Whatever the layers above it draw, they draw it for both of its outputs."""
    run = build(20, op="bernoulli", rules=("sigmoid_st",), hidden=(3, 2), seeds=2, **SMALL)
    nets = run.recorder.observe(run.settings)
    _, above = nets.op_layers
    nets.ensemble.parameter_views[above - 1][0][:, 2] = 0
    estimate = make_exact_estimator(nets)
    assert estimate
    known = estimate(nets.ensemble.observe(*nets.batch, nets.task.loss, 1))
    assert known
    assert known[0][..., 2].abs().max() < 1e-8
    assert known[0][..., :2].abs().max() > 1e-4


def test_straight_through_shows_a_bias_and_unbiased_rules_show_none() -> None:
    unbiased = ("reinforce", "reinforce_baseline", "arm", "disarm")
    run = build(op="bernoulli", rules=(*unbiased, "sigmoid_st", "st_gumbel"), seeds=3, **DIGITS)
    for step in (0, 50):
        run.advance(step - run.step)
        for rule, ((share, within),) in seen(run).items():
            assert within > 0.1 * (rule in unbiased)
            assert share == 0 if rule in unbiased else share > 6 * within


@pytest.mark.parametrize(("op", "rule", "wanted"), [
    ("gaussian_noise", "default", 0), ("gaussian_noise", "formula: 2 * g", 1), ("dropout", "default", 0),
    ("gumbel_sigmoid", "default", 0), ("stochastic_round", "default", 1), ("bernoulli", "zero", 1),
])  # fmt: skip
def test_an_unbiased_rule_has_bias_0_and_a_zero_rule_misses_it_all(op: str, rule: str, wanted: int) -> None:
    run = build(10, op=op, rules=(rule,), seeds=2, **DIGITS)
    ((share, within),) = seen(run)[rule]
    assert share == pytest.approx(wanted, abs=1e-4)
    assert within == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize("given", [
    {"task": "digits convolution", "op": "bernoulli"}, {"task": "ternary weights", "op": "stochastic_round"},
    {"task": "spikes", "op": "bernoulli"}, {"task": "digits", "op": "noisy_round"},
    {"task": "moons", "op": "sign", "rules": ("formula: g * u()",)},
    {"task": "moons", "op": "gaussian_noise", "rules": ("default",), "learn": ("s",)},
    {"task": "moons", "op": "formula: where(u() < sigmoid(x - mean(x)), 1, 0)"},
], ids=str)  # fmt: skip
def test_the_spread_is_measured_if_the_bias_cannot_be(given: dict[str, Any]) -> None:
    for own in measure("spread", 2, **{"rules": ("straight_through",)} | given)[1].values():
        assert len(own["bias"]) == len(own["within"]) == 0
        assert len(own["spread"]) >= 2


def test_the_bias_is_not_measured_in_wide_nets(monkeypatch: pytest.MonkeyPatch) -> None:
    run = build(op="bernoulli", rules=("sigmoid_st",), seeds=1, **SMALL)
    monkeypatch.setattr(exact, "_MAX_NUMBERS", 2)
    assert seen(run) == {"sigmoid_st": []}


def products(vectors: Tensor) -> Any:
    return (vectors @ vectors.T).double().numpy()


def test_noise_is_rarely_reported_as_bias() -> None:
    generator = torch.Generator().manual_seed(1)
    whole = torch.tensor([3.0, 4.0] + 62 * [0.0]).expand(DRAWS, -1)
    shares = []
    for _ in range(400):
        noise = torch.randn(DRAWS, 64, generator=generator)
        found = estimate_bias(products(noise), products(whole))
        shares.append(found.share)
        assert found.within > 0
    assert np.mean([share > 0 for share in shares]) < 0.03


def test_estimate_bias_returns_a_share_and_its_error_or_nan() -> None:
    whole = torch.tensor([3.0, 4.0]).expand(DRAWS, -1)
    assert estimate_bias(products(0.5 * whole), products(whole)) == pytest.approx((0.5, 0), abs=1e-12)
    assert estimate_bias(products(1e-6 * whole), products(whole)) == (0, 0)
    lost = whole * torch.tensor([1.0, -1.0]).repeat(DRAWS // 2)[:, None]
    assert np.isnan(estimate_bias(products(whole), products(lost))).all()
    assert np.isnan(estimate_bias(products(whole), products(0 * whole))).all()


def test_copies_of_an_example_share_their_draws() -> None:
    one = Moment(3, layer=1, redraws=2).draw([5, 6], torch.zeros(2, 4, 3))
    three = Moment(3, layer=1, redraws=2, copies=3).draw([5, 6], torch.zeros(2, 12, 3))
    assert torch.equal(three, one.repeat(1, 3, 1))


def test_the_bias_is_the_same_at_each_request() -> None:
    rules = ("sigmoid_st", "disarm")
    run, other = (build(op="bernoulli", rules=rules, seeds=2, **SMALL) for _ in range(2))
    for _ in range(3):
        run.advance(5)
        assert seen(run) == seen(run)
    other.advance(15)
    assert seen(other) == seen(run)


@pytest.mark.parametrize("rule", ["sigmoid_st", "disarm"])
def test_the_spread_is_close_to_that_of_400_draws(rule: str) -> None:
    run, records = measure("spread", 20, op="bernoulli", task="digits", rules=(rule,), seeds=3, steps=30)
    observe = partial(run.nets.ensemble.observe, *run.nets.batch, cross_entropy)
    looks = [observe(redraws=1000 + again).gradients for again in range(400)]
    wanted = []
    for layer in (1, 3):
        draws = torch.stack([each[layer][0].flatten(1) for each in looks]).double()
        mean = draws.mean(0)
        strayed = (draws - mean).square().sum(2).mean(0).sqrt()
        wanted.append(float((strayed / mean.norm(dim=1)).median()))
    assert records[rule]["spread"] == pytest.approx(wanted, rel=0.35)


def test_the_spread_is_infinite_when_the_draws_cancel() -> None:
    alike = torch.ones(DRAWS, 1, 4)
    cancelling = torch.tensor([1.0, -1.0]).repeat(DRAWS // 2).view(DRAWS, 1, 1).expand(DRAWS, 1, 4)
    assert _compute_ratio(alike).tolist() == [0.0]
    assert _compute_ratio(cancelling).tolist() == [float("inf")]
    assert _compute_ratio(torch.zeros(DRAWS, 1, 4)).isnan().all()
    one = torch.full((DRAWS, 1, 1), 3.0)
    one[: DRAWS // 2] = 5.0
    variance = DRAWS / (DRAWS - 1)
    assert _compute_ratio(one).tolist() == pytest.approx([(variance / (16 - variance / DRAWS)) ** 0.5])


def test_a_deterministic_rule_has_no_spread() -> None:
    snapshot = build(task="moons", op="sign").snapshot(visible=("spread",))
    assert "nothing is random" in snapshot.unmeasured["spread"]
    assert measure("spread", task="moons", op="sign", branch=[(5, "op", "bernoulli")])[1]
