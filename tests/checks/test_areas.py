"""What the checks say of formulas, compared with values by hand, above all of areas."""

import re

import pytest

from tests.checks.test_pairs import check_own


@pytest.mark.parametrize(
    ("op", "rule", "verdict", "words"),
    [
        ("sign", "g * exp(x**8)", "unknown", "overflows at x = 2.272"),
        ("sign", "g / (x - 0.3)", "unknown", "without bound towards x = 0.3, too fast"),
        ("step", "g * (0 < x) * (x <= 1) / x", "unknown", "without bound towards x = 0, too fast"),
        ("sign", "-g * exp(-x**2)", "fails", "sign is wrong"),
        ("-sign(x)", "g * exp(-x**2)", "fails", "sign is wrong"),
        ("sign", "g * x * exp(-x**2)", "fails", "above and below 0 cancel"),
        ("sign", "g * x", "fails", "above and below 0 cancel"),
    ],
)
def test_no_scale_is_suggested_for_an_infinite_or_nonpositive_area(op, rule, verdict, words, choose_checks):
    choose_checks("area", "antiderivative")
    for result in check_own(op, rule).values():
        assert result.verdict == verdict, result
        assert words in result.sentence or re.search(
            "(against the op|its start): see area.$", result.sentence
        )
        assert "multiply" not in result.sentence
        assert "shift" not in result.sentence


@pytest.mark.parametrize(
    ("op", "rule", "verdict", "words"),
    [
        ("sign", "g * through(x, -1, 0.1, 0, 1, 1, 0.1)", "by design", "drawn by hand claims no area"),
        ("sign", "g * through(x, -1, -0.1, 0, -1, 1, -0.1)", "fails", "its sign is wrong"),
        ("round", "g * through(x, -1, -0.5, 0, 0.1, 1, -0.5)", "fails", "its sign is wrong"),
        ("round", "g * through(x, -1, 0.79, 1, -0.1, 2, -0.1)", "by design", "At x = 1 its sign is wrong"),
        ("round", "g * (0 <= x) * (x <= 1)", "by design", "the catalogue's Masked (lo = 0, hi = 1)"),
        ("sign", "g * (0 < x < 1)", "by design", "the catalogue's Masked (lo = 0, hi = 1)"),
        ("sign", "g * (0 <= x)", "fails", "large x keep learning"),
        ("ternarize", "g * (0 < x < 1)", "fails", "no gradient lies around the op's jump at −0.05, so"),
        ("sign", "g / sqrt(abs(x)) * exp(-x**2)", "by design", "Its area is 3.63"),
        ("sign", "g * exp(-(x - 3)**2)", "by design", "0.886 times as much, a choice of scale.$"),
        ("sign(x) + x / 2", "2 * g", "fails", "the op changes by 10, jumps included: the net learns as if"),
        ("1.3 * round(x / 1.3)", "g / 10", "fails", "is 1.6, and the op jumps by 15.6: multiply by 10.$"),
        ("6.09 * round(x / 6.09)", "g / 10", "fails", "12.2: the net learns as if the op rose by 1.6.$"),
        *(
            ("round", rule, "fails", "From −8 to 8 its parts above and below 0 cancel: no factor gives it")
            for rule in ("2 * x", "g * x", "g * x**3", "g * x**5")
        ),
        ("round", "g * 70000", "fails", "its area is 1120000, and"),
        ("round", "g * (x - 0.01)", "fails", "its area is −0.16, and the op jumps by 16: its sign is wrong"),
        ("sign", "1e-200 * g", "fails", ""),  # which is not taken for the zero rule
    ],
)
def test_an_area_is_judged_by_what_its_rule_claims(op, rule, verdict, words, choose_checks):
    choose_checks("area")
    (result,) = check_own(op, rule).values()
    assert result.verdict == verdict, result
    assert words in f"{result.sentence}$"


@pytest.mark.parametrize("op", ["round", "sign", "step"])
def test_an_own_mask_has_the_verdicts_of_the_catalogues(op, choose_checks):
    choose_checks("area", "antiderivative")
    own, masked = (check_own(op, rule).values() for rule in ("g * (0 <= x <= 1)", "masked"))
    assert [result.verdict for result in own] == [result.verdict for result in masked]


SENTENCES = [
    ("round", "2 * x", "linear in g", "fails", "^At x = 0.5014 the gradient is 1 whatever g is"),
    ("round", "x * (x > 2)", "linear in g", "fails", "^At x = 2.001 the gradient is 2 whatever g is"),
    ("round", "where(abs(x - 3) < 0.05, g, 5)", "linear in g", "fails", "^At x = 0.5014 the gradient is 5"),
    ("round", "5", "linear in g", "fails", "^Everywhere the gradient is 5 whatever g is"),
    ("round", "5 * (x > 1)", "linear in g", "fails", "^Above about 1 the gradient is 5 whatever g is"),
    ("tanh(x)", "g - g * tanh(x)**2", "linear in g", "holds", ""),  # what is left of larger numbers
    ("tanh(x)", "sign(g) * exp(log(abs(g)) - x**2)", "linear in g", "holds", ""),  # a product by logarithms
    ("round", "g * x**2", "finite", "holds", "float32, bfloat16; in float16 not beyond .x. = 255.9.$"),
    ("round", "2 * x", "finite", "holds", "from 0 to ±10,000 in float64, float32, bfloat16, float16.$"),
    ("round", "g * 70000", "finite", "holds", "in float64, float32, bfloat16; in float16 nowhere.$"),
    ("round", "g * clamp(exp(x), 0, 1e30)", "finite", "holds", "in float16 not beyond x = 11.09.$"),
    ("round", "where(1 < x < 2, 1e5 * g, 0)", "finite", "holds", "in float16 not at x = 1.1"),
    ("x**3 - 3 * x", "default", "finite", "holds", "bfloat16; in float16 not beyond .x. = 147.8.$"),
    ("exp(x)", "straight_through", "finite", "holds", r"where y is \(x < 710 in float64\) in float64"),
    ("sin(x) / x", "default", "finite", "by design", "y at x = 0 is NaN, between .*: give that point"),
    ("sin(x) / x", "straight_through", "finite", "by design", "y at x = 0 is NaN, .*: give that"),
    ("tanh", "g * sqrt(0 - 1)", "finite", "fails", "NaN everywhere"),
    ("tanh", "g * sqrt(0 - 1)", "true derivative", "fails", "NaN everywhere"),
    ("round", "g * exp(50 * x)", "kinks", "holds", "is continuous at every kink"),
    ("sign", "g / x", "kinks", "holds", "−inf to the left, inf to the right"),
    ("0 * x + 1", "g * (0 <= x <= 2)", "kinks", "by design", "^At 0, .* own derivative of .* gives 0"),
    ("sign", "straight_through", "antiderivative", "by design", "goes on without end: see area."),
    ("round", "g * x", "antiderivative", "fails", "^Around x = −0.5 its"),
    ("x - floor(x)", "default", "antiderivative", "by design", "^The op is an antiderivative between"),
    ("sign", "g * exp(x**8)", "double backward", "holds", ""),
]  # fmt: skip


@pytest.mark.parametrize(("op", "rule", "name", "verdict", "words"), SENTENCES)
def test_a_sentence_about_a_formula_is_true(op, rule, name, verdict, words, choose_checks):
    choose_checks(name)
    (result,) = check_own(op, rule).values()
    assert (result.verdict, bool(re.search(words, result.sentence))) == (verdict, True), result
