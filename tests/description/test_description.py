"""Words about a curve: plain, complete, and read off the table."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

import explorer
from explorer.catalogue import OWN, find_op, find_rule
from explorer.curves import sample, sample_curves
from explorer.description import MAIN_LENGTH, describe, described, document
from explorer.formula import Formula, parse
from tests.catalogue.fixed import OPS, RULES
from tests.formula.strategies import PARAMETERS, formulas, many
from tests.selection import loop_over

STE, DEFAULT, PUBLISHED = (RULES[key].label for key in ("straight_through", "default", "published_clamp"))
NUMBER = r"−?[0-9]+(?:\.[0-9]+)?(?:e−?[0-9]+)?"


def test_round_by_autograd_and_straight_through():
    assert describe(sample("round", ["default", "straight_through"])) == (
        f"{DEFAULT}: the gradient is 0 everywhere. {STE}: the gradient is 1 everywhere. "
        "Round is flat almost everywhere."
    )


def test_the_published_clamp_shows_its_bug_at_g_2_only():
    rules = ["straight_through", "published_clamp"]
    same = f"{STE} and {PUBLISHED} give x the same gradient here at g = 1."
    assert same in describe(sample("clamp", rules, start=0, stop=2))
    words = describe(sample("clamp", rules, start=0, stop=2, g=2))
    assert "no difference" not in words
    assert f"{STE}: the gradient is 2 (that is g) everywhere." in words
    assert f"{PUBLISHED}: the gradient is 2 (that is g) for x up to 1 and 1 for x above 1." in words


def test_what_the_headline_says_of_the_published_clamp():
    """The README's demonstration: where it returns 1, whatever g is."""
    bug = f"{PUBLISHED} gives 1 for x above 1, where"
    shown = {"start": 0, "stop": 2, "g": 2}
    main = described(sample("clamp", ["straight_through", "published_clamp"], **shown)).main
    assert main == f"{bug} {STE} gives g = 2."
    main = described(sample("clamp", ["default", "published_clamp"], **shown)).main
    assert main.startswith(f"{bug} {DEFAULT} gives 0.")
    main = described(sample("clamp", ["default", "straight_through", "published_clamp"], **shown)).main
    assert main == f"For x above 1: {DEFAULT} 0, {STE} g = 2, {PUBLISHED} 1."
    wide = described(sample("clamp", ["straight_through", "published_clamp"], g=2)).main
    assert wide == f"{PUBLISHED} gives 0 for x below 0 and 1 for x above 1, where {STE} gives g = 2."


def test_rules_that_show_the_same_are_said_together():
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
        (
            "where(x <= -1, 2, where(x < 1, 3, g))",
            "2 for x up to −1, 3 for x from above −1 to below 1 and 1 for",
        ),
    ],
)
def test_what_holds_at_a_bound_is_said(rule: str, words: str):
    assert f"the gradient is {words}" in describe(sample("identity", f"formula: {rule}"))


LONG = "g * x**3 * exp(-x*x) * max(1, 2*x) + 0.001 * x**5 - where(abs(x) < {}, x, tanh(3*x))"


def test_rules_with_long_formulas_are_called_by_their_beginning():
    rules = [f"formula: {LONG.format(width)}" for width in (0.5, 0.6)]
    assert described(sample("sign", rules[0])).main.startswith("g * x ** 3 *…: the gradient is between")
    both = described(sample("sign", rules))
    assert both.main.startswith("Rule 1 (g * x ** 3 *…): the gradient is between")
    assert both.rest.startswith("Rule 2 (g * x ** 3 *…): the gradient is between")
    op = described(sample(f"formula: {LONG.replace('g *', '2 *').format(1)}", "straight_through"))
    assert op.rest.startswith("2 * x ** 3 *… is flat nowhere")


def test_it_is_read_off_the_curves():
    curves = sample_curves("relu", ["default", "zero"], dtype="float64")
    assert f"{RULES['zero'].label}: the gradient is 0 everywhere." in describe(curves)
    changed = {**curves.gradients, "zero": np.full_like(curves.x, 2.5)}
    words = describe(replace(curves, y=np.full_like(curves.x, 7), gradients=changed))
    assert words.endswith("ReLU is flat everywhere here.")
    assert f"{RULES['zero'].label}: the gradient is 2.5 everywhere." in words


def test_curves_and_their_table_are_described_alike():
    curves = sample_curves("clamp", ["masked", "default"])
    assert describe(curves) == describe(curves.frame) == explorer.describe(curves)


