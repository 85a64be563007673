import re

import pytest
from hypothesis import given, settings

from explorer.catalogue import FORMULA_PREFIX, find_rule
from explorer.curves import sample, sample_curves
from explorer.description import MAIN_LENGTH, describe, make_description, to_document
from explorer.formula import Formula, parse
from tests.catalogue.fixed import OPS
from tests.description.description_cases import DEFAULT
from tests.formula.strategies import PARAMETERS, formulas, many
from tests.selection import count_examples, loop_over, take_part

NUMBER = r"−?[0-9]+(?:\.[0-9]+)?(?:e−?[0-9]+)?"


def test_a_share_known_only_for_the_sampled_points_is_of_this_picture():
    own = describe(sample("round", "formula: g * sqrt(x) * (x > 1)"))
    assert "of this picture" in own
    assert "of the range" not in own


def test_the_means_of_several_rules_tell_them_apart():
    main = make_description(sample("step", ["fast_sigmoid", "triangle"])).main
    others = "Fast sigmoid (SuperSpike) 0.01316"  # 2/25 · (1 − 1/76), over a width of 6
    assert main == f"Mean gradients here: Triangle 0.1667, {others}."
    six = ["default", "clipped", "approx_sign", "tanh_surrogate", "triangle", "straight_through"]
    main = make_description(sample("sign", six)).main
    assert main == f"Strongest gradients here from 0 ({DEFAULT}) to 2 (ApproxSign)."
    assert make_description(sample("sign", six, g=0)).main.startswith("g is 0: nothing arrives")
    main = make_description(sample("sign", six[:3], g=-1)).main
    assert main.startswith(f"At g = −1, strongest gradients here: {DEFAULT} 0, Clipped straight-through −1,")
    main = make_description(sample("round", ["straight_through", "formula: 5", "formula: 2*x"])).main
    assert main.startswith("Strongest gradients here: 2 * x: 6, 5: 5, Straight-through 1.")


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


def test_a_curve_with_too_many_kinks_is_not_summarised():
    words = describe(sample("round", ["default", "soft_round"], start=-2000, stop=2000))
    assert words.startswith("Round has more kinks here than the chart can show, and is drawn as a line.")
    assert f"{DEFAULT}: the gradient is 0 everywhere." in words
    assert "Soft round: the gradient is not summed up here: it has too many kinks." in words
    op, rule = "formula: where(round(x) > 0.5, x, x)", "formula: g * (y > 2)"
    own = describe(sample(op, rule, start=-2000, stop=2000))
    assert "may have more kinks here than the chart can show, and is drawn as a line." in own
    assert "it may have too many kinks." in own


# What was false or awkward once.
EXAMPLES = [
    ("step", "triangle", {"start": -100, "stop": 100}, "1, strongest near x = 0, and 0 on 99 %"),
    ("sign", "approx_sign", {"start": -300, "stop": 300}, "2, strongest near x = 0, and 0 on more"),
    ("step", "fast_sigmoid", {"start": -1e6, "stop": 1e6}, "between 1.6e−15 and 1 in this picture"),
    ("relu", "formula: g * (floor(9*x) > 1)", {"start": -100, "stop": 100}, "flat on 50 % of the range."),
    ("round", "masked_open", {"start": -8, "stop": 8, "lo": 0.1}, "1 for x from above 0.1 to below 1 and 0"),
    ("exp", "default", {"start": -200, "stop": 200}, "too large for 32 bits on 28 % of this picture."),
    ("quantize", "quantize_masked", {"start": -100, "stop": 100, "s": 0.1}, "1 for x from −0.4 to 0.3 and 0"),
    ("tanh", "default", {"start": 0.56, "stop": 0.56001}, "the gradient is about 0.742 in this picture."),
    ("step", "clip_value", {}, "Clip the gradient: the gradient is 1 everywhere."),
    (
        "round",
        "masked",
        {"lo": 1.00001, "hi": 1.00002, "start": 1, "stop": 1.0001},
        "1.00001 to 1.00002 and 0 e",
    ),
    ("formula: abs(x - 999999.5)", "default", {"start": -1e6, "stop": 1e6}, "for x above 999999.5 and 0 at"),
]


@pytest.mark.parametrize(("op", "rule", "settings", "words"), EXAMPLES, ids=lambda part: str(part)[:20])
def test_examples_that_were_false_or_awkward(op: str, rule: str, settings: dict, words: str):
    assert words in describe(sample(op, rule, **settings))


