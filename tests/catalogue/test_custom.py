"""Own formulas as entries, with and without a name."""

import pytest

from explorer.catalogue import find_op, find_rule, make_custom_key
from explorer.formula import FormulaError


def test_an_own_formula_may_have_a_name() -> None:
    op, rule = find_op("formula:  Cube=x**3"), find_rule("formula: My_Rule2 = 3*x**2*g")
    assert (op.label, op.formula) == ("Cube", find_op("formula: x**3").formula)
    assert rule.label == "My_Rule2"
    assert find_op(op.key) == op
    assert find_rule(rule.key) == rule


def test_without_a_name_the_formula_is_the_label() -> None:
    rule = find_rule("formula: g * (x == 1)")
    assert find_rule("formula:g*(x == 1)") == rule
    assert rule.label == rule.formula
    assert rule.key == make_custom_key(rule.formula)


@pytest.mark.parametrize(
    ("formula", "brief"),
    [
        ("g * (x == 1)", "your formula of x and g"),
        ("Mine = y**2 * w", "your formula of y"),
        ("2", "your constant, whatever x and g are"),
        ("f() * g", "your formula of g and the loss"),
        ("g * u()", "your formula of g and a draw"),
        ("Drawn = g * through(x, -1, 0, 0, 1, 1, 0)", "g times a line drawn by hand"),
        ("g * through(x, -1, 0.5, 1, 2) * (x >= -1) * (x <= 1)", "g times a line drawn by hand"),
        ("g * through(x, -1, 0.5, 1, 2) * x", "your formula of x and g"),
    ],
)
def test_an_own_rule_is_defined_by_what_its_formula_uses(formula: str, brief: str) -> None:
    assert find_rule(f"formula: {formula}").brief == brief


def test_a_name_is_made_of_letters_digits_and_underscores() -> None:
    assert make_custom_key("x", "a name: <b>") == "formula: a_name_b_ = x"
    assert make_custom_key("x", "n" * 99) == f"formula: {'n' * 40} = x"


@pytest.mark.parametrize("find", [find_op, find_rule])
@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("Cube = x*", 10), ("Cube = x * points", 12), ("points = x * points", 14), ("a b = x", 3),
        ("f" * 41 + " = x", 43),
    ],
)  # fmt: skip
def test_errors_point_into_the_text_with_its_name(find, text: str, column: int) -> None:
    with pytest.raises(FormulaError) as caught:
        find(f"formula: {text}")
    assert caught.value.column == column
    assert str(caught.value) == f"{caught.value.message}\n{text}\n{' ' * (column - 1)}^"
