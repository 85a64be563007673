"""Swaps of detach tricks and inside them, and of submodules as a whole, against Functions in their place."""

from __future__ import annotations

import warnings
from functools import partial

import pytest
import torch
from torch import nn

import explorer
from tests.checks.cases.case import make_function
from tests.model.nets import Act, ByHand, Clipped, X, bell, equal, gradients_of, made, observed, same, swapped


def plain(name, part, h):
    return part(h)


def reactnet(h, take=plain):
    """ReActNet's activation as its authors write it: the masks become numbers where they are used."""
    below = take("below", lambda h: h < -1, h)
    negative = take("negative", lambda h: h < 0, h)
    p = -1 * below.type(torch.float32) + (h * h + 2 * h) * (1 - below.type(torch.float32))
    p = p * negative.type(torch.float32) + (2 * h - h * h) * (1 - negative.type(torch.float32))
    inside = take("inside", lambda h: (h < 1).float(), h)
    p = p * inside + (1 - inside)
    return take("the trick", lambda h: h.sign().detach() - p.detach() + p, h)


def bireal(h, take=plain):
    """Bi-Real's activation by nested masks, whose outer one selects a detached sign."""
    a, b = h * h + 2 * h, 2 * h - h * h
    p = torch.where(h.abs() < 1, torch.where(h < 0, a, b), torch.sign(h).detach())
    return take("the trick", lambda h: p + (h.sign() - p).detach(), h)


def wavy(h, take=plain):
    """A floor with the gradient of a wave, which is added before its value is taken away."""
    sine = take("the sine", lambda h: torch.sin(h), 6 * h)
    c = h - sine / 6
    return take("the trick", lambda h: h.floor().detach() + c - c.detach(), h)


def hard_sigmoid(h, take=plain):
    """A sigmoid as a surrogate, whose threshold is compared, as in Gumbel's trick by hand."""
    soft = take("the sigmoid", lambda h: torch.sigmoid(h), h)
    return take("the trick", lambda s: s + ((s > 0.5).float() - s).detach(), soft)


PARTS = {
    reactnet: ["below", "negative", "inside", "the trick"], bireal: ["the trick"],
    wavy: ["the sine", "the trick"], hard_sigmoid: ["the sigmoid", "the trick"],
}  # fmt: skip


def with_own(name, other, part, h):
    return ByHand.apply(h, lambda h: part(h).float()) if name == other else part(h)


