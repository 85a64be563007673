"""An observation in sentences: plain text, never markup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from explorer.formula import listed, percent
from explorer.model.watching import Unseen

Row = Mapping[str, Any]
UNNEEDED = "its x requires no gradient"  # of a constant: the table has it, and no sentence
_MUCH = 0.5  # of the gradient blocked at one site: worth a sentence


def sentences(rows: Sequence[Row], unseen: Sequence[Unseen], with_backward: bool, called: bool) -> list[str]:
    """Which site is to blame for elements and units without gradient."""
    if not rows:
        return [_nothing(unseen, called), *_left_out(unseen, called)]
    if not with_backward:
        return [
            f"{_sites(len(rows))}; no backward has run of these forward passes.",
            *_left_out(unseen, called),
        ]
    return [*_blame(rows), *_victims(rows), *_cut(rows), *_left_out(unseen, called)]


def _sites(count: int) -> str:
    return f"{count} site{'s' * (count > 1)}"


def _nothing(unseen: Sequence[Unseen], called: bool) -> str:
    if not called:
        return "Nothing was observed: the model has not been called inside the block, as model(x)."
    return "No op of the catalogue was seen to be called."


def _blame(rows: Sequence[Row]) -> list[str]:
    dead = [row for row in rows if row["dead_by_rule"] > 0]
    if dead:
        return [_deadly(row) for row in sorted(dead, key=_deaths, reverse=True)]
    most = max(rows, key=lambda row: _known(row["blocked_here"]))
    if _known(most["blocked_here"]) > _MUCH:
        return [f"{_named(most)} blocks the gradient of {percent(most['blocked_here'])} of its elements."]
    if _known(most["blocked_here"]) > 0:
        where = f"most are blocked at {most['site']}: {percent(most['blocked_here'])} of its elements"
        return [f"No unit is dead by a rule; {where}."]
    return ["No site blocks any gradient."]


def _deaths(row: Row) -> float:
    return row["dead_by_rule"] / max(1, row["units"])  # type: ignore[no-any-return]


def _deadly(row: Row) -> str:
    units, dead = int(row["units"]), int(row["dead_by_rule"])
    which = (
        "its one unit"
        if units == dead == 1
        else f"all its {units} units"
        if dead == units
        else (f"{dead} of its {units} units")
    )
    return f"{_named(row)} is to blame: its rule, {row['rule']}, lets no gradient through to {which}."


def _named(row: Row) -> str:
    return row["site"] if row["op"] in str(row["site"]) else f"{row['site']} ({row['op']})"


def _victims(rows: Sequence[Row]) -> list[str]:
    reached = [row for row in rows if row["dead_from_above"] > 0]
    if not reached:
        return []
    sites = [f"{row['site']} ({int(row['dead_from_above'])} of {int(row['units'])} units)" for row in reached]
    return [f"No gradient comes from above to {listed(sites)}."]


def _cut(rows: Sequence[Row]) -> list[str]:
    said = []
    for row in rows:
        if row["note"] == UNNEEDED:
            continue
        if row["note"] and _unknown(row["share_grad"]):
            said.append(f"Of {_named(row)} no gradient is seen: {row['note']}.")
        elif row["note"].startswith("detach trick"):
            said.append(f"{_named(row)} is a detach trick, whose backward is {row['rule']}.")
    return said


def _left_out(unseen: Sequence[Unseen], called: bool) -> list[str]:
    said = [f"Unseen: {each}." for each in unseen]
    if not called:
        said.append("What no site explains was not searched for, since model(x) itself was not called.")
    return said


def _unknown(value: float) -> bool:
    return value != value


def _known(value: float) -> float:
    return 0.0 if _unknown(value) else value
