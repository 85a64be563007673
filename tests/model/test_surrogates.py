"""Swaps inside surrogates written by hand: each equals the same function with a Function in its place."""

from __future__ import annotations

import warnings
from functools import partial

import pytest
import torch
from torch import nn

import explorer
from tests.checks.cases.case import make_function
from tests.model.nets import X, gradients_of, made, same, swapped


def plain(name, part, h):
    return part(h)


def reactnet(h, take=plain):
    """ReActNet's activation as its authors write it: the masks become numbers where they are used."""
    below = take("below", lambda h: h < -1, h)
    negative = take("negative", lambda h: h < 0, h)
    p = -1 * below.type(torch.float32) + (h * h + 2 * h) * (1 - below.type(torch.float32))
    p = p * negative.type(torch.float32) + (2 * h - h * h) * (1 - negative.type(torch.float32))
    return take("the trick", lambda h: h.sign().detach() - p.detach() + p, h)


def bireal(h, take=plain):
    """Bi-Real's activation by nested masks, whose outer one selects a detached sign."""
    a, b = h * h + 2 * h, 2 * h - h * h
    p = torch.where(h.abs() < 1, torch.where(h < 0, a, b), torch.sign(h).detach())
    return take("the trick", lambda h: p + (h.sign() - p).detach(), h)


def wavy(h, take=plain):
    """A floor with the gradient of a wave."""
    sine = take("the sine", lambda h: torch.sin(h), 6 * h)
    c = h - sine / 6
    return take("the trick", lambda h: h.floor().detach() - c.detach() + c, h)


def hard_sigmoid(h, take=plain):
    """A sigmoid as a surrogate, whose threshold is compared, as in Gumbel's trick by hand."""
    soft = take("the sigmoid", lambda h: torch.sigmoid(h), h)
    return take("the trick", lambda s: s + ((s > 0.5).float() - s).detach(), soft)


PARTS = {
    reactnet: ["below", "negative", "the trick"], bireal: ["the trick"],
    wavy: ["the sine", "the trick"], hard_sigmoid: ["the sigmoid", "the trick"],
}  # fmt: skip
Own = make_function(lambda x, part: part(x).to(x.dtype), lambda x, g, _: g * torch.exp(-x * x), "Own")


def with_own(name, other, part, h):
    return Own.apply(h, part) if name == other else part(h)


@pytest.mark.parametrize(("function", "name"), [(f, name) for f, names in PARTS.items() for name in names])
def test_a_site_in_a_surrogate_is_exchanged_alone(function, name):
    lines = {}
    function(X[:, :6], lambda other, part, h: lines.update({other: part.__code__.co_firstlineno}) or part(h))
    model = made(function)
    before = gradients_of(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fixed = explorer.swap(model, f"lambda:{lines[name]}", lambda x, g: g * torch.exp(-x * x))
        assert torch.equal(fixed(X), model(X))
        found = gradients_of(fixed)
    same(found, gradients_of(made(partial(function, take=partial(with_own, name)))))
    undone = gradients_of(fixed.undo())
    assert all(torch.equal(undone[key], before[key]) for key in before)


def test_a_mask_inside_another_is_exchanged_without_the_trick_around_it():
    def by_hand(h):
        inner = Own.apply(h, lambda h: torch.where(h < 0, h * h + 2 * h, 2 * h - h * h))
        p = torch.where(h.abs() < 1, inner, torch.sign(h).detach())
        return p + (h.sign() - p).detach()

    site = f"bireal:{bireal.__code__.co_firstlineno + 3}"
    found = gradients_of(swapped(bireal, site, rule=lambda x, g: g * torch.exp(-x * x)))
    same(found, gradients_of(made(by_hand)))


class Act(nn.Module):
    """A submodule that computes a function."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, h):
        return self.function(h)


def put_in(op, rule, name, part, h):
    return explorer.apply(op, rule, h) if name == "the trick" else part(h)


@pytest.mark.parametrize("op", ["floor", "square"])
@pytest.mark.parametrize(("function", "what"), [(reactnet, "sign"), (bireal, "sign"), (wavy, "floor")])
def test_another_op_is_put_in_place_of_a_trick_once(function, what, op):
    expected = made(partial(function, take=partial(put_in, op, "formula: x * g")))
    for target, own in ((what, function), ("function", Act(function))):
        fixed = swapped(own, target, op=op, rule="formula: x * g")
        assert torch.equal(fixed(X), expected(X))
        found, due = gradients_of(fixed), gradients_of(expected)
        assert all(torch.equal(found[name], due[name]) for name in due)
        assert fixed.sites["op"].item().endswith(what)


def test_a_submodule_that_compares_a_surrogate_is_exchanged_as_a_whole():
    found = gradients_of(swapped(Act(hard_sigmoid), "function", rule=lambda x, g: g * torch.exp(-x * x)))
    same(found, gradients_of(made(lambda h: Own.apply(h, hard_sigmoid))))


def test_a_call_that_a_trick_detaches_is_noted_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fixed = swapped(lambda h: h.tanh() + (h.sign() - h.tanh()).detach(), "tanh", rule="zero")
        fixed(X)
    assert [*fixed.sites["note"]] == ["", "the result does not depend on it"]
