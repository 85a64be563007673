"""Means, spreads and the exact gradient against closed forms."""

import math
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from explorer.catalogue import find_loss, find_op, find_rule
from explorer.curves.expectation import NoMeanError, StochasticPair, expected
from explorer.curves.expectation.jumps import bind_formula
from explorer.formula import Formula
from tests.selection import count_examples, loop_over

X = torch.linspace(-6, 6, 241, dtype=torch.float64) + 1e-7
P = torch.sigmoid(X)
COIN = "formula: where(u() < sigmoid(x), 1, 0)"
SOFT = "sigmoid((x - log(u() / (1 - u()))) / tau)"
ROUNDED = "formula: round(x + s * normal())"


def drawn_pair(
    op: str, rule: str = "straight_through", f: str = "(y - target)**2", **settings: float
) -> StochasticPair:
    return StochasticPair(find_op(op), find_rule(rule), find_loss(f), settings)


def density(z: Tensor) -> Tensor:
    return torch.exp(-z * z / 2) / math.sqrt(2 * math.pi)


def square(y: Tensor | float) -> Tensor | float:
    return (y - 0.45) ** 2


COIN_SLOPE = P * (1 - P) * (square(1.0) - square(0.0))


def of_rounded(s: float) -> Tensor:
    """d/dx E f(round(x + s · normal)): at each half the density times how much f rises there."""
    return sum((square(k + 1) - square(k)) * density((k + 0.5 - X) / s) / s for k in range(-60, 60))


