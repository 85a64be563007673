"""Every op and rule that draws, against an oracle in NumPy that takes the same u."""

from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
import torch

import explorer
from explorer import catalogue
from explorer.catalogue import Op, Rule
from explorer.gradient import apply
from explorer.measures.nearest.neighbours import list_candidates
from explorer.measures.table import list_suitable_rules
from tests.catalogue import fixed
from tests.selection import loop_over, take_part

DRAWN_OPS = [op for op in catalogue.OPS.values() if op.key not in fixed.OPS]
UNIT_RULES = [rule for rule in catalogue.RULES.values() if rule.key not in fixed.RULES]
LOSS = "(y - 0.45)**2"
X = np.concatenate([np.linspace(-3, 3, 25), [-30.0, -1.0, 0.0, 1.0, 30.0]])
U = np.random.default_rng(5).uniform(0.001, 0.999, (7, len(X)))

Floats = np.ndarray[Any, np.dtype[np.float64]]


def chance(x: Floats) -> Floats:
    return 0.5 * (1 + np.tanh(x / 2))


def logistic(u: Floats) -> Floats:
    return np.log(u) - np.log1p(-u)


def normal(u: Floats) -> Floats:
    return np.vectorize(NormalDist().inv_cdf)(u)


def loss(y: Floats) -> Floats:
    return np.square(y - 0.45)


OP_ORACLES: dict[str, Callable[..., Floats]] = {
    "bernoulli": lambda x, u: (x > logistic(u)).astype(float),
    "stochastic_round": lambda x, u: np.floor(x) + (u >= 1 - (x - np.floor(x))),
    "noisy_round": lambda x, u, s: np.rint(x + s * normal(u)),
    "gaussian_noise": lambda x, u, s: x + s * normal(u),
    "dropout": lambda x, u, p: x / (1 - p) * (u >= p),
    "gumbel_sigmoid": lambda x, u, tau: chance((x - logistic(u)) / tau),
}


def st_gumbel(x: Floats, u: Floats, g: Floats, tau: float) -> Floats:
    return g / (4 * tau * np.cosh((x - logistic(u)) / tau / 2) ** 2)


def twin(x: Floats, u: Floats) -> Floats:
    return (x > -logistic(u)).astype(float)


RULE_ORACLES: dict[str, Callable[..., Floats]] = {
    "sigmoid_st": lambda x, y, u, g: g / (4 * np.cosh(x / 2) ** 2),
    # As the paper writes it: twice the slope in the middle of draw and mean, less half of that at x.
    "reinmax": lambda x, y, u, g: (
        g * (2 * ((y + chance(x)) / 2) * (1 - (y + chance(x)) / 2) - chance(x) * chance(-x) / 2)
    ),
    "st_gumbel": lambda x, y, u, g, tau: st_gumbel(x, u, g, tau),
    "reinforce": lambda x, y, u, g: loss(y) * np.where(y == 1, chance(-x), -chance(x)),
    "reinforce_baseline": lambda x, y, u, g, b: (loss(y) - b) * np.where(y == 1, chance(-x), -chance(x)),
    "arm": lambda x, y, u, g: (loss(twin(x, u)) - loss(y)) * (u - 0.5),
    "flip": lambda x, y, u, g: (loss(np.ones(())) - loss(np.zeros(()))) / (4 * np.cosh(x / 2) ** 2),
    "disarm": lambda x, y, u, g: 0.5 * (loss(twin(x, u)) - loss(y)) * (twin(x, u) - y) * chance(np.abs(x)),
}


def test_every_entry_that_draws_has_an_oracle() -> None:
    assert {op.key for op in DRAWN_OPS} == set(OP_ORACLES)
    assert {rule.key for rule in UNIT_RULES} == set(RULE_ORACLES)


def settings_of(entry: Op | Rule) -> list[dict[str, float]]:
    return [{p.name: share * p.default for p in entry.parameters} for share in (1.0, 0.5)]


@loop_over("op", DRAWN_OPS)
@loop_over("u", U)
def test_op_gives_what_its_oracle_gives(op: Op, u: Floats) -> None:
    for settings in settings_of(op):
        y = apply(op, "straight_through", torch.from_numpy(X), draw=torch.from_numpy(u), **settings)
        np.testing.assert_allclose(y, OP_ORACLES[op.key](X, u, **settings), rtol=1e-12, atol=1e-12)


@loop_over("rule", UNIT_RULES)
@loop_over("u", U)
def test_rule_gives_what_its_oracle_gives(rule: Rule, u: Floats) -> None:
    for settings in settings_of(rule):
        x = torch.from_numpy(X).requires_grad_()
        y = apply("bernoulli", rule, x, draw=torch.from_numpy(u), f=LOSS, **settings)
        upstream = 2 * (y.detach() - 0.45)
        y.backward(upstream)
        wanted = RULE_ORACLES[rule.key](X, y.detach().numpy(), u, upstream.numpy(), **settings)
        np.testing.assert_allclose(x.grad, wanted, rtol=1e-11, atol=1e-12)


