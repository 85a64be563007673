"""The catalogue under its own checks: none cries wolf, and a fault is named."""

import random
import re

import pytest
import torch

import explorer
from explorer.catalogue import make_custom_key
from explorer.checks import CHECKS, VERDICTS, check_pair
from explorer.formula.operands import find_reductions
from tests.catalogue.cases import suiting, usual_op
from tests.catalogue.fixed import OPS, RULES
from tests.selection import take_part

_SEEDED = 100  # of some 500: what is said of a pair hangs on its op and on its rule, and little on both


def _pairs() -> set[tuple[str, str]]:
    """Every op with torch's own rule, every rule with an op that it is for, and some of all that suit."""
    once = [(op, "default") for op in OPS] + [(usual_op(rule).key, key) for key, rule in RULES.items()]
    suited = [(op.key, rule.key) for op in OPS.values() for rule in suiting(op)]
    return {*once, *take_part(random.Random(7).sample(suited, _SEEDED))}


PAIRS = _pairs()
# As published: the cosine of what overflows.
IN_FLOAT16 = {"rdfs": ["finite"]}


def check_own(op, rule, **parameters):
    """Return the results for formulas, or a formula and a key, by the names of the checks."""
    keys = [entry if entry in OPS or entry in RULES else make_custom_key(entry) for entry in (op, rule)]
    return {result.name: result for result in check_pair(*keys, parameters)}


EXAMPLE = re.compile(r"At x = (\S+) g = 1 gives (\S+), g = (\S+) gives (\S+), not (\S+)\.")
APART = re.compile(r"At x = (\S+) the gradient is (\S+), the op's slope (\S+)\.")


def number(text):
    return float(text.replace("−", "-"))


def tried_by_hand(op, rule, x, g):
    at = torch.tensor([x], dtype=torch.float64, requires_grad=True)
    y = explorer.apply(op, rule, at)
    return torch.autograd.grad(y, at, torch.full_like(y, g))[0].item()


def slope_by_hand(op, x, h=1e-6):
    low, high = explorer.apply(op, "zero", torch.tensor([x - h, x + h], dtype=torch.float64)).tolist()
    return (high - low) / (2 * h)


@pytest.mark.parametrize("rule", [rule.key for rule in RULES.values() if not rule.linear])
def test_the_sentence_on_a_nonlinear_rule_matches_values_by_hand(rule, choose_checks):
    """At the printed x and g, whatever the op: of each fault of the catalogue, and of what is by design."""
    choose_checks("linear in g")
    seen = 0
    for op in OPS.values():
        if RULES[rule] not in suiting(op) or find_reductions(op.parsed.tree):
            continue
        for sentence in (result.sentence for result in check_pair(op.key, rule, {})):
            at, one, g, got, due = map(number, EXAMPLE.search(sentence).groups())
            by_one, by_g = (tried_by_hand(op.key, rule, at, each) for each in (1.0, g))
            assert [by_one, by_g, g * by_one] == pytest.approx([one, got, due], rel=5e-3, abs=1e-6)
            assert by_g != pytest.approx(g * by_one, rel=1e-6)
            seen += 1
    assert seen


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("sign(g) * 2 ** round(log(abs(g)) / log(2)) * (x > 0)", "It rounds gradients to steps."),
        ("round(4 * g) / 4 * (x > 0)", "It rounds gradients to steps."),
        ("clamp(g, -2.5, 2.5) * (x > 0)", "It limits large gradients."),
        ("g * (abs(g) > 0.01) * (x > 0)", "It drops small gradients."),
        ("where(g < 0, 2 * g, g) * (x > 0)", "It depends on the sign of g and grows with g otherwise."),
    ],
    ids=[
        "rounded to powers of two", "rounded to quarters", "clipped from 2.5 on", "0 up to 0.01",
        "by the sign of g",
    ],
)  # fmt: skip
def test_the_reason_why_a_rule_is_by_design_not_linear_in_g_is_stated(rule, words):
    """One in steps has few digits for that reason, not for a cast."""
    result = check_own("relu", rule)
    linear, dtype = result["linear in g"], result["dtype and shape"]
    assert (linear.verdict, dtype.verdict) == ("by design", "holds")
    assert linear.sentence.startswith(words)