@pytest.mark.parametrize(("function", "name"), [(f, name) for f, names in PARTS.items() for name in names])
def test_a_site_in_a_surrogate_is_exchanged_alone(function, name):
    lines = {}
    function(X[:, :6], lambda other, part, h: lines.update({other: part.__code__.co_firstlineno}) or part(h))
    model = made(function)
    before = gradients_of(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fixed = explorer.swap(model, f"lambda:{lines[name]}", bell)
        assert torch.equal(fixed(X), model(X))
        found = gradients_of(fixed)
    same(found, gradients_of(made(partial(function, take=partial(with_own, name)))))
    undone = gradients_of(fixed.undo())
    equal(undone, before)


def test_a_mask_inside_another_is_exchanged_without_the_trick_around_it():
    def by_hand(h):
        inner = ByHand.apply(h, lambda h: torch.where(h < 0, h * h + 2 * h, 2 * h - h * h))
        p = torch.where(h.abs() < 1, inner, torch.sign(h).detach())
        return p + (h.sign() - p).detach()

    site = f"bireal:{bireal.__code__.co_firstlineno + 3}"
    found = gradients_of(swapped(bireal, site, rule=bell))
    same(found, gradients_of(made(by_hand)))


def put_in(op, rule, name, part, h):
    return explorer.apply(op, rule, h) if name == "the trick" else part(h)


@pytest.mark.parametrize("op", ["floor", "square", "cube", "exp"])
@pytest.mark.parametrize(("function", "what"), [(reactnet, "sign"), (bireal, "sign"), (wavy, "floor")])
def test_another_op_is_put_in_place_of_a_trick_once(function, what, op):
    expected = made(partial(function, take=partial(put_in, op, "formula: x * g")))
    for target, own in ((what, function), ("function", Act(function))):
        fixed = swapped(own, target, op=op, rule="formula: x * g")
        assert torch.equal(fixed(X), expected(X))
        found, due = gradients_of(fixed), gradients_of(expected)
        equal(found, due)
        assert fixed.sites["op"].item().endswith(what)


def test_another_op_gets_the_x_of_a_trick_and_not_of_a_mask_in_its_surrogate():
    act = partial(reactnet, take=lambda k, f, h: f(h) if k == "the trick" else f(h).float().detach())
    found = gradients_of(swapped(Act(act), "function", op="square", rule="straight_through"))
    equal(found, gradients_of(made(lambda h: explorer.apply("square", "straight_through", h))))
    half = lambda h, sign, tanh: (c := tanh(h)) + torch.sub(sign(h), c, alpha=0.5).detach()  # noqa: E731
    floor = partial(explorer.apply, "floor", "formula: x * g")  # no term cancels another
    act = Act(partial(half, sign=torch.sign, tanh=torch.tanh))
    found = gradients_of(swapped(act, "function", op="floor", rule="formula: x * g"))
    equal(found, gradients_of(made(partial(half, sign=floor, tanh=floor))))


def test_a_submodule_that_compares_a_surrogate_is_exchanged_as_a_whole():
    found = gradients_of(swapped(Act(hard_sigmoid), "function", rule=bell))
    same(found, gradients_of(made(lambda h: ByHand.apply(h, hard_sigmoid))))


def test_a_call_that_a_trick_detaches_is_noted_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fixed = swapped(lambda h: h.tanh() + (h.sign() - h.tanh()).detach(), "tanh", rule="zero")
        fixed(X)
    assert [*fixed.sites["note"]] == ["", "no gradient of the result reaches it"]


def several(h):
    return h + ((h / 0.5).round().clamp(-4, 3) * 0.5 - h).detach()


@pytest.mark.parametrize("function", [several, lambda h: h.tanh() + (h.sign() - h.tanh()).detach()])
def test_the_sites_of_a_swap_are_named_as_an_observation_names_them(function):
    frame = observed(made(function)).frame
    row = frame[frame.note == "detach trick"].iloc[0]
    fixed = swapped(function, row.site, rule="formula: 3 * g")
    fixed(X)
    assert row.site.startswith(fixed.sites["site"][0])
    assert list(fixed.sites["op"]) == [row.op]


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


class Shifted(nn.Module):
    """ReActNet's sign: a shift that learns, and polynomials by masks as the surrogate."""

    def __init__(self):
        super().__init__()
        self.shift = nn.Parameter(torch.linspace(-0.5, 0.9, 6))

    def forward(self, h):
        u = h + self.shift
        negative, inside = (u < 0).float(), (u.abs() < 1).float()
        p = ((u * u + 2 * u) * negative + (2 * u - u * u) * (1 - negative)) * inside
        return u.sign().detach() - p.detach() + p


def test_a_submodule_is_exchanged_as_a_whole_and_its_other_parameters_keep_their_gradient():
    fixed, plain = swapped(Shifted(), "function", rule=bell), made(Shifted())
    found, before = gradients_of(fixed), gradients_of(plain)
    assert torch.equal(found["function.shift"], before["function.shift"])
    same_x = gradients_of(made(lambda h: ByHand.apply(h, plain.function)))
    assert torch.equal(found["a.weight"], same_x["a.weight"])
    assert list(fixed.sites["op"]) == ["Shifted"]


# A sign with three times the gradient of y for x.
ThriceSign = make_function(torch.sign, lambda _, g: 3 * g)


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
    equal(found, expected)
