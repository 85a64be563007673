"""Advice for a run whose backward rules are not shown to differ, from what was measured in it."""

import math
from collections.abc import Collection

from explorer.formula import format_percent
from explorer.training.limits import MAX_SEEDS
from explorer.training.ranking import Ranking
from explorer.training.runs.snapshot import Snapshot

_BY_RULE = 2  # the index of the cause "no gradient, by the rule"
_MIN_SHARE = 0.2  # a smaller fraction of units without a gradient is not mentioned


def advise_after_tie(snapshot: Snapshot, ranking: Ranking, rules: Collection[str]) -> str:
    """Return a sentence on what to try after a run in which several rules may be best, or "".

    It names the first of these reasons that holds: the rules act alike, one of them never moved the first
    layer, more seeds may tell, one passes no gradient to many inputs, or the rules differ too little here.
    ``rules`` are those that may be best.
    """
    if not snapshot.finished or len(rules) < 2 or ranking.shared < 2:
        return ""
    if ranking.alike:
        return "These rules act alike here: try another task or op."
    if any(facts and facts.w1_moved == 0 for facts in map(snapshot.gradients.get, rules)):
        return "The first layer need not learn here: try another task or op."
    gap, seeds = _estimate_seeds(ranking)
    if seeds <= MAX_SEEDS:
        return f"More seeds may tell: about {seeds}, if the means stay {gap} apart."
    causes = [record["shares"] for rule in rules if (record := snapshot.measured.get("causes", {}).get(rule))]
    blocked = max((float(share[_BY_RULE]) for shares in causes for share in shares), default=0.0)
    if blocked >= _MIN_SHARE:
        return f"Try a wider rule: up to {format_percent(blocked)} of a layer gets no gradient."
    return f"Try a task or op where rules differ more: {MAX_SEEDS} seeds would hardly tell these apart."


def _estimate_seeds(ranking: Ranking) -> tuple[str, float]:
    """Return the best rules' clearest difference as text, and how many seeds would show it, possibly ∞."""
    reaches = [ranking.differences[label] for label in ranking.best[1:]]
    gaps = [((least + most) / 2, (most - least) / 2) for least, most in reaches]
    gap, half = max(gaps, key=lambda each: each[0] / each[1] if each[1] else math.inf)
    size = f"{100 * gap:.1f} points" if ranking.unit == "%" else f"{gap:.2g} R²"
    return size, math.ceil(ranking.shared * (half / gap) ** 2) if gap > 0 else math.inf
