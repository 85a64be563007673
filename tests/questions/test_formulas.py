"""The question "formulas": each sign of a formula in its place, values and words below."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from explorer.catalogue import OPS, RULES, list_learnable
from explorer.formula.aliases import GREEK
from explorer.questions import formulas
from explorer.questions.code import list_learned
from explorer.questions.mathml import to_mathml
from tests.questions.asking import ask

SHOWN = [
    ("g", [["mi", "g"]]),
    (r"{x}^{2}", [["msup", ["mi", "x"], ["mn", "2"]]]),
    (r"\frac{1}{-x}", [["mfrac", ["mn", "1"], ["mrow", ["mo", "−"], ["mi", "x"]]]]),
    (r"\mathrm{lo\_x}_{2}^{\beta}", [["msubsup", ["mi", "lo_x"], ["mn", "2"], ["mi", "β"]]]),
    (r"\text{gradient of }s", [["mtext", "gradient\xa0of\xa0"], ["mi", "s"]]),
    (r"\sqrt{\pi}\,x", [["msqrt", ["mi", "π"]], ["mspace", {"width": "0.17em"}], ["mi", "x"]]),
    (
        r"\left\lfloor x\right\rfloor",
        [
            ["mrow", ["mo", {"form": "prefix", "stretchy": "true"}, "⌊"], ["mi", "x"],
             ["mo", {"form": "postfix", "stretchy": "true"}, "⌋"]]
        ],
    ),
    (
        r"\begin{cases}1 & \text{if } x\\ 0 & \text{otherwise}\end{cases}",
        [
            ["mrow", ["mo", {"form": "prefix", "stretchy": "true"}, "{"],
             ["mtable", {"columnalign": "left"},
              ["mtr", ["mtd", ["mn", "1"]], ["mtd", ["mtext", "if\xa0"], ["mi", "x"]]],
              ["mtr", ["mtd", ["mn", "0"]], ["mtd", ["mtext", "otherwise"]]]]]
        ],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("latex", "expected"), SHOWN, ids=range(len(SHOWN)))
def test_latex_becomes_elements(latex: str, expected: list[Any]) -> None:
    assert to_mathml(latex) == ["math", {"display": "block"}, *expected]


@pytest.mark.parametrize("latex", [r"\unheard", "x}", r"\left(x", r"\begin{matrix}1\end{matrix}", "x^"])
def test_other_latex_is_refused(latex: str) -> None:
    with pytest.raises((ValueError, IndexError)):
        to_mathml(latex)


def test_each_formula_is_set_sign_by_sign() -> None:
    for key, op in OPS.items():
        same(formulas.format_forward(op))
        for name in ("", *(parameter.name for parameter in op.parameters)):
            same(formulas.format_gradient(op, RULES["default"], name))
        for rule in RULES.values():
            for name in ("", *list_learnable(op, rule)):
                for latex, _ in formulas.format_learned(op, rule, list_learned(op, rule, name)):
                    same(latex)
            said = ask("formulas", op=key, rule=rule.key, parameters={}, learns="")
            assert said["title"] == rule.label
            assert said["lines"][0] == to_mathml(formulas.format_gradient(op, rule))


def test_values_stand_below_the_formula_and_words_below_both() -> None:
    said = ask("formulas", op="clamp", rule="pact", parameters={"hi": 1.25, "lo": -0.5}, learns="")
    gradient, part, at_bound, numbers, about = said["lines"]
    assert "".join(leaves(numbers)) == "lo=05hi=125"
    assert (gradient[0], part[0]) == ("math", "math")
    assert at_bound.startswith("Exactly at the bound")
    assert "Source: PACT" in about
    op = ask("formulas", op="clamp", rule="", parameters={"hi": 1.25}, learns="")
    assert op["title"] == "Forward: Clamp"
    assert "".join(leaves(op["lines"][1])) == "lo=0hi=125"


def test_gradients_of_learned_parameters_follow_the_gradient_for_x() -> None:
    learnt = ask("formulas", op="quantize", rule="quantize_masked", parameters={}, learns="s")["lines"]
    assert ["mtext", "gradient\xa0of\xa0"] in learnt[1]
    assert learnt[2] == "s: follows from the rule."
    torchs = ask("formulas", op="quantize", rule="default", parameters={}, learns="s")["lines"]
    assert torchs[2] == "s: torch's derivative of the op."


def test_a_derivative_that_would_fill_pages_is_not_written_out() -> None:
    """Torch's own rule is written out as far as it can be read."""
    nested = "x"
    for _ in range(13):
        nested = f"softsign({nested})"
    torchs = ask("formulas", op=f"formula: {nested}", rule="default", parameters={}, learns="")["lines"][0]
    assert torchs == to_mathml(r"\text{gradient} = g\,\frac{\mathrm{d}y}{\mathrm{d}x}")
    short = ask("formulas", op="formula: x*k", rule="default", parameters={}, learns="")["lines"][0]
    assert short == to_mathml(r"\text{gradient} = g\,\frac{\mathrm{d}y}{\mathrm{d}x} = g \,k")


def test_op_and_rule_come_with_purpose_note_and_source() -> None:
    for op, rule in (("sign", ""), ("sign", "clipped"), ("clamp", "published_clamp")):
        last = ask("formulas", op=op, rule=rule, parameters={}, learns="")["lines"][-1]
        entry = RULES[rule] if rule else OPS[op]
        assert entry.purpose in last
        assert entry.note in last
        assert entry.source in last


def same(latex: str) -> None:
    assert "".join(leaves(to_mathml(latex))) == plain(latex)


def leaves(part: Any) -> Iterator[str]:
    """The letters, digits and brackets of a formula in MathML, in their order."""
    for inside in part[1:]:
        if isinstance(inside, str):
            yield re.sub(r"[^\w()<>=+]", "", inside)
        elif isinstance(inside, list):
            yield from leaves(inside)


def plain(latex: str) -> str:
    """The same of a formula in LaTeX."""
    words = re.sub(r"\\begin\{cases\}|\\end\{cases\}|\\nolimits|\\left(?![a-z])|\\right(?![a-z])", "", latex)
    for letter, name in GREEK.items():
        words = re.sub(rf"\\{name.replace('lambd', 'lambda')}(?![a-z])", letter, words)
    words = re.sub(r"\\(text|mathrm|mathbf|operatorname)\{", "{", words)
    words = re.sub(r"\\(frac|sqrt|sum|cdot|quad|le|ge|ne|land|lor|lnot|[lr](floor|ceil))(?![a-z])", "", words)
    scripts = words.replace("\\_", "\0").replace("_", "").replace("\0", "_")
    return re.sub(r"[^\w()<>=+]", "", scripts)
