"""Detach tricks: one site each, with the rule that they make."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

import explorer
from tests.model.nets import ByHand, X, Y, bell, equal, gradients_of, made, observed, only
from tests.model.test_surrogates import several

TRICKS = {
    "usual": (lambda h: h + (torch.round(h) - h).detach(), "round", "straight_through"),
    "turned": (lambda h: (h.round() - h).detach() + h, "round", "straight_through"),
    "three terms": (lambda h: h - h.detach() + torch.round(h).detach(), "round", "straight_through"),
    "of the detached": (lambda h: torch.round(h.detach()) + h - h.detach(), "round", "straight_through"),
    "by data": (lambda h: h + (h.round().data - h.data), "round", "straight_through"),
    "a surrogate": (lambda h: h.tanh() + (h.sign() - h.tanh()).detach(), "sign", "ede"),
    "under no_grad": (lambda h: h + (torch.no_grad()(h.round)() - h).detach(), "round", "straight_through"),
    "fp8": (lambda h: h + (h.to(torch.float8_e5m2).float() - h).detach(), "fp8_e5m2", "straight_through"),
    "several ops": (several, "round → clamp", "straight_through"),
}


@pytest.mark.parametrize("trick", TRICKS)
def test_a_detach_trick_is_one_site_with_the_rule_it_makes(trick):
    function, op, rule = TRICKS[trick]
    model = made(function)
    seen = observed(model)
    row = {each["op"]: each for each in seen.frame.to_dict("records")}[op]
    assert set(seen.frame["op"]) <= {op, "tanh", "lt → where"}
    assert row["note"] == "detach trick"
    assert row["rule"] == rule
    assert (row["share_grad"], row["blocked_here"], row["dead_by_rule"]) == (1, 0, 0)
    assert "to blame" not in seen.describe()
    h = model.a(X).detach().requires_grad_()
    (gradient,) = torch.autograd.grad(functional.cross_entropy(model.b(function(h)), Y), h)
    assert row["g_in"] == pytest.approx(float(gradient.norm()), rel=1e-5)
    assert seen.unseen == ()


def bireal(h):
    """The sign with Bi-Real's polynomial, which is itself the sign outside of -1 to 1."""
    p = torch.where(h < 0, h * h + 2 * h, 2 * h - h * h)
    p = torch.where(h.abs() < 1, p, torch.sign(h).detach())
    return p + (h.sign() - p).detach()


def test_a_scale_of_the_gradient_is_a_trick():
    row = only(observed(made(lambda h: h * 0.01 + (h - h * 0.01).detach())))
    assert (row["computes"], row["rule"]) == ("identity", "straight_through × 0.01")


def test_a_trick_whose_way_holds_the_value_it_restores_is_made_of_x():
    row = observed(made(bireal)).frame.set_index("op").loc["abs → sign"]
    assert (row.note, row.computes, row.rule) == ("detach trick", "sign", "approx_sign")


def reactnet(h):
    """ReActNet's activation: polynomials by masks of numbers, whose gradient is the sign's."""
    below, negative, inside = ((h < bound).type(torch.float32) for bound in (-1, 0, 1))
    p = -below + (h * h + 2 * h) * (1 - below)
    p = p * negative + (2 * h - h * h) * (1 - negative)
    p = p * inside + (1 - inside)
    return h.sign().detach() - p.detach() + p


def clipped(h):
    c = torch.clamp(h, -1, 1)
    return h.sign().detach() - c.detach() + c


def scaled(h):
    p = 0.7 * explorer.apply("sign", "approx_sign", h)
    return p + (h.sign() - p).detach()


def dsq(h):
    s = torch.tanh(3 * h) / torch.tanh(torch.tensor(3.0))
    return s + (h.sign() - s).detach()


