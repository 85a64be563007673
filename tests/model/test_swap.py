"""Swapped models, against nets that were written with the other backward by hand."""

from __future__ import annotations

import math
import operator
from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional

import explorer
from tests.checks.cases.case import make_function
from tests.model.nets import (
    DIGITS,
    IMAGES,
    ByHand,
    Clipped,
    FakeQuant,
    Net,
    X,
    Y,
    gradients_of,
    loss_of,
    made,
    rounded,
    same,
    straight,
    swapped,
)


def test_the_forward_stays_and_the_backward_is_the_rules():
    model = made(rounded)
    fixed = explorer.swap(model, torch.round, rule="straight_through")
    torch.testing.assert_close(fixed(X), model(X), rtol=0, atol=0)
    same(gradients_of(fixed), gradients_of(made(straight)))
    assert not gradients_of(model)["a.weight"].any()
    assert list(fixed.sites["site"]) == [f"rounded:{rounded.__code__.co_firstlineno + 1}"]
    assert fixed.undo() is model
    same(gradients_of(fixed), gradients_of(model))


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (lambda h: h.round(), torch.round), (lambda h: torch.round(h), torch.Tensor.round),
        (lambda h: torch.round(h), "round"), (nn.ReLU(), functional.relu), (nn.ReLU(), nn.ReLU),
        (nn.ReLU(), "function"), (nn.Sequential(nn.Identity(), nn.ReLU()), "function"),
        (nn.ReLU(inplace=True), "relu"), (lambda h: h.clamp(min=0), torch.clamp),
    ],
)  # fmt: skip
def test_a_swap_accepts_functions_classes_and_names(function, what):
    expected = made(function)
    plain = expected(X)
    rule = "formula: 3 * g"
    fixed = swapped(function, what, rule=rule)
    torch.testing.assert_close(fixed(X), plain)
    h = fixed.a(X).detach().requires_grad_()
    y = function(h.clone()).detach().requires_grad_()
    (g,) = torch.autograd.grad(functional.cross_entropy(fixed.b(y), Y), y)
    model = fixed.undo()
    explorer.swap(model, what, rule=rule)
    again = explorer.swap(model, what, rule=rule)
    again.zero_grad()
    loss_of(again).backward()
    torch.testing.assert_close(model.a.weight.grad, 3 * g.T @ X)


def test_a_site_of_an_observation_is_swapped_alone():
    def twice(h):
        return torch.sign(h) + torch.sign(h - 1)

    model = made(twice)
    with explorer.observe(model) as seen:
        loss_of(model).backward()
    first, second = seen.sites
    only = explorer.swap(model, second, rule="clipped")
    assert len(only.sites) == 0
    found = gradients_of(only)
    assert list(only.sites["site"]) == [second.split(":", 1)[0] + ":" + str(seen.sites[second].line)]
    expected = made(lambda h: torch.sign(h) + explorer.apply("sign", "clipped", h - 1))
    same(found, gradients_of(expected))
    same(
        gradients_of(explorer.swap(model, seen.sites[first], rule="clipped")),
        gradients_of(made(lambda h: explorer.apply("sign", "clipped", h) + torch.sign(h - 1))),
    )


# A sign with three times the gradient of y for x.
ThriceSign = make_function(torch.sign, lambda _, g: 3 * g)


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
    with explorer.observe(made(function)) as seen:
        loss_of(seen.model).backward()
    (site,) = seen.sites
    fixed = swapped(function, site, rule="straight_through")
    same(gradients_of(fixed), gradients_of(made(by_hand)))
    assert set(fixed.sites["op"]) == {op}


def test_the_op_has_the_parameters_of_the_call_and_the_rule_its_own():
    for function, op, rule, given, values in (
        (lambda h: h.clamp(-0.4, 0.9), "clamp", "masked", {}, {"lo": -0.4, "hi": 0.9}),
        (lambda h: h.clamp(min=0.3), "clamp", "masked", {}, {"lo": 0.3, "hi": 1e9}),
        (torch.sign, "sign", "clipped", {"c": 0.3}, {"c": 0.3}),
    ):
        by_hand = made(partial(explorer.apply, op, rule, **values))
        same(gradients_of(swapped(function, op, rule=rule, **given)), gradients_of(by_hand))


