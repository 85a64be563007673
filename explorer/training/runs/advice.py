"""Advice for a run whose backward rules are not shown to differ, from what was measured in it."""

import math
from collections.abc import Collection

from explorer.training.limits import MAX_SEEDS
from explorer.training.ranking import Ranking
from explorer.training.runs.snapshot import Snapshot


def advise_after_tie(snapshot: Snapshot, ranking: Ranking, rules: Collection[str]) -> str:
    """Return a sentence on what to try after a run in which several rules may be best, or "".

    It names the first of these reasons that holds: the rules act alike, more seeds may tell, one of them
    never moved the first layer, or the rules differ too little here. ``rules`` are those that may be best.
    """
    if not snapshot.finished or len(rules) < 2 or ranking.shared < 2:
        return ""
    if ranking.alike:
        return "These rules act alike here: try another task or op."
    reaches = [ranking.differences[label] for label in ranking.best[1:]]
    gaps = [((least + most) / 2, (most - least) / 2) for least, most in reaches]
    gap, half = max(gaps, key=lambda each: each[0] / each[1] if each[1] else math.inf)  # the clearest
    seeds = math.ceil(ranking.shared * (half / gap) ** 2) if gap > 0 else math.inf
    if seeds <= MAX_SEEDS:
        size = f"{100 * gap:.1f} points" if ranking.unit == "%" else f"{gap:.2g} R²"
        return f"More seeds may tell: about {seeds}, if the means stay {size} apart."
    if any(facts and facts.w1_moved == 0 for facts in map(snapshot.gradients.get, rules)):
        return "The first layer need not learn here: try another task or op."
    return f"Try a task or op where rules differ more: {MAX_SEEDS} seeds would hardly tell these apart."
