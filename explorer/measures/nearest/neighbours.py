"""The rules of the catalogue by their distance from a target, each with a sentence."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import torch

from explorer.catalogue import FIXED_RULES, OPS, OWN_FAMILY, RULES, Op, Rule, beside
from explorer.measures.nearest import words
from explorer.measures.nearest.family import Family, depends
from explorer.measures.nearest.fitting import EXACT, Fit, Fitting
from explorer.measures.nearest.target import BESIDE_KINK, Target

_DIGITS = 7  # a fitted number is written with as few digits as will do
_FEW_DIGITS = 3  # and where it is not the same curve anyway
_BETTER = 0.98  # a freer fit must leave less than this share of what a plainer one leaves
_EQUAL_VALUES = 1e-6  # of the largest: single values that are as near are the same
_NOTHING = 0.995  # of the target's size: with more left nothing is in common
_MOST_CACHED = 4096  # answers, with the targets that several share about 20 MB


@dataclass(frozen=True)
class Neighbour:
    """A rule of the catalogue beside another rule, which ``factor * rule((x - shift) / width)`` comes near.

    It holds on the compared range alone.

    Attributes:
        rule: key of ``RULES``.
        factor, width, shift: 1, 1 and 0 where the parameters alone do it.
        distance: the root mean square of the residual, as a share of the other rule's own: 0 for the
            same curve.
        parameters: the values of the rule's parameters; those the op has too are the op's and not told.
        differs: the single x at which two curves that are otherwise the same differ.
        where: the x of the largest difference; None without one.
        sentence: all of it in words.
    """

    rule: str
    factor: float
    width: float
    shift: float
    distance: float
    parameters: Mapping[str, float]
    differs: tuple[float, ...]
    where: float | None
    sentence: str

    @property
    def is_same(self) -> bool:
        """Whether it is the same curve over the range, single x left out."""
        return self.distance <= EXACT

    @property
    def changes(self) -> int:
        """The number among factor, width and shift that are needed beside the parameters."""
        return (self.factor != 1) + (self.width != 1) + (self.shift != 0)


class Neighbours(list[Neighbour]):
    """Neighbours, the nearest first; shown as their sentences."""

    def __repr__(self) -> str:
        return "\n".join(neighbour.sentence for neighbour in self)

    def _repr_html_(self) -> str:
        rows = (f"<tr><td>{html.escape(neighbour.sentence)}</td></tr>" for neighbour in self)
        return f"<table>{''.join(rows)}</table>"


def suiting(op: Op) -> list[Rule]:
    """The rules that make sense for an op; all of them for one that is not of the catalogue.

    Rules for what draws are left out. So are those that learn: they are known by what their parameters get,
    and for x are others again.
    """
    own = op.family == OWN_FAMILY
    rules = [rule for rule in FIXED_RULES if not rule.learned]
    return [rule for rule in rules if own or not rule.suits or op.family in rule.suits]


def neighbours(op: Op, target: Target, settings: Mapping[str, float], rules: Sequence[Rule]) -> Neighbours:
    """Rules with something in common with a target, the nearest first, of the same curves the plainest."""
    neighbours = (_neighbour(op, rule, settings, target) for rule in rules)
    return Neighbours(sorted((one for one in neighbours if one.distance <= _NOTHING), key=_rank))


def _rank(one: Neighbour) -> tuple[float, ...]:
    index = float(list(RULES).index(one.rule))
    if not one.is_same:
        return one.distance, index
    usual = {p.name: p.default for p in RULES[one.rule].parameters}
    moved = sum(value != usual[name] for name, value in one.parameters.items())
    return 0.0, one.changes, bool(one.differs), moved, len(one.parameters), index


def _neighbour(op: Op, rule: Rule, settings: Mapping[str, float], target: Target) -> Neighbour:
    """A rule beside a target; computed once for all ops where the rule does not depend on the op."""
    if rule.linear and target.is_linear:
        target = target.first
    if depends(rule, op):
        return _computed(op, rule, tuple(sorted(settings.items())), target)
    return _computed(OPS["identity"], rule, (), target)


@lru_cache(maxsize=_MOST_CACHED)
def _computed(op: Op, rule: Rule, chosen: tuple[tuple[str, float], ...], target: Target) -> Neighbour:
    settings, rule = dict(chosen), beside(op, rule)
    family = Family(op, rule, settings, target.span, target.upstream)
    fitting = Fitting(family, target)
    fit = _tidied(fitting, _plainest(_fits(fitting)))
    *fitted, width, shift = family.numbers(fit.member[None])[0].tolist()
    parameters = dict(zip((p.name for p in family.parameters), fitted, strict=True))
    single = _differing(family, fit, target) if fit.is_exact else []
    fitted_rule = words.FittedRule(op, rule, parameters, settings, fit.factor, width, shift)
    if fit.is_exact:
        where, sentence = single[0].x if single else None, words.same(fitted_rule, single, target.span)
    else:
        where = fitting.worst(fit)
        sentence = words.near(fitted_rule, fit.distance, where)
    differs = tuple(one.x for one in single)
    shown = {p.shown: parameters[p.name] for p in family.parameters}
    return Neighbour(rule.key, fit.factor, width, shift, fit.distance, shown, differs, where, sentence)


def _fits(fitting: Fitting) -> list[Fit]:
    """Return the fits that are found at few upstream gradients, which takes long, measured at all of them."""
    if not fitting.target.size:
        return fitting.fits()
    few = fitting.target.few
    found = Fitting(replace(fitting.family, upstream=few.upstream), few).fits()
    return [fitting.measured(fit.member[None], 1.0 if fit.factor == 1 else None)[0] for fit in found]


def _plainest(fits: list[Fit]) -> Fit:
    """The most restricted fit that a freer one does not clearly beat."""
    best = min(fit.distance for fit in fits)
    return next(fit for fit in fits if fit.distance <= max(EXACT, best / _BETTER))


def _tidied(fitting: Fitting, fit: Fit) -> Fit:
    """A fit in numbers of as few digits as will do."""
    if not fitting.target.size:
        return fit
    free = fit.factor if fit.factor == 1 else None
    numbers = fitting.family.numbers(fit.member[None])[0].tolist()
    if not fit.is_exact:
        numbers[-1] = round(numbers[-1] / fitting.target.width, _FEW_DIGITS) * fitting.target.width
        member = fitting.family.member([_rounded(number, _FEW_DIGITS) for number in numbers])
        (fit,) = fitting.measured(member[None], free)
        return fitting.measured(member[None], _rounded(fit.factor, _FEW_DIGITS))[0]
    usual = fitting.family.numbers(fitting.family.usual[None])[0].tolist()
    for index, number in enumerate(numbers):
        values = [usual[index], *_shorter(number)]
        shorter = [[*numbers[:index], value, *numbers[index + 1 :]] for value in values]
        members = torch.stack([fitting.family.member(row) for row in shorter])
        stays = fitting.apart(members) <= fitting.apart(fit.member[None]) + BESIDE_KINK / 2
        tried = fitting.measured(members[stays], free) if stays.any() else []
        shorter = [row for row, close in zip(shorter, stays.tolist(), strict=True) if close]
        first = _first_exact(tried)
        if first is not None:
            fit, numbers = tried[first], shorter[first]
    factors = [fitting.measured(fit.member[None], value)[0] for value in _shorter(fit.factor)]
    first = _first_exact(factors)
    return fit if first is None else factors[first]


def _first_exact(fits: list[Fit]) -> int | None:
    return next((index for index, fit in enumerate(fits) if fit.is_exact), None)


def _shorter(number: float) -> list[float]:
    """A number in ever more digits."""
    return [_rounded(number, digits) for digits in range(1, _DIGITS + 1)]


def _rounded(number: float, digits: int) -> float:
    return float(f"{number:.{digits}g}")


def _differing(family: Family, fit: Fit, target: Target) -> list[words.Single]:
    """The kinks at which a target and a fit of the same curve have different values."""
    tolerance = _EQUAL_VALUES * float(target.values.abs().max())
    single = []
    for x, own in zip(target.kinks, target.at_kinks.unbind(1), strict=True):
        others = fit.factor * family.values_at(fit.member, x, BESIDE_KINK * target.width)
        same = [
            torch.allclose(own, other, rtol=0, atol=tolerance, equal_nan=True) for other in others.unbind(1)
        ]
        if not any(same):
            single.append(words.Single(x, float(own[0]), float(others[0, 0])))
    return single
