"""The code that is taken home is read back as what it was written from."""

from collections.abc import Callable

import pytest
import torch

from explorer.catalogue import OPS, find_contribution, find_op, find_rule, list_learnable
from explorer.gradient import apply
from explorer.reading import read_sources
from explorer.snippets import snippet
from explorer.snippets.pair import make_pair
from explorer.snippets.short_code import make_short_code
from tests.catalogue import fixed
from tests.catalogue.oracles.learned import LEARNED
from tests.selection import take_part

OWN = (
    ("formula: a * x + b * x**2", "formula: g * a; a: sum(g * x); b: 1 / N * sum(g * x**2)"),
    ("formula: sign(x - t)", "formula: g; t: -2 / sqrt(N * w) * sum(g * max(0, 1 - abs(x - t)))"),
    ("clamp", "formula: g * (lo < x < hi); hi: sum(g * (x >= hi)); lo: (N + 1) / N * sum(g * (y <= lo))"),
)
PAIRS = [*(pair for pair in LEARNED if pair[1] != "default"), *OWN]
FOLLOWING = [("quantize", "straight_through"), ("quantize", "quantize_masked"), ("quantize_offset", "zero")]


def points(low: float = -6.0, high: float = 6.0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(6)
    random = torch.empty(3000, dtype=torch.float64).uniform_(low, high, generator=generator)
    return torch.cat([random, torch.linspace(low, high, 481, dtype=torch.float64)])


@pytest.mark.parametrize("write", [snippet, lambda *a, learns: make_short_code(make_pair(*a, {}, learns))])
@pytest.mark.parametrize(("op", "rule"), [*take_part(PAIRS), *FOLLOWING])
def test_code_out_is_code_in(op: str, rule: str, write: Callable[..., str]) -> None:
    """Op, rule, what each element contributes and the scale are those of the entry, bit for bit."""
    entry, own = find_op(op), find_rule(rule)
    names = list_learnable(entry, own)
    (reading,) = read_sources(write(op, rule, learns=names))
    assert reading.problem is None, reading.problem
    assert reading.notes == ()
    read_op, read_rule = find_op(reading.op), find_rule(reading.rule)
    assert {one.name for one in read_rule.learned} == set(names)
    numbers = {p.name: p.default for p in (*own.parameters, *entry.parameters)}
    kinks = torch.tensor([*numbers.values(), 0.0], dtype=torch.float64)
    x = torch.cat([points(), kinks, -kinks])
    g = torch.sin(torch.arange(len(x), dtype=torch.float64))
    given = {name: value for name, value in numbers.items() if name in _parameters(read_op, read_rule)}
    y = apply(op, rule, x, **numbers)
    assert torch.equal(apply(reading.op, reading.rule, x, **given), y)
    for name in names:
        mine, theirs = find_contribution(read_op, read_rule, name), find_contribution(entry, own, name)
        assert mine.origin == "rule"
        parts = [one.formula.bind(numbers)(x, y, g) for one in (mine, theirs)]
        assert torch.equal(*parts)
        assert mine.compute_factor(numbers, 37) == theirs.compute_factor(numbers, 37)


def _parameters(*entries: object) -> set[str]:
    return {p.name for entry in entries for p in entry.parameters}  # type: ignore[attr-defined]


def test_every_entry_that_teaches_is_among_them() -> None:
    tried = {rule for _, rule in PAIRS}
    assert {rule.key for rule in fixed.RULES.values() if rule.learned} <= tried
    assert {op for op, _ in PAIRS}.issubset({*OPS, *(op for op, _ in OWN)})


@pytest.mark.parametrize(
    "op",
    ["x * log(a - 1)", "x * (a - 2)**0.5", "x * (1 / (a - 1))", "x * max(log(a), b)", "x * exp(a * 1000)"],
)
def test_constants_that_python_refuses_are_read_back(op: str) -> None:
    code = snippet(f"formula: {op}", "formula: g * (abs(x) <= 1 / a)", a=3.0)
    (reading,) = read_sources(code)
    assert (reading.problem, reading.notes) == (None, ())
    x = points()
    for value in (0.5, 1.0, 3.0):
        given = dict.fromkeys(_parameters(find_op(reading.op), find_rule(reading.rule)), value)
        y, again = (apply(*pair, x, **given) for pair in ((f"formula: {op}", "zero"), (reading.op, "zero")))
        torch.testing.assert_close(again, y, rtol=0, atol=0, equal_nan=True)


def test_a_helper_of_that_name_that_does_something_else_is_followed() -> None:
    code = snippet("formula: x * (1 / a)", "formula: g", a=3.0)
    (reading,) = read_sources(code.replace("return number / divisor if divisor else", "return 2 *"))
    assert reading.op != read_sources(code)[0].op
