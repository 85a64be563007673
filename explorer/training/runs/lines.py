"""One line of text for each backward rule of a run: the main finding about its gradient, and its result.

"so" appears only if it is exact: if the gradient of weights is exactly 0. A fraction of units without a
gradient explains nothing: of 34 rules on 8 tasks 16 had a fifth or more of such units, and 4 of them were
best.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from explorer.formula import format_percent, join_texts, number_text, with_minus
from explorer.training.instruments import Record
from explorer.training.ranking import Ranking, format_score, rank
from explorer.training.runs.snapshot import Snapshot
from explorer.training.runs.summary import get_scores, unit_of
from explorer.training.tasks import TASKS

BASIS = ("way", "causes", "inputs")
"""The instruments that a line needs, in addition to the alignment."""
_MIN_SHARE = 0.2  # a smaller fraction of units and examples is not mentioned
_MIN_RATIO = 1.5  # width of the data ÷ width of the rule from which it is mentioned
_MIN_GAIN = 1.5  # factor by which the gradient must grow to be mentioned
_CAUSES = (
    (2, "no gradient", "inputs"),
    (1, "under 1 % of the rule's peak", "inputs"),
    (3, "no gradient from above", "causes"),
)
"""Index of a cause, the text on units with it, and the instrument that shows the reason."""
_MAX_HEADLINE = 70  # characters
_MIN_SEEDS = 2  # fewer seeds allow no comparison
_MAX_GAP = 0.03  # a rule this close to the best, by the ranking's bound, is called close


@dataclass(frozen=True)
class Line:
    """A line of text about one backward rule in a training run.

    Attributes:
        text: a sentence or two.
        panel: the key of the instrument that supports it.
    """

    text: str
    panel: str


def make_headline(snapshot: Snapshot, labels: Mapping[str, str]) -> str:
    """Write the result of a comparison of backward rules in at most 70 characters.

    Returns "" before the end of the run, or if nothing can be compared. The headline names the rules that may
    be best, with their means if there is room. ``labels`` maps rules to their names.
    """
    ranking = _compare(snapshot)
    if ranking is None:
        return ""
    means = {
        rule: format_score([mean], ranking.decimals, ranking.unit) for rule, mean in ranking.means.items()
    }
    return next(words for words in _list_headlines(ranking, means, labels) if len(words) <= _MAX_HEADLINE)


def _list_headlines(ranking: Ranking, means: Mapping[str, str], labels: Mapping[str, str]) -> Iterator[str]:
    """Yield the full headline of a ranking, and then shorter and shorter versions of it."""
    first = next(iter(means))
    ends = [means[rule] for rule in ranking.best]
    at = f"at {ends[0]}" if ends[0] == ends[-1] else f"at {ends[-1].removesuffix(' %')} to {ends[0]}"
    count = f"{ranking.started} seeds"
    if ranking.started == 1:
        yield f"One seed: {join_texts([f'{labels[rule]} {mean}' for rule, mean in means.items()])}."
        yield f"One seed: {labels[first]} leads, at {means[first]}."
        yield f"One seed: the best of {len(means)} rules ends at {means[first]}."
    elif ranking.diverged or ranking.shared < _MIN_SEEDS:
        yield f"{labels[first]} has the highest mean, {means[first]}, but some seeds diverged."
        yield f"The highest mean is {means[first]}, but some seeds diverged."
    elif ranking.alike:
        yield f"All end equal, at {means[first]}, on each of {count}."
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
class _Statement:
    text: str  # a sentence without its full stop
    panel: str
    hinders: bool = True  # whether the statement is about a missing part of the gradient


def make_lines(snapshot: Snapshot) -> dict[str, Line]:
    """Write one line of text about each backward rule of a run. Rules without measurements are left out."""
    records_by_key = {key: snapshot.measured.get(key, {}) for key in BASIS}
    result: dict[str, Line] = {}
    ranking = _rank_seeds(snapshot)
    for rule in snapshot.losses:
        record = {key: each.get(rule) for key, each in records_by_key.items()}
        way, causes, inputs = (record[key] for key in BASIS)
        if way and causes and inputs:
            finding = _find_statement(snapshot, way, causes, inputs)
            result[rule] = _make_line(finding, _describe_end(snapshot, rule, finding, ranking))
    return result


def _make_line(finding: _Statement, end: _Statement | None) -> Line:
    """Join a finding about a rule's gradient and the rule's result into one line of text."""
    if end is None:
        return Line(f"{finding.text}.", finding.panel)
    return Line(f"{finding.text}. {end.text}.", end.panel or finding.panel)


def _find_statement(snapshot: Snapshot, way: Record, causes: Record, inputs: Record) -> _Statement:
    """Find the most important fact about the gradient in a rule's backward pass."""
    if not all(map(math.isfinite, way["reached"])):
        return _Statement(
            f"A gradient of the {'next' if snapshot.step else 'first'} step is infinite or NaN", "norms"
        )
    unreached = [
        layer for layer, norm in enumerate(way["reached"], 1) if norm == 0 and _is_unmoved(way, layer)
    ]
    if unreached:
        return _Statement(_describe_unreached(snapshot, unreached, way), "norms")
    for cause, lacks, panel in _CAUSES:
        layer = max(range(len(causes["shares"])), key=lambda at: float(causes["shares"][at][cause]))
        share = float(causes["shares"][layer][cause])
        if share < _MIN_SHARE:
            continue
        single = len(causes["shares"]) == 1
        ratio = float(inputs["ratio"][layer])
        wide = _describe_width(snapshot, ratio, "their" if single else "its") if panel == "inputs" else ""
        part = _name_inputs(snapshot, layer, len(causes["shares"]))
        verb = "get" if single else "gets"
        finding = f"{format_percent(share)} of {part} {verb} {lacks}{wide}"
        return _Statement(finding, panel if wide else "causes")
    return _Statement(_describe_propagation(snapshot, way), "norms", hinders=False)


