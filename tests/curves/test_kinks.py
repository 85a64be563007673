"""Kinks found in a formula are those the catalogue declares for it, and those that are there."""

from __future__ import annotations

import math

import pytest
import torch

from explorer.catalogue import OWN, Op, Rule, find_op, find_rule
from explorer.curves import kinks as module
from explorer.curves.kinks import kinks
from explorer.formula import FUNCTIONS, parse
from explorer.formula.pieces import degree
from tests.catalogue.cases import settings_of, usual_op
from tests.catalogue.finder import kinks_of
from tests.catalogue.fixed import OPS, RULES
from tests.selection import loop_over

RANGES = [(-3.012345, 7.034567), (-3.0, 3.0), (-10.0, 10.0)]  # kinks lie on the ends of the last two
IDENTITY = OPS["identity"]


@loop_over("op", OPS.values())
def test_found_in_an_own_op_as_declared(op: Op):
    own = find_op(OWN + op.formula)
    for settings in settings_of(op):
        for start, stop in RANGES:
            declared = kinks(op, None, settings, start, stop)
            assert kinks(own, None, settings, start, stop) == pytest.approx(declared, abs=1e-9)


@loop_over("rule", [rule for rule in RULES.values() if rule.formula])
def test_found_in_an_own_rule_as_declared(rule: Rule):
    """For one g a declared kink may be none, as with published_clamp at g = 1; over several each is one."""
    op, own = usual_op(rule), find_rule(OWN + rule.formula)
    for settings in settings_of(rule):
        for start, stop in RANGES:
            declared = kinks(op, rule, settings, start, stop)
            result = [kinks(op, own, settings, start, stop, g) for g in (1.0, 2.0, -1.0)]
            for positions in result:
                assert positions == pytest.approx([p for p in declared if _near(p, positions)], abs=1e-9)
            every = [p for p in declared if any(_near(p, positions) for positions in result)]
            assert every == declared


def _near(x: float, positions: list[float]) -> bool:
    return any(abs(x - other) <= 1e-9 for other in positions)


@loop_over(
    "text",
    [
        "abs(x - 1 / 3)",
        "abs(abs(x) - 1)",
        "min(x**2, 2)",
        "max(x, x**2)",
        "clamp(x**3, -1, 2)",
        "where(x < 1, x, 2 - x)",
        "where((x > -1) & (x < 1.5) | (x > 2.25), 1, 0)",
        "x * (sin(x) > 0.25)",
        "floor(exp(x) / 5)",
        "round(3 * x / 7) * 7 / 3",
        "x - 0.3 * trunc(x / 0.3)",
        "tanh(50 * x)",
        "(x > 0) * (x - 1)**2",
        "relu(x - 1)**2",
        "leaky_relu(sin(x), 0.2)",
        "heaviside(x - 2.5, 0.5)",
        "sqrt(x - 1) + x",
        "log1p(x) * (x > -1)",
        "1 / (x - 1.1)",
        "tan(x)",
    ],
)
def test_found_as_a_search_by_values_alone_finds_them(text: str):
    start, stop = -3.012345, 4.034567
    op = find_op(OWN + text)
    result = kinks(op, None, {}, start, stop)
    assert result == pytest.approx(kinks_of(op.parsed.bind(), start, stop), abs=1e-4)


@loop_over(
    ("text", "expected"),
    [
        ("abs(x - 1/3)", [1 / 3]),
        ("x**0.5", [0]),
        ("x**(-1)", [0]),
        ("x**3 + x**2", []),
        ("x / 3", []),
        ("1 / (1 + x**2)", []),
        ("where(x == 1, 5, 0)", [1]),
        ("where(x != 1, x, 2)", [1]),
        ("where(x < 2, x, 2 * x - 2)", [2]),  # a corner only
        ("where(x < 2, x, x)", []),  # a comparison, but no kink
        ("0 * round(x)", []),
        ("abs(x) - abs(x)", []),
        ("where(x > 0, floor(sqrt(x)), -1)", [0, 1]),  # the root of a negative is not a number
        ("abs(x - 1000)", []),  # outside the range
        ("abs(x - 3)", [3]),  # on its end
        ("abs(abs(x - 0.0011) - 0.0002)", [0.0009, 0.0011, 0.0013]),  # all in one cell of the scan
        ("pi", []),
    ],
)
def test_particular_formulas(text: str, expected: list[float]):
    assert kinks(find_op(OWN + text), None, {}, -3.0, 3.0) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("g", [1e-6, 1e-3, 1.0, 1e6])
