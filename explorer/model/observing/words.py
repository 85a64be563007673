"""An observation in sentences: plain text, never markup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from explorer.formula import listed, percent
from explorer.model.observing.listener import UNNEEDED

Row = Mapping[str, Any]
_MOST_BLOCKED = 0.5  # of the gradient blocked at one site: worth a sentence
_NAMED = 3  # parameters or sites named in one sentence


def sentences(
    rows: Sequence[Row],
    parameters: Sequence[Row],
    unseen: Sequence[object],
    with_backward: bool,
    on_call: bool,
) -> list[str]:
    """Return the sentences of ``describe``, the most important first."""
    if not on_call:
        return ["Nothing was observed: the model has not been called inside the block, as model(x)."]
    sentences_said = _describe_parameters(parameters)
    if not rows:
        return [*sentences_said, "No op of the catalogue was seen to be called.", *_describe_unseen(unseen)]
    if not with_backward:
        cuts = _describe_cuts(rows)
        return [
            *sentences_said,
            *cuts,
            f"{_count_sites(len(rows))}; no backward has run of these forward passes.",
            *_describe_unseen(unseen),
        ]
    return [
        *sentences_said,
        *_describe_blame(rows),
        *_describe_victims(rows),
        *_describe_cuts(rows),
        *_describe_tricks(rows),
        *_describe_unseen(unseen),
    ]


def _describe_parameters(rows: Sequence[Row]) -> list[str]:
    """Return one sentence for the parameters that share a culprit."""
    groups: dict[tuple[Any, ...], list[str]] = {}
    for row in rows:
        if row["gradient"] in ("none", "zero"):
            groups.setdefault((row["gradient"], row["site"], row["op"], row["why"]), []).append(
                row["parameter"]
            )
    return [_describe_group(names, *key) for key, names in groups.items()]


def _describe_group(names: Sequence[str], gradient: str, site: str, op: str, reason: str) -> str:
    many = len(names) > 1
    received = "no gradient" if gradient == "none" else "only a gradient of zero"
    start = f"{_list_some(names)} cannot learn: {'they get' if many else 'it gets'} {received}"
    return f"{start}, stopped at {_place(site, op)}: {reason}." if site else f"{start}, since {reason}."


def _list_some(names: Sequence[str]) -> str:
    if len(names) <= _NAMED:
        return listed(names)
    return f"{len(names)} parameters ({', '.join(names[:_NAMED])}, …)"


def _place(site: str, op: str) -> str:
    return site if op in site else f"{site} ({op})"


def _count_sites(count: int) -> str:
    return f"{count} site{'s' * (count > 1)}"


def _describe_blame(rows: Sequence[Row]) -> list[str]:
    rows = [row for row in rows if not row["note"].startswith("carries")]
    dead = [row for row in rows if _is_shown_dead(row)]
    if dead:
        return _group_alike(
            [(_describe_dead(row), row) for row in sorted(dead, key=_get_dead_share, reverse=True)]
        )
    worst = max(rows, key=lambda row: _replace_nan(row["blocked_here"]), default=None)
    share = 0.0 if worst is None else _replace_nan(worst["blocked_here"])
    if worst is None or not share:
        return ["No site blocks any gradient."]
    if share > _MOST_BLOCKED:
        return [f"{_named(worst)} blocks the gradient of {percent(share)} of its elements."]
    place = f"most are blocked at {worst['site']}: {percent(share)} of its elements"
    return [f"No unit is dead by a rule; {place}."]


def _group_alike(described: Sequence[tuple[str, Row]]) -> list[str]:
    """Return one sentence for all sites whose sentences differ in their names alone."""
    groups: dict[str, list[tuple[str, Row]]] = {}
    for sentence, row in described:
        rest = sentence.removeprefix(_named(row))
        groups.setdefault(rest, []).append((sentence, row))
    sentences_said = []
    for rest, group in groups.items():
        if len(group) == 1:
            sentences_said.append(group[0][0])
        else:
            names = [_named(row) for _, row in group]
            ellipsis = ", …" * (len(names) > _NAMED)
            start = f"{len(group)} sites alike ({', '.join(names[:_NAMED])}{ellipsis}), each"
            sentences_said.append(f"{start}{rest if rest.startswith(':') else f':{rest}'}")
    return sentences_said


def _is_shown_dead(row: Row) -> bool:
    """Return whether more units are dead by the rule than a small batch leaves dead by chance."""
    dead, units = _replace_nan(row["dead_by_rule"]), _replace_nan(row["units"])
    if not dead:
        return False
    if dead == units:
        return True
    share = dead / units
    alive = min(1.0, max(0.0, (_replace_nan(row["blocked_here"]) - share) / (1 - share)))
    item = row.get("elements", 0) / units
    expected = units * alive**item
    return bool(dead > 2 * expected + 1)


def _get_dead_share(row: Row) -> float:
    return row["dead_by_rule"] / max(1, row["units"])  # type: ignore[no-any-return]


def _describe_dead(row: Row) -> str:
    units, dead = int(row["units"]), int(row["dead_by_rule"])
    units_dead = f"{dead} of its {units} units"
    if dead == units:
        units_dead = "its one unit" if units == 1 else f"all its {units} units"
    return f"{_named(row)} is to blame: its rule, {row['rule']}, lets no gradient through to {units_dead}."


def _named(row: Row) -> str:
    return _place(str(row["site"]), row["op"])


def _describe_victims(rows: Sequence[Row]) -> list[str]:
    reached = [row for row in rows if row["dead_from_above"] > 0]
    if not reached:
        return []
    sites = [f"{row['site']} ({int(row['dead_from_above'])} of {int(row['units'])} units)" for row in reached]
    if len(sites) > 2 * _NAMED:
        sites = [*sites[:_NAMED], f"{len(sites) - _NAMED} more"]
    return [f"No gradient comes from above to {listed(sites)}."]


def _describe_cuts(rows: Sequence[Row]) -> list[str]:
    described = []
    for row in rows:
        if row["note"] and row["note"] != UNNEEDED and row["share_grad"] != row["share_grad"]:
            described.append((f"{_named(row)}: no gradient is seen: {row['note']}.", row))
    return _group_alike(described)


def _describe_tricks(rows: Sequence[Row]) -> list[str]:
    described = [
        (f"{_named(row)} is a detach trick, whose backward is {row['rule']}.", row)
        for row in rows
        if row["note"].startswith("detach trick") and row["share_grad"] == row["share_grad"]
    ]
    return _group_alike(described)


def _describe_unseen(unseen: Sequence[object]) -> list[str]:
    return [f"Unseen: {item}." for item in unseen]


def _replace_nan(value: float) -> float:
    return 0.0 if value != value else float(value)
