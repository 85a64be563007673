"""Words about a curve: plain, complete, and read off the table."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

import explorer
from explorer.catalogue import OPS, OWN, RULES, find_op, find_rule
from explorer.curves import sample, sample_curves
from explorer.description import MAIN_LENGTH, describe, described, document
from explorer.formula import Formula, parse
from tests.formula.strategies import PARAMETERS, formulas, many

STE, DEFAULT, PUBLISHED = (RULES[key].label for key in ("straight_through", "default", "published_clamp"))
NUMBER = r"−?[0-9]+(?:\.[0-9]+)?(?:e−?[0-9]+)?"


def test_round_by_autograd_and_straight_through():
    assert describe(sample("round", ["default", "straight_through"])) == (
        f"{DEFAULT}: the gradient is 0 everywhere. {STE}: the gradient is 1 everywhere. "
        "Round is flat almost everywhere."
    )


def test_the_published_clamp_shows_its_bug_at_g_2_only():
    rules = ["straight_through", "published_clamp"]
    same = f"{STE} and {PUBLISHED} show no difference here at g = 1."
    assert same in describe(sample("clamp", rules, start=0, stop=2))
    words = describe(sample("clamp", rules, start=0, stop=2, g=2))
    assert "no difference" not in words
    assert f"{STE}: the gradient is 2 (that is g) everywhere." in words
    assert f"{PUBLISHED}: the gradient is 2 (that is g) for x up to 1 and 1 for x above 1." in words


def test_no_difference_is_said_of_all_alike_at_once():
    words = describe(sample("identity", ["default", "straight_through", "zero", "scale"]))
    labels = [RULES[key].label for key in ("default", "straight_through", "scale")]
    assert f"{labels[0]}, {labels[1]} and {labels[2]} show the same gradient at g = 1, Zero another." in words
    assert "no difference" not in words
    assert words.count("Zero") == words.count("Zero another") + words.count("Zero: the gradient is 0") == 2


def test_rules_that_differ_at_two_points():
    words = describe(sample("clamp", ["masked", "masked_open"]))
    assert "differ only at x = 0 and 1." in words
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
    with pytest.raises(ValueError, match="sample what is to be shown"):
        describe(curves.frame.assign(y=0))


@pytest.mark.parametrize(
    ("op", "words"),
    [
        ("identity", "is flat nowhere here."),
        ("relu", "is flat on 50 % of the range."),
        ("clamp", "is flat on 83 % of the range."),
        ("sign", "is flat almost everywhere."),
        ("formula: 2", "is flat everywhere here."),
        ("log", "undefined or infinite on 50 %."),
        ("formula: sqrt(-1 - x*x)", "has no finite value in this picture."),
        ("formula: relu(x)**2", "is flat on 50 % of this picture."),
        ("formula: mean(abs(x)) * x / x", "is flat on more than 99 % of this picture."),
        ("formula: where(x >= 0, x, tanh(x))", "is flat nowhere in this picture."),
    ],
)
def test_where_the_op_is_flat(op: str, words: str):
    sentences = re.split(r"(?<=\.) ", describe(sample(op, "straight_through")))
    label = find_op(op).label
    assert any(sentence.startswith(label) and sentence.endswith(words) for sentence in sentences)


@pytest.mark.parametrize(
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
        ("formula: g * sqrt(x)", 1.0, "not finite on 50 % of the range and elsewhere between"),
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


def test_a_pole_is_called_one():
    words = describe(sample("reciprocal", ["default", "straight_through"]))
    assert f"{DEFAULT}: the gradient is unbounded near x = 0." in words


def test_tiny_numbers_beside_0_are_neither_a_pole_nor_an_end():
    """They underflow: there y is 0, although x is not."""
    words = describe(sample("formula: x / 2", "formula: g * x / y"))
    assert "unbounded" not in words
    words = describe(sample("cube", "formula: g * where(y > 0, x, 0.5)", start=0, stop=98.7, points=301))
    assert "between 0.329 and 98.7 in this picture" in words


def test_what_has_too_many_kinks_is_not_summed_up():
    words = describe(sample("round", ["default", "soft_round"], start=-1000, stop=1000))
    assert words.startswith("Round has more kinks here than the chart can show.")
    assert f"{DEFAULT}: the gradient is 0 everywhere." in words
    assert "Soft round: the gradient is not summed up here: it has too many kinks." in words
    own = describe(
        sample("formula: where(round(x) > 0.5, x, x)", "formula: g * (y > 2)", start=-1000, stop=1000)
    )
    assert "may have more kinks here than the chart can show." in own
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
    ("exp", "default", {"start": -200, "stop": 200}, "too large for 32 bits on 28 % of the range."),
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
            f"{STE} and {PUBLISHED} show no difference here at g = 1.",
        ),
    ],
)
def test_the_main_thing_comes_first(op: str, rules: list[str], main: str):
    description = described(sample(op, rules, start=0, stop=2))
    assert description.main == main
    assert describe(sample(op, rules, start=0, stop=2)) == f"{main} {description.rest}"


@pytest.mark.parametrize("op", OPS)
def test_the_main_sentence_is_short(op: str):
    for rules in (["default"], ["default", "clipped", "zero"]):
        assert len(described(sample(op, rules, start=-200, stop=200)).main) <= MAIN_LENGTH


@pytest.mark.parametrize("op", OPS)
def test_plain_words_for_every_op(op: str):
    rules = ["default", "masked", "clipped", "reste"]
    for g in (1.0, -2.0, 0.0):
        for start, stop in ((-3, 3), (-2e-3, 1e-3), (5, 1e6)):
            words = describe(sample(op, rules, start=start, stop=stop, g=g))
            assert words.endswith(".")
            assert not re.search(r"\b(nan|none|inf|np|float\d*|array)\b", words, re.IGNORECASE), words
            assert not re.search(r"[<>*_`\n\[\]{}]|  | -|-[0-9]", words), words


@pytest.mark.parametrize("rule", RULES)
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
    found = document(curves)
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
        ("sign", "default clipped straight_through", "All 3 gradients differ at g = 1."),
        (
            "sign",
            "default zero clipped scale",
            "and Zero show the same gradient at g = 1, {2} and {3} each another.",
        ),
        (
            "clamp",
            "default masked masked_open",
            "{0} and {1} show the same gradient at g = 1, {2} another, but only",
        ),
        (
            "round",
            "default zero straight_through scale",
            "These 4 rules show 2 different gradients at g = 1.",
        ),
        (
            "round",
            "default zero straight_through",
            "{0} and {1} show the same gradient at g = 1, {2} another.",
        ),
        (
            "relu",
            "default seed_relu formula:_where(x_==_0,_g/4,_g*(x_>_0))",
            "All 3 gradients differ at g = 1, but only at x = 0.",
        ),
        ("identity", "default straight_through scale", "{0}, {1} and {2} show no difference here at g = 1."),
    ],
)
def test_the_main_sentence_speaks_of_three_rules_or_more_at_once(op: str, rules: str, sentence: str):
    keys = [rule.replace("_", " ") if ":" in rule else rule for rule in rules.split()]
    main = described(sample(op, keys)).main
    assert sentence.format(*(find_rule(key).label for key in keys)) in main