def test_a_function_is_swapped_and_keeps_its_forward():
    torch.manual_seed(0)
    model = Net()
    fixed = explorer.swap(model, FakeQuant, rule="zero")
    torch.testing.assert_close(fixed(IMAGES), model(IMAGES))
    half = explorer.swap(explorer.swap(model, "round", rule="straight_through"), FakeQuant, rule="zero")
    gradients = gradients_of(half, IMAGES, DIGITS)
    assert gradients["c1.weight"].any()
    assert not gradients["c2.weight"].any()
    assert "apply" not in vars(FakeQuant)


def test_another_op_changes_the_forward_and_says_by_how_much():
    fixed = swapped(
        lambda h: FakeQuant.apply(h, 0.25), FakeQuant, op="quantize", rule="lsq", s=0.25, qmin=-4, qmax=3
    )
    gradients_of(fixed)
    assert fixed.sites["change"][0] == 0
    other = swapped(torch.relu, "relu", op="leaky_relu", rule="default", slope=0.1)
    same(gradients_of(other), gradients_of(made(lambda h: functional.leaky_relu(h, 0.1))))
    assert other.sites["change"][0] == pytest.approx(0.1 * float(-other.a(X).min().detach()), rel=1e-5)


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
    plain = gradients_of(model)
    fixed = gradients_of(explorer.swap(model, Scaled, rule="zero"))
    torch.testing.assert_close(fixed["s"], plain["s"])
    assert not fixed["a.weight"].any()
    fixed = gradients_of(explorer.swap(model, nn.PReLU, rule="straight_through"))
    torch.testing.assert_close(fixed["act.weight"], plain["act.weight"])
    assert not torch.equal(fixed["a.weight"], plain["a.weight"])
    with pytest.raises(ValueError, match="Scaled gets a second tensor that learns"):
        gradients_of(explorer.swap(model, Scaled, op="quantize", rule="lsq"))


RULES = {
    "key": "clipped", "formula": "formula: g * (abs(x) <= 1)", "record": explorer.RULES["clipped"],
    "Function": Clipped, "apply": Clipped.apply, "module": nn.Hardtanh(),
    "function of x": lambda x: x.clamp(-1, 1), "function of x, g": lambda x, g: g * (x.abs() <= 1),
    "function of x, y, g": lambda x, y, g: g * (x * y <= 1),
}  # fmt: skip


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("what", ["sign", "function"])
def test_every_kind_of_rule_is_the_function_written_by_hand_bit_for_bit(rule, what):
    class Act(nn.Module):
        def forward(self, h):
            return torch.sign(h)

    model = made(Act())
    before, expected = gradients_of(model), gradients_of(made(Clipped.apply))
    fixed = explorer.swap(model, what, RULES[rule])
    found = gradients_of(fixed)
    assert all(torch.equal(found[name], expected[name]) for name in expected)
    undone = gradients_of(fixed.undo())
    assert all(torch.equal(undone[name], before[name]) for name in before)


MASKS = {
    "equal to its clamp": (lambda h: (h.clamp(-0.5, 0.5) == h).float(), "eq"),
    "the call that selects": (lambda h: torch.where(h > 0.5, 1.0, 0.0), "where"),
}


@pytest.mark.parametrize("name", MASKS)
def test_a_rule_without_a_threshold_in_a_mask_is_refused_and_the_site_takes_it(name):
    mask, what = MASKS[name]
    with pytest.raises(ValueError, match="is no single step") as refusal:
        swapped(mask, what, rule="fast_sigmoid")(X)
    site = str(refusal.value).split("'")[1]
    fixed = swapped(mask, site, rule=lambda x, g: 3 * g * x)
    expected = gradients_of(made(lambda h: mask(h).detach() + 1.5 * (h.square() - h.square().detach())))
    same(gradients_of(fixed), expected)


