"""The question "formulas": each sign of a formula in its place, values and words below."""

import re
from typing import Any
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


def test_latex_becomes_elements_and_what_is_no_formula_is_refused() -> None:
    start = '<math xmlns="http://www.w3.org/1998/Math/MathML" display="block"><mrow>'
    for latex, expected in SHOWN:
        assert to_mathml(latex) == f"{start}{expected}</mrow></math>"
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


def lines_of(op: str, rule: str, learns: str = "", **parameters: float) -> list[Any]:
    return ask("formulas", op=op, rule=rule, parameters=parameters, learns=learns)["lines"]


def test_values_stand_below_the_formula_and_words_below_both() -> None:
    gradient, part, at_bound, numbers, about = lines_of("clamp", "pact", hi=1.25, lo=-0.5)
    assert letters(numbers["math"]) == "lo=05hi=125"
    assert gradient["math"] != part["math"]
    assert at_bound.startswith("Exactly at the bound")
    assert "Source: PACT" in about
    assert letters(lines_of("clamp", "", hi=1.25)[1]["math"]) == "lo=0hi=125"
    assert ask("formulas", op="clamp", rule="", parameters={}, learns="")["title"] == "Forward: Clamp"
    for op, rule in (("sign", ""), ("sign", "clipped"), ("clamp", "published_clamp")):
        entry, last = RULES[rule] if rule else OPS[op], lines_of(op, rule)[-1]
        assert [text for text in (entry.purpose, entry.note, entry.source) if text not in last] == []


def test_gradients_of_learned_parameters_follow_the_gradient_for_x() -> None:
    _, learnt, words, *_ = lines_of("quantize", "quantize_masked", "s")
    assert "<mtext>gradient\xa0of\xa0</mtext>" in learnt["math"]
    assert words == "s: follows from the rule."
    assert lines_of("quantize", "default", "s")[2] == "s: torch's derivative of the op."


def test_a_derivative_that_would_fill_pages_is_not_written_out() -> None:
    """Torch's own rule is written out as far as it can be read."""
    nested = "x"
    for _ in range(13):
        nested = f"softsign({nested})"
    for text, more in ((nested, ""), ("x*k", r" = g \,k")):
        expected = r"\text{gradient} = g\,\frac{\mathrm{d}y}{\mathrm{d}x}"
        assert lines_of(f"formula: {text}", "default")[0]["math"] == to_mathml(expected + more)


def letters(xml: str) -> str:
    """The letters, digits and brackets of a formula in MathML, in their order."""
    return re.sub(r"[^\w()<>=+]", "", "".join(ElementTree.fromstring(xml).itertext()))


def plain(latex: str) -> str:
    words = re.sub(r"\\begin\{cases\}|\\end\{cases\}|\\nolimits|\\left(?![a-z])|\\right(?![a-z])", "", latex)
    for letter, name in GREEK.items():
        words = re.sub(rf"\\{name.replace('lambd', 'lambda')}(?![a-z])", letter, words)
    words = re.sub(r"\\(text|mathrm|mathbf|operatorname)\{", "{", words)
    words = re.sub(r"\\(frac|sqrt|sum|cdot|quad|le|ge|ne|land|lor|lnot|[lr](floor|ceil))(?![a-z])", "", words)
    scripts = words.replace("\\_", "\0").replace("_", "").replace("\0", "_")
    return re.sub(r"[^\w()<>=+]", "", scripts)
