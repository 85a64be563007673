"""Kinks found in a formula are those the catalogue declares for it, and those that are there."""

import math

import pytest

from explorer.catalogue import FORMULA_PREFIX, Op, Rule, find_op, find_rule
from explorer.curves.kinks import find_kinks
from tests.catalogue.cases import settings_of, usual_op
from tests.catalogue.finder import kinks_of
from tests.catalogue.fixed import OPS, RULES
from tests.selection import loop_over, take_part

RANGES = [(-3.012345, 7.034567), (-3.0, 3.0), (-10.0, 10.0)]  # kinks lie on the ends of the last two


@loop_over("op", OPS.values())
def test_found_in_an_own_op_as_declared(op: Op):
    own = find_op(FORMULA_PREFIX + op.formula)
    for settings in settings_of(op):
        for start, stop in RANGES:
            declared = find_kinks(op, None, settings, start, stop)
            assert find_kinks(own, None, settings, start, stop) == pytest.approx(declared, abs=1e-9)


@loop_over("rule", take_part(rule for rule in RULES.values() if rule.formula))
def test_found_in_an_own_rule_as_declared(rule: Rule):
    """For one g a declared kink may be none, as with published_clamp at g = 1; over several each is one."""
    op, own = usual_op(rule), find_rule(FORMULA_PREFIX + rule.formula)
    for settings in settings_of(rule):
        for start, stop in RANGES:
            declared = find_kinks(op, rule, settings, start, stop)
            result = [find_kinks(op, own, settings, start, stop, g) for g in (1.0, 2.0, -1.0)]
            for positions in result:
                assert positions == pytest.approx([p for p in declared if _near(p, positions)], abs=1e-9)
            every = [p for p in declared if any(_near(p, positions) for positions in result)]
            assert every == declared


def _near(x: float, positions: list[float]) -> bool:
    return any(abs(x - other) <= 1e-9 for other in positions)


@loop_over(
    "text",
    [
        "abs(x - 1 / 3)", "abs(abs(x) - 1)", "min(x**2, 2)", "max(x, x**2)", "clamp(x**3, -1, 2)",
        "where(x < 1, x, 2 - x)", "where((x > -1) & (x < 1.5) | (x > 2.25), 1, 0)", "x * (sin(x) > 0.25)",
        "floor(exp(x) / 5)", "round(3 * x / 7) * 7 / 3", "x - 0.3 * trunc(x / 0.3)", "tanh(50 * x)",
        "(x > 0) * (x - 1)**2", "relu(x - 1)**2", "leaky_relu(sin(x), 0.2)", "heaviside(x - 2.5, 0.5)",
        "sqrt(x - 1) + x", "log1p(x) * (x > -1)", "1 / (x - 1.1)", "tan(x)",
    ],
)  # fmt: skip
def test_found_as_a_search_by_values_alone_finds_them(text: str):
    start, stop = -3.012345, 4.034567
    op = find_op(FORMULA_PREFIX + text)
    result = find_kinks(op, None, {}, start, stop)
    assert result == pytest.approx(kinks_of(op.parsed.bind(), start, stop), abs=1e-4)


@loop_over(
    ("text", "expected"),
    [
        ("abs(x - 1/3)", [1 / 3]), ("x**0.5", [0]), ("x**(-1)", [0]), ("x**3 + x**2", []), ("x / 3", []),
        ("1 / (1 + x**2)", []), ("where(x == 1, 5, 0)", [1]), ("where(x != 1, x, 2)", [1]),
        ("where(x < 2, x, 2 * x - 2)", [2]),  # a corner only
        ("where(x < 2, x, x)", []),  # a comparison, but no kink
        ("abs(x) - abs(x)", []),
        ("where(x > 0, floor(sqrt(x)), -1)", [0, 1]),  # the root of a negative is not a number
        ("abs(x - 1000)", []),  # outside the range
        ("abs(x - 3)", [3]),  # on its end
        ("abs(abs(x - 0.0011) - 0.0002)", [0.0009, 0.0011, 0.0013]),  # all in one cell of the scan
        ("pi", []),
    ],
)  # fmt: skip
def test_particular_formulas(text: str, expected: list[float]):
    found = find_kinks(find_op(FORMULA_PREFIX + text), None, {}, -3.0, 3.0)
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("g", [1e-6, 1e-3, 1.0, 1e6])
def test_a_jump_is_one_however_small(g: float):
    assert find_kinks(OPS["identity"], find_rule(FORMULA_PREFIX + "g * sign(x)"), {}, -3.0, 3.0, g) == [0]
    assert find_kinks(find_op(FORMULA_PREFIX + "0.000001 * round(x)"), None, {}, -2.0, 2.0) == [
        -1.5, -0.5, 0.5, 1.5,
    ]  # fmt: skip
    assert find_kinks(find_op(FORMULA_PREFIX + "1e-9 * abs(x - 1)"), None, {}, -3.0, 3.0) == [1]


