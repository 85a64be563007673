"""The result of a training run in one short line, and the ranking of its backward rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from explorer.formula import join_texts
from explorer.training.ranking import Ranking, format_score
from explorer.training.runs.snapshot import Snapshot
from explorer.training.runs.summary import rank_rules

_MAX_HEADLINE = 70  # characters


def make_headline(snapshot: Snapshot, labels: Mapping[str, str]) -> str:
    """Return the result of a comparison of backward rules in at most 70 characters.

    The result is "" before the end of the run, or if nothing can be compared. The headline names the rules
    that may be best, with their means if there is room. ``labels`` maps rules to their names.
    """
    ranking = compare_rules(snapshot)
    if ranking is None:
        return ""
    name = " R²" if ranking.unit == "R²" else ""
    means = {
        rule: format_score([mean], ranking.decimals, ranking.unit) + name
        for rule, mean in ranking.means.items()
    }
    return next(words for words in _list_headlines(ranking, means, labels) if len(words) <= _MAX_HEADLINE)


def _list_headlines(ranking: Ranking, means: Mapping[str, str], labels: Mapping[str, str]) -> Iterator[str]:
    first = next(iter(means))
    at, least = f"at {means[first]}", means[ranking.best[-1]]
    whole, joint = ("both", "and") if len(ranking.best) == 2 else ("all", "to")
    count = f"{ranking.started} seeds"
    if ranking.started == 1:
        yield f"One seed: {join_texts([f'{labels[rule]} {mean}' for rule, mean in means.items()])}."
        level = [labels[rule] for rule, mean in means.items() if mean == means[first]]
        lead = f"{join_texts(level)} are level" if len(level) > 1 else f"{labels[first]} leads"
        yield f"One seed: {lead}, at {means[first]}."
        lead = f"{len(level)} rules are level" if len(level) > 1 else f"the best of {len(means)} rules is"
        yield f"One seed: {lead} at {means[first]}."
    elif ranking.diverged or ranking.shared < 2:
        yield f"{labels[first]} has the highest mean, {means[first]}, but some seeds diverged."
        yield f"The highest mean is {means[first]}, but some seeds diverged."
    elif ranking.alike:
        yield f"All end equal on each of {count}: mean {means[first]}."
    elif not ranking.lower:
        span = f"means {least.partition(' ')[0]} {joint} {means[first]}"
        means_text = f"{whole} {at}" if least == means[first] else span
        yield f"{count} do not show which is best: {means_text}."
    elif len(ranking.best) > 1:
        best = join_texts([labels[rule] for rule in ranking.best])
        yield f"{best} may each be best, by {count}."
        others = join_texts([labels[rule] for rule in ranking.lower])
        yield f"All but {others} may be best, by {count}."
        yield f"{len(ranking.best)} of {len(means)} rules may be best, by {count}."
    else:
        yield f"{labels[first]} is best, {at}, means of {count}."
        yield f"One of {len(means)} rules is best, {at}, means of {count}."


def compare_rules(snapshot: Snapshot) -> Ranking | None:
    """Return the ranking of the backward rules at the end of a run, even with a single seed.

    Returns None before the end, without a finite held-out score, and if there is only one rule.
    """
    if not (snapshot.finished and snapshot.metric and len(snapshot.losses) > 1):
        return None
    ranking = rank_rules(snapshot, {rule: rule for rule in snapshot.losses})
    return ranking if ranking.means else None