def pull_by_fast_sigmoid(x, g, t, s):
    """The gradients of step(s·(x − t)), with the fast sigmoid's surrogate of slope 5 around t."""
    gradient = s * g / (1 + 5 * (x - t).abs()) ** 2
    return gradient, -gradient.sum_to_size(t.shape), None


FastSigmoid = make_function(lambda x, t, s: (s * (x - t) > 0).float(), pull_by_fast_sigmoid)


def spike(x, sign=1):
    return FastSigmoid.apply(x, torch.zeros(()), sign)


CHAINED = {  # what a swap computes, the comparison, and what it equals by hand
    "and": (lambda h: ((h > -0.5) & (h < 0.5)).float(), "gt", lambda h: spike(h + 0.5) * (h < 0.5)),
    "or": (lambda h: ((h > 0.5) | (h < -0.5)).float(), "lt",
           lambda h: (lambda a, b: a + b - a * b)((h > 0.5).float(), spike(h + 0.5, -1))),
    "xor": (lambda h: ((h > 0.5) ^ (h < 1)).float(), "gt",
            lambda h: (lambda a, b: a + b - 2 * a * b)(spike(h - 0.5), (h < 1).float())),
    "a product": (lambda h: (h > -0.5) * (h < 0.5) * 1.0, "lt", lambda h: (h > -0.5) * spike(h - 0.5, -1)),
    "not": (lambda h: (~(h > 0.3)).float(), "gt", lambda h: 1 - spike(h - 0.3)),
    "integers": (lambda h: ((h > 0.3).long() * 2 - 1).to(h.dtype), "gt", lambda h: 2 * spike(h - 0.3) - 1),
    "where of both": (lambda h: torch.where((h > -0.5) & (h < 0.5), 1.0, -2.0), "gt",
                      lambda h: 3 * spike(h + 0.5) * (h < 0.5) - 2),
    "where of numbers": (lambda h: torch.where(h > 0, 2.0, -1.0), "gt", lambda h: 3 * spike(h) - 1),
    "x where": (lambda h: torch.where(h > 0.3, h, 0.1 * h), "gt",
                lambda h: (lambda m: m * h + (1 - m) * 0.1 * h)(spike(h - 0.3))),
    "a method where": (lambda h: h.where(h > 0.3, h.new_zeros(())), "gt", lambda h: h * spike(h - 0.3)),
    "a filled mask": (lambda h: h.masked_fill(h < 0.3, 2.0), "lt",
                      lambda h: (lambda m: m * 2 + (1 - m) * h)(spike(h - 0.3, -1))),
    "x times itself": (lambda h: h * (h > 0), "gt", lambda h: h * spike(h)),
    "x times abs": (lambda h: h * (h.abs() < 0.5), "lt", lambda h: h * spike(h.abs() - 0.5, -1)),
}  # fmt: skip


@pytest.mark.parametrize("name", CHAINED)
def test_a_swapped_comparison_passes_gradients_through_masks_by_the_chain_rule(name):
    mask, what, by_hand = CHAINED[name]
    fixed = swapped(mask, what, rule="fast_sigmoid", k=5)
    assert torch.equal(fixed(X), made(mask)(X))
    same(gradients_of(fixed), gradients_of(made(by_hand)))
    with explorer.observe(fixed) as seen:
        loss_of(fixed).backward()
    assert not seen.frame["dead_from_above"].any()


@pytest.mark.parametrize(("function", "what", "reason"), [
    (lambda h: h.masked_fill(h < 0.1, -math.inf).softmax(-1), "lt", "fills in an infinite number"),
    (lambda h: h * h.argmax(-1)[:, None].tolist()[0][0], "argmax", "argmax was called, but no .* is made of"),
])  # fmt: skip
def test_a_comparison_or_choice_without_a_gradient_is_refused_with_the_reason(function, what, reason):
    with pytest.raises(ValueError, match=reason):
        swapped(function, what, rule="straight_through")(X)


