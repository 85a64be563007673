"""Own formulas as entries: what a user writes stands beside the catalogue as an equal."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from explorer.catalogue.records import COUNT, COUNT_ELSEWHERE, TAKEN, Learned, Op, Parameter, Rule
from explorer.formula import OP_NAMES, RULE_NAMES, Formula, FormulaError, parse
from explorer.formula.errors import error_at

OWN = "formula: "
# A name may stand before an own formula; it is its label.
_NAMED = re.compile(r"\s*([A-Za-z0-9_]{1,40})\s*=(?!=)\s*")
# The gradient of a parameter: "s: 1 / sqrt(N) * sum(g * x)".
_LEARNED = re.compile(r"\s*(?P<name>\w+)\s*:\s*(?:(?P<scale>.+?)\s*\*\s*)?sum\((?P<formula>.*)\)\s*")
_CACHED = 256  # formulas read; a page asks for each of its own many times
_NO_PART = "behind a semicolon stands what a parameter learns, such as s: sum(g * x)"


def own_key(formula: str, name: str = "", learned: Sequence[Learned] = ()) -> str:
    """The key of a formula: ``formula: x**3``, or with a name ``formula: Cube = x**3``.

    Gradients of parameters follow after semicolons: ``formula: g * (x < hi); hi: sum(g * (x >= hi))``.
    """
    name = re.sub(r"[^A-Za-z0-9_]+", "_", name)[:40]
    head = f"{OWN}{name} = {formula}" if name else OWN + formula
    return "; ".join([head, *map(_part, learned)])


@lru_cache(_CACHED)
def own_op(text: str) -> Op:
    """An op from a formula in x; other names become parameters. Raises FormulaError."""
    return Op(**_read(text, OP_NAMES, text), purpose="Your own op.")


@lru_cache(_CACHED)
def own_rule(text: str) -> Rule:
    """A rule from a formula in x, y, g; other names become parameters. Raises FormulaError.

    Gradients of parameters may follow after semicolons, as ``name: scale * sum(contribution)``: the
    contribution of one element in x, y, g, and an optional scale, in which N is the number of elements that
    share it.
    """
    own, *parts = text.split(";")
    fields, learned = _read(own, RULE_NAMES, text), _all_learned(parts, len(own) + 1, text)
    known = {p.name: p for p in fields["parameters"]}
    if learned and COUNT in known:
        column = next(re.finditer(rf"\b{COUNT}\b", text)).start() + 1
        message = f'"{COUNT}" at column {column}: {COUNT_ELSEWHERE}'
        raise FormulaError(message, column, text)
    for name in dict.fromkeys(name for one in learned for name in sorted(one.named)):
        known.setdefault(name, Parameter(name, 1.0))
    key = "; ".join([fields["key"], *map(_part, learned)])
    fields |= {"key": key, "parameters": tuple(known.values()), "learned": learned}
    return Rule(**fields, purpose="Your own backward rule.", group="own")


def _all_learned(parts: Sequence[str], start: int, text: str) -> tuple[Learned, ...]:
    """The gradients of parameters from the parts between semicolons; the first begins at ``start``."""
    learned: dict[str, Learned] = {}
    for part in parts:
        one = _learned(part, start, text)
        if one.name in learned:
            raise FormulaError(f"{one.name} learns twice", start + 1 + _indent(part), text)
        learned[one.name] = one
        start += len(part) + 1
    return tuple(learned.values())


def _part(learned: Learned) -> str:
    return f"{learned.name}: {learned.text}"


def _learned(part: str, start: int, text: str) -> Learned:
    """The gradient of a parameter from the part of ``text`` that begins at ``start``."""
    match = _LEARNED.fullmatch(part)
    if not match:
        raise FormulaError(_NO_PART, start + 1 + _indent(part), text)
    _formula(match["name"], start + match.start("name"), (), text)
    at = start + match.start("formula")
    formula = _formula(match["formula"], at, RULE_NAMES, text).text
    scale = match["scale"] and _formula(match["scale"], start + match.start("scale"), (), text).text
    try:
        return Learned(match["name"], formula, scale)
    except FormulaError as error:
        raise _moved(error, at, text) from None


def _indent(part: str) -> int:
    return len(part) - len(part.lstrip())


def _formula(part: str, start: int, variables: tuple[str, ...], text: str) -> Formula:
    """A formula that begins at ``start`` of a text; its FormulaError points into the whole."""
    try:
        formula = parse(part, variables=variables, parameters=None)
        _parameters(formula, part)
    except FormulaError as error:
        raise _moved(error, start, text) from None
    return formula


def _moved(error: FormulaError, start: int, text: str) -> FormulaError:
    """The error of what begins at ``start``, its column counted in the whole text."""
    column = error.column + start
    message = re.sub(rf"\bcolumn {error.column}\b", f"column {column}", error.message)
    return FormulaError(message, column, text)


def _read(own: str, variables: tuple[str, ...], text: str) -> dict[str, Any]:
    """The fields of an entry from the first part of a text; the label is the name, or else the formula."""
    named = _NAMED.match(own)
    name, start = (named[1], named.end()) if named else ("", 0)
    formula = _formula(own[start:], start, variables, text)
    key, label = own_key(formula.text, name), name or formula.text
    parameters = _parameters(formula, own[start:])
    return {"key": key, "label": label, "formula": formula.text, "parameters": parameters}


def _parameters(formula: Formula, text: str) -> tuple[Parameter, ...]:
    for name in filter(TAKEN.__contains__, formula.parameters):
        column = next(re.finditer(rf"\b{name}\b", text)).start() + 1
        raise error_at(column, f'"{name}"', " is the name of a setting: choose another")
    return tuple(Parameter(name, 1.0) for name in formula.parameters)
