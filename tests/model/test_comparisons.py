"""Swapped comparisons and masks: the rule lies around the threshold, which may learn."""

from __future__ import annotations

import math
import operator

import pytest
import torch
from torch import nn

import explorer
from tests.checks.cases.case import make_function
from tests.model.nets import X, equal, gradients_of, made, observed, same, swapped

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
    "any": (lambda h: h * (h > 0.5).any(-1, keepdim=True), "gt",
            lambda h: h * (1 - (1 - spike(h - 0.5)).prod(-1, keepdim=True))),
    "all": (lambda h: h * (h < 2).all(-1)[:, None], "lt", lambda h: h * spike(h - 2, -1).prod(-1)[:, None]),
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
    seen = observed(fixed)
    assert not seen.frame["dead_from_above"].any()


@pytest.mark.parametrize(("function", "what", "reason"), [
    (lambda h: h.masked_fill(h < 0.1, -math.inf).softmax(-1), "lt", "fills in an infinite number"),
    (lambda h: h[h > 0].sum() * torch.ones(16, 6), "gt", "no gradient is known through getitem"),
    (lambda h: h * h.argmax(-1)[:, None].tolist()[0][0], "argmax", "argmax was called, but no .* is made of"),
])  # fmt: skip
def test_a_comparison_or_choice_without_a_gradient_is_refused_with_the_reason(function, what, reason):
    with pytest.raises(ValueError, match=reason):
        swapped(function, what, rule="straight_through")(X)


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
    "in place": (lambda h: torch.zeros(16, 6).add_(h > 1.0), torch.gt, 1.0, 1),
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
    if "trick" not in name:
        seen = observed(fixed)
        computes = "" if name in ("where", "in place") else "step"  # y is inside the call that selects
        assert seen.frame[["computes", "rule"]].to_numpy().tolist() == [[computes, "fast_sigmoid k=5"]]


def test_what_the_model_detaches_gets_a_gradient_only_by_its_site():
    def reset(h):
        return (h > 1.0).float() - h * (h.detach() < 0.5)

    own = made(lambda h: FastSigmoid.apply(h, torch.tensor(1.0), 1) - h * (h.detach() < 0.5))
    fixed = swapped(reset, "step", rule="fast_sigmoid", k=5)
    same(gradients_of(fixed), gradients_of(own))
    assert fixed.sites["note"].str.contains("the model detaches its x").tolist() == [False, True]
    with pytest.raises(explorer.model.UnreachedError, match="detaches its x"):
        gradients_of(swapped(reset, "lt", rule="fast_sigmoid", k=5))
    late = made(lambda h: (h.detach() < 0.5).float())
    found = gradients_of(explorer.swap(late, *observed(late).sites, rule="fast_sigmoid", k=5))
    same(found, gradients_of(made(lambda h: FastSigmoid.apply(h, torch.tensor(0.5), -1))))


@pytest.mark.parametrize("write", [lambda y: y.mul_((y > 0).float()), lambda y: y.mul_(y > 0)])
def test_a_mask_may_be_written_into_its_own_x(write):
    found = gradients_of(swapped(lambda h: write(h * 1), "gt", rule="fast_sigmoid", k=5))
    same(found, gradients_of(made(lambda h: h * FastSigmoid.apply(h, torch.tensor(0.0), 1))))
    with pytest.raises(ValueError, match=r"has no gradient for mask: use torch\.where"):
        gradients_of(swapped(lambda h: (y := h * 1).__setitem__(h > 0, 0.0) or y, "gt", rule="zero"))


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
    equal(found, expected)


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
    seen = observed(made(trick))
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
    seen = observed(made(Spike(trick)))
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


def test_heaviside_has_no_derivative_in_torch_and_gets_one():
    def step(h):
        return torch.heaviside(h, torch.zeros(()))

    with pytest.raises(RuntimeError, match=r"^step:\d+: torch has no derivative of heaviside: swap"):
        observed(made(step))
    expected = gradients_of(made(lambda h: step(h.detach()) + 1.5 * (h * h - (h * h).detach())))
    for what in ("step", torch.heaviside):
        fixed = swapped(step, what, rule=lambda x, g: 3 * g * x)
        same(gradients_of(fixed), expected)
        assert list(observed(fixed).frame["op"]) == ["heaviside"]
