"""Description of an observation in sentences, as plain text without markup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from explorer.formula import format_percent, join_texts
from explorer.model.observing.recorder import UNNEEDED

Row = Mapping[str, Any]
_MOST_BLOCKED = 0.5  # a site that blocks more than this fraction gets a sentence
_FEW = 16  # elements per unit; with fewer, many units are dead by chance
_NAMED = 3  # maximum number of parameters or sites named in one sentence


def sentences(
    rows: Sequence[Row], parameters: Sequence[Row], unseen: Sequence[object], with_backward: bool,
    is_called: bool,
) -> list[str]:  # fmt: skip
    """Return the sentences of ``describe``, most important first."""
    if not is_called:
        return ["Nothing was observed: the model has not been called inside the block, as model(x)."]
    if not rows:
        found = ["No op of the catalogue was seen to be called."]
    elif not with_backward:
        count = f"{len(rows)} site{'s' * (len(rows) > 1)}"
        found = [*_describe_cuts(rows), f"{count}; no backward has run of these forward passes."]
    else:
        blamed = [*_describe_blame(rows), *_describe_victims(rows)]
        is_total = any(_is_shown_dead(row) and row["dead_by_rule"] == row["units"] for row in rows)
        cuts = _describe_cuts(rows)  # a cut stops more than a rule that stops some units
        found = [*(blamed + cuts if is_total else cuts + blamed), *_describe_tricks(rows)]
    said = [*_describe_parameters(parameters), *found] or ["No site blocks any gradient."]
    return [*said, *(f"Unseen: {item}." for item in unseen)]


def _describe_parameters(rows: Sequence[Row]) -> list[str]:
    groups: dict[tuple[str, str, str, str], list[str]] = {}
    for row in rows:
        if row["gradient"] in ("none", "zero"):
            key = row["gradient"], row["site"], row["op"], row["why"]
            groups.setdefault(key, []).append(row["parameter"])
    said = []
    for (gradient, site, op, reason), names in groups.items():
        some = f"{len(names)} parameters ({', '.join(names[:_NAMED])}, …)"
        subject = join_texts(names) if len(names) <= _NAMED else some
        received = "no gradient" if gradient == "none" else "only a gradient of zero"
        cause = f"stopped at {_place(site, op)}: {reason}" if site else f"since {reason}"
        get = "they get" if len(names) > 1 else "it gets"
        said.append(f"{subject} cannot learn: {get} {received}, {cause}.")
    return said


def _place(site: str, op: str) -> str:
    return site if op in site else f"{site} ({op})"


def _name_site(row: Row) -> str:
    return _place(str(row["site"]), row["op"])


def _describe_blame(rows: Sequence[Row]) -> list[str]:
    rows = [row for row in rows if not row["note"].startswith("carries")]
    dead = sorted(filter(_is_shown_dead, rows), key=lambda row: -row["dead_by_rule"] / max(1, row["units"]))
    if dead:
        return _group_alike([(_describe_dead(row), row) for row in dead])
    worst = max(rows, key=lambda row: _replace_nan(row["blocked_here"]), default=None)
    share = 0.0 if worst is None else _replace_nan(worst["blocked_here"])
    if worst is None or not share:
        return []
    if share > _MOST_BLOCKED:
        return [f"{_name_site(worst)} blocks the gradient of {format_percent(share)} of its elements."]
    place = f"most are blocked at {worst['site']}: {format_percent(share)} of its elements"
    return [f"No unit is dead by a rule; {place}."]


def _group_alike(described: Sequence[tuple[str, Row]]) -> list[str]:
    groups: dict[str, list[tuple[str, Row]]] = {}
    for sentence, row in described:
        groups.setdefault(sentence.removeprefix(_name_site(row)), []).append((sentence, row))
    said = []
    for rest, group in groups.items():
        names = ", ".join(_name_site(row) for _, row in group[:_NAMED]) + ", …" * (len(group) > _NAMED)
        each = f"{len(group)} sites alike ({names}), each{'' if rest.startswith(':') else ':'}{rest}"
        said.append(group[0][0] if len(group) == 1 else each)
    return said


def _is_shown_dead(row: Row) -> bool:
    """Return whether the rule leaves more units without gradient than a small batch does by chance."""
    dead, units = _replace_nan(row["dead_by_rule"]), _replace_nan(row["units"])
    if not dead:
        return False
    if dead == units:
        return True
    share, per_unit = dead / units, row["elements"] / units
    if per_unit < _FEW and share < _MOST_BLOCKED:
        return False
    alive = min(1.0, max(0.0, (_replace_nan(row["blocked_here"]) - share) / (1 - share)))
    return bool(dead > 2 * units * alive**per_unit + 1)


def _describe_dead(row: Row) -> str:
    units, dead = int(row["units"]), int(row["dead_by_rule"])
    units_dead = f"{dead} of its {units} units"
    if dead == units:
        units_dead = "its one unit" if units == 1 else f"all its {units} units"
    return (
        f"{_name_site(row)} is to blame: its rule, {row['rule']}, lets no gradient through to {units_dead}."
    )


def _describe_victims(rows: Sequence[Row]) -> list[str]:
    reached = [row for row in rows if row["dead_from_above"] > 0]
    if not reached:
        return []
    sites = [f"{row['site']} ({int(row['dead_from_above'])} of {int(row['units'])} units)" for row in reached]
    if len(sites) > 2 * _NAMED:
        sites = [*sites[:_NAMED], f"{len(sites) - _NAMED} more"]
    return [f"No gradient comes from above to {join_texts(sites)}."]


def _describe_cuts(rows: Sequence[Row]) -> list[str]:
    cut = [row for row in rows if row["note"] and row["note"] != UNNEEDED and not _is_known(row)]
    return _group_alike([(f"{_name_site(row)}: no gradient is seen: {row['note']}.", row) for row in cut])


def _describe_tricks(rows: Sequence[Row]) -> list[str]:
    tricks = [row for row in rows if row["note"].startswith("detach trick") and row["rule"]]
    told = [(f"{_name_site(row)} is a detach trick, whose backward is {row['rule']}.", row) for row in tricks]
    return _group_alike(told)


def _is_known(row: Row) -> bool:
    return row["share_grad"] == row["share_grad"]  # type: ignore[no-any-return]


def _replace_nan(value: float) -> float:
    return 0.0 if value != value else float(value)
