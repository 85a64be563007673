"""The MLX code, executed by MLX where it installs: every rule, and every op with MLX's own derivative."""

import numpy as np
import pytest
import torch

from explorer.catalogue import find_op, find_rule, kink_points, values
from explorer.formula import FUNCTIONS, Formula
from explorer.gradient import bind
from explorer.snippets import mlx_snippet
from explorer.snippets.pair import paired
from tests.catalogue.cases import settings_of, usual_op
from tests.catalogue.fixed import OPS, RULES
from tests.selection import take_part
from tests.snippets.cases import OWN
from tests.snippets.runner import defined

mx = pytest.importorskip("mlx.core")

CUSTOM = [(usual_op(rule).key, key) for key, rule in RULES.items() if rule.formula]
CUSTOM += [pair for pair in OWN if pair[1] != "default"]
PLAIN = [(op, "default") for op in OPS]
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
