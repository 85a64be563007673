"""Own formulas as entries: what a user writes stands beside the catalogue as an equal."""

from __future__ import annotations

import re

from explorer.catalogue.records import Op, Parameter, Rule
from explorer.formula import Formula, FormulaError, parse

OWN = "formula: "
OWN_FAMILY = "own"

# A parameter stands under its own name in links and among the keyword arguments of sample and apply.
_LINK_WORDS = (
    "op",
    "rule",
    "range",
    "task",
    "steps",
    "lr",
    "hidden",
    "batch",
    "seed",
    "embed",
    "embed_options",
)
_KEYWORDS = ("rules", "start", "stop", "points", "dtype", "device", "parameters")
TAKEN = frozenset(_LINK_WORDS) | frozenset(_KEYWORDS)


def _parameters(formula: Formula, text: str) -> tuple[Parameter, ...]:
    for name in formula.parameters:
        if name in TAKEN:
            column = next(re.finditer(rf"\b{name}\b", text)).start() + 1
            raise FormulaError(
                f'"{name}" at column {column} is the name of a setting: choose another', column
            )
    return tuple(
        Parameter(name, 1.0, -10.0, 10.0, "parameter of your formula") for name in formula.parameters
    )


def own_op(text: str) -> Op:
    """An op from a formula in x; other names become parameters. Raises FormulaError."""
    formula = parse(text, variables=("x",), parameters=None)
    return Op(
        key=OWN + formula.text,
        label=formula.text,
        family=OWN_FAMILY,
        formula=formula.text,
        parameters=_parameters(formula, text),
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
        parameters=_parameters(formula, text),
        kinks=None,
        purpose="Your own backward rule.",
        group="own",
    )
