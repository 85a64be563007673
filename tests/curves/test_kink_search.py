import math

import pytest
import torch

from explorer.catalogue import FORMULA_PREFIX, Op, find_op, find_rule
from explorer.curves import kinks as module
from explorer.curves.kinks import find_kinks
from explorer.formula import FUNCTIONS, parse
from explorer.formula.pieces import find_degree
from tests.catalogue.fixed import OPS, RULES
from tests.selection import loop_over


def test_torchs_own_gradient_has_kinks_where_it_is_another_at_one_x():
    """Of the curve there is none to be seen: x**2 and x."""
    for text in ("sqrt(x**4)", "relu(x) - relu(-x)"):
        op = find_op(FORMULA_PREFIX + text)
        assert (find_kinks(op, None, {}, -3, 3), find_kinks(op, RULES["default"], {}, -3, 3)) == ([], [0])
        assert find_kinks(op, RULES["straight_through"], {}, -3, 3) == []
        assert find_kinks(OPS["identity"], find_rule(f"{FORMULA_PREFIX}g * ({text})"), {}, -3, 3) == []


@pytest.mark.parametrize("width", [3.0, 300.0, 1e6])
@pytest.mark.parametrize("text", ["floor(x) - floor(x)", "0 * round(x)", "x + (x - floor(x)) * 0"])
def test_terms_that_cancel_have_no_kinks(text: str, width: float):
    assert find_kinks(find_op(FORMULA_PREFIX + text), None, {}, -width, width) == []
    assert find_kinks(find_op(FORMULA_PREFIX + text), RULES["default"], {}, -width, width) == []


def test_levels_infinitely_far_apart_have_no_kinks():
    assert find_kinks(OPS["dorefa"], RULES["default"], {"n": 0.0}, -3.0, 3.0) == []


def test_kinks_close_together():
    op = find_op(FORMULA_PREFIX + "(x > 1e-5) + (x > 2e-5)")
    assert find_kinks(op, None, {}, -1e-4, 1e-4) == [1e-5, 2e-5]


def test_positions_are_the_short_decimals_they_are_meant_to_be():
    assert find_kinks(find_op(FORMULA_PREFIX + "round(x / 0.1)"), None, {}, 0.0, 0.4) == [
        0.05, 0.15, 0.25, 0.35,
    ]  # fmt: skip
    assert find_kinks(find_op(FORMULA_PREFIX + "abs(x - lo)"), None, {"lo": 0.3}, -1.0, 1.0) == [0.3]
    (zero,) = find_kinks(find_op(FORMULA_PREFIX + "sign(x)"), None, {}, -3.0, 3.0)
    assert math.copysign(1, zero) == 1


def test_a_rule_in_y_has_the_kinks_of_its_op():
    assert find_kinks(OPS["round"], RULES["ewgs"], {}, 0.0, 2.0) == [0.5, 1.5]
    own = find_rule(FORMULA_PREFIX + "g * (y > 1.5)")
    assert find_kinks(find_op(FORMULA_PREFIX + "2 * x"), own, {}, -3.0, 3.0) == [0.75]


def test_kinks_that_depend_on_the_upstream_gradient():
    own = find_rule(FORMULA_PREFIX + "where(x > 0, 1, g)")
    assert [find_kinks(OPS["identity"], own, {}, -1.0, 1.0, g) for g in (1.0, 2.0)] == [[], [0]]


def test_parameters_move_kinks():
    own = find_rule(FORMULA_PREFIX + "g * (abs(x) <= w)")
    assert find_kinks(OPS["identity"], own, {}, -3.0, 3.0) == [-1, 1]
    assert find_kinks(OPS["identity"], own, {"w": 0.7}, -3.0, 3.0) == [-0.7, 0.7]
    assert find_kinks(OPS["identity"], RULES["clipped"], {"clipped.c": 0.7}, -3.0, 3.0) == [-0.7, 0.7]


@pytest.mark.parametrize("op", [OPS["round"], find_op("formula: round(x)")], ids=["declared", "found"])
def test_more_kinks_than_can_be_told_apart_are_none(op: Op, monkeypatch):
    assert len(find_kinks(op, None, {}, -100.0, 100.0)) == 200 < module.MAX_KINKS == 512
    assert len(find_kinks(op, None, {}, -256.0, 256.0)) == module.MAX_KINKS
    assert find_kinks(op, None, {}, -257.0, 257.0) is None
    assert find_kinks(op, None, {}, -1e6, 1e6) is None
    monkeypatch.setattr(module, "MAX_KINKS", 2)
    assert find_kinks(op, None, {}, 0.01, 2.01) == [0.5, 1.5]
    assert find_kinks(op, None, {}, 0.01, 3.01) is None


