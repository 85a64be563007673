"""Functions that rarely stand in a published rule, and statistics of all elements: bit for bit as torch."""

import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812  # as everybody writes it
from torch import Tensor, nn

from explorer.gradient import apply
from explorer.reading import read_source, read_sources
from tests.reading.sample import function

X = torch.cat([torch.linspace(-3, 3, 61), torch.tensor([0.0, -0.0, 7.3, -1e-3])])
HARD = torch.cat([X, torch.tensor([math.inf, -math.inf, math.nan])])
G = torch.linspace(-2, 3, len(X))

ELEMENTWISE = (
    "F.gelu(x, approximate='tanh')", "F.gelu(x, approximate='none') + F.gelu(x)", "nn.GELU('tanh')(x)",
    "torch.where(torch.isnan(x), 0.5, x)",
    "torch.where(torch.isinf(x) | ~torch.isfinite(x), torch.zeros_like(x), x)",
    "torch.where(x.isposinf(), 2 * x.sign(), torch.where(torch.isneginf(x), 3.0, x))",
    "torch.nan_to_num(x, nan=1.0, posinf=5.0, neginf=-4.0)", "torch.copysign(x.abs() + 1, x)",
    "torch.copysign(x, torch.tensor(-0.0))", "torch.remainder(x, 0.3)", "x % 0.7", "torch.fmod(x, 0.3)",
    "torch.fmax(x, -x) + torch.fmin(x, torch.ones_like(x))",
)  # fmt: skip
STATISTICS = (
    "x / x.abs().max()", "x.min() + torch.amax(x)", "x / x.std()", "(x - x.mean()) / torch.std(x)",
    "x / math.sqrt(x.numel() * 7)", "x / (x.numel() - 1)",
    "torch.where(x > 1, x, -x) if x.numel() > 9 else x",
)  # fmt: skip
PER_CHANNEL = (
    "x - x.mean(0)", "x / x.abs().max(dim=0, keepdim=True)[0]", "x / torch.max(torch.abs(x), dim=-1).values",
    "x / x.std(0)", "x - x.view(1, -1).mean(-1).view(-1, 1)[0]",
    "x / x.view(x.size(0), -1).abs().amax(0).unsqueeze(0).view(-1)",
)  # fmt: skip


def _same(found: Tensor, wanted: Tensor) -> bool:
    return found.dtype == wanted.dtype and bool(((found == wanted) | (found.isnan() & wanted.isnan())).all())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("text", ELEMENTWISE + STATISTICS + PER_CHANNEL)
def test_values_are_those_of_the_code_to_the_last_bit(text: str, dtype: torch.dtype) -> None:
    source = function(f"return {text}", f"x = grad_output\nreturn {text}")
    (reading,) = read_sources(source)
    assert reading.problem is None, reading.problem
    namespace: dict[str, Any] = {"torch": torch, "F": F, "nn": nn, "math": math}
    exec(source, namespace)
    for x in (X, HARD[: len(X)], HARD) if text in ELEMENTWISE else (X,):
        inputs = x.to(dtype)
        wanted, found = inputs.clone().requires_grad_(), inputs.clone().requires_grad_()
        with torch.no_grad():
            expected = namespace["Fn"].forward(None, inputs.clone())
            rule = namespace["Fn"].backward(None, inputs.clone())
        assert _same(apply(reading.op, reading.rule, found).detach(), expected), reading.op
        y = apply(reading.op, reading.rule, wanted)
        (gradient,) = torch.autograd.grad(y, wanted, inputs)
        assert _same(gradient, rule), reading.rule


@pytest.mark.parametrize("text", PER_CHANNEL)
def test_statistics_along_a_dimension_are_noted_as_taken_over_all_elements(text: str) -> None:
    (note,) = read_source(function(f"return {text}", "return grad_output")).notes
    assert note.startswith("line 4: ")
    assert "is taken over all elements here, though the code takes it along a dimension" in note


def test_a_statistic_that_nobody_needs_is_not_mentioned() -> None:
    backward = "s = grad_output.std(0)\nreturn grad_output"
    assert read_source(function("return x * x.std()", backward)).notes == ()


@pytest.mark.parametrize(("given", "first"), [("", 0.25), ("init=0.5", 0.5), ("64, 0.1", 0.1)])
def test_a_weight_that_learns_is_reported_as_constant(given: str, first: float) -> None:
    start = "class Net(nn.Module):\n  def __init__(self):\n    super().__init__()\n"
    source = f"{start}    self.f = nn.PReLU({given})\n"
    keys = read_source(f"{source}  def forward(self, x):\n    return self.f(x)\n")
    assert _same(apply(*keys, X), nn.PReLU(init=first)(X).detach())
    (note,) = keys.notes
    assert note == f"line 6: self.f(x) has a weight that learns: here it stays at its first value, {first}"
