"""The table of an observation: one row a site."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from explorer.catalogue import OPS, RULES, Op, Rule
from explorer.gradient import bind
from explorer.model.observing.seen import Seen
from explorer.model.observing.statistics import Statistics

OWN = "own"
_COMPARED = 500  # elements by which a rule is named
_CLOSE = 1e-4


def rows_of(named: Mapping[str, Seen], turns: set[int]) -> list[dict[str, Any]]:
    """The rows of the sites, see ``Observation.frame``."""
    return [_row(name, seen, seen.statistics(turns)) for name, seen in named.items()]


def _row(name: str, seen: Seen, total: Statistics) -> dict[str, Any]:
    units = total.units if total.same_shape else None
    count, by_rule, from_above = units if units else (math.nan,) * 3
    known = bool(total.known)
    return {
        "site": name,
        "op": seen.site.op,
        "rule": seen.rule or rule_of(seen.site.op, seen.parameters, *total.sampled),
        "line": seen.site.line,
        "calls": total.calls,
        "x_mean": total.mean,
        "x_sd": total.spread,
        "g_out": math.sqrt(total.square_out) if known else math.nan,
        "g_in": math.sqrt(total.square_in) if known else math.nan,
        "share_grad": total.share(total.got),
        "blocked_here": total.share(total.blocked) if total.same_shape else math.nan,
        "none_came": total.share(total.none) if total.same_shape else math.nan,
        "units": count,
        "dead_by_rule": by_rule,
        "dead_from_above": from_above,
        "note": _note(seen, total),
    }


def _note(seen: Seen, total: Statistics) -> str:
    notes = [seen.kind] if seen.kind else []
    some = "in some calls " if total.known else ""
    notes += [f"{some}{reason}" for reason in dict.fromkeys(total.reasons)]
    if total.broken:
        notes.append(f"{total.broken} gradients are not finite")
    if not total.same_shape:
        notes.append("y has another shape than x")
    return "; ".join(notes)


def rule_of(op: str, parameters: Mapping[str, float], x: Tensor, g: Tensor, gradient: Tensor) -> str:
    """The key of the catalogue's rule that gives these gradients, (n,) float64 each.

    The op has these parameters, the rule its own defaults.

    "default" where torch's own does; ``OWN`` where none does; "" where no gradient came.
    """
    met = g.abs() > 1e-9 * g.abs().max() if len(g) else g.bool()
    every = max(1, int(met.sum()) // _COMPARED)
    x, g, gradient = (each[met][::every].float().double() for each in (x, g, gradient))
    if not len(x):
        return ""
    for rule in _candidates(op):
        with suppress(ValueError, RuntimeError):
            if _gives(op, rule, parameters, x, g, gradient):
                return rule.key
    return OWN


@lru_cache(maxsize=64)
def _candidates(op: str) -> tuple[Rule, ...]:
    """The rules to compare, those that are most usual first."""
    first = ["default"] if op in OPS else []
    family = OPS[op].family if op in OPS else ""
    suiting = [key for key, rule in RULES.items() if not rule.suits or family in rule.suits or not family]
    return tuple(RULES[key] for key in dict.fromkeys([*first, "straight_through", "zero", *suiting]))


def _gives(
    op: str, rule: Rule, parameters: Mapping[str, float], x: Tensor, g: Tensor, gradient: Tensor
) -> bool:
    known: str | Op = op if op in OPS else "identity"
    if rule.parsed is not None and op not in OPS and "y" in rule.parsed.variables:
        return False
    if rule.parsed is None and op not in OPS:
        return False
    bound = bind(known, rule, parameters)
    expected = bound.gradient(x, bound.forward(x), g)
    return bool(torch.allclose(expected, gradient, rtol=_CLOSE, atol=_CLOSE * float(g.abs().max()) + 1e-30))