def test_a_rule_whose_gradient_has_another_shape_than_x_is_refused():
    fixed = swapped(lambda h: h * h.max(-1).values[:, None], "max", rule=lambda x, g: g)
    with pytest.raises(ValueError, match=r"gradient of shape \(16,\), and its x has the shape \(16, 6\)"):
        loss_of(fixed).backward()


PER_UNIT = torch.linspace(-0.5, 0.9, 6)
COMPARED = {
    "gt": (lambda h: (h > 1.0).float(), torch.gt, 1.0, 1),
    "ge, a tensor": (lambda h: (h >= PER_UNIT).float(), torch.ge, PER_UNIT, 1),
    "lt": (lambda h: (h < 0.7).float(), torch.lt, 0.7, -1),
    "lt, zero": (lambda h: (h < 0).float(), torch.lt, 0.0, -1),
    "le": (lambda h: (h <= 0.7).float(), torch.le, 0.7, -1),
    "a number first": (lambda h: operator.lt(1.0, h).float(), torch.gt, 1.0, 1),
    "a tensor first": (lambda h: operator.lt(PER_UNIT, h).float(), torch.lt, PER_UNIT, 1),
    "integers first": (lambda h: (torch.arange(6) < h).float(), torch.lt, torch.arange(6.0), 1),
    "a keyword": (lambda h: torch.greater_equal(h, other=0.3).float(), torch.greater_equal, 0.3, 1),
    "where": (lambda h: torch.where(h > 1.0, 1.0, 0.0), torch.gt, 1.0, 1),
    "detached": (lambda h: (h.detach() < 0.5).float(), torch.lt, 0.5, -1),
    "a trick": (lambda h: h.tanh() + ((h > 1.0).float() - h.tanh()).detach(), torch.gt, 1.0, 1),
    "a trick, lt": (lambda h: h.tanh() + ((h < 0.3).float() - h.tanh()).detach(), torch.lt, 0.3, -1),
}


@pytest.mark.parametrize("name", COMPARED)
def test_a_comparison_gets_a_rule_around_its_threshold(name):
    function, what, threshold, sign = COMPARED[name]
    fixed = swapped(function, what, rule="fast_sigmoid", k=5)
    assert torch.equal(fixed(X), made(function)(X))
    found = gradients_of(fixed)
    expected = gradients_of(made(lambda h: FastSigmoid.apply(h, torch.as_tensor(threshold), sign)))
    same(found, expected)  # a trick restores y up to rounding
    assert "trick" in name or all(torch.equal(found[key], expected[key]) for key in found)
    is_more = what in (torch.gt, torch.ge, torch.greater_equal)
    assert list(fixed.sites["note"]) == [f"the rule gets {'x − threshold' if is_more else 'threshold − x'}"]
    if name != "detached" and "trick" not in name:
        with explorer.observe(fixed) as seen:
            loss_of(fixed).backward()
        computes = "" if name == "where" else "step"  # y is inside the call that selects
        assert seen.frame[["computes", "rule"]].to_numpy().tolist() == [[computes, "fast_sigmoid k=5"]]


def test_a_reset_by_a_swapped_comparison_keeps_the_rule_of_the_product():
    def reset(h, spike):
        return spike + 0.5 * h * (1 - spike)

    found = gradients_of(swapped(lambda h: reset(h, (h > 1.0).float()), "gt", rule="fast_sigmoid", k=5))
    same(found, gradients_of(made(lambda h: reset(h, FastSigmoid.apply(h, torch.tensor(1.0), 1)))))


def pull_by_a_cube(x, g, t, s):
    """The gradient 3 x² for x, of which the threshold gets the opposite."""
    gradient = 3 * g * x * x
    return gradient, -gradient.sum_to_size(t.shape), None


Cubic = make_function(lambda x, t, s: (s * (x - t) > 0).float(), pull_by_a_cube)