@loop_over(
    ("op", "words"),
    [
        ("identity", "is flat nowhere here."),
        ("relu", "is flat on 50 % of the range."),
        ("clamp", "is flat on 83 % of the range."),
        ("sign", "is flat almost everywhere."),
        ("formula: 2", "is flat everywhere here."),
        ("log", "undefined or infinite on 50 % of the range."),
        ("formula: log(x)", "undefined or infinite on 50 % of this picture."),
        ("formula: 1/(x>0)", "is flat on 50 % of the range and undefined or infinite on 50 %."),
        ("formula: 1/floor(x)", "is flat on 83 % of the range and undefined or infinite on 17 %."),
        ("formula: log(floor(x))", "is flat on 33 % of the range and undefined or infinite on 67 %."),
        ("formula: x*(1/x)", "almost everywhere in this picture and undefined at x = 0."),
        ("formula: x*reciprocal(x)", "almost everywhere in this picture and undefined at x = 0."),
        ("formula: 1/(x**2-2*x+1)", "is flat nowhere in this picture and infinite at x = 1."),
        ("reciprocal", "is flat nowhere in this picture and infinite at x = 0."),
        ("formula: 1/(x-round(x)==0)", "has finite values at single x only in this picture."),
        ("formula: floor(x)-floor(x)", "is flat everywhere here."),
        ("formula: sqrt(-1 - x*x)", "has no finite value in this picture."),
        ("formula: relu(x)**2", "is flat on 50 % of this picture."),
        (
            "formula: mean(abs(x)) * x / x",
            "on more than 99 % of this picture and undefined at x = 0.",
        ),
        ("formula: where(x >= 0, x, tanh(x))", "is flat nowhere in this picture."),
    ],
)
def test_where_the_op_is_flat(op: str, words: str):
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
        ("straight_through", 0.0, "0 everywhere"),
        ("published_clamp", 0.0, "1 for x above 1 and 0 elsewhere"),
        ("formula: g * sign(x)", 1.0, "−1 for x below 0, 1 for x above 0 and 0 at x = 0"),
        ("formula: g * sqrt(x)", 1.0, "not finite on 50 % of this picture and elsewhere between"),
        ("formula: g * (x - floor(x) < 0.5)", 1.0, "1 on 50 % of the range and 0 elsewhere"),
        (
            "formula: g * x * (x > 0)",
            1.0,
            "between 0 and 3, strongest near x = 3, and 0 on 50 % of the range",
        ),
    ],
)
def test_what_the_gradient_is(rule: str, g: float, words: str):
    (label,) = sample_curves("round", rule).labels.values()
    assert f"{label}: the gradient is {words}" in describe(sample("round", rule, g=g))


