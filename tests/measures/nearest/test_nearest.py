"""Which rules of the catalogue a rule is, up to factor, width and shift."""

import math

import pytest
import torch
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from explorer import nearest
from explorer.catalogue import RULES, Op, Rule, find_op, find_rule
from explorer.formula import Formula
from explorer.formula.tree import Binary, Name, Number, Unary, substitute
from explorer.gradient import bind
from explorer.measures.nearest.fitting import Fit, Fitter
from explorer.measures.nearest.neighbours import _compute_neighbour, find_neighbours
from explorer.measures.nearest.target import UPSTREAM, sample_target
from explorer.measures.nearest.words import format_factor
from tests.catalogue import fixed
from tests.catalogue.cases import is_whole
from tests.catalogue.fixed import OPS
from tests.selection import take_part

SIGN = find_op("formula: sign(x)")
COMPARED = [rule for rule in fixed.RULES.values() if not rule.learned]
# A fit follows kinks that are declared, and no whole number such as a zero point.
FITTED = [rule for rule in COMPARED if rule.kinks is not None and not any(map(is_whole, rule.parameters))]


def moved(op: Op, rule: Rule, factor: float, width: float, shift: float) -> Rule:
    """``factor * rule((x - shift) / width)``, however long its formula becomes; without declared kinks."""
    tree = (rule.parsed or op.parsed.gradient).tree
    number = lambda value: Number(value) if value >= 0 else Unary("-", Number(-value))  # noqa: E731
    inner = Binary("/", Binary("-", Name("x"), number(shift)), number(width))
    y = substitute(op.parsed.tree, {Name("x"): inner})
    made = Rule("own", "Own", "g", parameters=rule.parameters)
    moved_tree = substitute(tree, {Name("x"): inner, Name("y"): y})
    vars(made)["parsed"] = Formula(Binary("*", number(factor), moved_tree))
    return made


def op_for(rule: Rule) -> Op:
    """An op that a rule suits and that has parameters of no rule."""
    if rule.parsed is None:
        return find_op("formula: tanh(x)")
    return OPS["sign"] if "y" in rule.parsed.variables else SIGN


@pytest.mark.parametrize(
    "rule", take_part(rule for rule in FITTED if rule.key != "zero"), ids=lambda rule: rule.key
)
@settings(max_examples=2, derandomize=True, database=None, phases=[Phase.explicit, Phase.generate])
@example(factor=23, back=True, width=161, shift=53)  # an edge between two float64
@given(factor=st.integers(2, 50), back=st.booleans(), width=st.integers(50, 200), shift=st.integers(-99, 99))
def test_every_rule_finds_itself(rule: Rule, factor: int, back: bool, width: int, shift: int):
    op = op_for(rule)
    own = moved(op, rule, (-factor if back else factor) / 10, width / 100, shift / 100)
    (found,) = find_neighbours(op, sample_target(op, own, {}, -3, 3), {}, [rule])
    assert found.is_same, found.sentence
    back_at = [(x - shift / 100) / (width / 100) for x in found.differs]
    assert all(x != round(x, 9) for x in back_at), "an edge that rounding moves past a float64 alone"
    assert len(found.sentence) < 250


@pytest.mark.parametrize(
    ("rule", "others"),
    [
        ("gaussian", {"erf_surrogate"}), ("fast_sigmoid", {"softsign_surrogate", "q_pseudo_spike"}),
        ("tanh_surrogate", {"sigmoid_surrogate"}), ("boxcar", {"clipped", "masked"}),
    ],
)  # fmt: skip
def test_rules_of_one_curve_find_each_other(rule: str, others: set[str]):
    op = OPS["step"]
    target = sample_target(op, RULES[rule], {}, -3, 3)
    result = find_neighbours(op, target, {}, [RULES[other] for other in others])
    assert [one.is_same for one in result] == [True] * len(others), result


# What libraries and papers wrote; the factor is the slip.
SLIPS = {
    "a window as high as 1/w": ("g * (abs(x) <= w) / w", "boxcar", 2.0, "times 2"),
    "norse's erf": ("g * 2 / sqrt(pi) * exp(-(3 * x)**2)", "erf_surrogate", 2 / 3, "times 0.6667 = 2/3"),
    "no lobes": ("g * exp(-(x**2))", "multi_gaussian", math.sqrt(math.pi), "h = 0 and q = 6, times 1.772"),
    "snnTorch's text": ("g / pi / (1 + (pi * x)**2)", "atan_surrogate", 1 / math.pi, "times 0.3183 = 1/π"),
    "no half": ("g / 2 / (1 + (pi * x)**2)", "atan_surrogate", 0.5, "a = 2, times 0.5 (1 in its source)"),
}


