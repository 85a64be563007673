"""The areas of a rule's gradient: verdicts and advice of the checks "area" and "antiderivative"."""

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
    ],
)
def test_no_scale_is_suggested_for_an_infinite_or_nonpositive_area(op, rule, verdict, words, choose_checks):
    choose_checks("area", "antiderivative")
    for result in check_own(op, rule).values():
        assert result.verdict == verdict, result
        assert words in result.sentence
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
        ("sign", "1e-200 * g", "fails", ""),  # which is not taken for the zero rule
    ],
)
def test_an_area_is_judged_by_what_its_rule_claims(op, rule, verdict, words, choose_checks):
    choose_checks("area")
    (result,) = check_own(op, rule).values()
    assert result.verdict == verdict, result
    assert words in f"{result.sentence}$"


@pytest.mark.parametrize("op", ["round", "sign", "step", "ternarize"])
def test_an_own_mask_has_the_verdicts_of_the_catalogues(op, choose_checks):
    choose_checks("area", "antiderivative")
    own, masked = (check_own(op, rule).values() for rule in ("g * (0 <= x <= 1)", "masked"))
    assert [result.verdict for result in own] == [result.verdict for result in masked]
