"""Resolve the parameter values of an op with a rule; a name in both may mean one parameter or two."""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any

from explorer.catalogue.kinks import Lattice
from explorer.catalogue.losses import Loss
from explorer.catalogue.records import Learned, Op, Parameter, Rule
from explorer.formula import join_texts, number_text, quote, truncate

RENAMED = "{}_rule"  # new name of a rule's parameter whose name means something else in the op


def have_distinct_meanings(op_parameter: Parameter, rule_parameter: Parameter) -> bool:
    """Return whether an op's and a rule's parameter of the same name are different quantities.

    They are different if the declared quantities differ, or if the op's default is outside the domain of the
    rule's parameter.
    """
    quantities = {op_parameter.quantity, rule_parameter.quantity}
    is_distinct = "" not in quantities and len(quantities) == 2
    return is_distinct or not rule_parameter.is_valid(op_parameter.default)


def adapt_rule(op: Op, rule: Rule) -> Rule:
    """Return a backward rule in which parameters are renamed if their names mean something else in the op.

    With ``elu`` the ``alpha`` of ``dsq`` becomes ``alpha_rule`` in all formulas, and in code. Links and
    keyword arguments may also use ``dsq.alpha``. A rule without such names, or already adapted, is returned
    unchanged.
    """
    op_parameters = {p.name: p for p in op.parameters}
    names = tuple(
        p.name
        for p in rule.parameters
        if p.name in op_parameters and have_distinct_meanings(op_parameters[p.name], p)
    )
    return _rename_parameters(rule, names) if names else rule


@lru_cache(maxsize=256)
def _rename_parameters(rule: Rule, names: tuple[str, ...]) -> Rule:
    pattern = re.compile(rf"\b({'|'.join(names)})\b")

    def rename(text: str | None) -> Any:
        return text and pattern.sub(lambda match: RENAMED.format(match[0]), text)

    def rename_parameter(old: Parameter) -> Parameter:
        new = replace(old, name=rename(old.name), below=rename(old.below))
        return replace(new, plain=old.name) if old.name in names else new

    def rename_learned(old: Learned) -> Learned:
        return replace(old, name=rename(old.name), formula=rename(old.formula), scale=rename(old.scale))

    def rename_kink(old: str | Lattice) -> str | Lattice:
        if isinstance(old, str):
            return str(rename(old))
        return Lattice(**{field.name: rename(getattr(old, field.name)) for field in fields(old)})

    return replace(
        rule,
        formula=rename(rule.formula),
        parameters=tuple(map(rename_parameter, rule.parameters)),
        kinks=None if rule.kinks is None else tuple(map(rename_kink, rule.kinks)),
        antiderivative=rename(rule.antiderivative),
        area=rename(rule.area),
        learned=tuple(map(rename_learned, rule.learned)),
    )


def narrow_parameter(op_parameter: Parameter, rule_parameter: Parameter) -> Parameter:
    """Return an op's parameter, restricted to the domain of the rule's parameter that shares its value.

    Bounds outside that domain are replaced by the rule's, extended to include the op's default.
    """
    if not rule_parameter.domain:
        return op_parameter
    if rule_parameter.is_valid(op_parameter.low) and rule_parameter.is_valid(op_parameter.high):
        return replace(op_parameter, domain=op_parameter.domain or rule_parameter.domain)
    low, high = min(rule_parameter.low, op_parameter.default), max(rule_parameter.high, op_parameter.default)
    return replace(op_parameter, low=low, high=high, domain=rule_parameter.domain)


def qualify_name(rule: Rule, parameter: Parameter) -> str:
    """Return a parameter's name prefixed by the key of its rule, such as ``clipped.c``."""
    return f"{rule.key}.{parameter.display_name}"


def find_formula_name(op: Op, rule: Rule, name: str) -> str:
    """Return a parameter's name in formulas, given ``name`` or ``rule.name`` as a user writes it."""
    formula_names = {qualify_name(rule, p): p.name for p in adapt_rule(op, rule).parameters}
    return formula_names.get(name, name)


def resolve_values(op: Op, rule: Rule | None, settings: Mapping[str, float]) -> dict[str, float]:
    """Return a dict from the name of each parameter of an op and a rule to its value.

    ``settings`` maps names to values; a parameter without one has its default. ``rule.name``, such as
    ``clipped.c``, sets a value for one rule only. Unknown names are ignored.

    A name with the same meaning in op and rule is one parameter, with the op's default. A name with two
    meanings belongs to the op, and the rule's parameter is renamed (see ``adapt_rule``).
    """
    result = {p.name: settings.get(p.name, p.default) for p in op.parameters}
    for p in adapt_rule(op, rule).parameters if rule else ():
        shared = settings.get(p.name, p.default)
        result.setdefault(p.name, settings.get(qualify_name(rule, p), shared) if rule else shared)
    return result


def check_values(
    op: Op,
    rules: Sequence[Rule],
    parameters: Mapping[str, float],
    tensors: Collection[str] = (),
    loss: Loss | None = None,
) -> dict[str, float]:
    """Check the names, values and domains of parameters, and return the values as floats.

    ``tensors`` are the names of further parameters, which are tensors. The parameters of ``loss``, the loss
    of a stochastic op or rule, are accepted as well.

    Raises ValueError for a name that neither op nor rule has, for a value that is not finite, and for a value
    outside the domain of a parameter.
    """
    known = list_parameter_names(op, rules, loss)
    for name in (*parameters, *tensors):
        if name not in known:
            names = sorted(name for name, is_shared in known.items() if is_shared)
            accepted = f"takes {', '.join(names)}" if names else "takes no parameters"
            keys = [truncate(entry.key) for entry in (op, *rules)]
            pair = f"{keys[0]} with {', '.join(keys[1:])}"
            raise ValueError(f"unknown parameter {quote(name)}: {pair} {accepted}")
    result = {name: to_finite(f"parameter {truncate(name)}", value) for name, value in parameters.items()}
    for rule in rules:
        require_in_domain(op, rule, result)
    return result


def list_parameter_names(op: Op, rules: Sequence[Rule], loss: Loss | None = None) -> dict[str, bool]:
    """Return a dict of accepted parameter names: True for a plain name, False for the form ``rule.name``."""
    adapted = [adapt_rule(op, rule) for rule in rules]
    names = {qualify_name(rule, p): False for rule in adapted for p in rule.parameters}
    entries: tuple[Any, ...] = (op, *adapted, *([loss] if loss else []))
    return names | {p.name: True for entry in entries for p in entry.parameters}


def require_in_domain(op: Op, rule: Rule, settings: Mapping[str, float]) -> None:
    """Raise ValueError if a parameter value in ``settings`` is outside the domain of the op or the rule."""
    all_values = resolve_values(op, rule, settings)
    for entry in (op, adapt_rule(op, rule)):
        entry_values = {p.display_name: all_values[p.name] for p in entry.parameters}
        for p in entry.parameters:
            if not p.is_valid(entry_values[p.display_name], entry_values):
                others = p.domain_names - {p.display_name}
                names = [p.display_name, *(name for name in entry_values if name in others)]
                assignments = join_texts([f"{name} = {number_text(entry_values[name])}" for name in names])
                raise ValueError(f"{truncate(entry.key)} needs {p.domain}, not {assignments}")


def to_finite(name: str, value: Any) -> float:
    """Return a number as a finite float, or raise ValueError, naming ``name``, for any other value."""
    try:
        if isinstance(value, bool | str):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be a number, not {quote(value)}") from None
    if not math.isfinite(number):
        raise ValueError(f"{name} must be a finite number, not {quote(value)}")
    return number