def _is_unmoved(way: Record, layer: int) -> bool:
    """Return whether the weights of a layer, counted from 1, are still at their initial values."""
    return bool(way["moved"][layer - 1] == 0)


def _describe_unreached(snapshot: Snapshot, unreached: Sequence[int], way: Record) -> str:
    """Describe in a sentence which weights get no gradient, and what still learns."""
    count, site = len(way["reached"]), TASKS[snapshot.task].net.site
    time_clause = "" if snapshot.step else " in the first step"
    verb = "learns" if snapshot.step else "can learn"
    if len(unreached) == count:
        rest = f"only biases {verb.removesuffix('s')}" if way["biased"] else f"nothing {verb}"
        return f"No gradient reaches any weight{time_clause}, so {rest}"
    layer_names = join_texts([f"w{layer}" for layer in unreached])
    if not site.per_example:  # if the op is on weights, the biases of these layers may learn
        return f"No gradient reaches {layer_names}{time_clause}"
    reached = [layer for layer in range(1, count + 1) if layer not in unreached]
    if reached == [count]:
        return f"No gradient reaches {layer_names}{time_clause}, so only the last layer {verb}"
    verb = verb.removesuffix("s") if len(reached) > 1 else verb
    weights = join_texts([f"w{layer}" for layer in reached])
    return f"No gradient reaches {layer_names}{time_clause}, so only {weights} {verb}"


def _name_inputs(snapshot: Snapshot, layer: int, layers: int) -> str:
    """Name the inputs of the op in a layer, counted from 0, such as "inputs of layer 2"."""
    site = TASKS[snapshot.task].net.site
    if layers == 1:
        return site.elements
    return f"layer {layer + 1}" if site.per_example else f"w{layer + 1}"


def _describe_width(snapshot: Snapshot, ratio: float, whose: str) -> str:
    """Describe that the data is wider than the range in which the rule passes a gradient, or return ""."""
    if not math.isfinite(ratio) or ratio < _MIN_RATIO:
        return ""
    things = "inputs" if TASKS[snapshot.task].net.site.per_example else "values"
    times = f"{ratio:.1f}".removesuffix(".0")
    return f": {whose} {things} spread {times} times as wide as the rule's window"


