"""Words about a curve: plain, complete, and read off the table."""

import re
from dataclasses import replace

import numpy as np
import pytest

from explorer.catalogue import find_op
from explorer.curves import sample, sample_curves
from explorer.description import describe, make_description
from tests.catalogue.fixed import RULES
from tests.description.description_cases import DEFAULT, PUBLISHED, STE
from tests.selection import loop_over


def test_a_bound_outside_the_picture_limits_what_is_said_to_the_picture():
    words = describe(sample("round", "masked", lo=0, hi=5))
    assert "Masked: the gradient is 1 for x from 0 on and 0 elsewhere in this picture." in words
    assert "is 1 everywhere in this picture." in describe(sample("round", "masked", lo=-5, hi=5))
    wide = describe(sample("round", "masked", lo=0, hi=5, stop=8))
    assert "is 1 for x from 0 to 5 and 0 elsewhere." in wide


@pytest.mark.parametrize(
    ("rules", "start", "stop", "main"),
    [
        (["straight_through"], 0, 2, f"{PUBLISHED} gives 1 for x above 1, where {STE} gives g = 2."),
        (["default"], 0, 2, f"{PUBLISHED} gives 1 for x above 1, where {DEFAULT} gives 0."),
        (["default", "straight_through"], 0, 2, f"For x above 1: {DEFAULT} 0, {STE} g = 2, {PUBLISHED} 1."),
        (["straight_through"], -3, 3,
         f"{PUBLISHED} gives 0 for x below 0 and 1 for x above 1, where {STE} gives g = 2."),
    ],
)  # fmt: skip
def test_the_headline_names_the_bug_of_the_published_clamp(rules, start, stop, main):
    """The README's demonstration: where it returns 1, whatever g is."""
    frame = sample("clamp", [*rules, "published_clamp"], start=start, stop=stop, g=2)
    assert make_description(frame).main.startswith(main)


def test_rules_with_the_same_curve_are_described_together():
    words = describe(sample("identity", ["default", "straight_through", "zero", "scale"]))
    labels = [RULES[key].label for key in ("default", "straight_through", "scale")]
    alike = f"{labels[0]}, {labels[1]} and {labels[2]}"
    assert words.startswith(f"Zero gives 0 everywhere, where {alike} give 1.")
    assert f"{alike}: the gradient is 1 everywhere." in words
    assert "no difference" not in words
    smooth = describe(sample("formula: tanh(x)", ["default", "formula: g * (1 - tanh(x)**2)", "zero"]))
    assert "Default autograd and g * (1 - tanh(x) ** 2) give x the same gradient here at g = 1." in smooth


def test_rules_that_differ_at_two_points():
    words = describe(sample("clamp", ["masked", "masked_open"]))
    assert words.startswith("Masked differs from Masked (open) only at x = 0 and 1. ")
    assert words.count("only at") == 1
    three = describe(sample("clamp", ["masked", "masked_open", "zero"]))
    assert "Masked and Masked (open) differ only at x = 0 and 1." in three
    assert "Masked: the gradient is 1 for x from 0 to 1 and 0 elsewhere." in words
    assert "the gradient is 1 for x from above 0 to below 1 and 0 elsewhere." in words


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("g * (-1 < x <= 1)", "1 for x from above −1 to 1 and 0 elsewhere"),
        ("g * (-1 <= x < 1)", "1 for x from −1 to below 1 and 0 elsewhere"),
        ("g * (x < 1)", "1 for x below 1 and 0 elsewhere"),
        ("g * (x <= 1)", "1 for x up to 1 and 0 elsewhere"),
        ("g * (x > 1)", "1 for x above 1 and 0 elsewhere"),
        ("g * (x >= 1)", "1 for x from 1 on and 0 elsewhere"),
        ("where(x <= -1, 2, where(x < 1, 3, g))", "2 for x up to −1, 3 for x from above −1 to below 1"),
    ],
)
def test_the_behaviour_at_a_bound_is_described(rule: str, words: str):
    assert f"the gradient is {words}" in describe(sample("identity", f"formula: {rule}"))


LONG = "g * x**3 * exp(-x*x) * max(1, 2*x) + 0.001 * x**5 - where(abs(x) < {}, x, tanh(3*x))"


def test_rules_with_long_formulas_are_called_by_their_beginning():
    rules = [f"formula: {LONG.format(width)}" for width in (0.5, 0.6)]
    alone = make_description(sample("sign", rules[0])).main
    assert alone.startswith("g * x ** 3 *…: the gradient is between")
    both = make_description(sample("sign", rules))
    assert both.main.startswith("Rule 1 (g * x ** 3 *…): the gradient is between")
    assert both.rest.startswith("Rule 2 (g * x ** 3 *…): the gradient is between")
    op = make_description(sample(f"formula: {LONG.replace('g *', '2 *').format(1)}", "straight_through"))
    assert op.rest.startswith("Your formula has no flat stretch")


