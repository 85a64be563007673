"""Words about a curve: plain, complete, and read off the table."""

from __future__ import annotations

import re

import numpy as np
import pytest

from explorer.catalogue import OPS, RULES
from explorer.curves import sample
from explorer.description import describe

STE, DEFAULT, PUBLISHED = (RULES[key].label for key in ("straight_through", "default", "published_clamp"))
NUMBER = r"−?[0-9]+(?:\.[0-9]+)?(?:e[−+][0-9]+)?"


def test_round_by_autograd_and_straight_through():
    assert describe(sample("round", ["default", "straight_through"])) == (
        f"Round is flat almost everywhere. With {DEFAULT} the gradient is 0 everywhere. "
        f"With {STE} the gradient is 1 everywhere."
    )


def test_the_published_clamp_shows_its_bug_at_g_2_only():
    rules = ["straight_through", "published_clamp"]
    same = f"{STE} and {PUBLISHED} show no difference here at g = 1."
    assert same in describe(sample("clamp", rules, start=0, stop=2))
    words = describe(sample("clamp", rules, start=0, stop=2, g=2))
    assert "no difference" not in words
    assert f"With {STE} the gradient is 2 (that is g) everywhere." in words
    assert f"With {PUBLISHED} the gradient is 2 (that is g) for x below 1 and 1 for x above 1." in words


def test_no_difference_is_said_of_all_alike_at_once():
    words = describe(sample("identity", ["default", "straight_through", "zero", "scale"]))
    labels = [RULES[key].label for key in ("default", "straight_through", "scale")]
    assert f"{labels[0]}, {labels[1]} and {labels[2]} show no difference here at g = 1." in words
    assert words.count(RULES["zero"].label) == 1


def test_rules_that_differ_at_two_points():
    words = describe(sample("clamp", ["masked", "masked_open"]))
    assert "differ only at x = 0 and 1." in words
    assert "the gradient is 1 for x from 0 to 1 and 0 elsewhere." in words


def test_it_is_read_off_the_table():
    frame = sample("relu", ["default", "zero"])
    assert f"With {RULES['zero'].label} the gradient is 0 everywhere." in describe(frame)
    frame["gradient"] = frame["gradient"].where(frame["rule"] != "zero", np.float32(2.5))
    frame["y"] = np.float32(7)
    words = describe(frame)
    assert words.startswith("ReLU is flat everywhere here.")
    assert f"With {RULES['zero'].label} the gradient is 2.5 everywhere." in words


@pytest.mark.parametrize(
    ("op", "words"),
    [
        ("identity", "is flat nowhere here."),
        ("relu", "is flat on 50 % of the range."),
        ("clamp", "is flat on 83 % of the range."),
        ("sign", "is flat almost everywhere."),
        ("formula: 2", "is flat everywhere here."),
        ("log", "undefined or infinite on 50 %."),
        ("formula: sqrt(-1 - x*x)", "has no finite value here."),
    ],
)
def test_where_the_op_is_flat(op: str, words: str):
    first, _, _ = describe(sample(op, "straight_through")).partition(" With ")
    assert first.endswith(words)


@pytest.mark.parametrize(
    ("rule", "g", "words"),
    [
        ("formula: g / 2", 1e-9, "5e−10 everywhere"),
        ("formula: g * (x > 1) / 4", 1e-9, "2.5e−10 for x above 1 and 0 elsewhere"),
        ("formula: g * (x > 1)", 1e-9, "1e−09 (that is g) for x above 1 and 0 elsewhere"),
        ("straight_through", 1e6, "1e+06 (that is g) everywhere"),
        ("reversal", 2.0, "−2 everywhere"),
        ("straight_through", 0.0, "0 everywhere"),
        ("published_clamp", 0.0, "1 for x above 1 and 0 elsewhere"),
        ("formula: g * sign(x)", 1.0, "−1 for x below 0 and 1 for x above 0"),
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
    (label,) = sample("round", rule).attrs["labels"].values()
    assert f"With {label} the gradient is {words}" in describe(sample("round", rule, g=g))


def test_a_pole_is_called_one():
    words = describe(sample("reciprocal", ["default", "straight_through"]))
    assert f"With {DEFAULT} the gradient is unbounded near x = 0." in words


def test_what_is_too_crowded_to_be_seen_is_not_summed_up():
    words = describe(sample("round", ["default", "soft_round"], start=-1000, stop=1000))
    assert words.startswith("Round jumps more often here than the chart can show.")
    assert f"With {DEFAULT} the gradient is 0 everywhere." in words
    assert "Soft round the gradient is too crowded here to be summed up." in words


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
    bounds = re.search(f"between ({NUMBER}) and ({NUMBER}), strongest near x = ({NUMBER})", describe(frame))
    if gradient.nunique() > 10:
        assert bounds
    if bounds:
        low, high, at = (float(text.replace("−", "-")) for text in bounds.groups())
        assert (low, high) == pytest.approx((gradient.min(), gradient.max()), rel=0.02, abs=1e-3)
        near = frame[(frame["x"] - at).abs() <= 0.01]["gradient"].abs()
        assert near.max() == pytest.approx(gradient.abs().max(), rel=0.02)
