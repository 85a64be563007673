"""A neighbour in plain sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from explorer.catalogue import Op, Rule, values
from explorer.formula import listed, parse, percent

_MOST_SINGLE = 3  # more x than this are counted instead of listed
_PARTS = range(1, 13)  # numerators and denominators that a factor is recognised by
_IRRATIONAL = {
    "": 1.0, "π": math.pi, "1/π": 1 / math.pi, "√π": math.sqrt(math.pi), "1/√π": 1 / math.sqrt(math.pi),
    "√2": math.sqrt(2), "1/√2": 1 / math.sqrt(2), "√(2π)": math.sqrt(2 * math.pi),
    "1/√(2π)": 1 / math.sqrt(2 * math.pi), "√(π/2)": math.sqrt(math.pi / 2), "√(2/π)": math.sqrt(2 / math.pi),
}  # fmt: skip


@dataclass(frozen=True)
class FittedRule:
    """A rule beside an op, with its fitted parameters, factor, width and shift."""

    op: Op
    rule: Rule
    parameters: Mapping[str, float]
    settings: Mapping[str, float]
    factor: float
    width: float
    shift: float

    @property
    def name(self) -> str:
        """The name in sentences."""
        return self.rule.label if self.rule.formula else f"torch's own gradient of {self.op.label}"

    def text(self, source: str = "") -> str:
        """The rule with its fitted numbers in words; ``source`` follows a factor."""
        shown = {p.name: p.shown for p in self.rule.parameters}
        pairs = [f"{shown[name]} = {number(value)}" for name, value in self.parameters.items()]
        parts = [self.name + (f" with {listed(pairs)}" if pairs else "")]
        if self.factor != 1:
            parts.append(f"times {factor_text(self.factor)}{source}")
        if self.width != 1:
            parts.append(f"{number(self.width)} times as wide")
        if self.shift:
            parts.append(f"moved by {number(self.shift)}")
        return ", ".join(parts)

    @property
    def area(self) -> str:
        """The area after factor and width, in words; "" where it is no number."""
        scale = self.factor * self.width
        if self.rule.area in (None, "infinite", "0") or math.isclose(scale, 1):
            return ""
        bound = {**values(self.op, self.rule, self.settings), **self.parameters}
        usual = parse(str(self.rule.area), variables=(), parameters=None).value(bound)
        return f"; its area is {number(usual * scale)} instead of {number(usual)}" if usual else ""


@dataclass(frozen=True)
class Single:
    """An x at which two curves differ: the value of the rule, and that of the catalogue's."""

    x: float
    own: float
    other: float


def same(rule: FittedRule, single: Sequence[Single], span: tuple[float, float]) -> str:
    """The sentence for the same curve over a range, but for single x; what lies beyond is not known."""
    here = f"On {number(span[0])} to {number(span[1])} this"
    if not single:
        return f"{here} is {rule.text(_source(rule))}{rule.area}."
    where = listed([f"x = {number(one.x)}" for one in single])
    if len(single) > _MOST_SINGLE:
        return f"{here} differs from {rule.text(_source(rule))} at {len(single)} single x only{rule.area}."
    each = listed(list(dict.fromkeys(f"{number(one.own)} instead of {number(one.other)}" for one in single)))
    return f"{here} differs from {rule.text(_source(rule))} at {where} only, where it is {each}{rule.area}."


def _source(rule: FittedRule) -> str:
    return " (its source: 1)" if rule.rule.formula and rule.rule.source else ""


def near(rule: FittedRule, distance: float, where: float) -> str:
    """The sentence for another curve; ``distance`` is the share of the rule's size that is left."""
    return f"{percent(distance)} off {rule.text()}, most at x = {number(where)}."


def number(value: float) -> str:
    """A number in four digits."""
    return f"{value:.4g}".replace("-", "−")


def factor_text(factor: float) -> str:
    """A factor, and its closed form where there is one."""
    size = abs(factor)
    for name, value in _IRRATIONAL.items():
        for above, below in product(_PARTS, _PARTS):
            if math.gcd(above, below) == 1 and math.isclose(size, value * above / below, rel_tol=1e-6):
                made = ("−" if factor < 0 else "") + _product(above, below, name)
                is_short = math.isclose(size, float(f"{size:.4g}"), rel_tol=1e-9)
                return number(factor) if is_short else f"{number(factor)} = {made}"
    return number(factor)


def _product(above: int, below: int, name: str) -> str:
    """A fraction times a root or π: ``2/√π``, ``π/4``, ``2/3``."""
    over, _, under = name.partition("/")
    top = over if above == 1 and over else str(above) if over in ("", "1") else f"{above}{over}"
    bottom = f"{below if below > 1 else ''}{under}"
    return f"{top}/{f'({bottom})' if below > 1 and under else bottom}" if bottom else top
