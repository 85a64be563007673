"""The parsing of custom formulas, which become ops and backward rules like those of the catalogue."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from explorer.catalogue.records import COUNT, COUNT_MESSAGE, RESERVED_NAMES, Learned, Op, Parameter, Rule
from explorer.formula import OP_NAMES, RULE_NAMES, Formula, FormulaError, parse
from explorer.formula.errors import make_error
from explorer.formula.printing import join_texts

FORMULA_PREFIX = "formula: "
# Matches an optional name before a custom formula, which becomes its label.
_NAMED = re.compile(r"\s*([A-Za-z0-9_]{1,40})\s*=(?!=)\s*")
# Matches the gradient of a parameter, such as "s: 1 / sqrt(N) * sum(g * x)".
_LEARNED = re.compile(r"\s*(?P<name>\w+)\s*:\s*(?:(?P<scale>.+?)\s*\*\s*)?sum\((?P<formula>.*)\)\s*")
_CACHED = 256  # number of cached parses; one page load parses each formula many times
_NO_PART = "after a semicolon, write how a parameter learns, such as s: sum(g * x)"


def make_custom_key(formula: str, name: str = "", learned: Sequence[Learned] = ()) -> str:
    """Return the key of a custom formula: ``formula: x**3``, or ``formula: Cube = x**3`` with a name.

    In a name, characters other than letters, digits and underscores become underscores, and it is cut at 40
    characters. Gradients of parameters follow semicolons, as in ``formula: g; hi: sum(g * (x >= hi))``.
    """
    name = re.sub(r"[^A-Za-z0-9_]+", "_", name)[:40]
    head = f"{FORMULA_PREFIX}{name} = {formula}" if name else FORMULA_PREFIX + formula
    return "; ".join([head, *map(_format_learned, learned)])


@lru_cache(_CACHED)
def parse_custom_op(text: str) -> Op:
    """Parse a formula in x as an op. The other names in the formula become parameters of the op.

    Raises FormulaError if the formula is invalid.
    """
    return Op(**_parse_fields(text, OP_NAMES, text), purpose="Your own op.")


@lru_cache(_CACHED)
def parse_custom_rule(text: str) -> Rule:
    """Parse a formula in x, y, g as a backward rule. Other names in the formula become its parameters.

    Gradients of parameters may follow after semicolons, as ``name: scale * sum(contribution)``. The
    contribution of one element is in x, y, g. The optional scale may use N, the number of elements that share
    the parameter. Raises FormulaError if any formula is invalid.
    """
    formula, *parts = text.split(";")
    fields = _parse_fields(formula, RULE_NAMES, text)
    learned = _parse_all_learned(parts, len(formula) + 1, text)
    parameters = {p.name: p for p in fields["parameters"]}
    if learned and COUNT in parameters:
        column = next(re.finditer(rf"\b{COUNT}\b", text)).start() + 1
        message = f'"{COUNT}" at column {column}: {COUNT_MESSAGE}'
        raise FormulaError(message, column, text)
    for name in dict.fromkeys(name for item in learned for name in sorted(item.parameter_names)):
        parameters.setdefault(name, Parameter(name, 1.0))
    key = "; ".join([fields["key"], *map(_format_learned, learned)])
    fields |= {"key": key, "parameters": tuple(parameters.values()), "learned": learned}
    rule = Rule(**fields, purpose="Your own backward rule.", group="own")
    label = rule.label.replace("_", " ") if rule.is_drawn else rule.label
    return replace(rule, label=label, brief=_describe_briefly(rule))


def _describe_briefly(rule: Rule) -> str:
    if rule.is_drawn:
        return "g times a line drawn by hand"
    parsed = rule.parsed
    assert parsed
    names = [name for name in "xyg" if name in parsed.variables]
    names += ["the loss"] if parsed.uses_loss else []
    names += ["a draw"] if {"u()", "normal()", "ya()"}.intersection(parsed.random_names) else []
    return f"your formula of {join_texts(names)}" if names else "your constant, whatever x and g are"


def _parse_all_learned(parts: Sequence[str], start: int, text: str) -> tuple[Learned, ...]:
    learned: dict[str, Learned] = {}
    for part in parts:
        item = _parse_learned(part, start, text)
        if item.name in learned:
            raise FormulaError(
                f"{item.name} has two gradients: remove one", start + 1 + _count_indent(part), text
            )
        learned[item.name] = item
        start += len(part) + 1
    return tuple(learned.values())


def _format_learned(learned: Learned) -> str:
    return f"{learned.name}: {learned.text}"


def _parse_learned(part: str, start: int, text: str) -> Learned:
    match = _LEARNED.fullmatch(part)
    if not match:
        raise FormulaError(_NO_PART, start + 1 + _count_indent(part), text)
    _parse_formula(match["name"], start + match.start("name"), (), text)
    formula_start = start + match.start("formula")
    formula = _parse_formula(match["formula"], formula_start, RULE_NAMES, text).text
    scale = match["scale"] and _parse_formula(match["scale"], start + match.start("scale"), (), text).text
    try:
        return Learned(match["name"], formula, scale)
    except FormulaError as error:
        raise _shift_error(error, formula_start, text) from None


def _count_indent(part: str) -> int:
    return len(part) - len(part.lstrip())


def _parse_formula(part: str, start: int, variables: tuple[str, ...], text: str) -> Formula:
    """Parse the formula ``part`` at index ``start`` of ``text``; errors give the column in ``text``."""
    try:
        formula = parse(part, variables=variables, parameters=None)
        _make_parameters(formula, part)
    except FormulaError as error:
        raise _shift_error(error, start, text) from None
    return formula


def _shift_error(error: FormulaError, start: int, text: str) -> FormulaError:
    column = error.column + start
    message = re.sub(rf"\bcolumn {error.column}\b", f"column {column}", error.message)
    return FormulaError(message, column, text)


def _parse_fields(part: str, variables: tuple[str, ...], text: str) -> dict[str, Any]:
    """Parse the op or rule at the start of a text; return the arguments of ``Op`` and ``Rule``."""
    name_match = _NAMED.match(part)
    name, start = (name_match[1], name_match.end()) if name_match else ("", 0)
    formula = _parse_formula(part[start:], start, variables, text)
    key, label = make_custom_key(formula.text, name), name or formula.text
    parameters = _make_parameters(formula, part[start:])
    return {"key": key, "label": label, "formula": formula.text, "parameters": parameters}


def _make_parameters(formula: Formula, text: str) -> tuple[Parameter, ...]:
    for name in filter(RESERVED_NAMES.__contains__, formula.parameters):
        column = next(re.finditer(rf"\b{name}\b", text)).start() + 1
        raise make_error(column, f'"{name}"', " is the name of a setting: choose another name")
    return tuple(Parameter(name, 1.0) for name in formula.parameters)
