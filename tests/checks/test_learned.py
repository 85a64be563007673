"""The check of parameter gradients on code: what the catalogue's rules are taken home as, and others' own."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import torch

from explorer import check
from explorer.catalogue import find_op, find_rule
from explorer.snippets import snippet
from explorer.snippets.pair import make_pair
from tests.catalogue.oracles.learned import LEARNED
from tests.catalogue.test_contribution import learned_names
from tests.checks.cases.case import make_function
from tests.checks.published import learned_scale
from tests.snippets.runner import defined

SCALED = ("lsq", "lsq_plus", "rdfs", "seq")
SCALE = torch.tensor(0.7, requires_grad=True)


@pytest.mark.parametrize("shape", [(), (3, 1)], ids=["one value", "by channel"])
@pytest.mark.parametrize(("op", "rule"), [pair for pair in LEARNED if pair[1] != "default"])
def test_learning_rules_pass_in_every_shape(op: str, rule: str, shape: tuple[int, ...], choose_checks):
    choose_checks("parameter gradients")
    names = learned_names(find_op(op), find_rule(rule))
    pair = make_pair(op, rule, None, names)
    function = defined(snippet(op, rule, learns=names))[f"_{pair.layer}Function"]
    arguments = [
        torch.full(shape, value, requires_grad=True) if name in names else value
        for name, value in pair.parameters.items()
    ]
    (result,) = check(function, *arguments)
    assert result.verdict == ("by design" if rule in SCALED else "holds"), result.sentence


ROUNDED: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "by a function": lambda x, s: torch.round(x / s),
    "in place": lambda x, s: (x / s).round_(),
    "after a half": lambda x, s: (x / s).add_(0.5).floor_(),
    "by division": lambda x, s: torch.div(x, s, rounding_mode="floor"),
}


@pytest.mark.parametrize("rounded", ROUNDED.values(), ids=list(ROUNDED))
def test_every_way_to_round_in_forward_is_accepted(rounded: Callable[..., torch.Tensor], choose_checks):
    choose_checks("parameter gradients")

    rounds = make_function(
        lambda x, s: rounded(x, s) * s, lambda x, g, s: (g, (g * (rounded(x, s) - x / s)).sum())
    )
    (result,) = check(rounds, SCALE)
    assert result.verdict == "holds", result.sentence


def test_a_callable_is_compared_with_differences_unless_it_jumps(choose_checks):
    choose_checks("parameter gradients")
    for function in (learned_scale, lambda x, s: (x + s, x.square().mean())):
        (smooth,) = check(function, SCALE)
        assert smooth.verdict == "holds", smooth.sentence
    (jumps,) = check(lambda x, s: (x / s).round() * s, SCALE)
    assert (jumps.verdict, "its forward jumps" in jumps.sentence) == ("by design", True), jumps.sentence


def quantise_on_its_bound(x, scale):
    """A quantiser whose scale starts exactly where its levels end; composed, so that autograd is right."""
    s = scale / 127
    level = torch.nn.functional.hardtanh(x) / s
    level = level + (level.round() - level).detach()
    return level.clamp(-127, 127) * s


def grow_above(x, w, slope):
    """y grows with a weight above 0 alone, where it starts."""
    return x * (1 + slope * w.relu() + (1 - slope) * w.relu().detach())


def test_a_parameter_that_starts_on_a_kink_is_tried_on_both_sides(choose_checks):
    choose_checks("parameter gradients")
    (right,) = check(grow_above, torch.tensor(0.0, requires_grad=True), 1.0)
    assert (right.verdict, "starts on a kink" in right.sentence) == ("by design", True), right.sentence
    (wrong,) = check(grow_above, torch.tensor(0.0, requires_grad=True), 0.5)
    assert "Above it: The gradient of argument 1 is 0.5 times what autograd gives." in wrong.sentence


def test_parameter_gradients_of_a_composed_quantiser_are_those_of_autograd(choose_checks):
    choose_checks("parameter gradients")
    (result,) = check(quantise_on_its_bound, torch.tensor(1.0, requires_grad=True))
    assert (result.verdict, "its forward jumps" in result.sentence) == ("by design", True), result.sentence


def test_the_wrong_one_of_several_parameter_values_is_named(choose_checks):
    """The first of two gets half of what it is due."""
    choose_checks("parameter gradients")

    def halve(x, g, w):
        return g * w, (g * x).reshape(-1, 2).sum(0) * torch.tensor([0.5, 1.0])

    (result,) = check(make_function(torch.mul, halve), torch.ones(2, requires_grad=True))
    got, due = re.search(r"gets (\S+) where (\S+) is due", result.sentence).groups()
    got, due = (float(text.replace("−", "-")) for text in (got, due))
    assert (result.verdict, got / due) == ("fails", pytest.approx(0.5, rel=1e-2))
    assert result.figure == pytest.approx(got - due, rel=1e-2)


def pull_lsq(x, g, s):
    level = x / s
    inside = (level >= -4) & (level <= 3)
    return g * inside, (g * torch.where(inside, level.round() - level, level.clamp(-4, 3))).sum(0)


def quantise(x, s):
    return (x / s).clamp(-4, 3).round() * s


def pull_spike(x, g, t):
    gradient = g * (1 - (x - t).abs()).clamp(min=0)
    return gradient, -gradient.sum(0)


def test_a_wrong_part_is_told_apart_from_a_factor_on_all(choose_checks):
    def pull_scaled(x, g, s):
        """Forgets − x / s inside, and scales the gradient."""
        return g * ((x / s).abs() < 3.5), 0.05 * (g * (x / s).round().clamp(-4, 3)).sum().reshape(1)

    choose_checks("parameter gradients")
    (result,) = check(make_function(quantise, pull_scaled), torch.tensor([0.5], requires_grad=True))
    assert result.verdict == "fails"
    assert result.sentence.startswith("Apart from its factor 0.05, argument 1 gets "), result.sentence


PER_CHANNEL = {"spike": (lambda x, t: (x >= t).to(x.dtype), pull_spike), "LSQ": (quantise, pull_lsq)}
PER_CHANNEL["faint spike"] = PER_CHANNEL["spike"][0], lambda x, g, t: pull_spike(x, 0.05 * g, t)
REDUCTIONS: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], str]] = {
    "each channel its own": (lambda gradient: gradient, "holds"),
    "another channel's": (lambda gradient: gradient.flip(0), "fails"),
    "the total for each": (lambda gradient: gradient.sum().expand_as(gradient).clone(), "fails"),
}


@pytest.mark.parametrize("values", [[0.3, 0.2, 0.5], [0.4, 0.4, 0.4]], ids=["apart", "equal"])
@pytest.mark.parametrize("name", PER_CHANNEL)
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_each_channel_must_get_its_own_gradient_where_y_jumps(reduction, name, values, choose_checks):
    choose_checks("parameter gradients")
    (forward, backward), (reduce, verdict) = PER_CHANNEL[name], REDUCTIONS[reduction]

    def pull(*given):
        gradient, by_channel = backward(*given)
        return gradient, reduce(by_channel)

    x = torch.randn(16, 3, generator=torch.Generator().manual_seed(0))
    (result,) = check(make_function(forward, pull), torch.tensor(values, requires_grad=True), input=x)
    assert result.verdict == ("by design" if (name, verdict) == ("faint spike", "holds") else verdict), result
    assert verdict == "holds" or "rgument 1 at index [" in result.sentence
