"""Sentences on how a backward rule resembles one of the catalogue."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from explorer.catalogue import Op, Rule, resolve_values
from explorer.formula import format_number, join_texts, parse

_MAX_LISTED = 3  # if there are more x, they are counted instead of listed
_EXACT = 2.0**-20  # multiples of this are exact, as are sums and differences of them
_PARTS = range(1, 13)  # numerators and denominators of factors that are written as fractions
_IRRATIONAL = {
    "": 1.0, "π": math.pi, "1/π": 1 / math.pi, "√π": math.sqrt(math.pi), "1/√π": 1 / math.sqrt(math.pi),
    "√2": math.sqrt(2), "1/√2": 1 / math.sqrt(2), "√(2π)": math.sqrt(2 * math.pi),
    "1/√(2π)": 1 / math.sqrt(2 * math.pi), "√(π/2)": math.sqrt(math.pi / 2), "√(2/π)": math.sqrt(2 / math.pi),
}  # fmt: skip


@dataclass(frozen=True)
class FittedRule:
    """A catalogue rule with the parameters, factor, width and shift that were fitted to another rule.

    ``settings`` are the values of all other parameters, where they are not the defaults.
    """

    op: Op
    rule: Rule
    parameters: Mapping[str, float]
    settings: Mapping[str, float]
    factor: float
    width: float
    shift: float

    @property
    def name(self) -> str:
        """The name of the rule in sentences, such as "Clipped"."""
        return self.rule.label if self.rule.formula else f"torch's own gradient of {self.op.label}"

    def describe(self, source: str = "") -> str:
        """Return a phrase for the rule with its fitted numbers; the text ``source`` follows a factor."""
        shown = {p.name: p.display_name for p in self.rule.parameters}
        pairs = [f"{shown[name]} = {format_number(value)}" for name, value in self.parameters.items()]
        parts = [self.name + (f" with {join_texts(pairs)}" if pairs else "")]
        if self.factor != 1:
            parts.append(f"times {format_factor(self.factor)}{source}")
        if self.width != 1:
            parts.append(f"{format_number(self.width)} times as wide")
        if self.shift:
            parts.append(f"moved by {format_number(self.shift)}")
        return ", ".join(parts)

    @property
    def area(self) -> str:
        """A clause that says how factor and width change the rule's integral, or "" if they do not."""
        scale = self.factor * self.width
        if self.rule.area in (None, "infinite", "0") or math.isclose(scale, 1):
            return ""
        bound = {**resolve_values(self.op, self.rule, self.settings), **self.parameters}
        area = parse(str(self.rule.area), variables=(), parameters=None).value(bound)
        return f"; its area is {format_number(area * scale)} instead of {format_number(area)}" if area else ""


@dataclass(frozen=True)
class Single:
    """An isolated x at which two otherwise equal curves have different values.

    Attributes:
        x: the position.
        value: the value of the given rule.
        catalogue_value: the value of the catalogue's rule.
    """

    x: float
    value: float
    catalogue_value: float


def describe_match(rule: FittedRule, single: Sequence[Single], span: tuple[float, float], kinks: int) -> str:
    """Return a sentence on a rule that equals a fitted one on ``span``, except at the x in ``single``.

    If these are some of its ``kinks`` and have no exact float64, rounding may decide which, so none is named.
    """
    here = f"On {format_number(span[0])} to {format_number(span[1])} this"
    name = rule.describe(" (1 in its source)" if rule.rule.formula and rule.rule.source else "")
    if not single:
        return f"{here} is {name}{rule.area}."
    if len(single) < kinks and any(one.x % _EXACT for one in single):
        return f"{here} is {name}, but for single values at its bounds{rule.area}."
    places = join_texts([f"x = {format_number(one.x)}" for one in single])
    if len(single) > _MAX_LISTED:
        return f"{here} differs from {name} only at {len(single)} isolated x{rule.area}."
    pairs = [(format_number(one.value), format_number(one.catalogue_value)) for one in single]
    values = join_texts(dict.fromkeys(f"{value} instead of {other}" for value, other in pairs))
    return f"{here} differs from {name} only at {places}: {values}{rule.area}."


def format_factor(factor: float) -> str:
    """Return a factor as text, with a closed form such as π/4 if it has a simple one."""
    size = abs(factor)
    for name, value in _IRRATIONAL.items():
        for above, below in product(_PARTS, _PARTS):
            if math.gcd(above, below) == 1 and math.isclose(size, value * above / below, rel_tol=1e-6):
                closed_form = ("−" if factor < 0 else "") + _format_product(above, below, name)
                is_short = math.isclose(size, float(f"{size:.4g}"), rel_tol=1e-9)
                return format_number(factor) if is_short else f"{format_number(factor)} = {closed_form}"
    return format_number(factor)


def _format_product(above: int, below: int, name: str) -> str:
    over, _, under = name.partition("/")
    top = over if above == 1 and over else str(above) if over in ("", "1") else f"{above}{over}"
    bottom = f"{below if below > 1 else ''}{under}"
    return f"{top}/{f'({bottom})' if below > 1 and under else bottom}" if bottom else top