def test_own_code_gets_the_x_of_a_comparison_and_the_threshold_the_opposite_gradient():
    def above(h):
        return (h > h.mean(1, keepdim=True)).float()

    expected = gradients_of(made(lambda h: Cubic.apply(h, h.mean(1, keepdim=True), 1)))
    same(gradients_of(swapped(above, "gt", rule=lambda x, g: 3 * g * x * x)), expected)


class Spike(nn.Module):
    """Compares x with a threshold per unit that learns."""

    def __init__(self, compare):
        super().__init__()
        self.t, self.compare = nn.Parameter(PER_UNIT.clone()), compare

    def forward(self, h):
        return self.compare(h, self.t).float()


@pytest.mark.parametrize("what", [torch.gt, torch.lt, "step", Spike, "function", "function.t"])
@pytest.mark.parametrize(("compare", "sign"), [(operator.gt, 1), (operator.lt, -1)])
def test_a_threshold_that_learns_gets_the_opposite_gradient(compare, sign, what):
    """Python turns h > t into t < h, as t is a Parameter: both names reach it, and it is recorded as gt."""
    fixed = swapped(Spike(compare), what, rule="fast_sigmoid", k=5)
    found = gradients_of(fixed)
    expected = gradients_of(made(Spike(lambda h, t: FastSigmoid.apply(h, t, sign))))
    assert expected["function.t"].any()
    assert list(fixed.sites["op"]) == [compare.__name__]
    assert all(torch.equal(found[name], expected[name]) for name in found)


def test_a_parameter_that_a_swap_would_leave_without_gradient_is_refused():
    with pytest.raises(ValueError, match=r"does not depend on function\.t, .* no gradient: name the site"):
        swapped(Spike(lambda h, t: h == t), "function.t", rule="straight_through")(X)


def surrogate(h, t):
    """A spike with the sigmoid's gradient, as people write it."""
    proxy = torch.sigmoid(4 * (h - t))
    return (h > t).float().detach() - proxy.detach() + proxy


def surrogate_in_place(h, t):
    y = h * 1
    y += ((h > t).float() - h).detach()
    return y


class Shifted(nn.Module):
    """ReActNet's sign: a shift that learns, and polynomials by masks as the surrogate."""

    def __init__(self):
        super().__init__()
        self.shift = nn.Parameter(PER_UNIT.clone())

    def forward(self, h):
        u = h + self.shift
        negative, inside = (u < 0).float(), (u.abs() < 1).float()
        p = ((u * u + 2 * u) * negative + (2 * u - u * u) * (1 - negative)) * inside
        return u.sign().detach() - p.detach() + p


def test_a_submodule_is_exchanged_as_a_whole_and_its_other_parameters_keep_their_gradient():
    fixed, plain = swapped(Shifted(), "function", rule=lambda x, g: g * torch.exp(-x * x)), made(Shifted())
    found, before = gradients_of(fixed), gradients_of(plain)
    assert torch.equal(found["function.shift"], before["function.shift"])
    same_x = gradients_of(made(lambda h: ByHand.apply(h, plain.function)))
    assert torch.equal(found["a.weight"], same_x["a.weight"])
    assert list(fixed.sites["op"]) == ["Shifted"]


class Neuron(nn.Module):
    """A spiking neuron with a decaying membrane, which it returns or keeps."""

    def __init__(self, spike, returns):
        super().__init__()
        self.spike, self.returns, self.membrane = spike, returns, None

    def step(self, h, membrane):
        membrane = 0.9 * membrane + h
        return self.spike(membrane - 1), membrane

    def forward(self, h, membrane=None):
        spike, self.membrane = self.step(h, self.membrane if membrane is None else membrane)
        return (spike, self.membrane) if self.returns else spike


class Spiking(nn.Module):
    """Three steps of a neuron."""

    def __init__(self, spike, returns):
        super().__init__()
        self.a, self.neuron, self.b = nn.Linear(8, 6), Neuron(spike, returns), nn.Linear(6, 3)

    def forward(self, x):
        membrane, total = torch.zeros(16, 6), 0.0
        self.neuron.membrane = membrane
        for _ in range(3):
            out = self.neuron(self.a(x), membrane) if self.neuron.returns else self.neuron(self.a(x))
            spike, membrane = out if self.neuron.returns else (out, None)
            total = total + spike
        return self.b(total)


