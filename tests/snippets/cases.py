"""Pairs to generate code for: every op, every rule, some of what they make together, and awkward formulas."""

import functools
import random
from collections.abc import Callable, Iterator

import torch

from explorer.catalogue import Op, Rule, resolve_values
from explorer.snippets import snippet
from tests.catalogue.cases import grid, settings_of, usual_op
from tests.catalogue.fixed import OPS, RULES
from tests.selection import take_part

# Of 1,763 further ones: the code of a pair is that of its op and that of its rule, with little between them.
SEEDED = 150


def _pairs() -> list[tuple[str, str]]:
    """Every op with torch's own rule, every rule with an op it is for, and some of all the others."""
    usual = [(op, "default") for op in OPS] + [(usual_op(rule).key, key) for key, rule in RULES.items()]
    once = list(dict.fromkeys(usual))
    others = [(op, rule) for op in OPS for rule in RULES if (op, rule) not in once]
    return once + take_part(random.Random(7).sample(others, SEEDED))


PAIRS = _pairs()

OWN = [
    ("formula: a * x + b", "formula: g * a * (abs(x) <= width)"), ("formula: 2", "formula: 3"),
    ("formula: through(x**2, 0, -1, 1, 0.5)",
     "formula: g * through(x, -1, 0, 0, 0.3, 1, -2) * (x >= -1) * (x <= 1)"),
    ("formula: mean(x)", "formula: mean(g * x)"),
    ("formula: where(x > 0, 1, 0) * mean(abs(x))", "formula: min(mean(g), 2)"),
    ("formula: x * 9**9**9", "formula: g * (-8)**(1/3)"),
    ("formula: x / (1 - 1)", "formula: g * (1 / 0 - 1e308 * 1e308)"),
    ("formula: x / (1 / (a - 1))", "formula: g * exp(a * 1000)"),
    ("formula: x + 999999999999 * 999999999999 - 99999999999 * 9999999999999", "formula: -0.0 * g"),
    ("formula: where(a < b, x, 1)", "formula: ~(a < b) * g + (x > 0) * (x < 1) * g"),
    ("formula: heaviside(x, 0.5)", "default"), ("formula: 7", "default"),
    ("formula: mean(x) + 0 * x", "default"),
    ("formula: x - -x**2 - (x - (x - 1))", "formula: g / (x / (x / 2)) - -(-g)**3"),
    ("formula: x * OwnOwn * Tensor * own_own * torchs", "formula: g * staticmethod * print * Args"),
    ("formula: min(x, 2) + max(1, x) + clamp(2, x, 3) + clamp(x, 0, x)", "formula: clamp(g, -c, c)"),
    ("round", "formula: g * (lo <= x <= hi) * exp(-s) / sqrt(2 * pi)"),
    ("formula: elu(x, exp(a)) + hardtanh(x, -exp(1), e) + leaky_relu(x, 1/3)", "clipped"),
    (f"formula: {' + '.join(f'a{i}*x' for i in range(14))}", "formula: 1"),
    ("formula: x", f"formula: g * {' * '.join(f'long_parameter_{i}' for i in range(13))}"),
    (f"formula: {'(' * 7}x{' + 1) * 2.718281828459045' * 7}", "scale"),
    ("relu", f"formula: g * {' * '.join(f'exp(-(x - {i}) ** 2 / 0.123456789)' for i in range(6))}"),
    ("abs", "formula: where(x > 0, where(x > 1, where(x > 2, g, 2*g), 3*g), where(x < -1, 4*g, 5*g + 6*g))"),
]  # fmt: skip


@functools.cache
def code_of(op: str, rule: str) -> str:
    return snippet(op, rule)


def trials(op: Op, rule: Rule) -> Iterator[tuple[dict[str, float], list[float]]]:
    """Parameter values other than the defaults too, each with x that hold the kinks."""
    for settings in list(settings_of(rule, op))[:2]:
        parameters = resolve_values(op, rule, settings)
        yield parameters, grid(op, rule, parameters, torch.float64).tolist()


def assert_compiles_whole(function: Callable[[torch.Tensor], torch.Tensor]) -> None:
    """Compare y and the gradient of a function with those of the same compiled, also where none is needed."""
    results = []
    for run in (function, torch.compile(function, fullgraph=True, backend="aot_eager")):
        x = torch.linspace(-2.3, 2.9, 13, requires_grad=True)
        y = run(x)
        results.append((y.detach(), *torch.autograd.grad(y, x, torch.ones_like(y)), run(x.detach())))
    for own, compiled in zip(*results, strict=True):
        torch.testing.assert_close(compiled, own, rtol=1e-5, atol=1e-5, equal_nan=True)
