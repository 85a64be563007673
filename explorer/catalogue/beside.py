"""The values of an op and a rule: a parameter they share, and names that mean two different things."""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any

from explorer.catalogue.kinks import Lattice
from explorer.catalogue.losses import Loss
from explorer.catalogue.records import Learned, Op, Parameter, Rule
from explorer.formula import listed, number_text, quoted, shortened

APART = "{}_rule"  # a rule's name beside an op that has the name in another meaning


def mean_apart(own: Parameter, other: Parameter) -> bool:
    """Whether the op's and the rule's parameter of one name are two: what they stand for differs.

    So it is too where the op's default is a value at which the rule means nothing.
    """
    differ = "" not in (own.quantity, other.quantity) and own.quantity != other.quantity
    return differ or not other.admits(own.default)


def beside(op: Op, rule: Rule) -> Rule:
    """The rule as it stands beside an op: a name that the op has in another meaning is another name.

    Beside ``elu`` the ``alpha`` of ``dsq`` is ``alpha_rule`` in all formulas, and in code; links and keywords
    may also say ``dsq.alpha``. A rule that shares no such name is returned as it is, and so is one that was
    returned here.
    """
    own = {p.name: p for p in op.parameters}
    names = tuple(p.name for p in rule.parameters if p.name in own and mean_apart(own[p.name], p))
    return _renamed(rule, names) if names else rule


@lru_cache(maxsize=256)
def _renamed(rule: Rule, names: tuple[str, ...]) -> Rule:
    """A rule with other names for some of its parameters."""
    pattern = re.compile(rf"\b({'|'.join(names)})\b")

    def said(text: str | None) -> Any:
        return text and pattern.sub(lambda match: APART.format(match[0]), text)

    def parameter(old: Parameter) -> Parameter:
        new = replace(old, name=said(old.name), below=said(old.below))
        return replace(new, plain=old.name) if old.name in names else new

    def learned(old: Learned) -> Learned:
        return replace(old, name=said(old.name), formula=said(old.formula), scale=said(old.scale))

    def kink(old: str | Lattice) -> str | Lattice:
        if isinstance(old, str):
            return str(said(old))
        return Lattice(**{each.name: said(getattr(old, each.name)) for each in fields(old)})

    return replace(
        rule,
        formula=said(rule.formula),
        parameters=tuple(map(parameter, rule.parameters)),
        kinks=None if rule.kinks is None else tuple(map(kink, rule.kinks)),
        antiderivative=said(rule.antiderivative),
        area=said(rule.area),
        learned=tuple(map(learned, rule.learned)),
    )


def narrowed(own: Parameter, other: Parameter) -> Parameter:
    """The op's parameter in the domain of a rule that shares it; the rule's ends where its own leave it."""
    if not other.domain:
        return own
    if other.admits(own.low) and other.admits(own.high):
        return replace(own, domain=own.domain or other.domain)
    low, high = min(other.low, own.default), max(other.high, own.default)
    return replace(own, low=low, high=high, domain=other.domain)


def qualified(rule: Rule, parameter: Parameter) -> str:
    """The name of a rule's parameter that no other rule has: ``clipped.c``."""
    return f"{rule.key}.{parameter.shown}"


def in_formulas(op: Op, rule: Rule, name: str) -> str:
    """The name in formulas of a parameter that is given by name, or by ``rule.name``."""
    known = {qualified(rule, p): p.name for p in beside(op, rule).parameters}
    return known.get(name, name)


def values(op: Op, rule: Rule | None, settings: Mapping[str, float]) -> dict[str, float]:
    """Values of all parameters of an op and a rule, by their names in formulas.

    A name that both have in one meaning is one parameter, with the op's default. A name that they have in
    two meanings is the op's; the rule's value is under ``rule.name`` (see ``beside``). ``settings`` holds
    chosen values by name, or by ``rule.name`` (``clipped.c``) for one rule only; what it does not hold is at
    its default, and names neither has are passed over.
    """
    chosen = {p.name: settings.get(p.name, p.default) for p in op.parameters}
    for p in beside(op, rule).parameters if rule else ():
        shared = settings.get(p.name, p.default)
        chosen.setdefault(p.name, settings.get(qualified(rule, p), shared) if rule else shared)
    return chosen


def checked(
    op: Op,
    rules: Sequence[Rule],
    parameters: Mapping[str, float],
    tensors: Collection[str] = (),
    loss: Loss | None = None,
) -> dict[str, float]:
    """Parameter values as floats; ``tensors`` are the names of further ones, which are no numbers.

    ``loss``: that of a pair that draws, whose parameters may be given as well.

    Raises ValueError for a name that no entry has, for a value that is not finite, and for one outside the
    domain of an entry that takes it.
    """
    own = [beside(op, rule) for rule in rules]
    known = {p.name for entry in (op, *own) for p in entry.parameters}
    known |= {p.name for p in loss.parameters} if loss else set()
    known_of_one = {qualified(rule, p) for rule in own for p in rule.parameters}
    for name in (*parameters, *tensors):
        if name not in known | known_of_one:
            takes = f"takes {', '.join(sorted(known))}" if known else "takes no parameters"
            keys = [shortened(entry.key) for entry in (op, *rules)]
            chosen = f"{keys[0]} with {', '.join(keys[1:])}"
            raise ValueError(f"unknown parameter {quoted(name)}: {chosen} {takes}")
    result = {name: finite(f"parameter {shortened(name)}", value) for name, value in parameters.items()}
    for rule in rules:
        require_admitted(op, rule, result)
    return result


def require_admitted(op: Op, rule: Rule, settings: Mapping[str, float]) -> None:
    """Raise ValueError where a value, as for ``values``, lies outside the domain of an entry."""
    chosen = values(op, rule, settings)
    for entry in (op, beside(op, rule)):
        own = {p.shown: chosen[p.name] for p in entry.parameters}
        for p in entry.parameters:
            if not p.admits(own[p.shown], own):
                told = [p.shown, *(name for name in own if name != p.shown and name in p.conditioned)]
                given = listed([f"{name} = {number_text(own[name])}" for name in told])
                raise ValueError(f"{shortened(entry.key)} needs {p.domain}, not {given}")


def finite(name: str, value: Any) -> float:
    """A finite float; ValueError with its name for anything else, texts and truth values included."""
    try:
        if isinstance(value, bool | str):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be a number, not {quoted(value)}") from None
    if not math.isfinite(number):
        raise ValueError(f"{name} must be a finite number, not {quoted(value)}")
    return number