@pytest.mark.parametrize("returns", [True, False])
def test_a_neuron_with_a_state_gets_the_rule_at_its_spike_and_keeps_the_way_through_the_state(returns):
    def make(spike):
        torch.manual_seed(0)
        return Spiking(spike, returns)

    fixed = explorer.swap(make(lambda u: Clipped.apply(u)), Neuron, rule="formula: 3 * g")
    expected = gradients_of(make(lambda u: ThriceSign.apply(u)))
    found = gradients_of(fixed)
    assert expected["a.weight"].any()
    assert all(torch.equal(found[name], expected[name]) for name in expected)


def test_a_parameter_is_reached_through_a_view_of_it():
    class Viewed(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.linspace(-1, 1, 36))

        def forward(self, h):
            return functional.linear(h, torch.sign(self.w.view(6, 6)))

    found = gradients_of(swapped(Viewed(), "function.w", rule="straight_through"))["function.w"]
    way = made(Viewed())
    way.function.forward = lambda h: functional.linear(h, pass_through(
        way.function.w.view(6, 6), torch.sign(way.function.w.view(6, 6)).detach()))  # fmt: skip
    same({"w": found}, {"w": gradients_of(way)["function.w"]})


LEARNED_TRICKS = {  # a detach trick around h > t
    "a surrogate": surrogate, "straight-through": lambda h, t: h + ((h > t).float() - h).detach(),
    "below": lambda h, t: h.tanh() + ((h < t).float() - h.tanh()).detach(), "in place": surrogate_in_place,
    "a site": lambda h, t: (h > t).float(),
}  # fmt: skip


@pytest.mark.parametrize(
    ("by_hand", "arguments"),
    [(FastSigmoid, {"rule": "fast_sigmoid", "k": 5}), (Cubic, {"rule": lambda x, g: 3 * g * x * x})],
    ids=["a key", "own code"],
)
@pytest.mark.parametrize("name", LEARNED_TRICKS)
def test_a_threshold_inside_a_detach_trick_gets_the_opposite_gradient(name, by_hand, arguments):
    trick, sign = Spike(LEARNED_TRICKS[name]), -1 if name == "below" else 1
    with explorer.observe(made(trick)) as seen:
        loss_of(seen.model).backward()
    for what in (*(["step"] if name != "a site" else []), [*seen.sites][-1]):
        found = gradients_of(swapped(trick, what, **arguments))
        expected = gradients_of(made(Spike(lambda h, t: by_hand.apply(h, t, sign))))
        assert expected["function.t"].any()
        same(found, expected)


def test_a_sign_of_a_difference_in_a_detach_trick_gives_both_the_rule_of_the_difference():
    def trick(h, t):
        return h + (torch.sign(h - t) - h).detach()

    for what in ("sign", "function"):
        found = gradients_of(swapped(Spike(trick), what, rule="clipped"))
        same(found, gradients_of(made(Spike(lambda h, t: explorer.apply("sign", "clipped", h - t)))))


def test_a_scale_that_a_detach_trick_detaches_refuses_the_op_and_is_noted_at_the_site():
    def trick(h, t):
        return h + ((h / t).round() * t - h).detach()

    with pytest.raises(ValueError, match=r"around round also detaches function\.t, which would get no grad"):
        swapped(Spike(trick), "round", rule="straight_through")(X)
    with explorer.observe(made(Spike(trick))) as seen:
        loss_of(seen.model).backward()
    (site,) = seen.sites
    fixed = swapped(Spike(trick), site, rule="formula: 3 * g")
    assert gradients_of(fixed)["function.t"] is None
    assert list(fixed.sites["note"]) == ["function.t gets no gradient: the trick detaches it"]


