"""A list of the catalogue's backward rules by their distance from a given rule, with a sentence on each."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import torch

from explorer.catalogue import CUSTOM_FAMILY, FIXED_RULES, OPS, RULES, Op, Rule, adapt_rule
from explorer.formula import format_number, format_percent
from explorer.measures.nearest import words
from explorer.measures.nearest.family import Family, needs_op
from explorer.measures.nearest.fitting import EXACT, Fit, Fitter
from explorer.measures.nearest.target import KINK_MARGIN, Target

_MAX_DIGITS = 7  # maximum digits of fitted numbers if the fit is exact
_FEW_DIGITS = 3  # digits of fitted numbers otherwise
_BETTER = 0.98  # a fit with more parameters has to reduce the distance to less than this fraction
_EQUAL_VALUES = 1e-6  # the tolerance for equal values at kinks, as a fraction of the largest value
_UNRELATED = 0.995  # relative distance from which curves have nothing in common
_MAX_CACHED = 4096  # number of cached results, which take about 20 MB with their targets


@dataclass(frozen=True)
class Neighbour:
    """A catalogue rule near a given backward rule.

    On the compared range, the given rule is about ``factor * rule((x - shift) / width)``.

    Attributes:
        rule: key of ``RULES``.
        factor: the factor; 1 if the parameters suffice.
        width: the relative width; 1 if the parameters suffice.
        shift: the shift in x; 0 if the parameters suffice.
        distance: the root mean square of the residual, relative to that of the given rule; 0 for the same
            curve.
        parameters: the values of the rule's parameters, without those that the op has too.
        differs: the single x at which two otherwise equal curves differ.
        where: the x of the largest difference, or the first of ``differs``; None if the curves are equal.
        sentence: a description of these results.
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
        """True if the catalogue rule's curve equals the given rule's over the range, except at single x."""
        return self.distance <= EXACT

    @property
    def changes(self) -> int:
        """The number of changes among factor, width and shift; parameters do not count."""
        return (self.factor != 1) + (self.width != 1) + (self.shift != 0)


class Neighbours(list[Neighbour]):
    """A list of similar rules, nearest first, which is displayed as sentences."""

    def __repr__(self) -> str:
        return "\n".join(neighbour.sentence for neighbour in self)

    def _repr_html_(self) -> str:
        rows = (f"<tr><td>{html.escape(neighbour.sentence)}</td></tr>" for neighbour in self)
        return f"<table>{''.join(rows)}</table>"


def list_candidates(op: Op) -> list[Rule]:
    """Return the deterministic backward rules that suit an op, or all of them for a custom op.

    Rules that learn are left out: the gradients of their parameters define them, and as functions of x they
    coincide with other rules.
    """
    is_custom = op.family == CUSTOM_FAMILY
    rules = [rule for rule in FIXED_RULES if not rule.learned]
    return [rule for rule in rules if is_custom or not rule.suits or op.family in rule.suits]


def find_neighbours(
    op: Op, target: Target, settings: Mapping[str, float], rules: Sequence[Rule]
) -> Neighbours:
    """Return the rules with the most similar curves to a target curve, nearest first, then simplest."""
    neighbours = (_compare_rule(op, rule, settings, target) for rule in rules)
    related = (neighbour for neighbour in neighbours if neighbour.distance <= _UNRELATED)
    return Neighbours(sorted(related, key=_rank))


def _rank(neighbour: Neighbour) -> tuple[float, ...]:
    index = float(list(RULES).index(neighbour.rule))
    if not neighbour.is_same:
        return neighbour.distance, index
    defaults = {p.name: p.default for p in RULES[neighbour.rule].parameters}
    moved = sum(value != defaults[name] for name, value in neighbour.parameters.items())
    return 0.0, neighbour.changes, bool(neighbour.differs), moved, len(neighbour.parameters), index


def _compare_rule(op: Op, rule: Rule, settings: Mapping[str, float], target: Target) -> Neighbour:
    """Compare a rule with a target. The result is cached for all ops if it does not depend on the op."""
    if rule.linear and target.is_linear:
        target = target.first
    if needs_op(rule, op):
        return _compute_neighbour(op, rule, tuple(sorted(settings.items())), target)
    return _compute_neighbour(OPS["identity"], rule, (), target)