@pytest.mark.parametrize(("formula", "rule", "factor", "words"), SLIPS.values(), ids=SLIPS)
def test_a_wrong_factor_is_named(formula: str, rule: str, factor: float, words: str):
    op = OPS["step"]
    target = sample_target(op, find_rule(f"formula: {formula}"), {}, -3, 3)
    (result,) = find_neighbours(op, target, {}, [RULES[rule]])
    assert result.is_same
    assert (result.changes, result.width, result.shift) == (1, 1, 0)
    assert result.factor == pytest.approx(factor, rel=1e-6)
    assert words in result.sentence


def test_parameters_are_fitted_before_factors_and_the_simplest_fit_comes_first():
    result = nearest("formula: sign(x)", "formula: g*(abs(x) <= 1)/2")
    first = result[0]
    assert (first.rule, first.factor, first.parameters) == ("boxcar", 1, {"w": 1.0})
    assert first.sentence == "On −3 to 3 this is Boxcar with w = 1."
    clipped = next(one for one in result if one.rule == "clipped")
    assert (clipped.factor, clipped.width, clipped.shift) == (0.5, 1, 0)
    assert "times 0.5 (1 in its source); its area is 1 instead of 2" in clipped.sentence
    assert [one.rule for one in result if one.is_same][-1] == "masked_open"  # it differs at the edges
    distances = [one.distance for one in result if not one.is_same]
    assert distances == sorted(distances)
    nothing_in_common = {"default", "zero"}  # 0 everywhere
    assert {one.rule for one in result} == {rule.key for rule in COMPARED} - nothing_in_common
    assert repr(result).splitlines()[0] == first.sentence


def test_different_values_at_isolated_x_are_reported():
    result = {one.rule: one for one in nearest("clamp", "formula: g * (0 <= x < 1)")}
    assert result["masked"].differs == (1.0,)
    assert result["masked"].sentence == "On −3 to 3 this differs from Masked only at x = 1: 0 instead of 1."
    rounded = nearest("identity", "formula: g * (abs(x - 0.4) < 0.8)")[0]  # in floats 1.2 - 0.4 < 0.8
    assert rounded.sentence.endswith("lo = −0.4 and hi = 1.2, but for single values at its bounds.")
    assert result["masked_open"].differs == (0.0,)
    torchs = bind("clamp", "default", {}).gradient(*torch.tensor([[1.0], [1.0], [1.0]]).double())
    assert (result["default"].differs == (1.0,)) == bool(torchs[0] == 1)
    assert "torch's own gradient of Clamp" in result["default"].sentence


def test_a_parameter_shared_with_the_op_keeps_the_ops_value():
    result = {one.rule: one for one in nearest("clamp", "formula: g * (-1 <= x <= 1)")}
    assert (result["masked"].parameters, result["masked"].width, result["masked"].shift) == ({}, 2, -1)
    assert result["masked"].is_same
    assert "clipped" not in result  # made for signs and steps


def test_a_rule_that_is_not_linear_is_compared_at_several_g():
    result = {one.rule: one for one in nearest("clamp", "published_clamp")}
    assert result["published_clamp"].sentence == "On −3 to 3 this is Published clamp (with its bug)."
    assert result["default"].distance > 0.5
    result = {one.rule: one for one in nearest("round", "straight_through")}
    assert result["straight_through"].is_same
    assert not result["clip_value"].is_same  # though no g within ±c tells them apart


def test_rules_that_are_equal_for_two_ops_are_computed_once():
    """And to the last bit what it would be beside the other op alone."""
    _compute_neighbour.cache_clear()
    alone = list(nearest("relu", "clipped"))
    _compute_neighbour.cache_clear()
    nearest("sign", "clipped")
    assert list(nearest("relu", "clipped")) == alone
    assert _compute_neighbour.cache_info().hits > 4
    torchs = {op: nearest(op, "default")[0].sentence for op in ("relu", "sign")}
    assert len(set(torchs.values())) == 2  # what hangs on the op is its own


