"""A formula with its numbers put in, as the probe shows it."""

import pytest

from explorer.catalogue import OPS, find_rule
from explorer.instrument import make_entry
from tests.frontend.modules import Node

SUBSTITUTED = """
    const { createScopeAt, getParameterValues } = await import("./formula/curves.js");
    const { formatSubstituted } = await import("./formula/substitution.js");
    const range = { start: -2, stop: 2, g: given.g };
    const scopeAt = createScopeAt(given.op, getParameterValues(given.op, given.rule, {}), range);
    return formatSubstituted(given.rule.tree, scopeAt(Float64Array.of(given.x)));
"""


@pytest.mark.parametrize(
    ("rule", "x", "g", "text"),
    [
        ("clipped", 0.5, 1, "1 × (|0.5| ≤ 1) = 1"), ("clipped", -1.5, 1, "1 × (|−1.5| ≤ 1) = 0"),
        ("straight_through", 0.5, -2, "−2"), ("masked", 0.25, 2, "2 × (0 ≤ 0.25 ≤ 1) = 2"),
        ("toward_range", 2, -1, "−1 × (2 ≤ 1 or −1 > 0) × (2 ≥ 0 or −1 < 0) = 0"),
        ("fast_sigmoid", 0.5, 1, "1 / (1 + 25 × |0.5|)² = 0.005487"),
        ("published_clamp", 3, 2, "where(3 < 0, 0, where(3 > 1, 1, 2)) = 1"),
        ("mad", 3, 2, "2 × (3 × 0.25 / max(3, 3 × 0.25)) = 0.5"),
        ("mad", -2, 1, "1 × (−4 × 0.25 / (−2)) = 0.5"),
        ("formula: g * (2 - x) ** 0.5", -2, 1, "1 × (2 − (−2))^0.5 = 2"),
        ("formula: -x**2 * g", 3, -1, "−3² × (−1) = 9"),
        ("formula: g * x * 1e-9", 2, 1, "1 × 2 × 1·10⁻⁹ = 2·10⁻⁹"),
        ("formula: f(1 - y) * 2", 1, 1, "f(1 − 1) × 2 = not a number"),
        ("formula: g / x", 0, -1, "−1 / 0 = −∞"),
        ("formula: g * log(x)", -1, 1, "1 × log(−1) = not a number"),
        ("formula: g * ~(x > 0) * mean(abs(x))", -1, 1, "1 × not (−1 > 0) × 1 = 1"),
    ],
)  # fmt: skip
def test_numbers_in_formulas(node: Node, rule, x, g, text):
    given = {"op": make_entry(OPS["sign"]), "rule": make_entry(find_rule(rule)), "x": x, "g": g}
    assert node.run(SUBSTITUTED, given) == text
