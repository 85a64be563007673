"""Own formulas as entries: what a user writes stands beside the catalogue as an equal."""

from __future__ import annotations

from explorer.catalogue.records import Op, Parameter, Rule
from explorer.formula import Formula, parse

OWN = "formula: "


def _parameters(formula: Formula) -> tuple[Parameter, ...]:
    return tuple(
        Parameter(name, 1.0, -10.0, 10.0, "parameter of your formula") for name in formula.parameters
    )


def own_op(text: str) -> Op:
    """An op from a formula in x; other names become parameters. Raises FormulaError."""
    formula = parse(text, variables=("x",), parameters=None)
    return Op(
        key=OWN + formula.text,
        label=formula.text,
        family="own",
        formula=formula.text,
        parameters=_parameters(formula),
        kinks=None,
        purpose="Your own op.",
    )


def own_rule(text: str) -> Rule:
    """A rule from a formula in x, y, g; other names become parameters. Raises FormulaError."""
    formula = parse(text, parameters=None)
    return Rule(
        key=OWN + formula.text,
        label=formula.text,
        formula=formula.text,
        parameters=_parameters(formula),
        kinks=None,
        purpose="Your own backward rule.",
        group="own",
    )
