"""One line a rule: the plainest thing that was measured of its gradient, and how it ended. Plain text.

"so" stands only where it is exact: where no gradient at all reaches weights. A share of units without a
gradient is no reason by itself: of 34 rules on 8 tasks 16 had a fifth or more of it, and 4 of them were best.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from explorer.formula import format_percent, join_texts, number_text
from explorer.training.instruments import Record
from explorer.training.ranking import Ranking, rank, text
from explorer.training.runs.snapshot import Snapshot
from explorer.training.runs.summary import by_seed, unit_of
from explorer.training.tasks import TASKS

BASIS = ("way", "causes", "inputs")
"""The instruments that a line is made of, beside the alignment."""
_MUCH = 0.2  # of units × examples, to be said
_WIDE = 1.5  # times as wide as the rule
_LOUD = 1.5  # times as large
_CAUSES = (
    (2, "no gradient", "inputs"),
    (1, "under 1 % of its peak", "inputs"),
    (3, "nothing from above", "causes"),
)
"""The lack of a part of the op's inputs, by its index among the causes, and the instrument that shows why."""
_LONGEST_HEADLINE = 70  # characters
_FEWEST_SEEDS = 2  # of which a comparison can be made
_NEAR = 0.03  # below the best at most, as the ranking bounds it


@dataclass(frozen=True)
class Line:
    """A line on one rule.

    Attributes:
        text: a sentence or two.
        panel: the instrument that it rests on.
    """

    text: str
    panel: str


def headline(snapshot: Snapshot, labels: Mapping[str, str]) -> str:
    """Return the end of a race in at most 70 characters; "" before it, and where nothing is compared.

    ``labels`` by rule. It names the rules that may be best where there is room, with their means.
    """
    ranking = _compare(snapshot)
    if ranking is None:
        return ""
    means = {rule: text([mean], ranking.decimals, ranking.unit) for rule, mean in ranking.means.items()}
    return next(words for words in _headlines(ranking, means, labels) if len(words) <= _LONGEST_HEADLINE)


def _headlines(ranking: Ranking, means: Mapping[str, str], labels: Mapping[str, str]) -> Iterator[str]:
    """Yield the headline, then shorter ones."""
    first = next(iter(means))
    ends = [means[rule] for rule in ranking.best]
    at = f"at {ends[0]}" if ends[0] == ends[-1] else f"at {ends[-1].removesuffix(' %')} to {ends[0]}"
    count = f"{ranking.started} seeds"
    if ranking.started == 1:
        yield f"One seed: {join_texts([f'{labels[rule]} {mean}' for rule, mean in means.items()])}."
        yield f"One seed: {labels[first]} leads, at {means[first]}."
        yield f"One seed: the best of {len(means)} rules ends at {means[first]}."
    elif ranking.diverged or ranking.shared < _FEWEST_SEEDS:
        yield f"{labels[first]} has the highest mean, {means[first]}, but seeds diverged."
        yield f"The highest mean is {means[first]}, but seeds diverged."
    elif ranking.alike:
        yield f"All end alike, at {means[first]}, with each of {count}."
    elif not ranking.lower:
        yield f"{count} do not show which is best: all {at}."
    elif len(ranking.best) > 1:
        best = join_texts([labels[rule] for rule in ranking.best])
        yield f"{best} may each be best, {at}, means of {count}."
        yield f"{len(ranking.best)} of {len(means)} rules may be best, {at}, means of {count}."
    else:
        yield f"{labels[first]} is best, {at}, means of {count}."
        yield f"One of {len(means)} rules is best, {at}, means of {count}."


@dataclass(frozen=True)
class _Finding:
    text: str  # without its full stop
    panel: str
    hinders: bool = True  # whether part of the gradient is missing


