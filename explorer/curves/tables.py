"""Restore sampled curves from a DataFrame in the format of ``explorer.sample``, even if it was edited."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.catalogue import FORMULA_PREFIX, RULES
from explorer.curves.sampled import EVEN, FORWARD, KINK, NEIGHBOUR, Floats, to_contribution_key
from explorer.curves.sampling import Curves
from explorer.curves.user_functions.entries import SAMPLED, UserOp, UserRule
from explorer.curves.user_functions.points import Points
from explorer.formula.tree import Name, UserCall

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("rule", "x", "y", "gradient")
_NEIGHBOUR_STEPS = 5  # largest distance from a kink to its neighbours, in float32 spacings
_Y = "y"
_STOCHASTIC_COLUMNS = ("y_sd", "gradient_sd", "unbiased")  # present only for stochastic ops and rules


def to_curves(data: Curves | pd.DataFrame) -> list[Curves]:
    """Convert a table of sampled values to a list of Curves objects; Curves are accepted as well.

    An unmodified table of ``explorer.sample`` gives its original curves. Any other table, for instance
    filtered, joined or read from CSV, lacks op, loss and g. Its y and gradients become points joined by
    straight lines, and g is NaN. Of several x that are a few float32 spacings apart, the middle one is a
    kink. Rules with the same x, y, y_sd and unbiased share one Curves object. Rows may be in any order. If an
    x recurs with other values, the rule's rows are split wherever x decreases, into several numbered curves.
    Raises ValueError if the table is empty, lacks a column, or has text or an x that is not finite.
    """
    if isinstance(data, Curves):
        return [data]
    missing = [name for name in COLUMNS if name not in getattr(data, "columns", ())]
    if missing or not len(data):
        problem = f"has no {', '.join(missing)}" if missing else "is empty"
        raise ValueError(
            f"figure and describe take a table with the columns {', '.join(COLUMNS)}, but this one {problem}"
        )
    sampled = data.attrs.get("curves")
    if isinstance(sampled, Curves) and data.equals(sampled.frame):
        return [sampled]
    groups: dict[bytes, dict[str, pd.DataFrame]] = {}
    for key, rows in _split_curves(data):
        shared = [name for name in ("x", "y", "y_sd", "unbiased") if name in rows]
        group_key = b"".join(rows[name].to_numpy().tobytes() for name in shared)
        groups.setdefault(group_key, {})[key] = rows
    return [_make_curves(group, is_only_group=len(groups) == 1) for group in groups.values()]


def _split_curves(table: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    for rule, rows in table.groupby("rule", sort=False):
        numbers = _to_numbers(rows)
        distinct = numbers.drop_duplicates()
        if not distinct["x"].duplicated().any():
            yield str(rule), distinct.sort_values("x")
            continue
        curve_index = (numbers["x"].diff() <= 0).cumsum()  # each curve begins where x decreases
        for index, (_, part) in enumerate(numbers.groupby(curve_index, sort=False), 1):
            yield f"{rule} {index}" if index > 1 else str(rule), part


def _to_numbers(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a table's numeric columns as float64. Raises ValueError for text or an x that is not finite."""
    names = [name for name in (*COLUMNS[1:], *_STOCHASTIC_COLUMNS, "part") if name in rows]
    try:
        numbers = rows[names].astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"the columns {', '.join(names)} must be numbers, but have other values") from None
    if not np.isfinite(numbers["x"]).all():
        raise ValueError("the column x must be finite, but has NaN or infinite values: leave out those rows")
    return numbers


def _make_curves(group: dict[str, pd.DataFrame], *, is_only_group: bool) -> Curves:
    """Return the curves of several rules that share x and y; ``group`` holds the rows of each rule by key."""
    rows = next(iter(group.values()))
    x, y = (rows[name].to_numpy() for name in ("x", "y"))
    gradients = {key: rows["gradient"].to_numpy() for key, rows in group.items()}
    parts = {
        key: rows["part"].to_numpy()
        for key, rows in group.items()
        if "part" in rows and rows["part"].notna().any()
    }
    rules = tuple(
        UserRule(
            key=key, label=_make_label(key), formula="points of a table", tree=_make_tree(x, values, key)
        )
        for key, values in gradients.items()
    )
    label = _Y if is_only_group else f"{_Y} with {', '.join(rule.label for rule in rules)}"
    op = UserOp(key=_Y, label=label, formula="points of a table", tree=_make_tree(x, y, label))
    marks = _classify_points(x)
    kinks = tuple(x[marks == KINK].tolist())
    kinks_by_key = dict.fromkeys((FORWARD, *gradients, *map(to_contribution_key, parts)), kinks)
    moments: dict[str, Any] = {}
    if all(name in rows and rows[name].notna().any() for name in _STOCHASTIC_COLUMNS):
        spreads = {key: rule_rows["gradient_sd"].to_numpy() for key, rule_rows in group.items()}
        spreads[FORWARD] = rows["y_sd"].to_numpy()
        moments = {"spreads": spreads, "unbiased": rows["unbiased"].to_numpy()}
    return Curves(
        op,
        rules,
        {},
        x[0],
        x[-1],
        len(x),
        np.nan,
        x,
        marks,
        y,
        gradients,
        kinks_by_key,
        parts=parts,
        **moments,
    )


def _make_tree(x: Floats, y: Floats, name: str) -> UserCall:
    return UserCall(Points(name, x, y), (Name("x"),))


def _make_label(key: str) -> str:
    for suffix in ("", f" {key.rpartition(' ')[2]}"):
        if (rule := key.removesuffix(suffix)) in RULES:
            return RULES[rule].label + suffix
    return key.removeprefix(FORMULA_PREFIX).removeprefix(SAMPLED)


def _classify_points(x: Floats) -> np.ndarray[Any, np.dtype[np.int8]]:
    """Return for each x whether it is an even point, a kink or next to one, as distances to others show."""
    is_close = np.diff(x) <= _NEIGHBOUR_STEPS * np.spacing(np.abs(x[1:]).astype(np.float32)).astype(
        np.float64
    )
    clusters = np.concatenate([[0], np.cumsum(~is_close)])
    sizes = np.bincount(clusters)[clusters]
    first = np.searchsorted(clusters, clusters)
    marks = np.where(sizes == 1, EVEN, np.where(np.arange(len(x)) - first == sizes // 2, KINK, NEIGHBOUR))
    return marks.astype(np.int8)
