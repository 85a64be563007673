"""Own formulas as entries: what a user writes stands beside the catalogue as an equal."""

import re
from typing import Any

from explorer.catalogue.records import TAKEN, Op, Parameter, Rule
from explorer.formula import VARIABLES, Formula, FormulaError, parse
from explorer.formula.errors import error_at

OWN = "formula: "
# A name may stand before an own formula; it is its label.
_NAMED = re.compile(r"\s*([A-Za-z0-9_]{1,40})\s*=(?!=)\s*")


def own_key(formula: str, name: str = "") -> str:
    """The key of a formula: ``formula: x**3``, or with a name ``formula: Cube = x**3``."""
    name = re.sub(r"[^A-Za-z0-9_]+", "_", name)[:40]
    return f"{OWN}{name} = {formula}" if name else OWN + formula


def own_op(text: str) -> Op:
    """An op from a formula in x; other names become parameters. Raises FormulaError."""
    return Op(**_read(text, ("x",)), purpose="Your own op.")


def own_rule(text: str) -> Rule:
    """A rule from a formula in x, y, g; other names become parameters. Raises FormulaError."""
    return Rule(**_read(text, VARIABLES), purpose="Your own backward rule.", group="own")


def _read(text: str, variables: tuple[str, ...]) -> dict[str, Any]:
    """What a text tells of an entry; the label is the name before the formula, or else the formula."""
    named = _NAMED.match(text)
    name, start = (named[1], named.end()) if named else ("", 0)
    try:
        formula = parse(text[start:], variables=variables, parameters=None)
        parameters = _parameters(formula, text[start:])
    except FormulaError as error:
        raise FormulaError(error.message, error.column + start, text) from None
    key, label = own_key(formula.text, name), name or formula.text
    return {"key": key, "label": label, "formula": formula.text, "parameters": parameters}


def _parameters(formula: Formula, text: str) -> tuple[Parameter, ...]:
    for name in filter(TAKEN.__contains__, formula.parameters):
        column = next(re.finditer(rf"\b{name}\b", text)).start() + 1
        raise error_at(column, f'"{name}"', " is the name of a setting: choose another")
    return tuple(Parameter(name, 1.0) for name in formula.parameters)