def lines(snapshot: Snapshot) -> dict[str, Line]:
    """The line of each rule; none of a rule that was not measured, as where all its seeds diverged."""
    known = {key: snapshot.measured.get(key, {}) for key in BASIS}
    result: dict[str, Line] = {}
    ranking = _ranking(snapshot)
    for rule in snapshot.losses:
        record = {key: each.get(rule) for key, each in known.items()}
        way, causes, inputs = (record[key] for key in BASIS)
        if way and causes and inputs:
            finding = _finding(snapshot, way, causes, inputs)
            result[rule] = _line(finding, _end(snapshot, rule, finding, ranking))
    return result


def _line(finding: _Finding, end: _Finding | None) -> Line:
    if end is None:
        return Line(f"{finding.text}.", finding.panel)
    return Line(f"{finding.text}. {end.text}.", end.panel or finding.panel)


def _finding(snapshot: Snapshot, way: Record, causes: Record, inputs: Record) -> _Finding:
    """The plainest thing that is remarkable of the way back."""
    if not all(map(math.isfinite, way["reached"])):
        return _Finding(
            f"In the {'next' if snapshot.step else 'first'} step a gradient is not finite", "norms"
        )
    still = [layer for layer, norm in enumerate(way["reached"], 1) if norm == 0 and _rests(way, layer)]
    if still:
        return _Finding(_none(snapshot, still, way), "norms")
    for cause, lacks, panel in _CAUSES:
        layer = max(range(len(causes["shares"])), key=lambda at: float(causes["shares"][at][cause]))
        share = float(causes["shares"][layer][cause])
        if share < _MUCH:
            continue
        wide = _wide(snapshot, float(inputs["ratio"][layer])) if panel == "inputs" else ""
        part = _part(snapshot, layer, len(causes["shares"]))
        return _Finding(f"{format_percent(share)} of {part} get {lacks}{wide}", panel if wide else "causes")
    return _Finding(_passes(snapshot, way), "norms", hinders=False)


def _rests(way: Record, layer: int) -> bool:
    """Whether a layer of weights, from 1, is where it began."""
    return bool(way["moved"][layer - 1] == 0)


def _none(snapshot: Snapshot, still: Sequence[int], way: Record) -> str:
    """A sentence on weights that no gradient reaches, and on what learns all the same."""
    count, site = len(way["reached"]), TASKS[snapshot.task].net.site
    when = "" if snapshot.step else " in the first step"
    can = "learns" if snapshot.step else "can learn"
    if len(still) == count:
        rest = f"only biases {can.removesuffix('s')}" if way["biased"] else f"nothing {can}"
        return f"No gradient reaches any weight{when}, so {rest}"
    where = join_texts([f"w{layer}" for layer in still])
    if not site.per_example:  # biases of these layers may learn
        return f"No gradient reaches {where}{when}"
    left = [layer for layer in range(1, count + 1) if layer not in still]
    if left == [count]:
        return f"No gradient reaches {where}{when}, so only the last layer {can}"
    can = can.removesuffix("s") if len(left) > 1 else can
    return f"No gradient reaches {where}{when}, so only {join_texts([f'w{layer}' for layer in left])} {can}"


def _part(snapshot: Snapshot, layer: int, layers: int) -> str:
    """The inputs of the op in a layer, from 0."""
    site = TASKS[snapshot.task].net.site
    if layers == 1:
        return site.elements
    return f"layer {layer + 1}" if site.per_example else f"w{layer + 1}"


def _wide(snapshot: Snapshot, ratio: float) -> str:
    """That the data is wider than the rule, where it clearly is."""
    if not math.isfinite(ratio) or ratio < _WIDE:
        return ""
    things = "data" if TASKS[snapshot.task].net.site.per_example else "weights"
    return f": {things} {ratio:.1f} × as wide as the rule"