def test_a_jump_is_one_however_small(g: float):
    assert kinks(IDENTITY, find_rule(OWN + "g * sign(x)"), {}, -3.0, 3.0, g) == [0]
    assert kinks(find_op(OWN + "0.000001 * round(x)"), None, {}, -2.0, 2.0) == [-1.5, -0.5, 0.5, 1.5]
    assert kinks(find_op(OWN + "1e-9 * abs(x - 1)"), None, {}, -3.0, 3.0) == [1]


@loop_over("width", [1e-3, 1.0, 1e3, 1e6])
@loop_over("text", ["x**2", "x**1.0", "x**3 - x", "x * x"])
def test_what_is_smooth_has_none_however_wide_the_range(text: str, width: float):
    assert kinks(find_op(OWN + text), None, {}, -width, width) == []
    assert kinks(IDENTITY, find_rule(f"{OWN}g * ({text})"), {}, -width, width, 2.0) == []


@pytest.mark.parametrize(("start", "stop"), [(-3.0, 3.0), (-2.0, 3.1)])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 / (x * x)", [0.0]),
        ("sqrt(x * x)", [0.0]),
        ("where(x * x == 0, 5, 1)", [0.0]),
        ("1 / ((x - 1) * (x - 1))", [1.0]),
        ("log((x - 1)**2 / 3)", [1.0]),
    ],
)
def test_found_where_a_piece_touches_0_without_a_change_of_its_sign(
    text: str, expected: list[float], start: float, stop: float
):
    assert kinks(find_op(OWN + text), None, {}, start, stop) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 / (x**2 - 2 * x + 1)", [1.0]),
        ("1 / (x**3 - 3 * x + 2)", [-2.0, 1.0]),
        ("log(x * (x - 1) + 0.25)", [0.5]),
        ("1 / (1 - cos(x))", [-2 * math.pi, 0.0, 2 * math.pi]),
        ("1 * (x * (x - 0.2469134) + 0.01524155677489 > 1e-18)", [0.123456699, 0.123456701]),
        ("1 * (x**4 + x**2 < 1e-16)", [-1e-8, 1e-8]),
        ("floor(9.25 + x - x**2)", None),
    ],
)
def test_what_turns_within_a_cell_of_the_scan_is_found(text: str, expected: list[float] | None):
    """A pole that is touched, and two changes that lie side by side."""
    start, stop = -7.01234567, 7.0345678
    result = kinks(find_op(OWN + text), None, {}, start, stop)
    if expected is None:
        expected = kinks_of(find_op(OWN + text).parsed.bind(), start, stop)
    assert result == pytest.approx(expected, abs=1e-4 if "floor" in text else 1e-9)


@pytest.mark.parametrize("width", [1.0, 1e3])
@pytest.mark.parametrize("window", ["abs(x - 0.1234567) < 1e-9", "(x - 0.1234567)**2 < 1e-18"])
def test_a_window_that_lies_between_two_points_is_found(width: float, window: str):
    result = kinks(IDENTITY, find_rule(f"{OWN}g * ({window})"), {}, -width, width)
    assert result == pytest.approx([0.123456699, 0.123456701], rel=1e-12)


