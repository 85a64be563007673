"""The question "formulas": each sign of a formula in its place, values and words below."""

import re
from xml.etree import ElementTree

import pytest

from explorer.catalogue import OPS, RULES, list_learnable
from explorer.formula.aliases import GREEK
from explorer.questions import formulas
from explorer.questions.code import list_learned
from explorer.questions.mathml import to_mathml
from tests.questions.asking import ask
from tests.selection import take_part

SHOWN = [
    ("g", "<mi>g</mi>"),
    (r"{x}^{2}", "<msup><mrow><mi>x</mi></mrow><mrow><mn>2</mn></mrow></msup>"),
    (r"\mathrm{lo\_x}_{2}", "<msub><mtext>lo_x</mtext><mrow><mn>2</mn></mrow></msub>"),
    (r"\frac{\mathrm{d}}{\max}", "<mfrac><mrow><mtext>d</mtext></mrow><mrow><mtext>max</mtext></mrow>"
     "</mfrac>"),
    (r"\text{gradient of }s", "<mtext>gradient\xa0of\xa0</mtext><mi>s</mi>"),
    (r"\operatorname{<lambda>}", "<mtext>&lt;lambda&gt;</mtext>"),
    (r"\mathbf{1}\,\pi", '<mrow><mn mathvariant="bold">1</mn></mrow><mspace width="0.167em" /><mi>π</mi>'),
    (r"\left\lfloor x\right\rfloor", "<mrow><mo>⌊</mo><mi>x</mi><mo>⌋</mo></mrow>"),
    (
        r"\begin{cases}1 & \text{if } x\\ 0 & \text{otherwise}\end{cases}",
        "<mrow><mo>{</mo><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mtext>if\xa0</mtext><mi>x</mi></mtd></mtr>"
        "<mtr><mtd><mn>0</mn></mtd><mtd><mtext>otherwise</mtext></mtd></mtr></mtable></mrow>",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("latex", "expected"), SHOWN, ids=range(len(SHOWN)))
def test_latex_becomes_elements(latex: str, expected: str) -> None:
    start = '<math xmlns="http://www.w3.org/1998/Math/MathML" display="block"><mrow>'
    assert to_mathml(latex) == f"{start}{expected}</mrow></math>"


def test_elements_of_no_formula_are_refused() -> None:
    for latex in (r"\phantom{x}", r"\overline{x}", r"\color{red}{x}"):
        with pytest.raises(ValueError, match="is not among the elements of formulas"):
            to_mathml(latex)


def assert_same(latex: str) -> None:
    assert letters(to_mathml(latex)) == plain(latex)


def test_each_formula_is_set_sign_by_sign() -> None:
    for key, op in take_part(OPS.items()):
        assert_same(formulas.format_forward(op))
        for name in ("", *(parameter.name for parameter in op.parameters)):
            assert_same(formulas.format_gradient(op, RULES["default"], name))
        for rule in RULES.values():
            for name in ("", *list_learnable(op, rule)):
                for latex, _ in formulas.format_learned(op, rule, list_learned(op, rule, name)):
                    assert_same(latex)
            said = ask("formulas", op=key, rule=rule.key, parameters={}, learns="")
            assert said["title"] == rule.label
            assert said["lines"][0] == {"math": to_mathml(formulas.format_gradient(op, rule))}


def test_values_stand_below_the_formula_and_words_below_both() -> None:
    said = ask("formulas", op="clamp", rule="pact", parameters={"hi": 1.25, "lo": -0.5}, learns="")
    gradient, part, at_bound, numbers, about = said["lines"]
    assert letters(numbers["math"]) == "lo=05hi=125"
    assert gradient["math"] != part["math"]
    assert at_bound.startswith("Exactly at the bound")
    assert "Source: PACT" in about
    op = ask("formulas", op="clamp", rule="", parameters={"hi": 1.25}, learns="")
    assert op["title"] == "Forward: Clamp"
    assert letters(op["lines"][1]["math"]) == "lo=0hi=125"


def test_gradients_of_learned_parameters_follow_the_gradient_for_x() -> None:
    learnt = ask("formulas", op="quantize", rule="quantize_masked", parameters={}, learns="s")["lines"]
    assert "<mtext>gradient\xa0of\xa0</mtext>" in learnt[1]["math"]
    assert learnt[2] == "s: follows from the rule."
    torchs = ask("formulas", op="quantize", rule="default", parameters={}, learns="s")["lines"]
    assert torchs[2] == "s: torch's derivative of the op."


def test_a_derivative_that_would_fill_pages_is_not_written_out() -> None:
    """Torch's own rule is written out as far as it can be read."""
    nested = "x"
    for _ in range(13):
        nested = f"softsign({nested})"
    for text, more in ((nested, ""), ("x*k", r" = g \,k")):
        said = ask("formulas", op=f"formula: {text}", rule="default", parameters={}, learns="")
        expected = r"\text{gradient} = g\,\frac{\mathrm{d}y}{\mathrm{d}x}"
        assert said["lines"][0]["math"] == to_mathml(expected + more)


def test_op_and_rule_come_with_purpose_note_and_source() -> None:
    for op, rule in (("sign", ""), ("sign", "clipped"), ("clamp", "published_clamp")):
        last = ask("formulas", op=op, rule=rule, parameters={}, learns="")["lines"][-1]
        entry = RULES[rule] if rule else OPS[op]
        assert entry.purpose in last
        assert entry.note in last
        assert entry.source in last


def letters(xml: str) -> str:
    """The letters, digits and brackets of a formula in MathML, in their order."""
    return re.sub(r"[^\w()<>=+]", "", "".join(ElementTree.fromstring(xml).itertext()))


def plain(latex: str) -> str:
    """The same of a formula in LaTeX."""
    words = re.sub(r"\\begin\{cases\}|\\end\{cases\}|\\nolimits|\\left(?![a-z])|\\right(?![a-z])", "", latex)
    for letter, name in GREEK.items():
        words = re.sub(rf"\\{name.replace('lambd', 'lambda')}(?![a-z])", letter, words)
    words = re.sub(r"\\(text|mathrm|mathbf|operatorname)\{", "{", words)
    words = re.sub(r"\\(frac|sqrt|sum|cdot|quad|le|ge|ne|land|lor|lnot|[lr](floor|ceil))(?![a-z])", "", words)
    scripts = words.replace("\\_", "\0").replace("_", "").replace("\0", "_")
    return re.sub(r"[^\w()<>=+]", "", scripts)