@loop_over("width", [1e-3, 1.0, 1e3, 1e6])
@loop_over("text", ["x**2", "x**1.0", "x**3 - x", "x * x"])
def test_a_smooth_function_has_no_kinks_over_any_range(text: str, width: float):
    assert find_kinks(find_op(FORMULA_PREFIX + text), None, {}, -width, width) == []
    rule = find_rule(f"{FORMULA_PREFIX}g * ({text})")
    assert find_kinks(OPS["identity"], rule, {}, -width, width, 2.0) == []


@pytest.mark.parametrize(("start", "stop"), [(-3.0, 3.0), (-2.0, 3.1)])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 / (x * x)", [0.0]), ("sqrt(x * x)", [0.0]), ("where(x * x == 0, 5, 1)", [0.0]),
        ("1 / ((x - 1) * (x - 1))", [1.0]), ("log((x - 1)**2 / 3)", [1.0]),
    ],
)  # fmt: skip
def test_found_where_a_piece_touches_0_without_a_change_of_its_sign(text, expected, start, stop):
    assert find_kinks(find_op(FORMULA_PREFIX + text), None, {}, start, stop) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 / (x**2 - 2 * x + 1)", [1.0]), ("1 / (x**3 - 3 * x + 2)", [-2.0, 1.0]),
        ("log(x * (x - 1) + 0.25)", [0.5]), ("1 / (1 - cos(x))", [-2 * math.pi, 0.0, 2 * math.pi]),
        ("1 * (x * (x - 0.2469134) + 0.01524155677489 > 1e-18)", [0.123456699, 0.123456701]),
        ("1 * (x**4 + x**2 < 1e-16)", [-1e-8, 1e-8]), ("floor(9.25 + x - x**2)", None),
    ],
)  # fmt: skip
def test_kinks_within_one_cell_of_the_scan_are_found(text: str, expected: list[float] | None):
    """A pole that is touched, and two changes that lie side by side."""
    start, stop = -7.01234567, 7.0345678
    result = find_kinks(find_op(FORMULA_PREFIX + text), None, {}, start, stop)
    if expected is None:
        expected = kinks_of(find_op(FORMULA_PREFIX + text).parsed.bind(), start, stop)
    assert result == pytest.approx(expected, abs=1e-4 if "floor" in text else 1e-9)


@pytest.mark.parametrize("width", [1.0, 1e3])
@pytest.mark.parametrize("window", ["abs(x - 0.1234567) < 1e-9", "(x - 0.1234567)**2 < 1e-18"])
def test_a_window_that_lies_between_two_points_is_found(width: float, window: str):
    result = find_kinks(OPS["identity"], find_rule(f"{FORMULA_PREFIX}g * ({window})"), {}, -width, width)
    assert result == pytest.approx([0.123456699, 0.123456701], rel=1e-12)


@pytest.mark.parametrize(
    "text", ["sign(x) * sqrt(abs(x))", "x * log(abs(x))", "sign(x - 1) * abs(x - 1)**0.25", "x**x"]
)
@pytest.mark.parametrize("width", [3.0, 1000.0])
def test_a_slope_that_grows_on_and_on_is_a_kink(text: str, width: float):
    (kink,) = find_kinks(find_op(FORMULA_PREFIX + text), None, {}, -width, width)
    assert kink == ("x - 1" in text)