def test_at_a_comparison_a_formula_and_an_op_get_the_difference_and_own_code_gets_x():
    def compare(h):
        return (h > 1.0).float()

    expected = gradients_of(made(lambda h: FastSigmoid.apply(h, torch.tensor(1.0), 1)))
    same(gradients_of(swapped(compare, "gt", rule="formula: g / (1 + 5 * abs(x)) ** 2")), expected)
    fixed = swapped(compare, "gt", rule="fast_sigmoid", op="step_open", k=5)
    same(gradients_of(fixed), expected)
    assert list(fixed.sites["change"]) == [0]
    own = swapped(compare, "gt", rule=lambda x, g: g / (1 + 5 * (x - 1.0).abs()) ** 2)
    same(gradients_of(own), expected)
    assert list(own.sites["note"]) == [""]


def test_a_rule_that_does_not_use_the_parameter_of_an_op_needs_no_number_for_it():
    fixed = swapped(nn.PReLU(6), "prelu", rule="straight_through")
    expected = gradients_of(
        made(lambda h: pass_through(h, functional.prelu(h, torch.full((6,), 0.25)).detach()))
    )
    found = gradients_of(fixed)
    assert all(torch.equal(found[name], expected[name]) for name in expected)


@pytest.mark.parametrize("name", ["several ops", "a surrogate"])
def test_the_sites_of_a_swap_are_named_as_an_observation_names_them(name):
    function = {"several ops": several, "a surrogate": lambda h: h.tanh() + (h.sign() - h.tanh()).detach()}[
        name
    ]
    with explorer.observe(made(function)) as seen:
        loss_of(seen.model).backward()
    row = seen.frame[seen.frame.note == "detach trick"].iloc[0]
    fixed = swapped(function, row.site, rule="formula: 3 * g")
    fixed(X)
    assert row.site.startswith(fixed.sites["site"][0])
    assert list(fixed.sites["op"]) == [row.op]


def several(h):
    return h + ((h / 0.5).round().clamp(-4, 3) * 0.5 - h).detach()


def test_a_trick_of_another_scale_takes_a_rule_of_g_alone_or_an_op():
    same(
        gradients_of(swapped(several, "round", rule="zero")),
        gradients_of(made(lambda h: several(h).detach() + 0 * h)),
    )
    fixed = swapped(several, "round", op="quantize", rule="lsq", s=0.5, qmin=-4, qmax=3)
    same(
        gradients_of(fixed),
        gradients_of(made(lambda h: explorer.apply("quantize", "lsq", h, s=0.5, qmin=-4, qmax=3))),
    )
    for rule in ("formula: x * g", "default"):
        with pytest.raises(explorer.model.UnreachedError, match="round → clamp at a different scale"):
            gradients_of(swapped(several, "round", rule=rule))


@pytest.mark.parametrize("op", [torch.round, torch.tanh])
def test_a_trick_with_torchs_own_rule_gets_the_gradient_of_its_op(op):
    found = gradients_of(swapped(lambda h: h + (op(h) - h).detach(), op, rule="default"))
    same(found, gradients_of(made(op)))


def test_an_op_that_draws_is_put_in_and_draws_from_torchs_generator():
    fixed = swapped(torch.sign, "sign", op="bernoulli", rule="st_gumbel", tau=0.5)
    by_hand = made(lambda h: explorer.apply("bernoulli", "st_gumbel", h, tau=0.5))
    gradients = []
    for model in (fixed, by_hand):
        torch.manual_seed(3)
        gradients.append(gradients_of(model))
    same(*gradients)
    assert not torch.equal(fixed(X), fixed(X))


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"op": "bernoulli", "rule": "arm"}, "arm asks for the loss of each element, which a swap does not"),
        ({"rule": "formula: g * u()"}, "which a swap that keeps the op of the model needs"),
    ],
)
def test_a_swap_refuses_draws_that_it_does_not_know(arguments, why):
    with pytest.raises(ValueError, match=why):
        gradients_of(swapped(torch.sign, torch.sign, **arguments))