def test_the_description_is_read_off_the_curves():
    curves = sample_curves("relu", ["default", "zero"], dtype="float64")
    assert f"{RULES['zero'].label}: the gradient is 0 everywhere." in describe(curves)
    changed = {**curves.gradients, "zero": np.full_like(curves.x, 2.5)}
    words = describe(replace(curves, y=np.full_like(curves.x, 7), gradients=changed))
    assert words.endswith("ReLU is flat everywhere here.")
    assert f"{RULES['zero'].label}: the gradient is 2.5 everywhere in this picture." in words


@loop_over(
    ("op", "words"),
    [
        ("identity", "has no flat stretch here."),
        ("relu", "is flat on 50 % of the range."),
        ("clamp", "is flat on 83 % of the range."),
        ("sign", "is flat almost everywhere."),
        ("formula: 2", "is flat everywhere here."),
        ("log", "and is undefined or infinite on 50 % of the range."),
        ("formula: log(x)", "in this picture and is undefined or infinite on 50 % of this picture."),
        ("formula: 1/(x>0)", "is flat on 50 % of the range and undefined or infinite on 50 %."),
        ("formula: log(floor(x))", "is flat on 33 % of the range and undefined or infinite on 67 %."),
        ("formula: x*(1/x)", "almost everywhere in this picture and undefined at x = 0."),
        ("formula: 1/(x**2-2*x+1)", "has no flat stretch in this picture and infinite at x = 1."),
        ("reciprocal", "has no flat stretch in this picture and infinite at x = 0."),
        ("formula: 1/(x-round(x)==0)", "has finite values only at isolated x in this picture."),
        ("formula: floor(x)-floor(x)", "is flat everywhere here."),
        ("formula: sqrt(-1 - x*x)", "has no finite value in this picture."),
        ("formula: mean(abs(x)) * x / x", "on more than 99 % of this picture and undefined at x = 0."),
        ("formula: where(x >= 0, x, tanh(x))", "has no flat stretch in this picture."),
    ],
)
def test_the_description_states_where_an_op_is_flat_or_not_finite(op: str, words: str):
    sentences = re.split(r"(?<=\.) ", describe(sample(op, "straight_through")))
    label = find_op(op).label
    assert any(sentence.startswith(label) and sentence.endswith(words) for sentence in sentences)


@loop_over(
    ("rule", "g", "words"),
    [
        ("formula: g / 2", 1e-9, "5e−10 everywhere"),
        ("formula: g * 123456.7", 1.0, "123457 everywhere"),
        ("formula: g * (x > 1) / 4", 1e-9, "2.5e−10 for x above 1 and 0 elsewhere"),
        ("formula: g * (x > 1)", 1e-9, "1e−9 (that is g) for x above 1 and 0 elsewhere"),
        ("straight_through", 1e6, "1000000 (that is g) everywhere"),
        ("reversal", 2.0, "−2 everywhere"),
        ("published_clamp", 0.0, "1 for x above 1 and 0 elsewhere"),
        ("formula: g * sign(x)", 1.0, "−1 for x below 0, 1 for x above 0 and 0 at x = 0"),
        ("formula: g * sqrt(x)", 1.0, "not finite on 50 % of this picture and elsewhere between"),
        ("formula: g * (x - floor(x) < 0.5)", 1.0, "1 on 50 % of the range and 0 elsewhere"),
        ("formula: 2 * g * x", 1.0, "between −6 and 6 in this picture. "),
        (
            "formula: g * x * (x > 0)",
            1.0,
            "between 0 and 3 in this picture, strongest near x = 3, and 0 on 50 %",
        ),
    ],
)
def test_the_gradient_is_described(rule: str, g: float, words: str):
    (label,) = sample_curves("round", rule).labels.values()
    assert f"{label}: the gradient is {words}" in describe(sample("round", rule, g=g))


def test_a_rule_that_is_not_finite_comes_first():
    text = describe(sample("sign", ["straight_through", "formula: g * (x < 1) / (x < 1)"]))
    assert text.startswith("g * (x < 1) / (x < 1): the gradient is not finite on 33 % of the range")


