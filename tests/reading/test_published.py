"""Readings against what the code does when it runs: the test runs it, the reader never does."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812  # as everybody writes it
from torch import Tensor, nn

from explorer.catalogue import find_op, find_rule
from explorer.formula import parse
from explorer.gradient import apply
from explorer.reading import read_source, read_sources
from tests.reading.constructs import CONSTRUCTS
from tests.reading.documents import DOCUMENTS_CLAMP
from tests.reading.plain import PLAIN
from tests.reading.sample import Sample
from tests.reading.samples import FUNCTIONS

X = torch.cat(
    [torch.linspace(-4, 4, 161, dtype=torch.float64), torch.tensor([0.7, -0.7, 1e-3], dtype=torch.float64)]
)
G = torch.linspace(-2, 3, len(X), dtype=torch.float64)


def _run(source: str, name: str) -> Any:
    namespace: dict[str, Any] = {"torch": torch, "F": F, "nn": nn, "math": math, "np": np}
    exec(source.replace("import pytorch\n", ""), namespace)
    return namespace[name]


def _arguments(sample: Sample) -> list[Any]:
    return [
        torch.tensor(float(value.split()[1]), dtype=torch.float64) if isinstance(value, str) else value
        for value in sample.arguments
    ]


def _executed(function: Callable[..., Tensor], *arguments: Any) -> tuple[Tensor, Tensor]:
    x = X.clone().requires_grad_()
    y = function(x, *arguments)
    y.backward(G.clone())
    return y.detach(), torch.zeros_like(x) if x.grad is None else x.grad


def _drawn(op: str, rule: str, parameters: dict[str, float]) -> tuple[Tensor, Tensor]:
    x = X.clone().requires_grad_()
    y = apply(op, rule, x, **parameters)
    y.backward(G)
    assert x.grad is not None
    return y.detach(), x.grad


def _check_same(found: tuple[Tensor, Tensor], wanted: tuple[Tensor, Tensor]) -> None:
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other.to(torch.float64), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("sample", [*FUNCTIONS, *CONSTRUCTS], ids=lambda sample: sample.name)
def test_a_published_function_shows_the_curve_it_has_when_it_runs(sample: Sample) -> None:
    readings = read_sources(sample.source)
    assert len(readings) == sample.source.count("def forward(")
    for reading in readings:
        assert reading.problem is None, reading.problem
        result = _run(sample.source, "Fn" if reading.name == "Quant" else reading.name)
        wanted = _executed(getattr(result, "apply", result), *_arguments(sample))
        _check_same(_drawn(reading.op, reading.rule, sample.parameters), wanted)


@pytest.mark.parametrize("sample", PLAIN, ids=lambda sample: sample.name)
def test_a_plain_function_shows_the_gradient_autograd_gives_it(sample: Sample) -> None:
    wanted = _executed(_run(sample.source, "fn"), *sample.arguments)
    _check_same(_drawn(*read_source(sample.source), sample.parameters), wanted)


def test_the_documents_clamp_keeps_its_bug() -> None:
    reading = read_sources(DOCUMENTS_CLAMP)[1]
    assert (reading.name, reading.line) == ("ClampGradient", 10)
    assert reading.op == "formula: ClampGradient = clamp(x, 0, 1)"
    assert reading.rule == "formula: ClampGradient = where(x > 1, 1, where(x < 0, 0, g))"


@pytest.mark.parametrize(
    ("name", "op", "rule"),
    [
        ("saved_output_of_tanh", "tanh(x)", "g * (1 - y**2)"), ("blocked", "x**2", "0 * g"),
        ("quantiser_behind_a_parameter", None, "g"),
    ],
)  # fmt: skip
def test_published_code_is_read_as_short_formulas(name: str, op: str | None, rule: str) -> None:
    (sample,) = [sample for sample in FUNCTIONS if sample.name == name]
    result = read_source(sample.source)
    assert op is None or find_op(result[0]).formula == find_op(f"formula: {op}").formula
    assert find_rule(result[1]).formula == find_rule(f"formula: {rule}").formula


@pytest.mark.parametrize(
    ("name", "op", "rule"),
    [
        ("round_by_detaching", "round(x)", "g"),
        ("sign_with_a_clipped_way_back", "sign(x)", parse("clamp(x, -1, 1)").gradient.text),
        ("pieces_put_together_by_masks", "sign(x)",
         "where(x < 0.5, where(x < -1, 0, g * 2 + g * x + g * x), 0)"),
        ("swish", "x * sigmoid(1.702 * x)", None),
    ],
)  # fmt: skip
def test_a_stopped_gradient_becomes_a_rule(name: str, op: str, rule: str | None) -> None:
    (sample,) = [sample for sample in PLAIN if sample.name == name]
    expected = (f"formula: fn = {op}", f"formula: fn = {rule}" if rule else "default")
    assert read_source(sample.source) == expected
