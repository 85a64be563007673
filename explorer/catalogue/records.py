"""What an entry of the catalogue is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from explorer.formula import Formula, parse


@dataclass(frozen=True)
class Parameter:
    """A number an op or rule depends on.

    ``low`` and ``high`` bound the control on screen and the value in a link; in Python any finite
    value may be given. ``below`` names a parameter this one must not exceed.
    """

    name: str
    default: float
    low: float
    high: float
    meaning: str
    below: str | None = None


@dataclass(frozen=True)
class Lattice:
    """Kinks at ``offset + k * spacing`` for every integer k, within ``[low, high]`` where given.

    All four are formulas in the entry's parameters.
    """

    offset: str
    spacing: str
    low: str | None = None
    high: str | None = None


Kink = str | Lattice


@dataclass(frozen=True)
class Op:
    """An elementwise forward function ``y = f(x; parameters)``.

    Attributes:
        key: permanent name, used in links and code.
        label: name on screen.
        family: what kind of function it is, a key of ``FAMILIES``; rules say which they suit.
        formula: f in the formula language, in x and the parameters.
        kinks: where the derivative jumps or does not exist, as formulas in the parameters; None where
            that is not declared and must be found numerically.
        purpose: one sentence that says what it is for.
        source: where the formula was read; empty for torch's own functions.
        note: where sources disagree, or what to watch; one sentence.
    """

    key: str
    label: str
    family: str
    formula: str
    purpose: str
    parameters: tuple[Parameter, ...] = ()
    kinks: tuple[Kink, ...] | None = ()
    source: str = ""
    note: str = ""

    @cached_property
    def parsed(self) -> Formula:
        """The formula as a tree."""
        return parse(self.formula, variables=("x",), parameters=[p.name for p in self.parameters])


@dataclass(frozen=True)
class Rule:
    """A backward rule: the gradient ``r(x, y, g; parameters)`` returned in place of torch's own.

    Attributes:
        key: permanent name, used in links and code.
        label: name on screen.
        formula: r in the formula language; None stands for torch's own autograd of the op.
        kinks: where r jumps or has a corner in x, as formulas in the parameters; None as for an
            op. Where y stands in r, the op's kinks come on top.
        purpose: one sentence that says what it is for.
        group: where the picker lists it, a key of ``GROUPS``.
        suits: families of ops it makes sense for; empty: all.
        otherwise: why not for others, a sentence for the picker.
        linear: whether r is linear in g.
        primitive: formula in x whose derivative is r at g = 1, where one is known; linear rules only.
        area: integral of r over all x at g = 1, a formula in the parameters or "infinite"; linear
            rules only.
        source: paper or public file where the formula was read.
        note: where sources disagree, or what to watch; one sentence.
    """

    key: str
    label: str
    formula: str | None
    purpose: str
    parameters: tuple[Parameter, ...] = ()
    kinks: tuple[Kink, ...] | None = ()
    suits: tuple[str, ...] = ()
    otherwise: str = ""
    linear: bool = True
    primitive: str | None = None
    area: str | None = None
    source: str = ""
    note: str = ""
    group: str = "general"

    @cached_property
    def parsed(self) -> Formula | None:
        """The formula as a tree; None for torch's own autograd."""
        if self.formula is None:
            return None
        return parse(self.formula, parameters=[p.name for p in self.parameters])


def values(op: Op, rule: Rule | None, settings: Mapping[str, float]) -> dict[str, float]:
    """Values of all parameters of an op and a rule.

    A name both have is one parameter, with the op's default. ``settings`` holds chosen values by
    name, or by ``rule.name`` (``clipped.c``) for one rule only; what it does not hold is at its
    default, and names neither has are passed over.
    """
    chosen = {p.name: settings.get(p.name, p.default) for p in op.parameters}
    for parameter in rule.parameters if rule else ():
        if rule and f"{rule.key}.{parameter.name}" in settings and parameter.name not in chosen:
            chosen[parameter.name] = settings[f"{rule.key}.{parameter.name}"]
        chosen.setdefault(parameter.name, settings.get(parameter.name, parameter.default))
    return chosen


class TooManyKinksError(ValueError):
    """More kinks than a picture can show."""


def kink_points(
    kinks: tuple[Kink, ...], parameters: Mapping[str, float], start: float, stop: float, most: int
) -> list[float]:
    """The declared kinks within ``[start, stop]``, ascending and distinct.

    Raises TooManyKinksError where a lattice has more than ``most`` points in the interval: they could
    not be told apart in a picture.
    """
    found: set[float] = set()
    for kink in kinks:
        if isinstance(kink, Lattice):
            found.update(_lattice_points(kink, parameters, start, stop, most))
        else:
            found.add(_value(kink, parameters))
    return sorted(point for point in found if start <= point <= stop)


def _lattice_points(
    lattice: Lattice, parameters: Mapping[str, float], start: float, stop: float, most: int
) -> list[float]:
    offset, spacing = _value(lattice.offset, parameters), _value(lattice.spacing, parameters)
    low = start if lattice.low is None else max(start, _value(lattice.low, parameters))
    high = stop if lattice.high is None else min(stop, _value(lattice.high, parameters))
    if not spacing > 0:
        return []
    if not (high - low) / spacing <= most:
        raise TooManyKinksError(f"more than {most} kinks lie between {start:g} and {stop:g}")
    slack = 1e-9 * spacing
    first = -(-(low - offset - slack) // spacing)
    last = (high - offset + slack) // spacing
    return [offset + k * spacing for k in range(int(first), int(last) + 1)]


def _value(text: str, parameters: Mapping[str, float]) -> float:
    return parse(text, variables=(), parameters=list(parameters)).value(parameters)