@pytest.mark.parametrize(
    "text", ["sign(x) * sqrt(abs(x))", "x * log(abs(x))", "sign(x - 1) * abs(x - 1)**0.25", "x**x"]
)
@pytest.mark.parametrize("width", [3.0, 1000.0])
def test_a_slope_that_grows_on_and_on_is_a_kink(text: str, width: float):
    (kink,) = kinks(find_op(OWN + text), None, {}, -width, width)
    assert kink == ("x - 1" in text)


def test_torchs_own_gradient_has_kinks_where_it_is_another_at_one_x():
    """Of the curve there is none to be seen: x**2 and x."""
    for text in ("sqrt(x**4)", "relu(x) - relu(-x)"):
        op = find_op(OWN + text)
        assert (kinks(op, None, {}, -3, 3), kinks(op, RULES["default"], {}, -3, 3)) == ([], [0])
        assert kinks(op, RULES["straight_through"], {}, -3, 3) == []
        assert kinks(IDENTITY, find_rule(f"{OWN}g * ({text})"), {}, -3, 3) == []


@pytest.mark.parametrize("width", [3.0, 300.0, 1e6])
@pytest.mark.parametrize("text", ["floor(x) - floor(x)", "0 * round(x)", "x + (x - floor(x)) * 0"])
def test_what_cancels_has_no_kinks_however_many_its_parts_have(text: str, width: float):
    assert kinks(find_op(OWN + text), None, {}, -width, width) == []
    assert kinks(find_op(OWN + text), RULES["default"], {}, -width, width) == []


def test_levels_infinitely_far_apart_have_no_kinks():
    assert kinks(OPS["dorefa"], RULES["default"], {"n": 0.0}, -3.0, 3.0) == []


def test_kinks_close_together():
    op = find_op(OWN + "(x > 1e-5) + (x > 2e-5)")
    assert kinks(op, None, {}, -1e-4, 1e-4) == [1e-5, 2e-5]


def test_positions_are_the_short_decimals_they_are_meant_to_be():
    assert kinks(find_op(OWN + "round(x / 0.1)"), None, {}, 0.0, 0.4) == [0.05, 0.15, 0.25, 0.35]
    assert kinks(find_op(OWN + "abs(x - lo)"), None, {"lo": 0.3}, -1.0, 1.0) == [0.3]
    (zero,) = kinks(find_op(OWN + "sign(x)"), None, {}, -3.0, 3.0)
    assert math.copysign(1, zero) == 1


def test_a_rule_in_y_has_the_kinks_of_its_op():
    assert kinks(OPS["round"], RULES["ewgs"], {}, 0.0, 2.0) == [0.5, 1.5]
    own = find_rule(OWN + "g * (y > 1.5)")
    assert kinks(find_op(OWN + "2 * x"), own, {}, -3.0, 3.0) == [0.75]


def test_kinks_that_depend_on_the_upstream_gradient():
    own = find_rule(OWN + "where(x > 0, 1, g)")
    assert [kinks(IDENTITY, own, {}, -1.0, 1.0, g) for g in (1.0, 2.0)] == [[], [0]]


def test_parameters_move_kinks():
    own = find_rule(OWN + "g * (abs(x) <= w)")
    assert kinks(IDENTITY, own, {}, -3.0, 3.0) == [-1, 1]
    assert kinks(IDENTITY, own, {"w": 0.7}, -3.0, 3.0) == [-0.7, 0.7]
    assert kinks(IDENTITY, RULES["clipped"], {"clipped.c": 0.7}, -3.0, 3.0) == [-0.7, 0.7]


@pytest.mark.parametrize("op", [OPS["round"], find_op(OWN + "round(x)")], ids=["declared", "found"])
def test_more_kinks_than_can_be_told_apart_are_none(op: Op, monkeypatch):
    assert len(kinks(op, None, {}, -100.0, 100.0)) == 200 < module.MOST_KINKS == 512
    assert len(kinks(op, None, {}, -256.0, 256.0)) == module.MOST_KINKS
    assert kinks(op, None, {}, -257.0, 257.0) is None
    assert kinks(op, None, {}, -1e6, 1e6) is None
    monkeypatch.setattr(module, "MOST_KINKS", 2)
    assert kinks(op, None, {}, 0.01, 2.01) == [0.5, 1.5]
    assert kinks(op, None, {}, 0.01, 3.01) is None