@pytest.mark.parametrize(
    ("op", "rule"), [("clamp", "straight_through"), ("relu", "leaky_backward"), ("sign", "clipped")]
)
def test_a_gradient_that_is_not_the_slope_matches_a_value_by_hand(op, rule):
    (said,) = [found for result in check_pair(op, rule, {}) if (found := APART.search(result.sentence))]
    at, gradient, slope = map(number, said.groups())
    assert tried_by_hand(op, rule, at, 1.0) == pytest.approx(gradient, rel=5e-3)
    assert slope_by_hand(op, at) == pytest.approx(slope, rel=5e-3, abs=1e-6)
    assert gradient != slope


@pytest.mark.parametrize("key", take_part(OPS))
def test_rules_that_suit_an_op_raise_no_false_alarm(key):
    for rule in RULES.values():
        if (key, rule.key) not in PAIRS:
            continue
        results = check_pair(key, rule.key, {})
        wrong = [result for result in results if result.verdict in VERDICTS[:2]]
        known = ["linear in g"] if rule.fault else IN_FLOAT16.get(rule.key, [])
        assert [result.name for result in wrong] == known, (rule.key, wrong)
        if rule.key == "default" and not find_reductions(OPS[key].parsed.tree):
            is_cast = "float8" in OPS[key].formula  # which passes g on, though the op is level
            assert results[0].verdict == ("by design" if is_cast else "holds"), results[0]
        for result in results:
            assert result.sentence.endswith("."), result
            assert "nan" not in result.sentence, result


def test_declared_properties_are_by_design_and_state_their_numbers():
    found = check_own("step", "fast_sigmoid")["area"]
    assert (found.verdict, found.figure) == ("by design", pytest.approx(0.08, rel=1e-2))
    assert "0.08" in found.sentence
    factor = check_own("x**3", "1.5 * x**2 * g")["true derivative"]
    assert (factor.verdict, factor.figure) == ("by design", pytest.approx(0.5))
    inherited = check_own("where(x >= 2, 1, 0)", "g / (1 + 7 * abs(x - 2))**2")["area"]
    assert (inherited.verdict, "Fast sigmoid" in inherited.sentence) == ("by design", True)
    assert abs(check_own("round", "g * exp(-x**2)")["antiderivative"].where) < 3
    assert check_own("step", "atan_surrogate")["area"].verdict == "holds"
    assert check_own("round(x) * x", "default")["kinks"].sentence.startswith("At 0.5, g = 1,")
    assert check_own("relu", "guided")["linear in g"].verdict == "by design"
    for op, rule in (("clamp", "masked"), ("relu", "seed_relu"), ("round", "zero")):
        assert check_own(op, rule)["true derivative"].verdict == "holds"


@pytest.mark.parametrize(
    ("op", "rule", "name"),
    [
        ("x**3", "3 * x * g", "true derivative"),
        ("sign", "g / x", "finite"),
        ("tanh(x)", "1 - y**2", "linear in g"),
        ("where(x >= 1, 1, 0)", "g * exp(-abs(x)) / 2", "antiderivative"),
        ("clamp(round(x / 0.25), -4, 3) * 0.25", "g * (-8 <= x <= 7)", "antiderivative"),
        ("where(x > 0, -1, 1)", "g", "antiderivative"),
        ("where(x >= 0, 1, 0)", "g * 25 * exp(-25 * x) / (1 + exp(-25 * x))**2", "finite"),
        ("hardswish(x)", "g * ((x > 3) + (-3 < x < 3) * (2 * x + 3) / 6)", "kinks"),
    ],
)
def test_a_formula_with_a_fault_fails_at_the_check_of_its_kind(op, rule, name):
    assert check_own(op, rule)[name].verdict == "fails"


def test_a_correct_custom_formula_passes_every_check():
    assert {result.verdict for result in check_own("x**3", "3 * x**2 * g").values()} == {"holds"}


def test_the_kinks_check_states_where_torchs_own_clamp_differs():
    x = torch.tensor([0.0], requires_grad=True)
    kinds = (0.0, 1.0), (torch.tensor(0.0), torch.tensor(1.0))
    number, tensor = (torch.autograd.grad(torch.clamp(x, *each), x)[0].item() for each in kinds)
    clamp, hardtanh = (check_own(op, "default")["kinks"].sentence for op in ("clamp", "hardtanh"))
    assert clamp.startswith(f"At 0, g = 1, the gradient is {number:g}, 0 to the left, 1 to the right: within")
    assert ("'s own Clamp with numbers as bounds" in clamp) == (number != tensor)
    assert "'s own Hardtanh" in hardtanh


