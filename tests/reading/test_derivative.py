"""Derivatives that are written out, against torch's own at every function of the table."""

from __future__ import annotations

import pytest
import torch

from explorer.formula import FUNCTIONS, Formula, parse
from explorer.reading.derivative import PARTIAL, derivative
from explorer.reading.errors import UnreadableError

MARKS = {"detach", "at_least", "at_most"}
BOUNDS = ("-0.5", "1")  # second and third argument
X = torch.tensor([-7.0, -3.0, -1.0, -0.5, -0.2, 0.0, 0.3, 0.5, 1.0, 2.0, 6.0, 7.0], dtype=torch.float64)


def _matches(text: str, domain: torch.Tensor = X) -> None:
    formula = parse(text, variables=("x",))
    x = domain.clone().requires_grad_()
    y = formula.bind()(x)
    (wanted,) = torch.autograd.grad(y.sum(), x) if y.requires_grad else (torch.zeros_like(x),)
    torch.testing.assert_close(Formula(derivative(formula.tree)).bind()(x.detach()), wanted, equal_nan=True)


@pytest.mark.parametrize("name", sorted(PARTIAL.keys() - MARKS))
def test_a_partial_derivative_is_torchs_own_at_kinks_too(name: str) -> None:
    arguments = ("x", *BOUNDS[: FUNCTIONS[name].arity - 1])
    _matches(f"{name}({', '.join(arguments)})", X[X > 0] if "log" in name or name == "sqrt" else X)


@pytest.mark.parametrize(
    "text",
    [
        "x**3 - 2*x + 1", "-x / 3", "1 / (x**2 + 1)", "x * tanh(2*x)", "2**x", "exp(x)**2", "(x**2 + 1)**x",
        "where(x > 0, x**2, -x)", "max(x, 0.3*x)", "min(x**2, 1)", "clamp(x, -x, 2)", "g0 * sin(x)",
        "(x > 0) * x", "(x > 0) - x", "exp(-x**2 / 2) / sqrt(2*pi)",
    ],
)  # fmt: skip
def test_rules_of_differentiation(text: str) -> None:
    _matches(text.replace("g0", "1.5"), X + 0.05)


def test_a_function_without_a_row_is_named() -> None:
    with pytest.raises(UnreadableError, match="needs the derivative of mean"):
        derivative(parse("mean(x) * x", variables=("x",)).tree)