def test_zero_is_zero_and_nothing_else():
    result = nearest("round", "formula: 0 * x * g")
    assert [(one.rule, one.distance) for one in result] == [("default", 0), ("zero", 0)]


def test_a_rule_with_a_mean_is_compared_over_the_range():
    target = sample_target(SIGN, RULES["magnitude_aware"], {}, -3, 3)
    (result,) = find_neighbours(SIGN, target, {}, [RULES["clipped"]])
    assert result.is_same
    assert result.factor == pytest.approx(1.5, rel=1e-3)


def test_a_rule_without_values_is_refused_in_words():
    with pytest.raises(ValueError, match="is finite almost nowhere from -3 to -1: choose another range"):
        nearest("log", "formula: g * log(x)", start=-3, stop=-1)


@pytest.mark.parametrize("formula", ["g * exp(x**8)", "1e200 * g", "1e-200 * g"])
def test_curves_that_floats_cannot_compare_have_no_nearest_rule(formula: str):
    with pytest.raises(ValueError, match="too large or too small to be compared"):
        nearest("sign", f"formula: {formula}")


def test_an_equal_curve_is_reported_with_the_range_on_which_it_is_equal():
    """The fast sigmoid is the sparse one as far as its cut at B = 5."""
    for stop, same in ((3, True), (20, False)):
        result = {one.rule: one for one in nearest("step", "fast_sigmoid", start=-stop, stop=stop)}
        sparse = result["sparse_fast_sigmoid"]
        assert sparse.sentence.startswith(f"On −{stop} to {stop} this is Sparse fast sigmoid") == same
        if same:
            assert sparse.parameters["B"] < 20
        else:
            assert not sparse.is_same or sparse.parameters["B"] >= 20


@pytest.mark.parametrize("formula", ["g / x", "g / (x - 1)", "g / x**3"])
def test_a_rule_with_a_pole_has_no_neighbours(formula: str) -> None:
    """Any bounded rule leaves all of 1/x: a few values beside the pole are its size."""
    assert nearest("sign", f"formula: {formula}") == []


@pytest.mark.parametrize("rule", ["sign(g)", "g * (abs(g) > 0.5)", "g * (abs(g) > 0.01)"])
def test_small_upstream_gradients_are_compared_too(rule: str):
    others = [RULES["clip_value"], RULES["straight_through"]]
    found = find_neighbours(SIGN, sample_target(SIGN, find_rule(f"formula: {rule}"), {}, -3, 3), {}, others)
    assert not any(one.is_same for one in found), found


@pytest.mark.parametrize("steps", [50, 100])
def test_points_do_not_fall_on_the_kinks_of_a_fine_staircase(steps: int):
    stairs = sample_target(SIGN, find_rule(f"formula: g * floor({steps} * x)"), {}, -3, 3)
    line = sample_target(SIGN, find_rule(f"formula: g * {steps} * x"), {}, -3, 3)
    assert stairs.weights.sum() == pytest.approx(1, abs=0.02)
    assert stairs.size == pytest.approx(line.size, rel=0.01)


def test_a_search_asks_at_few_upstream_gradients_and_measures_at_all(monkeypatch: pytest.MonkeyPatch):
    asked = []
    fits = Fitter.find_fits

    def counted(fitting: Fitter) -> list[Fit]:
        asked.append(fitting.target.upstream)
        return fits(fitting)

    monkeypatch.setattr(Fitter, "find_fits", counted)
    _compute_neighbour.cache_clear()  # another test may have asked for a rule of the same values
    target = sample_target(SIGN, find_rule("formula: g * (abs(g) > 0.25)"), {}, -3, 3)
    (found,) = find_neighbours(SIGN, target, {}, [RULES["straight_through"]])
    assert {len(upstream) for upstream in asked} == {3}
    assert target.upstream == UPSTREAM
    assert all(1e-3 in upstream for upstream in asked)  # where the rule is another than at the first
    left = (target.weights * (target.values - found.factor) ** 2).mean(0).sum().sqrt()
    assert found.distance == pytest.approx(float(left) / target.size, rel=1e-3)


@pytest.mark.parametrize(("factor", "text"), [(-math.sqrt(2), "−1.414 = −√2"), (math.pi / 4, "0.7854 = π/4")])
def test_a_factor_has_its_closed_form_with_its_sign(factor: float, text: str):
    assert format_factor(factor) == text
