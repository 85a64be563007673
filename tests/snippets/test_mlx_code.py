"""The MLX code, executed by MLX where it installs: every rule, and every op with MLX's own derivative."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from explorer.catalogue import find_op, find_rule, kink_points, values
from explorer.formula import FUNCTIONS, Formula, parse
from explorer.gradient import apply, bind
from explorer.snippets import mlx_snippet
from explorer.snippets.pair import paired
from tests.catalogue.cases import settings_of, usual_op
from tests.catalogue.fixed import OPS, RULES
from tests.catalogue.oracles.learned import LEARNED
from tests.selection import take_part
from tests.snippets.cases import OWN
from tests.snippets.runner import defined

mx = pytest.importorskip("mlx.core")

CUSTOM = [(usual_op(rule).key, key) for key, rule in RULES.items() if rule.formula]
CUSTOM += [pair for pair in OWN if pair[1] != "default"]
PLAIN = [(op, "default") for op in OPS]
TEACHING = [
    (op, rule, tuple(learned.name for learned in find_rule(rule).learned))
    for op, rule in LEARNED
    if rule != "default"
]
POINTS = [k / 4 for k in range(-10, 11)] + [k / 7.3 for k in range(-20, 21)]
G = -1.5


def array(values):
    return mx.array(np.asarray(values, dtype=np.float32))


def passed(function, *inputs):
    """y and the gradients of its inputs, as NumPy's arrays, for an upstream gradient of G."""
    y = function(*inputs)
    _, gradients = mx.vjp(function, list(inputs), [mx.full(y.shape, G)])
    assert all(
        (one.shape, one.dtype) == (given.shape, mx.float32)
        for one, given in zip(gradients, inputs, strict=True)
    )
    return [np.array(each) for each in (y, *gradients)]


def agree(ours, theirs):
    for one, other in zip(ours, theirs, strict=True):
        expected = other.detach().numpy()
        size = float(np.abs(expected[np.isfinite(expected)]).max(initial=1.0))
        np.testing.assert_allclose(one, expected, rtol=2e-5, atol=2e-5 * size)


@pytest.mark.parametrize(("op", "rule"), take_part(CUSTOM + PLAIN))
def test_mlx_agrees_with_torch(op, rule):
    code = mlx_snippet(op, rule)
    if code is None:
        formulas = [find_op(op).parsed, find_rule(rule).parsed]
        assert any(not FUNCTIONS[name].mlx for formula in formulas if formula for name in called(formula))
        return
    parameters = values(find_op(op), find_rule(rule), list(settings_of(find_rule(rule), find_op(op)))[-1])
    declared = ("0", *(find_op(op).kinks or ()))  # at 0 MLX has another gradient of abs and of celu
    kinks = kink_points(declared, parameters, -4, 4, 99) if rule == "default" else []
    points = [x for x in POINTS if all(abs(x - kink) > 1e-3 for kink in kinks)]
    function = defined(code)[paired(op, rule, {}).name]
    x = torch.tensor(points).requires_grad_()
    y = bind(op, rule, parameters)(x)
    (gradient,) = torch.autograd.grad(y, x, torch.full_like(y, G))
    agree(passed(lambda each: function(each, **parameters), array(points)), [y, gradient])


def called(formula: Formula) -> set[str]:
    return {name for name in FUNCTIONS if f"{name}(" in formula.text}


@pytest.mark.parametrize(("op", "rule", "names"), take_part(TEACHING))
def test_what_learns_gets_the_gradient_of_explorer(op, rule, names):
    x = torch.linspace(-2.3, 2.9, 26).reshape(2, 13)
    defaults = values(find_op(op), find_rule(rule), {})
    leaves = [x, *(torch.full((2, 1), float(defaults[name])) for name in names)]
    leaves = [leaf.clone().requires_grad_() for leaf in leaves]
    y = apply(op, rule, leaves[0], **dict(zip(names, leaves[1:], strict=True)))
    gradients = torch.autograd.grad(y, leaves, torch.full_like(y, G))
    function = defined(mlx_snippet(op, rule, None, names))[paired(op, rule, {}, names).name]
    agree(passed(function, *(array(leaf.detach()) for leaf in leaves)), [y, *gradients])


TRIED = {
    "copysign": ("copysign(x, -0.0) + copysign(2, x)", [-2.0, -0.5, 0.5, 3.0]),
    "heaviside": ("heaviside(x, 0.25)", [-2.0, 0.0, 0.5]),
    "std": ("x / std(x)", [-2.0, 0.5, 3.0]),
    "numel": ("x / numel(x)", [-2.0, 0.5, 3.0]),
    "a constant": ("x * sigmoid(2) + erf(0.5)", [-2.0, 0.5]),
    "a constant condition": ("where(w > 0, x, 0 * x)", [-2.0, 0.5]),
    "conditions": ("(x > 0) * x + ((x < -1) | ~(x < 2))", [-2.0, 0.5, 3.0]),
}


@pytest.mark.parametrize(("text", "points"), TRIED.values(), ids=TRIED)
def test_what_mlx_spells_otherwise_has_the_same_values(text, points):
    formula = parse(text, variables=("x",), parameters=None)
    expected = formula.bind(dict.fromkeys(formula.parameters, 1.0))(torch.tensor(points))
    y = defined(mlx_snippet(f"formula: {text}", "straight_through"))[
        paired(f"formula: {text}", "straight_through", {}).name
    ](array(points))
    np.testing.assert_allclose(np.array(y), expected.numpy(), rtol=1e-5, atol=1e-6)