def _describe_propagation(snapshot: Snapshot, way: Record) -> str:
    """Describe what fraction of the gradient reaches the first layer of weights, and how far they moved.

    On hidden units the gradient passes every layer with the op; on weights it passes only the op of w1.
    """
    is_per_example = TASKS[snapshot.task].net.site.per_example
    remaining = math.prod(float(each) for each in (way["passed"] if is_per_example else way["passed"][:1]))
    subject = "gradient" if is_per_example else "gradient of w1"
    moved = f": w1 moved by {float(way['moved'][0]):.3g}" if snapshot.step else ""
    if way["of_losses"]:
        return f"Its gradient comes from losses, not from g{moved}"
    if not math.isfinite(remaining):
        return f"The {subject} passes{moved}"
    if remaining == 1:
        return f"The whole {subject} passes{moved}"
    if remaining > _MIN_GAIN:
        return f"The rule makes the {subject} {remaining:.1f} times as large{moved}"
    percent = 100 * remaining
    rounded = f"{percent:.0f}" if remaining >= 0.1 else number_text(float(f"{percent:.2g}"))
    return f"The {subject} passes at {rounded} % of its size{moved}"


def _rank_seeds(snapshot: Snapshot) -> Ranking | None:
    """Rank the backward rules at the end of a run with several seeds. Returns None for other runs."""
    return _compare(snapshot) if snapshot.seeds > 1 else None


def _compare(snapshot: Snapshot) -> Ranking | None:
    """Rank the backward rules at the end of a run, even with a single seed.

    Returns None if nothing can be compared.
    """
    scores = {rule: get_scores(snapshot, rule) for rule in snapshot.losses}
    finite = any(math.isfinite(score) for each in scores.values() for score in each)
    if not (snapshot.finished and snapshot.metric and finite and len(scores) > 1):
        return None
    unit = unit_of(snapshot)
    ranking = rank(scores, 1 / snapshot.held_out if unit == "%" else 0.0, unit=unit)
    return ranking if ranking.means else None


def _describe_end(
    snapshot: Snapshot, rule: str, finding: _Statement, ranking: Ranking | None
) -> _Statement | None:
    """Describe the final score of a backward rule in a sentence, or return None if it has none."""
    if ranking is None or rule not in ranking.means or ranking.alike:
        return None
    if rule in ranking.lower:
        return _describe_lower(snapshot, rule, finding, ranking)
    if ranking.best == (rule,):
        return _Statement("Best anyway" if finding.hinders else "Best", "")
    if rule == next(iter(ranking.means)):
        return _Statement("Highest mean anyway" if finding.hinders else "Highest mean", "")
    largest = ranking.differences[rule][1]
    if largest > _MAX_GAP:
        return _Statement("Not shown to be lower than the highest", "")
    bound = math.ceil(100 * largest) if ranking.unit == "%" else math.ceil(100 * largest) / 100
    points = f"{bound} point{'s' * (bound != 1)}" if ranking.unit == "%" else f"{bound} R²"
    return _Statement(f"Within {points} of the highest", "")


def _describe_lower(snapshot: Snapshot, rule: str, finding: _Statement, ranking: Ranking) -> _Statement:
    """Describe the final score of a backward rule that is lower than the best, with a possible reason."""
    unit, times = ("points", 100) if ranking.unit == "%" else ("R²", 1)
    least = times * ranking.lower[rule][0]
    amount = f"{least:.1f}" if least >= 1 else f"{least:.1g}"
    lower = f"At least {amount} {unit} lower"
    if finding.hinders:
        return _Statement(lower, "")
    cosine = _get_cosine(snapshot, rule)
    better = [
        _get_cosine(snapshot, each) for each in ranking.means if ranking.means[each] > ranking.means[rule]
    ]
    is_known = all(map(math.isfinite, [cosine, *better]))
    if is_known and cosine < min(better):
        better_text = f"{min(better):.2f} to {max(better):.2f}" if len(better) > 1 else f"{better[0]:.2f}"
        numbers = with_minus(f"cosine {cosine:.2f}, against {better_text}")
        return _Statement(f"{lower}; its gradient is misaligned ({numbers})", "alignment")
    return _Statement(f"{lower}; nothing measured explains it", "alignment" if is_known else "")


def _get_cosine(snapshot: Snapshot, rule: str) -> float:
    """Return the cosine between the gradients of a rule and of the smoothed net in the first layer.

    The layer is the first one with the op. NaN if the cosine is unknown.
    """
    records: Mapping[str, Record | None] = snapshot.measured.get("alignment", {})
    record = records.get(rule)
    return float(record["cosine"][0]) if record else math.nan
