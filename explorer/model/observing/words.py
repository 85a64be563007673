"""Description of an observation in sentences, as plain text without markup."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from typing import Any

from explorer.formula import format_percent, join_texts
from explorer.model.observing.recorder import UNNEEDED

Row = Mapping[str, Any]
_MOST_BLOCKED = 0.5  # a site that blocks more than this fraction gets a sentence
_GETS = {
    "none": "no gradient", "zero": "only a gradient of zero", "not finite": "a gradient with NaN or infinity",
}  # fmt: skip
_FEW = 16  # elements per unit; with fewer, many units are dead by chance
_NAMED = 3  # maximum number of parameters or sites named in one sentence


def sentences(
    rows: Sequence[Row], parameters: Sequence[Row], unseen: Sequence[object], with_backward: bool,
    is_called: bool,
) -> list[str]:  # fmt: skip
    """Return the sentences of ``describe``, most important first."""
    if not is_called:
        return ["Nothing was observed: the model has not been called inside the block, as model(x)."]
    told = {row["site"] for row in parameters} - {""}
    if not rows:
        found = [] if told else ["No op of the catalogue was seen to be called."]
    elif not with_backward:
        count = f"{len(rows)} site{'s' * (len(rows) > 1)}"
        found = [*_describe_cuts(rows, told), f"{count}; no backward has run of these forward passes."]
    else:
        blamed = [*_describe_blame(rows), *_describe_victims(rows)]
        is_total = any(_is_shown_dead(row) and row["dead_by_rule"] == row["units"] for row in rows)
        cuts = _describe_cuts(rows, told)  # a cut stops more than a rule that stops some units
        tricks = [
            (row, f" is a detach trick, whose backward is {row['rule']}.")
            for row in rows if row["note"].startswith("detach trick") and row["rule"]
        ]  # fmt: skip
        found = [*(blamed + cuts if is_total else cuts + blamed), *_group_alike(tricks)]
    said = [*_describe_parameters(parameters), *found] or ["No site blocks any gradient."]
    return [*said, *(f"Unseen: {item}." for item in unseen)]


def _describe_parameters(rows: Sequence[Row]) -> list[str]:
    groups: dict[tuple[str, str, str, str], list[str]] = {}
    for row in rows:
        if row["gradient"] in _GETS:
            key = row["gradient"], row["site"], row["op"], row["why"]
            groups.setdefault(key, []).append(row["parameter"])
    said = []
    for (gradient, site, op, reason), names in groups.items():
        some = f"{len(names)} parameters ({', '.join(names[:_NAMED])}, …)"
        subject = join_texts(names) if len(names) <= _NAMED else some
        verb = "which comes from" if gradient == "not finite" else "stopped at"
        cause = f"{verb} {_place(site, op)}: {reason}" if site else f"since {reason}"
        get = "they get" if len(names) > 1 else "it gets"
        said.append(f"{subject} cannot learn: {get} {_GETS[gradient]}, {cause}.")
    return said


def _place(site: str, op: str) -> str:
    return site if op in site else f"{site} ({op})"


def _describe_blame(rows: Sequence[Row]) -> list[str]:
    rows = [row for row in rows if not row["note"].startswith("carries")]
    dead = sorted(filter(_is_shown_dead, rows), key=lambda row: -row["dead_by_rule"] / row["units"])
    if dead:
        return _group_alike([(row, _describe_dead(row)) for row in dead])
    blocking = [row for row in rows if row["blocked_here"] > 0]
    if not blocking:
        return []
    worst = max(blocking, key=lambda row: row["blocked_here"])
    share = f"{format_percent(worst['blocked_here'])} of its elements"
    if worst["blocked_here"] > _MOST_BLOCKED:
        return [f"{_place(worst['site'], worst['op'])} blocks the gradient of {share}."]
    start = "Most" if any(row["dead_by_rule"] > 0 for row in rows) else "No unit is dead by a rule; most"
    return [f"{start} are blocked at {worst['site']}: {share}."]


def _group_alike(described: Sequence[tuple[Row, str]]) -> list[str]:
    """Return a sentence for each row: the row's site, and what follows it. Sites alike share a sentence."""
    groups: dict[str, list[str]] = {}
    for row, rest in described:
        groups.setdefault(rest, []).append(_place(row["site"], row["op"]))
    said = []
    for rest, sites in groups.items():
        names = ", ".join(sites[:_NAMED]) + ", …" * (len(sites) > _NAMED)
        each = f"{len(sites)} sites alike ({names}), each{'' if rest.startswith(':') else ':'}"
        said.append(f"{sites[0] if len(sites) == 1 else each}{rest}")
    return said


def _is_shown_dead(row: Row) -> bool:
    """Return whether the rule leaves more units without gradient than a small batch does by chance."""
    dead, units = row["dead_by_rule"], row["units"]
    if not dead > 0 or dead == units:
        return bool(dead > 0)
    share, per_unit = dead / units, row["elements"] / units
    alive = min(1.0, max(0.0, (row["blocked_here"] - share) / (1 - share)))
    is_chance = per_unit < _FEW and share < _MOST_BLOCKED
    return not is_chance and bool(dead > 2 * units * alive**per_unit + 1)


def _describe_dead(row: Row) -> str:
    units, dead = int(row["units"]), int(row["dead_by_rule"])
    whole = "its one unit" if units == 1 else f"all its {units} units"
    units_dead = whole if dead == units else f"{dead} of its {units} units"
    return f" is to blame: its rule, {row['rule']}, lets no gradient through to {units_dead}."


def _describe_victims(rows: Sequence[Row]) -> list[str]:
    reached = [row for row in rows if row["dead_from_above"] > 0]
    sites = [f"{row['site']} ({int(row['dead_from_above'])} of {int(row['units'])} units)" for row in reached]
    if len(sites) > 2 * _NAMED:
        sites = [*sites[:_NAMED], f"{len(sites) - _NAMED} more"]
    return [f"No gradient comes from above to {join_texts(sites)}."] if sites else []


def _describe_cuts(rows: Sequence[Row], told: Container[str]) -> list[str]:
    unknown = [row for row in rows if math.isnan(row["share_grad"])]
    cut = [row for row in unknown if row["note"] not in ("", UNNEEDED) and row["site"] not in told]
    return _group_alike([(row, f": no gradient is seen: {row['note']}.") for row in cut])
