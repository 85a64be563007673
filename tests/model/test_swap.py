"""Swapped models, against nets that were written with the other backward by hand."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional

import explorer
from tests.checks.cases.case import make_function
from tests.model import nets


def test_the_forward_stays_and_the_backward_is_the_rules():
    model = nets.made(nets.rounded)
    fixed = explorer.swap(model, torch.round, rule="straight_through")
    torch.testing.assert_close(fixed(nets.X), model(nets.X), rtol=0, atol=0)
    nets.same(nets.gradients_of(fixed), nets.gradients_of(nets.made(nets.straight)))
    assert not nets.gradients_of(model)["a.weight"].any()
    assert list(fixed.sites["site"]) == [f"rounded:{nets.rounded.__code__.co_firstlineno + 1}"]
    assert fixed.undo() is model
    nets.same(nets.gradients_of(fixed), nets.gradients_of(model))


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (lambda h: h.round(), torch.round), (lambda h: torch.round(h), torch.Tensor.round),
        (lambda h: torch.round(h), "round"), (nn.ReLU(), functional.relu), (nn.ReLU(), nn.ReLU),
        (nn.ReLU(), "function"), (nn.Sequential(nn.Identity(), nn.ReLU()), "function"),
        (nn.ReLU(inplace=True), "relu"), (lambda h: h.clamp(min=0), torch.clamp),
        (lambda h: h.to(torch.float8_e4m3fn).float(), "fp8_e4m3"),
    ],
)  # fmt: skip
def test_a_swap_accepts_functions_classes_and_names(function, what):
    model = nets.made(function)
    expected = nets.gradients_of(nets.made(lambda h: pass_through(3 * h, function(h.clone()).detach())))
    for _ in range(2):  # also after it is undone
        fixed = explorer.swap(model, what, rule="formula: 3 * g")
        torch.testing.assert_close(fixed(nets.X), nets.made(function)(nets.X))
        nets.same(nets.gradients_of(fixed), expected)
        fixed.undo()


def test_a_site_of_an_observation_is_swapped_alone():
    def twice(h):
        return torch.sign(h) + torch.sign(h - 1)

    model = nets.made(twice)
    seen = nets.observed(model)
    first, second = seen.sites
    only = explorer.swap(model, second, rule="clipped")
    assert len(only.sites) == 0
    found = nets.gradients_of(only)
    assert list(only.sites["site"]) == [second]
    expected = nets.made(lambda h: torch.sign(h) + explorer.apply("sign", "clipped", h - 1))
    nets.same(found, nets.gradients_of(expected))
    found = nets.gradients_of(explorer.swap(model, seen.sites[first], rule="clipped"))
    nets.same(
        found,
        nets.gradients_of(nets.made(lambda h: explorer.apply("sign", "clipped", h) + torch.sign(h - 1))),
    )


def pass_through(x, y):
    return y + (x - x.detach())


BESIDE = {  # a line with a site and calls that are none, the op of the site, and what it equals by hand
    "pooled": (lambda h: functional.max_pool1d((h > 0).float(), 2).repeat(1, 2), "gt",
               lambda h: functional.max_pool1d(pass_through(h, (h > 0).float()), 2).repeat(1, 2)),
    "a softmax": (lambda h: h.softmax(-1).round(), "round",
                  lambda h: pass_through(h.softmax(-1), h.softmax(-1).round().detach())),
    "a cut": (lambda h: h.cummax(1).indices.float(), "cummax",
              lambda h: pass_through(h, h.cummax(1).indices.float())),
}  # fmt: skip


@pytest.mark.parametrize("name", BESIDE)
def test_a_site_is_swapped_without_the_other_calls_of_its_line(name):
    function, op, by_hand = BESIDE[name]
    seen = nets.observed(nets.made(function))
    (site,) = seen.sites
    fixed = nets.swapped(function, site, rule="straight_through")
    nets.same(nets.gradients_of(fixed), nets.gradients_of(nets.made(by_hand)))
    assert set(fixed.sites["op"]) == {op}


def test_the_op_has_the_parameters_of_the_call_and_the_rule_its_own():
    for function, op, rule, given, values in (
        (lambda h: h.clamp(-0.4, 0.9), "clamp", "masked", {}, {"lo": -0.4, "hi": 0.9}),
        (lambda h: h.clamp(min=0.3), "clamp", "masked", {}, {"lo": 0.3, "hi": 1e9}),
        (torch.sign, "sign", "clipped", {"c": 0.3}, {"c": 0.3}),
    ):
        by_hand = nets.made(partial(explorer.apply, op, rule, **values))
        nets.same(
            nets.gradients_of(nets.swapped(function, op, rule=rule, **given)), nets.gradients_of(by_hand)
        )


def test_a_function_is_swapped_and_keeps_its_forward():
    torch.manual_seed(0)
    model = nets.Net()
    fixed = explorer.swap(model, nets.FakeQuant, rule="zero")
    torch.testing.assert_close(fixed(nets.IMAGES), model(nets.IMAGES))
    half = explorer.swap(explorer.swap(model, "round", rule="straight_through"), nets.FakeQuant, rule="zero")
    gradients = nets.gradients_of(half, nets.IMAGES, nets.DIGITS)
    assert gradients["c1.weight"].any()
    assert not gradients["c2.weight"].any()
    assert "apply" not in vars(nets.FakeQuant)


def test_another_op_changes_the_forward_and_says_by_how_much():
    fixed = nets.swapped(
        lambda h: nets.FakeQuant.apply(h, 0.25),
        nets.FakeQuant,
        op="quantize",
        rule="lsq",
        s=0.25,
        qmin=-4,
        qmax=3,
    )
    nets.gradients_of(fixed)
    assert fixed.sites["change"][0] == 0
    clipped = nets.swapped(torch.relu, "relu", op="hardtanh", rule="straight_through")
    assert [*nets.observed(clipped).frame["op"]] == ["hardtanh"]  # and not the call that it replaces
    other = nets.swapped(torch.relu, "relu", op="leaky_relu", rule="default", slope=0.1)
    nets.same(nets.gradients_of(other), nets.gradients_of(nets.made(lambda h: functional.leaky_relu(h, 0.1))))
    assert other.sites["change"][0] == pytest.approx(0.1 * float(-other.a(nets.X).min().detach()), rel=1e-5)


# A quantiser that learns its step.
Scaled = make_function(
    lambda x, s: (x / s).round() * s, lambda x, g, s: (g, (g * ((x / s).round() - x / s)).sum()), "Scaled"
)


def test_other_arguments_of_a_swapped_call_keep_their_gradients():
    class Learned(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.s, self.act = nn.Linear(8, 3), nn.Parameter(torch.tensor(0.3)), nn.PReLU()

        def forward(self, x):
            return self.act(Scaled.apply(self.a(x), self.s))

    torch.manual_seed(0)
    model = Learned()
    plain = nets.gradients_of(model)
    fixed = nets.gradients_of(explorer.swap(model, Scaled, rule="zero"))
    torch.testing.assert_close(fixed["s"], plain["s"])
    assert not fixed["a.weight"].any()
    fixed = nets.gradients_of(explorer.swap(model, nn.PReLU, rule="straight_through"))
    torch.testing.assert_close(fixed["act.weight"], plain["act.weight"])
    assert not torch.equal(fixed["a.weight"], plain["a.weight"])
    with pytest.raises(ValueError, match="Scaled gets a second tensor that learns"):
        nets.gradients_of(explorer.swap(model, Scaled, op="quantize", rule="lsq"))


RULES = {
    "key": "clipped", "formula": "formula: g * (abs(x) <= 1)", "record": explorer.RULES["clipped"],
    "Function": nets.Clipped, "apply": nets.Clipped.apply, "module": nn.Hardtanh(),
    "function of x": lambda x: x.clamp(-1, 1), "function of x, g": lambda x, g: g * (x.abs() <= 1),
    "function of x, y, g": lambda x, y, g: g * (x * y <= 1), "*more": lambda x, y, g, *more: g * (x * y <= 1),
}  # fmt: skip


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("what", ["sign", "function"])
def test_every_kind_of_rule_is_the_function_written_by_hand_bit_for_bit(rule, what):
    model = nets.made(nets.Act(torch.sign))
    before, expected = nets.gradients_of(model), nets.gradients_of(nets.made(nets.Clipped.apply))
    fixed = explorer.swap(model, what, RULES[rule])
    found = nets.gradients_of(fixed)
    nets.equal(found, expected)
    undone = nets.gradients_of(fixed.undo())
    nets.equal(undone, before)


def test_a_rule_whose_gradient_has_another_shape_than_x_is_refused():
    fixed = nets.swapped(lambda h: h * h.max(-1).values[:, None], "max", rule=lambda x, g: g)
    with pytest.raises(ValueError, match=r"tensor of shape \(16,\): it must return .* x's shape \(16, 6\)"):
        nets.loss_of(fixed).backward()


def test_a_rule_that_does_not_use_the_parameter_of_an_op_needs_no_number_for_it():
    fixed = nets.swapped(nn.PReLU(6), "prelu", rule="straight_through")
    expected = nets.gradients_of(
        nets.made(lambda h: pass_through(h, functional.prelu(h, torch.full((6,), 0.25)).detach()))
    )
    found = nets.gradients_of(fixed)
    nets.equal({name: found[name] for name in expected}, expected)


def test_an_op_that_draws_is_put_in_and_draws_from_torchs_generator():
    fixed = nets.swapped(torch.sign, "sign", op="bernoulli", rule="st_gumbel", tau=0.5)
    by_hand = nets.made(lambda h: explorer.apply("bernoulli", "st_gumbel", h, tau=0.5))
    gradients = []
    for model in (fixed, by_hand):
        torch.manual_seed(3)
        gradients.append(nets.gradients_of(model))
    nets.same(*gradients)
    assert not torch.equal(fixed(nets.X), fixed(nets.X))


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"op": "bernoulli", "rule": "arm"}, "arm asks for the loss of each element, which a swap does not"),
        ({"rule": "formula: g * u()"}, "which a swap that keeps the op of the model needs"),
    ],
)
def test_a_swap_refuses_draws_that_it_does_not_know(arguments, why):
    with pytest.raises(ValueError, match=why):
        nets.gradients_of(nets.swapped(torch.sign, torch.sign, **arguments))
