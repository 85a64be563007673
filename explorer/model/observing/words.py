"""An observation in sentences: plain text, never markup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from explorer.formula import listed, percent
from explorer.model.observing.listener import UNNEEDED, Unseen

Row = Mapping[str, Any]
_MUCH = 0.5  # of the gradient blocked at one site: worth a sentence
_NAMED = 3  # parameters or sites named in one sentence


def sentences(
    rows: Sequence[Row],
    parameters: Sequence[Row],
    unseen: Sequence[Unseen],
    with_backward: bool,
    called: bool,
) -> list[str]:
    """Return the sentences of ``describe``, the most important first."""
    if not called:
        return ["Nothing was observed: the model has not been called inside the block, as model(x)."]
    said = _parameters(parameters)
    if not rows:
        return [*said, "No op of the catalogue was seen to be called.", *_unseen(unseen)]
    if not with_backward:
        cuts = _cuts(rows)
        return [
            *said,
            *cuts,
            f"{_sites(len(rows))}; no backward has run of these forward passes.",
            *_unseen(unseen),
        ]
    return [*said, *_blame(rows), *_victims(rows), *_cuts(rows), *_tricks(rows), *_unseen(unseen)]


def _parameters(rows: Sequence[Row]) -> list[str]:
    """Return one sentence for the parameters that share a culprit."""
    groups: dict[tuple[Any, ...], list[str]] = {}
    for row in rows:
        if row["gradient"] in ("none", "zero"):
            groups.setdefault((row["gradient"], row["site"], row["op"], row["why"]), []).append(
                row["parameter"]
            )
    return [_cannot_learn(names, *key) for key, names in groups.items()]


def _cannot_learn(names: Sequence[str], gradient: str, site: str, op: str, why: str) -> str:
    subject = f"{_some(names)} cannot learn"
    got = "no gradient" if gradient == "none" else "only a gradient of zero"
    verb = "get" if len(names) > 1 else "gets"
    if not site:
        return f"{subject}: {'they' if len(names) > 1 else 'it'} {verb} {got}, since {why}."
    return (
        f"{subject}: {'they' if len(names) > 1 else 'it'} {verb} {got}, stopped at {_place(site, op)}: {why}."
    )


def _some(names: Sequence[str]) -> str:
    if len(names) <= _NAMED:
        return listed(names)
    return f"{len(names)} parameters ({', '.join(names[:_NAMED])}, …)"


def _place(site: str, op: str) -> str:
    return site if op in site else f"{site} ({op})"


def _sites(count: int) -> str:
    return f"{count} site{'s' * (count > 1)}"


def _blame(rows: Sequence[Row]) -> list[str]:
    rows = [row for row in rows if not row["note"].startswith("carries")]
    dead = [row for row in rows if _shown_dead(row)]
    if dead:
        return _alike([(_deadly(row), row) for row in sorted(dead, key=_deaths, reverse=True)])
    most = max(rows, key=lambda row: _known(row["blocked_here"]), default=None)
    share = 0.0 if most is None else _known(most["blocked_here"])
    if most is None or not share:
        return ["No site blocks any gradient."]
    if share > _MUCH:
        return [f"{_named(most)} blocks the gradient of {percent(share)} of its elements."]
    where = f"most are blocked at {most['site']}: {percent(share)} of its elements"
    return [f"No unit is dead by a rule; {where}."]


def _alike(told: Sequence[tuple[str, Row]]) -> list[str]:
    """Return one sentence for all sites that are told the same except for their names."""
    groups: dict[str, list[tuple[str, Row]]] = {}
    for sentence, row in told:
        rest = sentence.removeprefix(_named(row))
        groups.setdefault(rest, []).append((sentence, row))
    said = []
    for rest, group in groups.items():
        if len(group) == 1:
            said.append(group[0][0])
        else:
            names = [_named(row) for _, row in group]
            more = ", …" * (len(names) > _NAMED)
            said.append(f"{len(group)} sites alike ({', '.join(names[:_NAMED])}{more}), each:{rest}")
    return said


def _shown_dead(row: Row) -> bool:
    """Return whether more units are dead by the rule than a small batch leaves dead by chance."""
    dead, units = _known(row["dead_by_rule"]), _known(row["units"])
    if not dead:
        return False
    if dead == units:
        return True
    share = dead / units
    alive = min(1.0, max(0.0, (_known(row["blocked_here"]) - share) / (1 - share)))
    each = row.get("elements", 0) / units
    expected = units * alive**each
    return bool(dead > 2 * expected + 1)


def _deaths(row: Row) -> float:
    return row["dead_by_rule"] / max(1, row["units"])  # type: ignore[no-any-return]


def _deadly(row: Row) -> str:
    units, dead = int(row["units"]), int(row["dead_by_rule"])
    which = f"{dead} of its {units} units"
    if dead == units:
        which = "its one unit" if units == 1 else f"all its {units} units"
    return f"{_named(row)} is to blame: its rule, {row['rule']}, lets no gradient through to {which}."


def _named(row: Row) -> str:
    return _place(str(row["site"]), row["op"])


def _victims(rows: Sequence[Row]) -> list[str]:
    reached = [row for row in rows if row["dead_from_above"] > 0]
    if not reached:
        return []
    sites = [f"{row['site']} ({int(row['dead_from_above'])} of {int(row['units'])} units)" for row in reached]
    if len(sites) > 2 * _NAMED:
        sites = [*sites[:_NAMED], f"{len(sites) - _NAMED} more"]
    return [f"No gradient comes from above to {listed(sites)}."]


def _cuts(rows: Sequence[Row]) -> list[str]:
    told = []
    for row in rows:
        if row["note"] and row["note"] != UNNEEDED and row["share_grad"] != row["share_grad"]:
            told.append((f"{_named(row)}: no gradient is seen: {row['note']}.", row))
    return _alike(told)


def _tricks(rows: Sequence[Row]) -> list[str]:
    told = [
        (f"{_named(row)} is a detach trick, whose backward is {row['rule']}.", row)
        for row in rows
        if row["note"].startswith("detach trick") and row["share_grad"] == row["share_grad"]
    ]
    return _alike(told)


def _unseen(unseen: Sequence[Unseen]) -> list[str]:
    return [f"Unseen: {each}." for each in unseen]


def _known(value: float) -> float:
    return 0.0 if value != value else float(value)