@lru_cache(maxsize=_MAX_CACHED)
def _compute_neighbour(op: Op, rule: Rule, items: tuple[tuple[str, float], ...], target: Target) -> Neighbour:
    settings, rule = dict(items), adapt_rule(op, rule)
    family = Family(op, rule, settings, target.span, target.upstream)
    fitting = Fitter(family, target)
    fits = _find_fits(fitting)
    best = min(fit.distance for fit in fits)
    # The first fit has the fewest changes; one with more changes has to be clearly better.
    plainest = next(fit for fit in fits if fit.distance <= max(EXACT, best / _BETTER))
    fit = _round_fit(fitting, plainest)
    *fitted, width, shift = family.to_numbers(fit.member[None])[0].tolist()
    parameters = dict(zip((p.name for p in family.parameters), fitted, strict=True))
    single = _find_differences(family, fit, target) if fit.is_exact else []
    fitted_rule = words.FittedRule(op, rule, parameters, settings, fit.factor, width, shift)
    if fit.is_exact:
        where = single[0].x if single else None
        sentence = words.describe_match(fitted_rule, single, target.span, len(target.kinks))
    else:
        where = fitting.find_worst_x(fit)
        off = f"{format_percent(fit.distance)} off, most at x = {format_number(where)}"
        sentence = f"{fitted_rule.describe()}: {off}."
    differs = tuple(one.x for one in single)
    shown = {p.display_name: parameters[p.name] for p in family.parameters}
    return Neighbour(rule.key, fit.factor, width, shift, fit.distance, shown, differs, where, sentence)


def _find_fits(fitting: Fitter) -> list[Fit]:
    """Return fits to a target, found with a few upstream gradients to save time, but evaluated with all."""
    if not fitting.target.size:
        return fitting.find_fits()
    target = fitting.target.subset
    fits = Fitter(replace(fitting.family, upstream=target.upstream), target).find_fits()
    return [fitting.make_fits(fit.member[None], 1.0 if fit.factor == 1 else None)[0] for fit in fits]


def _round_fit(fitting: Fitter, fit: Fit) -> Fit:
    if not fitting.target.size:
        return fit
    free = fit.factor if fit.factor == 1 else None
    numbers = fitting.family.to_numbers(fit.member[None])[0].tolist()
    if not fit.is_exact:
        numbers[-1] = round(numbers[-1] / fitting.target.width, _FEW_DIGITS) * fitting.target.width
        member = fitting.family.make_member([_round_number(number, _FEW_DIGITS) for number in numbers])
        (fit,) = fitting.make_fits(member[None], free)
        return fitting.make_fits(member[None], _round_number(fit.factor, _FEW_DIGITS))[0]
    defaults = fitting.family.to_numbers(fitting.family.default[None])[0].tolist()
    for index, number in enumerate(numbers):
        values = [defaults[index], 0.0, *_list_roundings(number)]
        shorter = [[*numbers[:index], value, *numbers[index + 1 :]] for value in values]
        members = torch.stack([fitting.family.make_member(row) for row in shorter])
        limit = fitting.measure_kink_distance(fit.member[None]) + KINK_MARGIN / 2
        is_near = fitting.measure_kink_distance(members) <= limit
        fits = fitting.make_fits(members[is_near], free) if is_near.any() else []
        shorter = [row for row, close in zip(shorter, is_near.tolist(), strict=True) if close]
        first = _find_first_exact(fits)
        if first is not None:
            fit, numbers = fits[first], shorter[first]
    factors = [fitting.make_fits(fit.member[None], value)[0] for value in _list_roundings(fit.factor)]
    first = _find_first_exact(factors)
    return fit if first is None else factors[first]


def _find_first_exact(fits: list[Fit]) -> int | None:
    return next((index for index, fit in enumerate(fits) if fit.is_exact), None)


def _list_roundings(number: float) -> list[float]:
    return [_round_number(number, digits) for digits in range(1, _MAX_DIGITS + 1)]


def _round_number(number: float, digits: int) -> float:
    return float(f"{number:.{digits}g}")


def _find_differences(family: Family, fit: Fit, target: Target) -> list[words.Single]:
    tolerance = _EQUAL_VALUES * float(target.values.abs().max())
    single = []
    for x, values in zip(target.kinks, target.at_kinks.unbind(1), strict=True):
        candidates = fit.factor * family.evaluate_at(fit.member, x, KINK_MARGIN * target.width)
        matches = [
            torch.allclose(values, other, rtol=0, atol=tolerance, equal_nan=True)
            for other in candidates.unbind(1)
        ]
        if not any(matches):
            single.append(words.Single(x, float(values[0]), float(candidates[0, 0])))
    return single