@loop_over("rule", UNIT_RULES)
@loop_over("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_single_and_half_precision_are_finite_and_near(rule: Rule, dtype: torch.dtype) -> None:
    results = []
    for each in (torch.float64, dtype):
        x = torch.from_numpy(X).to(each).requires_grad_()
        draw = torch.from_numpy(U[0].clip(0.02, 0.98)).to(dtype).to(each)
        apply("bernoulli", rule, x, draw=draw, f=LOSS).sum().backward()
        assert x.grad.dtype is each
        results.append(x.grad.double())
    assert results[1].isfinite().all()
    torch.testing.assert_close(*results, rtol=16 * torch.finfo(dtype).eps, atol=16 * torch.finfo(dtype).eps)


@pytest.mark.parametrize(
    ("rule", "straight", "parabola", "fourth"),
    [
        ("sigmoid_st", True, False, False), ("reinmax", True, True, False),
        ("st_gumbel", False, False, False), ("reinforce", True, True, True),
        ("reinforce_baseline", True, True, True), ("arm", True, True, True), ("disarm", True, True, True),
        ("flip", True, True, True),
    ],
)  # fmt: skip
def test_a_rule_is_unbiased_for_exactly_the_expected_losses(rule, straight, parabola, fourth):
    for text, right in (("y", straight), (LOSS, parabola), ("(y - 0.45)**4", fourth)):
        table = explorer.expected("bernoulli", rule, np.linspace(-3, 3, 13), f=text)
        off = (table["mean"] - table.exact).abs().max()
        assert (off < 1e-8) == right, (text, off)


def test_straight_through_stochastic_rounding_is_unbiased_for_a_straight_loss_alone() -> None:
    x = np.linspace(-2.9, 2.9, 30)
    for f, bias in (("y", 0 * x), ("y**2", 2 * (x - np.floor(x)) - 1)):
        table = explorer.expected("stochastic_round", "straight_through", x, f=f)
        np.testing.assert_allclose(table["mean"] - table.exact, bias, atol=1e-9)


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")
def test_checks_see_a_draw_that_does_not_fit() -> None:
    def find(name: str, rule: str, op: str = "bernoulli") -> Any:
        return next(result for result in explorer.check(op, rule) if result.name == name)

    assert find("draw fits", "st_gumbel").verdict == "holds"
    assert find("unbiased", "st_gumbel").verdict == "by design"
    wrong = "formula: g * sigmoid(x + log(u() / (1 - u()))) * sigmoid(-x - log(u() / (1 - u())))"
    assert find("draw fits", wrong).verdict == "fails"
    assert "Turn the sign of its noise" in find("draw fits", wrong).sentence
    sees_none = "The rule sees no draw: it returns the same for each."
    assert find("draw fits", "flip").sentence == sees_none
    assert find("draw fits", "sigmoid_st").sentence.endswith("it sees the op's draw through y alone.")
    assert find("unbiased", "formula: g * (1 + 0*normal())", "gaussian_noise").verdict == "holds"


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")
@pytest.mark.parametrize(
    "rule", take_part([*(rule.key for rule in UNIT_RULES), "default", "straight_through"])
)
def test_no_check_of_a_rule_of_the_catalogue_fails(rule: str) -> None:
    results = explorer.check("bernoulli", rule)
    assert results.failures == []
    assert {"draw fits", "unbiased", "deterministic"} <= {result.name for result in results}
    assert "true derivative" not in {result.name for result in results}


@pytest.mark.parametrize("op", [op.key for op in DRAWN_OPS])
def test_functions_that_need_deterministic_ops_refuse_random_ones(op: str) -> None:
    for refuses in (
        lambda: explorer.nearest(op, "straight_through"),
        lambda: explorer.compare(op),
        lambda: explorer.lens(op),
        lambda: explorer.rule_map(op, "straight_through"),
        lambda: explorer.share(op, "straight_through", torch.randn(3)),
    ):
        with pytest.raises(ValueError, match=f"{op} is random, so it has no single value at each x"):
            refuses()


def test_no_rule_that_draws_is_proposed_to_what_does_not() -> None:
    op = catalogue.find_op("formula: sign(x)")
    assert not [rule for rule in [*list_suitable_rules(op), *list_candidates(op)] if rule.is_random]


@pytest.mark.parametrize("key", ["rebar", "RELAX", "rloo", "vimco"])
def test_an_estimator_that_is_no_formula_is_refused_with_the_reason(key: str) -> None:
    said = f"unknown rule '{key}': .* not enough for it; explorer.RULES lists all"
    with pytest.raises(ValueError, match=said):
        apply("bernoulli", key, torch.zeros(1))