def test_check_pair_runs_the_checks_of_the_app_in_order():
    names = [result.name for result in check_pair("quantize", "lsq", {})]
    assert names == [check.name for check in CHECKS if check.in_app and check.pairs != "drawn"]
    assert "compile" not in names
    others = [result.name for result in check_pair("round", "default", {})]
    assert others == [name for name in names if name != "parameter gradients"]


# Only for a > 0 does y have the sign of x: both signs of a are tried.
SCALED, PRELU = ("x * s", "g * s", 2.0), ("where(x > 0, x, a * x)", "g * where(x > 0, 1, a)", 0.25)
FAR = "where(x > 5000, s, x)", "g", 2.0  # s has an effect only beyond the probes


@pytest.mark.parametrize(
    ("pair", "taught", "verdict", "words"),
    [
        (SCALED, "s: sum(g * x)", "holds", "The gradient of s is what autograd of the forward gives."),
        (SCALED, "s: -2 * sum(g * x)", "fails", "s gets −2 times what is due: turn the sign round."),
        (SCALED, "s: 1 / N * sum(g * x)", "fails", "sum over them, do not average"),
        (SCALED, "s: 1 / sqrt(N) * sum(g * x)", "by design", "the root of the number of elements, as in LSQ"),
        (SCALED, "s: sum(g)", "fails", "a part is missing"),
        (SCALED, "s: sum(g * x * (x > -4))", "fails", "a part is missing"),
        (SCALED, "s: sum(g * x * (x < 4))", "fails", "a part is missing"),
        (SCALED, "t: sum(g * x)", "by design", "Its gradient for t, which is not in y"),
        (PRELU, "a: sum(g * where(x > 0, 0, x))", "holds", "The gradient of a"),
        (PRELU, "a: sum(g * where(y > 0, 0, x))", "fails", "At a = −0.25: a gets"),
        (FAR, "s: sum(g * (x > 5000))", "holds", ""),
        (FAR, "s: sum(g)", "fails", ""),
    ],
)
def test_parameter_gradients_of_a_custom_rule_are_compared_with_autograd(
    pair, taught, verdict, words, choose_checks
):
    """Each parameter by its name, at the values it has; what y does not depend on is not judged."""
    choose_checks("parameter gradients")
    op, rule, value = pair
    (result,) = check_own(op, f"{rule}; {taught}", **{"a" if pair is PRELU else "s": value}).values()
    assert (result.verdict, words in result.sentence) == (verdict, True), result


def test_parameter_gradients_are_unknown_where_y_is_constant():
    result = check_own("clamp", "g; hi: sum(g * 3)", lo=1, hi=1)["parameter gradients"]
    assert (result.verdict, "move the parameters" in result.sentence) == ("unknown", True)


def test_results_are_shown_as_text_and_as_an_escaped_table():
    results = explorer.check(make_custom_key("x", "a"), make_custom_key("where(x < 1, g, 2 * g)", "b"))
    assert "true derivative" in repr(results)
    assert repr(results[0]) == f"✓ holds  {results[0].name}  {results[0].sentence}"
    html = results._repr_html_()
    assert (html.count("<tr>"), html.count("<td")) == (len(results), 3 * len(results))
    assert "x < 1" not in html


def test_check_refuses_unknown_keys_and_a_missing_rule():
    with pytest.raises(ValueError, match="unknown op"):
        explorer.check("rounf", "default")
    with pytest.raises(ValueError, match="one rule"):
        explorer.check("round")
    assert torch.is_grad_enabled()


def test_a_random_pair_gives_the_same_bits_for_the_same_draw(choose_checks):
    choose_checks("deterministic")
    for op, rule in (("bernoulli", "reinmax"), ("round", "arm")):
        (result,) = explorer.check(op, rule)
        assert result.sentence == "Three calls on the same x, g and draw give the same bits."
    (result,) = explorer.check("round", "straight_through")
    assert result.sentence == "Three calls on the same x and g give the same bits."


def test_the_size_of_a_bias_is_stated_as_by_design(choose_checks):
    choose_checks("unbiased")
    (result,) = explorer.check(
        "bernoulli", make_custom_key("-g * u()")
    )  # louder than what is right, and wrong
    assert result.verdict == "by design"
    words = "a straight loss, a parabola and a fourth power, however many draws are averaged"
    assert re.fullmatch(rf"It is off by up to .* for {words}\.", result.sentence)