@loop_over(
    ("op", "rule", "span", "where"),
    [
        ("reciprocal", "default", (-3, 3), "0"),
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
    assert re.search(f"the gradient is (not finite on .* elsewhere )?unbounded near x = {where}[.]", words), (
        words
    )


@loop_over(
    "rule",
    [
        "fast_sigmoid",
        "formula: g/(1 + 1e9*abs(x))",
        "formula: g*where(x > 0, 1/(1 + 1e6*x), 0)",
        "formula: g*abs(x)**0.1",
        "formula: 1 - abs(x)**0.01",
        "formula: g/(abs(x) + 1e-12)",
        "formula: g*x*log(abs(x))",
    ],
)
@loop_over("width", [1.0, 1e6])
def test_what_grows_up_to_a_limit_is_no_pole(rule: str, width: float):
    assert "unbounded" not in describe(sample("identity", rule, start=-width, stop=width))


@pytest.mark.parametrize(
    ("op", "rule", "words"),
    [
        ("clamp", "g/(x!=0)", "1 almost everywhere and infinite at x = 0."),
        ("clamp", "x*g/x*0", "0 at every point of this picture, and undefined at x = 0."),
        ("identity", "g*(x!=2)*(x<1)/(x!=0)", "1 for x below 1, infinite at x = 0 and 0 elsewhere."),
        ("identity", "g*abs(x)/(x!=1)", "strongest near x = −3, and infinite at x = 1."),
        ("identity", "g/(x-round(x)==0)", "finite at 7 single x only in this picture."),
        ("identity", "g*((x/1e-300)**2)", "finite almost nowhere in this picture: 0 at x = 0."),
        ("round", "g*y/(x==y)", "finite at 7 single x only in this picture."),
        ("identity", "g*sqrt(-1-x*x)", "finite nowhere in this picture."),
    ],
)
def test_single_x_without_a_value_or_with_one_are_told(op: str, rule: str, words: str):
    """They are no share of the range, and what is so elsewhere is not so everywhere."""
    assert f": the gradient is {words}" in describe(sample(op, f"formula: {rule}")) or words in describe(
        sample(op, f"formula: {rule}")
    )


def test_a_share_that_is_known_of_the_drawn_points_alone_is_said_to_be_of_the_picture():
    own = describe(sample("round", "formula: g * sqrt(x) * (x > 1)"))
    assert "of this picture" in own
    assert "of the range" not in own


def test_the_sums_of_several_rules_tell_them_apart():
    main = described(sample("step", ["fast_sigmoid", "triangle"])).main
    assert main == "Triangle has area 1 here, Fast sigmoid (SuperSpike) 0.07895."  # 2/25 · (1 − 1/76)
    six = ["default", "clipped", "approx_sign", "tanh_surrogate", "triangle", "straight_through"]
    main = described(sample("sign", six)).main
    assert main == (
        f"Peaks: 0 ({DEFAULT}) to 2 (ApproxSign); areas here: 0 ({DEFAULT}) to 6 (Straight-through)."
    )
    main = described(sample("sign", six[:3], g=-1)).main
    assert main.startswith(
        f"At g = −1 {DEFAULT} peaks at 0, Clipped straight-through at −1, ApproxSign at −2."
    )


def test_a_surrogate_that_only_rounds_to_0_is_not_said_to_be_0():
    """1 − sigmoid(40) is 0 in float64, 1 − sigmoid(18) in float32; the surrogate is above 0 everywhere."""
    for rule in ("sigmoid_surrogate", "tanh_surrogate", "ede"):
        assert "and 0 on" not in describe(sample("relu6", rule, start=-2, stop=50))
    assert "0 on 67 % of this picture" in describe(sample("relu6", "sparse_fast_sigmoid"))


def test_tiny_numbers_beside_0_are_neither_a_pole_nor_an_end():
    """They underflow: there y is 0, although x is not."""
    words = describe(sample("formula: x / 2", "formula: g * x / y"))
    assert "unbounded" not in words
    words = describe(sample("cube", "formula: g * where(y > 0, x, 0.5)", start=0, stop=98.7, points=301))
    assert "between 0.329 and 98.7 in this picture" in words


def test_what_has_too_many_kinks_is_not_summed_up():
    words = describe(sample("round", ["default", "soft_round"], start=-2000, stop=2000))
    assert words.startswith("Round has more kinks here than the chart can show, and is drawn as a line.")
    assert f"{DEFAULT}: the gradient is 0 everywhere." in words
    assert "Soft round: the gradient is not summed up here: it has too many kinks." in words
    own = describe(
        sample("formula: where(round(x) > 0.5, x, x)", "formula: g * (y > 2)", start=-2000, stop=2000)
    )
    assert "may have more kinks here than the chart can show, and is drawn as a line." in own
    assert "it may have too many kinks." in own


# What was false or awkward once.
EXAMPLES = [
    (
        "step",
        "triangle",
        {"start": -100, "stop": 100},
        "between 0 and 1, strongest near x = 0, and 0 on 99 %",
    ),
    (
        "sign",
        "approx_sign",
        {"start": -300, "stop": 300},
        "between 0 and 2, strongest near x = 0, and 0 on more",
    ),
    (
        "step",
        "fast_sigmoid",
        {"start": -1e6, "stop": 1e6},
        "between 1.6e−15 and 1 in this picture, strongest",
    ),
    (
        "relu",
        "formula: g * (floor(9*x) > 1)",
        {"start": -100, "stop": 100},
        "ReLU is flat on 50 % of the range.",
    ),
    (
        "round",
        "masked_open",
        {"start": -8, "stop": 8, "lo": 0.1},
        "is 1 for x from above 0.1 to below 1 and 0 elsewhere.",
    ),
    ("exp", "default", {"start": -200, "stop": 200}, "too large for 32 bits on 28 % of this picture."),
    ("quantize", "quantize_masked", {"start": -100, "stop": 100, "s": 0.1}, "1 for x from −0.4 to 0.3 and 0"),
    ("tanh", "default", {"start": 0.56, "stop": 0.56001}, "the gradient is about 0.742 in this picture."),
    ("step", "clip_value", {}, "Clip the gradient: the gradient is 1 everywhere."),
    (
        "formula: abs(x - 999999.5)",
        "default",
        {"start": -1e6, "stop": 1e6},
        "1 for x above 999999.5 and 0 at",
    ),
]


@pytest.mark.parametrize(("op", "rule", "settings", "words"), EXAMPLES, ids=lambda part: str(part)[:20])
def test_examples_that_were_false_or_awkward(op: str, rule: str, settings: dict, words: str):
    assert words in describe(sample(op, rule, **settings))


def test_bounds_that_differ_late_are_told_apart():
    words = describe(sample("round", "masked", lo=1.00001, hi=1.00002, start=1, stop=1.0001))
    assert "1 for x from 1.00001 to 1.00002 and 0 elsewhere" in words


@pytest.mark.parametrize(
    ("op", "rules", "main"),
    [
        (
            "round",
            ["default", "straight_through"],
            f"{DEFAULT}: the gradient is 0 everywhere. {STE}: the gradient is 1 everywhere.",
        ),
        ("identity", ["reversal"], f"{RULES['reversal'].label}: the gradient is −1 everywhere."),
        (
            "clamp",
            ["straight_through", "published_clamp"],
            f"{STE} and {PUBLISHED} give x the same gradient here at g = 1.",
        ),
    ],
)
def test_the_main_thing_comes_first(op: str, rules: list[str], main: str):
    description = described(sample(op, rules, start=0, stop=2))
    assert description.main == main
    assert describe(sample(op, rules, start=0, stop=2)) == f"{main} {description.rest}"


@loop_over("op", OPS)
def test_the_main_sentence_is_short(op: str):
    for rules in (["default"], ["default", "clipped", "zero"]):
        assert len(described(sample_curves(op, rules, start=-200, stop=200)).main) <= MAIN_LENGTH


@loop_over("op", OPS)
def test_plain_words_for_every_op(op: str):
    rules = ["default", "masked", "clipped", "reste"]
    for g in (1.0, -2.0, 0.0):
        for start, stop in ((-3, 3), (-2e-3, 1e-3), (5, 1e6)):
            words = describe(sample_curves(op, rules, start=start, stop=stop, g=g))
            assert words.endswith(".")
            assert not re.search(r"\b(nan|none|inf|np|float\d*|array)\b", words, re.IGNORECASE), words
            assert not re.search(r"[<>*_`\n\[\]{}]|  | -|-[0-9]", words), words


@loop_over("rule", RULES)
def test_numbers_are_those_of_the_curve(rule: str):
    frame = sample("tanh", rule, g=2.0)
    gradient = frame["gradient"]
    bounds = re.search(
        f"between ({NUMBER}) and ({NUMBER})(?: in this picture)?, strongest near x = ({NUMBER})",
        describe(frame),
    )
    if gradient.nunique() > 10:
        assert bounds
    if bounds:
        low, high, at = (float(text.replace("−", "-")) for text in bounds.groups())
        assert (low, high) == pytest.approx((gradient.min(), gradient.max()), rel=0.02, abs=1e-3)
        near = frame[(frame["x"] - at).abs() <= 0.01]["gradient"].abs()
        assert near.max() == pytest.approx(gradient.abs().max(), rel=0.02)


def test_a_document_holds_curves_and_sentences():
    curves = sample_curves("round", ["default", "soft_round"], start=-1000, stop=1000)
    found = document(curves, described(curves))
    assert found["x"] is curves.x
    assert found["gradients"] == curves.gradients
    assert found["kinks"] == {"forward": None, "default": (), "soft_round": None}
    assert f"{found['main']} {found['rest']}" == describe(curves)


@settings(many, max_examples=100)
@given(formulas)
def test_own_formulas_and_numbers_in_labels_and_sentences_read_back(formula: Formula):
    own = OWN + formula.text
    is_op = set(formula.variables) <= {"x"}
    values = {name: PARAMETERS[name] for name in formula.parameters}
    curves = sample_curves(own if is_op else "abs", "default" if is_op else own, points=51, **values)
    label = curves.op.label if is_op else curves.labels[own]
    assert parse(label, parameters=PARAMETERS) == formula
    words = describe(curves)
    name = label if label in words else words[: words.index("…") + 1]
    assert f"{name} is " in words or f"{name} has no" in words or f"{name}: the gradient is" in words
    for text in re.findall(NUMBER, words.replace(name, "").replace(" %", "")):
        assert parse(text).value() == float(text.replace("−", "-"))


@pytest.mark.parametrize(
    ("op", "rules", "sentence"),
    [
        ("sign", "default clipped straight_through", "{2} has area 6 here, {1} 2, {0} 0."),
        ("sign", "default zero clipped scale", "{3} has area 6 here, {2} 2, {0} and {1} 0."),
        ("clamp", "learned_clamp masked masked_open", "{0} and {1} differ from {2} only at x = 0 and 1."),
        (
            "round",
            "default zero straight_through scale",
            "{2} and {3} give 1 everywhere, where {0} and {1} give 0.",
        ),
        (
            "round",
            "default zero straight_through",
            "{0} and {1}: the gradient is 0 everywhere. {2}: the gradient is 1 everywhere.",
        ),
        (
            "relu",
            "default seed_relu formula:_where(x_==_0,_g/4,_g*(x_>_0))",
            "All 3 gradients differ at g = 1, but only at x = 0.",
        ),
        (
            "identity",
            "default straight_through scale",
            "{0}, {1} and {2} give x the same gradient here at g = 1.",
        ),
    ],
)
def test_the_main_sentence_speaks_of_three_rules_or_more_at_once(op: str, rules: str, sentence: str):
    keys = [rule.replace("_", " ") if ":" in rule else rule for rule in rules.split()]
    main = described(sample(op, keys)).main
    assert sentence.format(*(find_rule(key).label for key in keys)) in main