@loop_over("op", take_part(OPS))
def test_the_main_sentence_is_short(op: str):
    for rules in (["default"], ["default", "clipped", "zero"]):
        assert len(make_description(sample_curves(op, rules, start=-200, stop=200)).main) <= MAIN_LENGTH


@loop_over("op", take_part(OPS))
def test_plain_words_for_every_op(op: str):
    rules = ["default", "masked", "clipped", "reste"]
    for g in (1.0, -2.0, 0.0):
        for start, stop in ((-3, 3), (-2e-3, 1e-3), (5, 1e6)):
            words = describe(sample_curves(op, rules, start=start, stop=stop, g=g))
            assert words.endswith(".")
            assert not re.search(r"\b(nan|none|inf|np|float\d*|array)\b", words, re.IGNORECASE), words
            assert not re.search(r"[<>*_`\n\[\]{}]|  | -|-[0-9]", words), words


def test_a_document_holds_curves_and_sentences():
    curves = sample_curves("round", ["default", "soft_round"], start=-1000, stop=1000)
    found = to_document(curves, make_description(curves))
    assert found["x"] is curves.x
    assert found["gradients"] == curves.gradients
    assert found["kinks"] == {"forward": None, "default": (), "soft_round": None}
    assert f"{found['main']} {found['rest']}" == describe(curves)


@settings(many, max_examples=count_examples(40))
@given(formulas)
def test_own_formulas_and_numbers_in_labels_and_sentences_read_back(formula: Formula):
    own = FORMULA_PREFIX + formula.text
    is_op = set(formula.variables) <= {"x"}
    values = {name: PARAMETERS[name] for name in formula.parameters}
    curves = sample_curves(own if is_op else "abs", "default" if is_op else own, points=51, **values)
    label = curves.op.label if is_op else curves.labels[own]
    assert parse(label, parameters=PARAMETERS) == formula
    words = describe(curves)
    name = next(name for name in (label, "Your formula", words[: words.find("…") + 1]) if name in words)
    assert f"{name} is " in words or f"{name} has no" in words or f"{name}: the gradient is" in words
    for text in re.findall(NUMBER, words.replace(name, "").replace(" %", "")):
        assert parse(text).value() == float(text.replace("−", "-"))


@pytest.mark.parametrize(
    ("op", "rules", "sentence"),
    [
        ("sign", "default clipped straight_through", "For x above 1: {0} and {1} 0, {2} 1."),
        ("sign", "default zero clipped scale", "For x between −1 and 1: {0} and {1} 0, {2} and {3} 1."),
        ("clamp", "learned_clamp masked masked_open", "{0} and {1} differ from {2} only at x = 0 and 1."),
        ("round", "default zero straight_through scale", "{2} and {3} give 1 everywhere, where {0} and {1}"),
        ("round", "default zero straight_through",
         "{0} and {1}: the gradient is 0 everywhere. {2}: the gradient is 1 everywhere."),
        ("relu", "default seed_relu formula:_where(x_==_0,_g/4,_g*(x_>_0))",
         "All 3 gradients differ at g = 1, but only at x = 0."),
        ("clamp", "default straight_through", "{1} gives 1 for x below 0 and for x above 1, where {0}"),
        ("identity", "default straight_through scale", "{0}, {1} and {2} give x the same gradient here"),
    ],
)  # fmt: skip
def test_the_main_sentence_speaks_of_three_rules_or_more_at_once(op: str, rules: str, sentence: str):
    keys = [rule.replace("_", " ") if ":" in rule else rule for rule in rules.split()]
    main = make_description(sample(op, keys)).main
    assert sentence.format(*(find_rule(key).label for key in keys)) in main


def test_the_side_on_which_three_rules_differ_is_named():
    left = [f"formula: where(x < 0, {factor} * g, 0)" for factor in (2, 3, 4)]
    right = [rule.replace("<", ">") for rule in left]
    assert describe(sample("round", left, start=-2, stop=2)).startswith("For x below 0: ")
    assert describe(sample("round", right, start=-2, stop=2)).startswith("For x above 0: ")


def test_many_stretches_of_three_levels_are_summed_up_with_0_among_them():
    levels = {-2: 1, -1: 1, 0: 1, 1: 2, 1.5: 2, 2: 2}
    windows = " + ".join(f"{level} * (abs(x - {centre}) < 0.1)" for centre, level in levels.items())
    frame = sample("relu", f"formula: g * ({windows})")
    assert "the gradient is one of 0, 1 and 2." in describe(frame)