def _passes(snapshot: Snapshot, way: Record) -> str:
    """A sentence on what is left of the gradient at w1, and on the way of w1.

    At hidden units that is behind all layers with the op; on weights each layer has the op for itself.
    """
    along = TASKS[snapshot.task].net.site.per_example
    left = math.prod(float(each) for each in (way["passed"] if along else way["passed"][:1]))
    what = "gradient" if along else "gradient of w1"
    moved = f": w1 moved by {float(way['moved'][0]):.3g}" if snapshot.step else ""
    if way["of_losses"]:
        return f"Its gradient is made of losses, not of g{moved}"
    if not math.isfinite(left):
        return f"The {what} passes{moved}"
    if left == 1:
        return f"The whole {what} passes{moved}"
    if left > _LOUD:
        return f"The rule makes the {what} {left:.1f} × as large{moved}"
    rounded = f"{left:.2f}" if left >= 0.1 else number_text(float(f"{left:.2g}"))
    return f"The {what} passes × {rounded}{moved}"


def _ranking(snapshot: Snapshot) -> Ranking | None:
    """The ranking by rule, once there is an end that two rules can be compared by."""
    return _compare(snapshot) if snapshot.seeds > 1 else None


def _compare(snapshot: Snapshot) -> Ranking | None:
    """Return the ranking by rule at the end of a run, of one seed too; None where nothing can be compared."""
    scores = {rule: by_seed(snapshot, rule) for rule in snapshot.losses}
    finite = any(math.isfinite(score) for each in scores.values() for score in each)
    if not (snapshot.finished and snapshot.metric and finite and len(scores) > 1):
        return None
    unit = unit_of(snapshot)
    ranking = rank(scores, 1 / snapshot.held_out if unit == "%" else 0.0, unit=unit)
    return ranking if ranking.means else None


def _end(snapshot: Snapshot, rule: str, finding: _Finding, ranking: Ranking | None) -> _Finding | None:
    """How a rule ended, as the ranking has it; nothing where it says nothing."""
    if ranking is None or rule not in ranking.means or ranking.alike:
        return None
    if rule in ranking.lower:
        return _lower(snapshot, rule, finding, ranking)
    if ranking.best == (rule,):
        return _Finding("Best all the same" if finding.hinders else "Best", "")
    if rule == next(iter(ranking.means)):
        return _Finding("Highest mean all the same" if finding.hinders else "Highest mean", "")
    most = ranking.differences[rule][1]
    if most > _NEAR:
        return _Finding("Not told apart from the highest", "")
    bound = math.ceil(100 * most) if ranking.unit == "%" else math.ceil(100 * most) / 100
    points = f"{bound} point{'s' * (bound != 1)}" if ranking.unit == "%" else f"{bound} R²"
    return _Finding(f"Within {points} of the highest", "")


def _lower(snapshot: Snapshot, rule: str, finding: _Finding, ranking: Ranking) -> _Finding:
    """A lower rule, and what sets it apart if all passes: its direction, or nothing measured."""
    unit, times = ("points", 100) if ranking.unit == "%" else ("R²", 1)
    least = times * ranking.lower[rule][0]
    amount = f"{least:.1f}" if least >= 1 else f"{least:.1g}"
    lower = f"Lower by at least {amount} {unit}"
    if finding.hinders:
        return _Finding(lower, "")
    own = _cosine(snapshot, rule)
    better = [_cosine(snapshot, each) for each in ranking.means if ranking.means[each] > ranking.means[rule]]
    known = all(map(math.isfinite, [own, *better]))
    if known and own < min(better):
        others = f"{min(better):.2f} to {max(better):.2f}" if len(better) > 1 else f"{better[0]:.2f}"
        return _Finding(f"{lower}; it points off: cosine {own:.2f} beside {others}", "alignment")
    return _Finding(f"{lower}; nothing measured sets it apart", "alignment" if known else "")


def _cosine(snapshot: Snapshot, rule: str) -> float:
    """The present alignment in the first layer with the op; NaN where there is none."""
    records: Mapping[str, Record | None] = snapshot.measured.get("alignment", {})
    record = records.get(rule)
    return float(record["cosine"][0]) if record else math.nan
