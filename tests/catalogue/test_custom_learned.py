"""Own rules that say what their parameters learn."""

import re

import pytest
import torch

from explorer.catalogue import OPS, RULES, Learned, find_contribution, find_rule, make_custom_key
from explorer.formula import FormulaError
from explorer.gradient import apply

LSQ = (
    "formula: g * (qmin < x / s < qmax); s: 1 / sqrt(N * qmax) * sum(g * where(x / s <= qmin, qmin, "
    "where(x / s >= qmax, qmax, round(x / s) - x / s)))"
)


def test_lsq_written_as_a_formula_equals_the_rule_of_the_catalogue():
    own = find_rule(LSQ)
    mine, theirs = (find_contribution(OPS["quantize"], rule, "s") for rule in (own, RULES["lsq"]))
    assert (own.parsed, mine.formula, mine.scale) == (RULES["lsq"].parsed, theirs.formula, theirs.scale)
    assert mine.origin == "rule"
    assert [p.name for p in own.parameters] == ["qmin", "s", "qmax"]
    assert own.label == own.formula == "g * (qmin < x / s < qmax)"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (LSQ, LSQ.replace("1 / sqrt(N * qmax)", "(1 / sqrt(N * qmax))")),
        ("formula: g*x;hi:sum(g*(x>=hi))", "formula: g * x; hi: sum(g * (x >= hi))"),
        ("formula: Mine = g; a: 2*sum(g); b : -1 * sum(x*(1+b))",
         "formula: Mine = g; a: (2) * sum(g); b: (-1) * sum(x * (1 + b))"),
    ],
)  # fmt: skip
def test_the_key_of_a_custom_rule_is_canonical_and_can_be_read_back(text, key):
    rule = find_rule(text)
    assert rule.key == key
    assert find_rule(rule.key) == rule
    name = rule.label if rule.label.isidentifier() else ""
    assert make_custom_key(rule.formula, name, rule.learned) == key


def test_a_learned_parameter_adds_the_parameters_of_its_formula():
    rule = find_rule("formula: g; hi: sum(g * (x > hi + w)); k: N / c * sum(g)")
    assert [p.name for p in rule.parameters] == ["hi", "w", "c", "k"]
    assert [each.name for each in rule.learned] == ["hi", "k"]


def test_apply_learns_by_the_key_of_a_custom_rule():
    x, hi = torch.tensor([0.2, 0.7, 3.0]), torch.tensor(0.5, requires_grad=True)
    apply("clamp", "formula: g; hi: 1 / N * sum(2 * g * x)", x, hi=hi).sum().backward()
    torch.testing.assert_close(hi.grad, 2 * x.mean())


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("g * z9z9 *; a: sum(g)", 11, "a value is missing"),
        ("g; a: sum(g * )", 15, "a value is missing at the end, column 15"),
        ("g; a: 1 / * sum(g)", 10, "a value is missing"),
        ("g; a: x * sum(g)", 7, '"x" at column 7 is not known here'),
        ("g * N; a: sum(g)", 5, "only a scale may use"),
        ("g; a: sum(g * N)", 15, "only a scale may use"),
        ("g; a: g", 4, "after a semicolon, write how a parameter learns"),
        ("g;", 3, "after a semicolon, write how a parameter learns"),
        ("g; x: sum(g)", 4, '"x" at column 4 is not known here'),
        ("g; a: sum(g * points)", 15, "is the name of a setting"),
        ("g; lambda: sum(g)", 4, "means something else in code"),
    ],
)
def test_errors_point_into_the_whole_text(text, column, message):
    with pytest.raises(FormulaError, match=re.escape(message)) as caught:
        find_rule(f"formula: {text}")
    assert caught.value.column == column
    assert str(caught.value).splitlines()[-2] == text


def test_one_parameter_learns_once():
    with pytest.raises(FormulaError, match="a has two gradients") as caught:
        find_rule("formula: g; a: sum(g); a: sum(x)")
    assert caught.value.column == 15
    with pytest.raises(ValueError, match="a of mine has two gradients"):
        find_rule("formula: g * a").__class__(
            "mine", "Mine", "g * a", parameters=find_rule("formula: g * a").parameters,
            learned=(Learned("a", "g"), Learned("a", "x")),
        )  # fmt: skip
