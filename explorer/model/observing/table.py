"""The tables of an observation, with one row per site and one row per parameter of the model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from explorer.model.observing.naming import measure_rule, op_of
from explorer.model.observing.rows import Row

if TYPE_CHECKING:
    from explorer.model.observing.listener import Listener

COLUMNS = (
    "site", "op", "computes", "rule", "line", "calls", "x_mean", "x_sd", "g_out", "g_in", "share_grad",
    "blocked_here", "none_came", "units", "dead_by_rule", "dead_from_above", "note",
)  # fmt: skip
PARAMETER_COLUMNS = ("parameter", "gradient", "site", "op", "line", "why")
_NOTES = {"trick": "detach trick", "mask": "mask computed from its own x"}


def make_row(name: str, row: Row) -> dict[str, Any]:
    """Return the row of a site in ``Observation.frame``. ``elements`` counts those with known gradients."""
    units = row.units
    count, by_rule, from_above = units if units else (math.nan,) * 3
    has_backward = bool(row.known)
    return {
        "site": name,
        "op": row.op,
        "computes": op_of(row),
        "rule": measure_rule(row),
        "line": row.site.line,
        "calls": row.calls,
        "x_mean": row.mean if row.elements else math.nan,
        "x_sd": math.sqrt(row.variance) if row.elements else math.nan,
        "g_out": math.sqrt(row.square_out) if has_backward else math.nan,
        "g_in": math.sqrt(row.square_in) if has_backward else math.nan,
        "share_grad": row.share(row.got),
        "blocked_here": row.share(row.blocked) if row.same_shape else math.nan,
        "none_came": row.share(row.none) if row.same_shape else math.nan,
        "units": count,
        "dead_by_rule": by_rule,
        "dead_from_above": from_above,
        "note": _note(row),
        "elements": row.known,
    }


def _note(row: Row) -> str:
    notes = [_NOTES[row.kind]] if row.kind in _NOTES else []
    notes += ["carries a detach trick"] if row.carries else []
    prefix = "in some calls " if row.known else ""
    notes += [f"{prefix}{reason}" for reason in row.reasons]
    if row.broken:
        notes.append(f"{row.broken} gradients are not finite")
    if not row.same_shape:
        notes.append("y has another shape than x")
    return "; ".join(notes)


def make_parameter_rows(listener: Listener, names: Mapping[Any, str]) -> list[dict[str, Any]]:
    """Return a table row for each parameter that took part in a backward; see ``Observation.parameters``."""
    rows: list[tuple[Any, ...]] = []
    for name, parameter in listener.model.named_parameters():
        blame = listener.blamed.get(name)
        if listener.arrived.get(name) or not parameter.requires_grad:
            gradient = "arrives" if listener.arrived.get(name) else "frozen"
            rows.append((name, gradient, "", "", math.nan, ""))
        elif blame is not None and blame.site is not None:
            site = names.get(blame.site, blame.site.names[0])
            rows.append((name, blame.gradient, site, blame.op, blame.site.line, blame.reason))
        elif blame is not None:
            rows.append((name, blame.gradient, "", "", math.nan, blame.reason))
    return [dict(zip(PARAMETER_COLUMNS, row, strict=True)) for row in rows]
