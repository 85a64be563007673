"""Formulas that come along: those of the app, each sign of them in its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from explorer.catalogue import OPS, RULES, learnable
from explorer.formula.aliases import GREEK
from explorer.site.formulas import formulas as all_formulas
from explorer.site.mathml import mathml
from explorer.ui.sections import formulas
from explorer.ui.sections.code import learned_with

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
    assert mathml(latex) == ["math", {"display": "block"}, *expected]


@pytest.mark.parametrize("latex", [r"\unheard", "x}", r"\left(x", r"\begin{matrix}1\end{matrix}", "x^"])
def test_other_latex_is_refused(latex: str) -> None:
    with pytest.raises((ValueError, IndexError)):
        mathml(latex)


def test_each_formula_is_the_one_of_the_app() -> None:
    result = all_formulas(OPS.values(), RULES.values())
    shown = result["math"]

    def same(number: int, latex: str) -> None:
        assert shown[number] == mathml(latex)
        assert "".join(leaves(shown[number])) == plain(latex)

    for key, op in OPS.items():
        same(result["forward"][key], formulas.forward_latex(op))
        for name, number in result["torch"][key].items():
            same(number, formulas.gradient_latex(op, RULES["default"], name))
        for other, rule in RULES.items():
            if rule.parsed:
                same(result["rules"][other], formulas.gradient_latex(op, rule))
            for name in ("", *learnable(op, rule)):
                lines = result["learned"][key].get(other, {})
                told = lines.get(name, lines.get("", []))
                expected = list(formulas.learned(op, rule, learned_with(op, rule, name)))
                assert [words for _, words in told] == [words for _, words in expected]
                for (number, _), (latex, _) in zip(told, expected, strict=True):
                    same(number, latex)


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