@loop_over(
    ("op", "rule", "span", "where"),
    [
        ("reciprocal", "default", (-1e6, 1e6), "0"),
        ("reciprocal", "default", (0, 1e-3), "0"),
        ("formula: 1/(x*(x-1)*(x+1)*(x-2)*(x+2))", "default", (-3, 3), "−2, −1, 0, 1 and 2"),
        ("formula: sign(x)*sqrt(abs(x))", "default", (-3, 3), "0"),
        ("formula: x*log(abs(x))", "default", (-1000, 1000), "0"),
        ("sqrt", "default", (-3, 3), "0"),
        ("clamp", "formula: g/abs(x)", (0, 1000), "0"),
        ("clamp", "formula: g*log(abs(x - 1/3))", (-3, 3), "0.3333"),
        ("clamp", "formula: g/(1-cos(x))", (-7, 7), "−6.283, 0 and 6.283"),
        ("tan", "formula: g*exp(1/x)", (-3, 3), "0"),
        ("tanh", "formula: g*tan(x)", (-3, 3), "−1.571 and 1.571"),
    ],
)
def test_a_pole_is_called_one(op: str, rule: str, span: tuple[float, float], where: str):
    op = "formula: tan(x)" if op == "tan" else op
    words = describe(sample(op, [rule, "straight_through"], start=span[0], stop=span[1]))
    assert re.search(f"the gradient is (not finite on .* elsewhere )?unbounded near x = {where}[.]", words)


@loop_over(
    "rule",
    [
        "fast_sigmoid", "formula: g/(1 + 1e9*abs(x))", "formula: g*where(x > 0, 1/(1 + 1e6*x), 0)",
        "formula: g*abs(x)**0.1", "formula: 1 - abs(x)**0.01", "formula: g/(abs(x) + 1e-12)",
        "formula: g*x*log(abs(x))",
    ],
)  # fmt: skip
@loop_over("width", [1.0, 1e6])
def test_a_bounded_growth_is_not_called_a_pole(rule: str, width: float):
    assert "unbounded" not in describe(sample("identity", rule, start=-width, stop=width))


@pytest.mark.parametrize(
    ("op", "rule", "words"),
    [
        ("clamp", "g/(x!=0)", "1 almost everywhere and infinite at x = 0."),
        ("clamp", "x*g/x*0", "0 at every point of this picture, and undefined at x = 0."),
        ("identity", "g*(x!=2)*(x<1)/(x!=0)", "1 for x below 1, infinite at x = 0 and 0 elsewhere."),
        ("identity", "g*abs(x)/(x!=1)", "between 0 and 3 in this picture, and infinite at x = 1."),
        ("identity", "g/(x-round(x)==0)", "finite only at 7 isolated x in this picture."),
        ("identity", "g*((x/1e-300)**2)", "finite almost nowhere in this picture: 0 at x = 0."),
        ("round", "g*y/(x==y)", "finite only at 7 isolated x in this picture."),
        ("identity", "g*sqrt(-1-x*x)", "finite nowhere in this picture."),
    ],
)
def test_isolated_x_with_or_without_a_finite_gradient_are_described(op: str, rule: str, words: str):
    """They are no share of the range, and what is so elsewhere is not so everywhere."""
    assert words in describe(sample(op, f"formula: {rule}"))


@pytest.mark.parametrize(
    ("op", "rule", "span", "g", "share"),
    [
        ("formula: sin(x)", "formula: g * (abs(atan(x) + 0.099) <= 0.106)", (-3, 3), 1.0, "96 %"),
        ("formula: gelu_tanh(x) / hardsigmoid(x)", "quest", (-1, 1), 2.0, "46 %"),
    ],
)
def test_a_stretch_of_zeros_counts_though_its_kink_is_a_float_away(op, rule, span, g, share):
    curves = sample_curves(op, rule, start=span[0], stop=span[1], g=g)
    x = np.linspace(*span, 200_001)
    measured = (curves.float64_curves.evaluate(curves.rules[0].key, x) == 0).mean()
    assert f"{measured:.0%}".replace("%", " %") == share
    assert f"0 on {share}" in describe(curves.frame)


@pytest.mark.parametrize("op", ["formula: log(1 + exp(5 * x)) / 5", lambda x: (1 + (5 * x).exp()).log() / 5])
def test_an_overflow_of_float32_is_described(op):
    frame = sample(op, "default", start=-3, stop=30)
    lost = frame["gradient"].isna()
    share = frame["x"].diff()[lost & lost.shift(fill_value=False)].sum() / 33
    words = describe(frame)
    where = f"on {100 * share:.0f} % of this picture, where 64 bits hold numbers."
    assert f"In 32 bits the gradient of {DEFAULT} is undefined {where}" in words
    assert "In 32 bits y is infinite on" in words
    assert "In 32 bits" not in describe(sample(op, "default", start=-3, stop=15))
    assert "In 32 bits" not in describe(sample(op, "default", start=-3, stop=30, dtype="float64"))