PROXIES = {  # the rule by its name, and the slope of the proxy
    "ReActNet": (reactnet, "approx_sign", lambda h: 2 * (1 - h.abs()).clamp(min=0)),
    "clamp": (clipped, "clipped", lambda h: (h.abs() <= 1).float()),
    "0.7 times": (scaled, "approx_sign × 0.7", lambda h: 1.4 * (1 - h.abs()).clamp(min=0)),
    "DSQ": (dsq, "own", lambda h: 3 * (1 - torch.tanh(3 * h) ** 2) / torch.tanh(torch.tensor(3.0))),
}


@pytest.mark.parametrize("name", PROXIES)
def test_a_proxy_is_a_trick_with_the_rule_that_its_gradient_is(name):
    function, rule, slope = PROXIES[name]
    model = made(function)
    row = observed(model).frame.set_index("note").loc["detach trick"]
    assert (row.op, row.rule) == ("sign", rule)
    h = model.a(X).detach()
    y = h.sign().requires_grad_()
    (g,) = torch.autograd.grad(functional.cross_entropy(model.b(y), Y), y)
    assert row.g_in == pytest.approx(float((g * slope(h)).norm()), rel=1e-4)


@pytest.mark.parametrize("name", {**PROXIES, **TRICKS})
def test_a_trick_is_swapped_as_a_whole_bit_for_bit_and_undone(name):
    function = {**PROXIES, **TRICKS}[name][0]
    op, model = TRICKS.get(name, ("", "sign"))[1].split(" → ")[0], made(function)
    before, y = gradients_of(model), model(X)
    fixed = explorer.swap(model, op, rule=bell)
    assert torch.equal(fixed(X), y)
    found = gradients_of(fixed)
    expected = gradients_of(made(lambda h: ByHand.apply(h, function)))
    equal(found, expected)
    undone = gradients_of(fixed.undo())
    equal(undone, before)


def test_what_carries_a_trick_has_its_gradients():
    rows = observed(made(TRICKS["a surrogate"][0])).frame.set_index("op")[["g_out", "g_in"]]
    assert list(rows.loc["tanh"]) == pytest.approx(list(rows.loc["sign"]))


def test_a_reset_by_a_detached_spike_is_no_trick():
    """A spiking neuron as libraries write it: its membrane less the spike's value, which stays 0 at first."""

    def neuron(h):
        membrane = torch.tensor(0.9).clamp(0, 1) * h - 100
        for _ in range(3):
            spike = torch.tanh(torch.sign(membrane).clamp(min=0))
            membrane = membrane.clone() - spike.detach()
        return membrane + spike

    seen = observed(made(neuron))
    assert set(seen.frame["op"]) == {"clamp", "sign", "tanh"}
    assert not seen.frame["note"].str.contains("trick").any()
    seen = observed(
        made(lambda h: (lambda y: h * (1 - y.detach()) + y)(ByHand.apply(h, lambda x: 1.0 * (x > 1))))
    )
    assert only(seen)["op"] == "ByHand"
    assert observed(made(lambda h: (lambda m: m.sub_((m > 1).float()))(h * 1))).frame.empty  # in place


def masked(h):
    mask = (h.abs() > 0.5).float()
    return h * mask


@pytest.mark.parametrize(
    "write",
    [
        masked,
        lambda y: y.masked_fill_(y < 0, 0.0),
        lambda y: y.add_((y.sign() - y).detach()),
        lambda y: setattr(y, "data", y.data.sign()) or y,
        lambda y: torch.where(y.detach() < 1, 2 * y - y * y, torch.ones_like(y)),
    ],
)
def test_a_mask_or_trick_in_place_or_of_the_detached_has_the_x_from_before_it(write):
    (site,) = observed(made(lambda h: write(h * 1))).sites
    fixed = explorer.swap(made(lambda h: write(h * 1)), site, rule=bell)
    equal(gradients_of(fixed), gradients_of(made(lambda h: ByHand.apply(h, lambda h: write(h * 1)))))
    fixed = explorer.swap(made(lambda h: write(h * 1)), site, op="square", rule="formula: x * g")
    equal(gradients_of(fixed), gradients_of(made(lambda h: explorer.apply("square", "formula: x * g", h))))
