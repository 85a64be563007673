"""The contribution of one element to the gradient for a parameter: the browser's against torch's."""

import random
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from explorer.catalogue import MAX_RULES, Learned, Op, Parameter, Rule, find_op, find_rule, list_learnable
from tests.catalogue.cases import suiting
from tests.catalogue.fixed import RULES
from tests.frontend.formula import test_curves
from tests.frontend.formula.test_curves import OPS_DECIDED, POINTS, SAMPLE, Case, equal, values_of
from tests.frontend.modules import Node
from tests.selection import take_part

# Where a search follows what is no straight line, the last bit of a function decides.
DECLARED = [rule for rule in RULES.values() if rule.kinks is not None or rule.parsed is None]
A, B, W = (Parameter(name, 0.5, 0.1, 2.0) for name in "abw")
# A rule of one's own, which declares no kinks.
TAUGHT = Rule(
    "taught",
    "Taught",
    "g * (abs(x) < w)",
    parameters=(A, B, W),
    learned=(Learned("a", "g * x * (abs(a * x) <= 1) * (x > w)", scale="1 / sqrt(N)"),),
)
SHIFTED = Op(
    "shifted", "Shifted", "where(x - b > 0, 1, 0)", kinks=("b",), parameters=(B,), inner="x - b", outer="q"
)
SCALED = Op(
    "scaled", "Scaled", "b * where(x > 0, 1, 0)", kinks=("0",), parameters=(B,), inner="x", outer="b * q"
)
OWN: tuple[tuple[str | Op, str | Rule], ...] = (
    ("formula: clamp(x * a, -1, b)", TAUGHT), ("formula: a * sign(x) + mean(abs(x))", "formula: g"),
    ("formula: a * x**2 + log(a)", "formula: g * x"), (SHIFTED, "formula: g * x"), (SCALED, "formula: g / x"),
)  # fmt: skip


def cases_of(op: Op, every: Sequence[Rule], generator: random.Random) -> Iterator[Case]:
    """Each parameter of an op, and of the rules that learn it, at some g."""
    for first in range(0, len(every), MAX_RULES):
        rules = tuple(every[first : first + MAX_RULES])
        for name in dict.fromkeys(name for rule in rules for name in list_learnable(op, rule)):
            parameters = values_of(op, rules, generator)
            yield Case(op, rules, generator.choice(test_curves.UPSTREAM), parameters, learns=name)


def all_cases() -> list[Case]:
    generator = random.Random(5)
    cases = [case for op in OPS_DECIDED for case in cases_of(op, suiting(op), generator)]
    strange = [case for op in OPS_DECIDED for case in cases_of(op, DECLARED, generator)]
    cases += generator.sample(strange, 60)
    own = [(find_op(op), (find_rule(rule), RULES["default"])) for op, rule in OWN]
    return cases + [case for op, rules in own for case in cases_of(op, rules, generator)]


def test_the_catalogue_and_own_formulas(node: Node):
    """Every parameter with every rule for its op: x and kinks to the last bit, the rest to 1e-12."""
    cases = all_cases()
    assert {case.learns for case in cases} >= {"s", "beta", "hi", "lo", "log2_s", "wp", "wn", "a"}
    cases = take_part(cases)
    given = {"points": POINTS, "cases": [case.data() for case in cases]}
    for case, sampled in zip(cases, node.run(SAMPLE, given), strict=True):
        curves = case.torch()
        assert test_curves.same_points(sampled, curves), case.name
        parts = {key: some for key, some in sampled["parts"].items() if some is not None}
        assert parts.keys() == curves.parts.keys(), case.name
        for key, part in parts.items():
            assert equal(part, curves.parts[key]).all(), f"{key}: {case.name}"
        if "default" in curves.gradients:  # beside what learns as a tensor; the others hang on it nowhere
            own, torchs = sampled["gradients"]["default"], curves.gradients["default"]
            assert equal(own, torchs).all(), case.name


def test_kinks_of_a_custom_contribution_are_found(node: Node):
    case = Case(find_op(OWN[0][0]), (TAUGHT,), 1.0, {"a": 1.0, "b": 1.0, "w": 0.25}, learns="a")
    (sampled,) = node.run(SAMPLE, {"points": POINTS, "cases": [case.data()]})
    assert sampled["kinks"]["part taught"] == [-1, -0.25, 0.25, 1]


NOT_FINITE = "is not a finite number: write it as 2.5, 1/3, pi/2 or 1e-3."
PASTED = """
    const { parseNumbers } = await import("./choice/pasted-numbers.js");
    return given.map((text) => parseNumbers(text, { most: 4, largest: 1e6 }));
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-0.5 0.2\n1.75", [-0.5, 0.2, 1.75]), ("[1.5, -2, 3e-1]", [1.5, -2, 0.3]), ("1,2,3", [1, 2, 3]),
        ("0,5; 1,25", [0.5, 1.25]), ("1.5,2", [1.5, 2]), ("1/2 pi", [0.5, np.pi]),
        ("1 abc", f"Number 2 cannot be read. “abc” {NOT_FINITE}"),
        ("1 2 3 4 5", "5 numbers are too many: paste at most 4."),
        ("  ", "There is no number yet: paste some, such as -0.5 0.2 1.75."),
        ("1 -2e6", "Number 2, -2e6, is out of range: use numbers from −1,000,000 to 1,000,000."),
        ("1e999", f"Number 1 cannot be read. “1e999” {NOT_FINITE}"),
    ],
)  # fmt: skip
def test_pasted_numbers(node: Node, text: str, expected: list[float] | str):
    (read,) = node.run(PASTED, [text])
    if isinstance(expected, str):
        assert read == {"message": expected}
    else:
        assert list(read["values"]) == expected
