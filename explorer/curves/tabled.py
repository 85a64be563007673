"""Curves from a table with the columns of ``explorer.sample``, whatever was done to it since."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.catalogue import OWN, RULES
from explorer.curves.foreign import SAMPLED, ForeignOp, ForeignRule, Points
from explorer.curves.sampled import BESIDE, EVEN, FORWARD, KINK, Floats, part_key
from explorer.curves.sampling import Curves
from explorer.formula.tree import Foreign, Name

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("rule", "x", "y", "gradient")
_NEAR_STEPS = 5  # of float32, within which the floats beside a kink lie
_Y = "y"
_DRAWN = ("y_sd", "gradient_sd", "unbiased")  # columns of what draws


def curves_of(shown: Curves | pd.DataFrame) -> list[Curves]:
    """The curves of what is shown: Curves themselves, what ``explorer.sample`` returned, or any such table.

    Of a table that is as it was sampled they are the sampled ones. Any other table, filtered, joined or read
    back from CSV, says neither op, loss nor g: y and gradients are points with straight lines between them, g
    is NaN, and of floats of float32 that lie a few steps apart the middle one is the kink. Rules that share x
    and y, and what is drawn, come together. The rows of a rule may be in any order, unless x comes again with
    other values: then its curves stand one after another, each by ascending x, and later ones have a number.
    Raises ValueError for what is no table with these columns, or has no rows.
    """
    if isinstance(shown, Curves):
        return [shown]
    missing = [name for name in COLUMNS if name not in getattr(shown, "columns", ())]
    if missing or not len(shown):
        lacks = f"has no {', '.join(missing)}" if missing else "is empty"
        raise ValueError(
            f"figure and describe take a table with the columns {', '.join(COLUMNS)}: this one {lacks}"
        )
    sampled = shown.attrs.get("curves")
    if isinstance(sampled, Curves) and shown.equals(sampled.frame):
        return [sampled]
    groups: dict[bytes, dict[str, pd.DataFrame]] = {}
    for key, rows in _blocks(shown):
        shared = [name for name in ("x", "y", "y_sd", "unbiased") if name in rows]
        same = b"".join(rows[name].to_numpy().tobytes() for name in shared)
        groups.setdefault(same, {})[key] = rows
    return [_curves(group, alone=len(groups) == 1) for group in groups.values()]


def _blocks(table: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """The rows of each curve, by ascending x in float64."""
    for rule, rows in table.groupby("rule", sort=False):
        numbers = _numbers(rows)
        distinct = numbers.drop_duplicates()
        if not distinct["x"].duplicated().any():
            yield str(rule), distinct.sort_values("x")
            continue
        falls = (numbers["x"].diff() <= 0).cumsum()  # in the table's order, where another curve begins
        for index, (_, own) in enumerate(numbers.groupby(falls, sort=False), 1):
            yield f"{rule} {index}" if index > 1 else str(rule), own


def _numbers(rows: pd.DataFrame) -> pd.DataFrame:
    """The columns that are numbers, in float64."""
    names = [name for name in (*COLUMNS[1:], *_DRAWN, "part") if name in rows]
    try:
        numbers = rows[names].astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"the columns {', '.join(names)} must be numbers") from None
    if not np.isfinite(numbers["x"]).all():
        raise ValueError("every x must be a finite number")
    return numbers


def _curves(group: dict[str, pd.DataFrame], *, alone: bool) -> Curves:
    """The curves of rules that share x and y."""
    rows = next(iter(group.values()))
    x, y = (rows[name].to_numpy() for name in ("x", "y"))
    columns = {key: rows["gradient"].to_numpy() for key, rows in group.items()}
    parts = {
        key: rows["part"].to_numpy()
        for key, rows in group.items()
        if "part" in rows and rows["part"].notna().any()
    }
    rules = tuple(
        ForeignRule(key=key, label=_label(key), formula="points of a table", tree=_tree(x, values, key))
        for key, values in columns.items()
    )
    label = _Y if alone else f"{_Y} with {', '.join(rule.label for rule in rules)}"
    op = ForeignOp(key=_Y, label=label, formula="points of a table", tree=_tree(x, y, label))
    marks = _marks(x)
    kinks = tuple(x[marks == KINK].tolist())
    named = dict.fromkeys((FORWARD, *columns, *map(part_key, parts)), kinks)
    view: dict[str, Any] = {"points": len(x), "g": np.nan, "parameters": {}, "parts": parts} | _drawn(group)
    return Curves(
        op, rules, start=x[0], stop=x[-1], x=x, y=y, marks=marks, gradients=columns, kinks=named, **view
    )


def _drawn(group: dict[str, pd.DataFrame]) -> dict[str, Any]:
    """Spreads and the exact gradient of rules that share x, where a table has them."""
    rows = next(iter(group.values()))
    if not all(name in rows and rows[name].notna().any() for name in _DRAWN):
        return {}
    spreads = {key: own["gradient_sd"].to_numpy() for key, own in group.items()}
    return {"spreads": {FORWARD: rows["y_sd"].to_numpy(), **spreads}, "unbiased": rows["unbiased"].to_numpy()}


def _tree(x: Floats, y: Floats, name: str) -> Foreign:
    return Foreign(Points(name, x, y), (Name("x"),))


def _label(key: str) -> str:
    """The label of a rule; behind that of one that comes again its number."""
    for ending in ("", f" {key.rpartition(' ')[2]}"):
        if (rule := key.removesuffix(ending)) in RULES:
            return RULES[rule].label + ending
    return key.removeprefix(OWN).removeprefix(SAMPLED)


def _marks(x: Floats) -> np.ndarray[Any, np.dtype[np.int8]]:
    """Kinks and the floats beside them, told by how close they lie."""
    close = np.diff(x) <= _NEAR_STEPS * np.spacing(np.abs(x[1:]).astype(np.float32)).astype(np.float64)
    clusters = np.concatenate([[0], np.cumsum(~close)])
    sizes = np.bincount(clusters)[clusters]
    first = np.searchsorted(clusters, clusters)
    marks = np.where(sizes == 1, EVEN, np.where(np.arange(len(x)) - first == sizes // 2, KINK, BESIDE))
    return marks.astype(np.int8)