def test_every_jump_is_found_where_they_crowd_at_one_end():
    op = find_op(FORMULA_PREFIX + "floor(1/x)")
    assert find_kinks(op, None, {}, 0.002, 1.0) == pytest.approx([1 / k for k in range(500, 0, -1)], rel=1e-9)
    assert find_kinks(op, None, {}, 0.0019, 1.0) is None
    assert find_kinks(op, None, {}, -1.0, 1.0) is None


@pytest.mark.parametrize("start", [-1e6, 0.0, 999999.0])
def test_one_kink_is_one_where_floats_are_far_apart(start: float):
    assert find_kinks(find_op(FORMULA_PREFIX + "abs(x - 999999.5)"), None, {}, start, 1e6) == [999999.5]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("log(x) + abs(x + 1)", [0]),
        ("sqrt(x) * sign(x + 2) + abs(x - 1)", [0, 1]),
        ("sqrt(-1 - x**2) + round(x)", []),
    ],
)
def test_no_kink_where_there_is_no_value(text: str, expected: list[float]):
    assert find_kinks(find_op(FORMULA_PREFIX + text), None, {}, -3.0, 3.0) == expected


def test_a_mean_is_over_the_range_whatever_is_scanned():
    """The mean of |x| on 0..4 is 2."""
    own = find_rule(FORMULA_PREFIX + "g * (x > mean(abs(x)))")
    assert find_kinks(OPS["identity"], own, {}, 0.0, 4.0) == [2]
    assert find_kinks(find_op(FORMULA_PREFIX + "(x > mean(abs(x))) + (x > 3)"), own, {}, 0.0, 4.0) == [2, 3]


def test_a_rule_without_y_does_not_jump_where_its_op_does_too_often():
    fine = {"s": 0.1, "qmin": -300.0, "qmax": 300.0}
    assert find_kinks(OPS["quantize"], None, fine, -100.0, 100.0) is None
    assert find_kinks(OPS["quantize"], RULES["quantize_masked"], fine, -100.0, 100.0) == pytest.approx(
        [-30.0, 30.0]
    )
    assert find_kinks(OPS["round"], RULES["ewgs"], {}, -1000.0, 1000.0) is None


def test_a_found_jump_lies_between_the_floats_beside_it():
    floor = find_op(FORMULA_PREFIX + "floor(1/x)")
    x = torch.tensor(find_kinks(floor, None, {}, 0.0051, 0.9), dtype=torch.float64)
    below, above = (x * (1 + side * 4e-16) for side in (-4, 4))
    value = floor.parsed.bind()
    assert (value(below) - value(above) == 1).all()


@loop_over("row", FUNCTIONS.values())
def test_degrees_of_functions_are_those_of_their_values(row):
    """Away from kinks, the difference after the degree's own vanishes, and no lower one does everywhere."""
    text = f"{row.name}({', '.join(['x', '1.25', '2.5', '3'][: row.arity])})"
    text = "where(x < 1, x, 2)" if row.name == "where" else text
    formula = parse(text, variables=("x",))
    result = find_degree(formula.tree)
    x = torch.linspace(0.01, 3.99, 60, dtype=torch.float64)
    if row.own:  # between the many jumps of every format
        x = torch.tensor([0.3, 0.8, 1.3, 2.1, 2.6, 3.1, 3.6], dtype=torch.float64)
    values = formula.bind()(x[:, None] + 1e-3 * torch.arange(5, dtype=torch.float64))
    size = values.abs().amax(1).clamp(min=1)
    vanishing = [bool((values.diff(n=n).abs().amax(1) < 1e-12 * size).all()) for n in range(1, 4)]
    assert result in (0, 1, 2, math.inf)
    assert result == math.inf or all(vanishing[int(result) :])
    assert row.name in ("exp", "expm1") or result != math.inf or not all(vanishing)


@loop_over(
    ("text", "expected"),
    [
        ("3", 0), ("g * (abs(x) <= 1)", 0), ("g * max(0, 1 - abs(x))", 1), ("x**3 - 2*x", 3), ("x**2 * y", 4),
        ("x / 3 + (x > 1) / 2", 1), ("1 / x", math.inf), ("x**0.5", math.inf), ("x**0", 0),
        ("2**x", math.inf), ("tanh(round(x)) * x", 1), ("where(x > 0, x, tanh(x))", math.inf),
        ("exp(-mean(x)) * x", 1), ("~(x > 1) * x", 1),
    ],
)  # fmt: skip
def test_degree_of_a_formula(text: str, expected: float):
    assert find_degree(parse(text).tree, 2.0) == expected