@pytest.mark.parametrize(
    ("op", "s", "exact"),
    [
        (COIN, 1.0, COIN_SLOPE),
        ("formula: where(x + log(u() / (1 - u())) > 0, 1, 0)", 1.0, COIN_SLOPE),
        ("formula: floor(x + u())", 1.0, square(X.floor() + 1) - square(X.floor())),
        ("formula: where(u() < 0.7, x / 0.7, 0)", 1.0, 2 * (X / 0.7 - 0.45)),
        ("formula: x + s * normal()", 0.5, 2 * (X - 0.45)),
        ("formula: x + s * normal()", 5.0, 2 * (X - 0.45)),
        (ROUNDED, 0.05, of_rounded(0.05)),
        (ROUNDED, 0.5, of_rounded(0.5)),
        (ROUNDED, 2.0, of_rounded(2.0)),
    ],
)
def test_the_exact_gradient_is_that_of_the_mean_loss(op: str, s: float, exact: Tensor) -> None:
    found = drawn_pair(op, s=s).compute_mean_slope(X)
    torch.testing.assert_close(found, exact, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("op", "mean", "spread"),
    [
        (COIN, P, (P * (1 - P)).sqrt()),
        ("formula: floor(x + u())", X, ((X - X.floor()) * (1 - X + X.floor())).sqrt()),
        ("formula: where(u() < 0.7, x / 0.7, 0)", X, X.abs() * math.sqrt(0.3 / 0.7)),
        ("formula: x + 0.5 * normal()", X, torch.full_like(X, 0.5)),
    ],
)
def test_forward_has_its_mean_and_spread(op: str, mean: Tensor, spread: Tensor) -> None:
    found = drawn_pair(op).forward(X)
    torch.testing.assert_close(found.mean, mean, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(found.spread, spread, rtol=1e-7, atol=1e-7)


# Tucker's toy: p = 0.2, target 0.45.
@pytest.mark.parametrize(
    ("rule", "mean", "spread"),
    [
        ("g * sigmoid(x) * (1 - sigmoid(x))", -0.08, 0.128),
        ("g * ((y + p(x)) * (1 - (y + p(x)) / 2) - p(x) * (1 - p(x)) / 2)", 0.016, 0.212),
        ("f() * (y - sigmoid(x))", 0.016, 0.113),
        ("(f() - b) * (y - sigmoid(x))", 0.016, 0.024),
        ("(fa() - f()) * (ya() - y) * sigmoid(abs(x)) / 2", 0.016, 0.019596),
        ("(fa() - f()) * (u() - 0.5)", 0.016, 0.019933),
    ],
)
def test_tuckers_toy_comes_out(rule: str, mean: float, spread: float) -> None:
    at = torch.tensor([0.2], dtype=torch.float64).logit()
    mean_loss = 0.2 * square(1.0) + 0.8 * square(0.0)
    pair = drawn_pair(COIN, f"formula: {rule.replace('p(x)', 'sigmoid(x)')}", b=float(mean_loss))
    assert pair.compute_mean_slope(at).item() == pytest.approx(0.016, abs=1e-9)
    found = pair.gradient(at)
    assert found.mean.item() == pytest.approx(mean, abs=1e-6)
    assert found.spread.item() == pytest.approx(spread, abs=1e-6)


SOFT_PAIRS = [("bernoulli", "st_gumbel"), ("gumbel_sigmoid", "default")]


def by_logistic(x: Tensor, tau: float, hard: bool) -> tuple[Tensor, Tensor]:
    """Mean and spread of g σ'(z) / τ over z = (x − logit u) / τ, by midpoints on either side of 0 apart."""
    z = ((torch.arange(40_000, dtype=torch.float64) + 0.5) / 40_000 * 40)[:, None]
    mean, square = torch.zeros_like(x), torch.zeros_like(x)
    for side in (z, -z):
        logit = x - tau * side
        weight = torch.sigmoid(logit) * torch.sigmoid(-logit) * tau * 40 / 40_000
        soft = torch.sigmoid(side)
        y = (side > 0).double() if hard else soft
        value = 2 * (y - 0.45) * soft * torch.sigmoid(-side) / tau
        mean, square = mean + (value * weight).sum(0), square + (value**2 * weight).sum(0)
    return mean, (square - mean**2).sqrt()


@loop_over("tau", [5.0, 1.0, 0.3, 0.05, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6])
@loop_over(("op", "rule"), SOFT_PAIRS)
def test_spikes_of_a_small_temperature_are_found(op: str, rule: str, tau: float) -> None:
    at = X[30:211:20]
    found = drawn_pair(op, rule, tau=tau).gradient(at)
    mean, spread = by_logistic(at, tau, hard=op == "bernoulli")
    torch.testing.assert_close(found.mean, mean, rtol=0, atol=1e-8)
    torch.testing.assert_close(found.spread, spread, rtol=1e-6, atol=0)


@pytest.mark.parametrize(("op", "rule"), SOFT_PAIRS)
def test_a_spike_narrower_than_floats_tell_has_no_mean(op: str, rule: str) -> None:
    for tau in (1e-12, 1e-14):
        with pytest.raises(NoMeanError, match="cannot be computed"):
            drawn_pair(op, rule, tau=tau).gradient(X)


def test_a_large_spread_does_not_hide_that_a_mean_is_not_settled() -> None:
    far = drawn_pair("formula: x + 1e7 * normal()").forward(X)
    torch.testing.assert_close(far.mean, X, rtol=0, atol=1e-6)


@given(
    x=st.floats(-4, 4),
    u=st.floats(0.001, 0.999),
    op=st.sampled_from([COIN, "formula: floor(x + u())", "formula: x + normal()", f"formula: {SOFT}"]),
)
@settings(max_examples=count_examples(60), deadline=None)
def test_one_draw_is_what_apply_returns(x: float, u: float, op: str) -> None:
    from explorer.gradient import apply

    rule = "formula: g * sigmoid(x) + f() * (u() - 0.5)"
    leaf = torch.tensor([x], dtype=torch.float64, requires_grad=True)
    at = torch.tensor([u], dtype=torch.float64)
    y = apply(op, rule, leaf, draw=at, f="(y - 0.45)**2")
    ((y - 0.45) ** 2).sum().backward()
    pair = drawn_pair(op, rule)
    for tree, due in ((pair._forward, y.detach()), (pair._backward, leaf.grad)):
        torch.testing.assert_close(bind_formula(Formula(tree), pair.parameters)(leaf.detach(), at), due)


@pytest.mark.parametrize("op", ["1 / u()", "exp(1 / u())", "tan(pi * u())", "exp(800 + u())"])
def test_a_mean_that_does_not_exist_raises_an_error(op: str) -> None:
    words = "the mean over draws does not exist here, cannot be computed, or is"
    with pytest.raises(NoMeanError, match=words):
        drawn_pair(f"formula: {op}").forward(X)


@pytest.mark.parametrize("op", ["x + 1 / sqrt(u())", "x + 1 / sqrt(1 - u())"])
def test_a_mean_is_there_whose_spread_has_no_bound(op: str) -> None:
    found = drawn_pair(f"formula: {op}").forward(X)
    torch.testing.assert_close(found.mean, X + 2, rtol=0, atol=1e-6)
    assert bool(found.spread.isnan().all())


@pytest.mark.parametrize("loss", ["1/y", "1/(1 - y)"])
def test_a_mean_that_grows_with_the_last_floats_below_1_is_not_there(loss: str) -> None:
    with pytest.raises(NoMeanError):
        expected("gumbel_sigmoid", "default", [0.0, 1.0], f=loss)
    assert expected("gumbel_sigmoid", "default", [0.0], f="log(y)")["mean"][0] == pytest.approx(0.5)


def test_a_mean_over_elements_is_refused() -> None:
    for rule in ("g * mean(y)", "g * mean(abs(x))"):  # over which x is not said either
        with pytest.raises(ValueError, match="a mean over elements of a random value"):
            drawn_pair(COIN, f"formula: {rule}").gradient(X)


def test_a_mean_over_x_is_one_number() -> None:
    over = torch.linspace(-2, 4, 2001, dtype=torch.float64)
    op, rule = find_op("formula: x - mean(x) + normal()"), find_rule("formula: g * mean(abs(x))")
    pair = StochasticPair(op, rule, find_loss("y**2"), {}, mean_points=over)
    torch.testing.assert_close(pair.forward(X).mean, X - 1)
    torch.testing.assert_close(pair.gradient(X).mean, 2 * (X - 1) * over.abs().mean())


def test_g_is_a_factor_on_the_loss() -> None:
    rule, loss = find_rule("formula: f() * (y - sigmoid(x))"), find_loss("y**2")
    one, three = (StochasticPair(find_op(COIN), rule, loss, {}, g) for g in (1.0, -3.0))
    torch.testing.assert_close(three.compute_mean_slope(X), -3 * one.compute_mean_slope(X))
    torch.testing.assert_close(three.gradient(X).mean, -3 * one.gradient(X).mean)
    torch.testing.assert_close(three.gradient(X).spread, 3 * one.gradient(X).spread)


def test_two_switches_at_one_place_are_one_jump() -> None:
    twice: Callable[[str], str] = "formula: where(u() < sigmoid(x), 1, 0){}".format
    doubled = drawn_pair(twice(" + where(2 * u() < 2 * sigmoid(x), 1, 0)"), f="y").compute_mean_slope(X)
    torch.testing.assert_close(doubled, 2 * P * (1 - P), rtol=1e-9, atol=1e-9)


def test_beside_a_pole_the_mean_is_there() -> None:
    at = torch.tensor([-1.0, 0.0, 2.0], dtype=torch.float64)
    mean = drawn_pair("formula: u() / x").forward(at).mean
    torch.testing.assert_close(mean, 0.5 / at + 0 * at.where(at != 0, torch.nan), equal_nan=True)


def test_a_rule_that_is_not_linear_in_g_gets_all_of_it() -> None:
    """g is G times the slope of the loss, and f() is G times the loss, wherever they stand."""
    for rule, each in (
        ("clamp(g, -0.5, 0.5)", lambda g, _f: g.clamp(-0.5, 0.5)),
        ("1 + 0 * g", lambda g, _f: torch.ones_like(g)),
        ("f()**2", lambda _g, f: f**2),
    ):
        loss = find_loss("(y - 0.45)**2")
        pair = StochasticPair(find_op(COIN), find_rule(f"formula: {rule}"), loss, {}, -3.0)
        both = [each(-6 * (y - 0.45), -3 * square(y)) for y in (torch.zeros_like(X), torch.ones_like(X))]
        torch.testing.assert_close(pair.gradient(X).mean, (1 - P) * both[0] + P * both[1])