def test_every_jump_is_found_where_they_crowd_at_one_end():
    op = find_op(OWN + "floor(1/x)")
    assert kinks(op, None, {}, 0.002, 1.0) == pytest.approx([1 / k for k in range(500, 0, -1)], rel=1e-9)
    assert kinks(op, None, {}, 0.0019, 1.0) is None
    assert kinks(op, None, {}, -1.0, 1.0) is None


@pytest.mark.parametrize("start", [-1e6, 0.0, 999999.0])
def test_one_kink_is_one_where_floats_are_far_apart(start: float):
    assert kinks(find_op(OWN + "abs(x - 999999.5)"), None, {}, start, 1e6) == [999999.5]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("log(x) + abs(x + 1)", [0]),
        ("sqrt(x) * sign(x + 2) + abs(x - 1)", [0, 1]),
        ("sqrt(-1 - x**2) + round(x)", []),
    ],
)
def test_no_kink_where_there_is_no_value(text: str, expected: list[float]):
    assert kinks(find_op(OWN + text), None, {}, -3.0, 3.0) == expected


def test_a_mean_is_over_the_range_whatever_is_scanned():
    """The mean of |x| on 0..4 is 2."""
    own = find_rule(OWN + "g * (x > mean(abs(x)))")
    assert kinks(IDENTITY, own, {}, 0.0, 4.0) == [2]
    assert kinks(find_op(OWN + "(x > mean(abs(x))) + (x > 3)"), own, {}, 0.0, 4.0) == [2, 3]


def test_a_rule_without_y_does_not_jump_where_its_op_does_too_often():
    fine = {"s": 0.1, "qmin": -300.0, "qmax": 300.0}
    assert kinks(OPS["quantize"], None, fine, -100.0, 100.0) is None
    assert kinks(OPS["quantize"], RULES["quantize_masked"], fine, -100.0, 100.0) == pytest.approx(
        [-30.0, 30.0]
    )
    assert kinks(OPS["round"], RULES["ewgs"], {}, -1000.0, 1000.0) is None


def test_a_found_jump_lies_between_the_floats_beside_it():
    floor = find_op(OWN + "floor(1/x)")
    x = torch.tensor(kinks(floor, None, {}, 0.0051, 0.9), dtype=torch.float64)
    below, above = (x * (1 + side * 4e-16) for side in (-4, 4))
    value = floor.parsed.bind()
    assert (value(below) - value(above) == 1).all()


@loop_over("row", FUNCTIONS.values())
def test_degrees_of_functions_are_those_of_their_values(row):
    """Away from kinks, the difference after the degree's own vanishes, and no lower one does everywhere."""
    text = f"{row.name}({', '.join(['x', '1.25', '2.5', '3'][: row.arity])})"
    text = "where(x < 1, x, 2)" if row.name == "where" else text
    formula = parse(text, variables=("x",))
    result = degree(formula.tree)
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
        ("3", 0),
        ("g * (abs(x) <= 1)", 0),
        ("g * max(0, 1 - abs(x))", 1),
        ("x**3 - 2*x", 3),
        ("x**2 * y", 4),
        ("x / 3 + (x > 1) / 2", 1),
        ("1 / x", math.inf),
        ("x**0.5", math.inf),
        ("x**0", 0),
        ("2**x", math.inf),
        ("tanh(round(x)) * x", 1),
        ("where(x > 0, x, tanh(x))", math.inf),
        ("exp(-mean(x)) * x", 1),
        ("~(x > 1) * x", 1),
    ],
)
def test_degree_of_a_formula(text: str, expected: float):
    assert degree(parse(text).tree, 2.0) == expected
