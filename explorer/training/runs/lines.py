"""One line of text for each backward rule of a run: the main finding about its gradient, and its result.

The word "so" appears only if the gradient of weights is exactly 0. A fraction of units without a gradient
explains nothing: of 34 rules on 8 tasks, 16 had a fifth or more of such units, and 4 of these were best.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from explorer.formula import format_percent, format_short, join_texts, number_text, with_minus
from explorer.training.instruments import INSTRUMENTS, Record
from explorer.training.ranking import Ranking
from explorer.training.runs.headline import compare_rules
from explorer.training.runs.snapshot import Snapshot
from explorer.training.tasks import TASKS

BASIS = ("way", "causes", "inputs")
"""The instruments that a line needs, in addition to the alignment."""
_MIN_SHARE = 0.2  # a smaller fraction of the op's inputs, or difference of two, is not mentioned
_MIN_RATIO = 1.5  # a smaller ratio of the data's width to the rule's window is not mentioned
_MIN_GAIN = 1.5  # growth of the gradient by a smaller factor is not mentioned
_CAUSES = (
    (2, "no gradient", "inputs"),
    (1, "under 1 % of the rule's peak", "inputs"),
    (3, "no gradient from above", "causes"),
)
"""Index of a cause, the text on units with it, and the instrument that shows the reason."""
_MAX_WHY = 120  # characters
_MIN_SAME, _MIN_COSINE = 0.9, 0.95  # gradients with fewer equal signs or a lower cosine do not agree
_MIN_STEPS = 10.0  # a smaller ratio of distances from the start, or of losses, explains nothing
_MAX_APART = 0.1  # sizes that differ by a larger fraction are not called close
_MIN_TURN = 0.05  # a cosine that is lower by less explains nothing
_MIN_RISE = 0.01  # a score that rose by less in the last quarter of a run is not called rising
_MAX_GAP = 0.03  # a rule this close to the best, by the ranking's bound, is called close


@dataclass(frozen=True)
class Line:
    """A line of text about one backward rule in a training run.

    Attributes:
        text: a sentence or two.
        panel: the key of the instrument that supports the text; "score" or "loss" if that curve does, "seeds"
            if the final score of each seed does.
        why: the reason in one sentence of at most 120 characters; "" before the first step.
        layer: the layer that the text is about, counted from 0 among the layers with the op; None for all.
        other: the rule that the reason compares it with, or None.
    """

    text: str
    panel: str
    why: str
    layer: int | None = None
    other: str | None = None


@dataclass(frozen=True)
class _Statement(Line):  # without full stops
    why: str = ""
    hinders: bool = True  # whether it is about a gradient that is missing


def make_lines(snapshot: Snapshot) -> dict[str, Line]:
    """Return one line of text about each backward rule of a run. Rules without measurements are left out."""
    records_by_key = {key: snapshot.measured.get(key, {}) for key in BASIS}
    result: dict[str, Line] = {}
    ranking = compare_rules(snapshot) if snapshot.seeds > 1 else None
    for rule in snapshot.losses:
        record = {key: each.get(rule) for key, each in records_by_key.items()}
        way, causes, inputs = (record[key] for key in BASIS)
        if way and causes and inputs:
            finding = _find_statement(snapshot, way, causes, inputs)
            result[rule] = _make_line(snapshot, finding, _describe_end(snapshot, rule, finding, ranking))
        elif all(records_by_key.values()) and snapshot.diverged[rule]:
            result[rule] = _make_line(snapshot, _describe_divergence(snapshot, rule), None)
    return result


def _make_line(snapshot: Snapshot, finding: _Statement, end: _Statement | None) -> Line:
    source = end if end and end.why else finding
    why = f"{source.why}." if snapshot.step else ""
    text = f"{finding.text}. {end.text}." if end else f"{finding.text}."
    return Line(text, source.panel, why, source.layer, source.other)


def _describe_divergence(snapshot: Snapshot, rule: str) -> _Statement:
    at, fallen = snapshot.diverged[rule], snapshot.fallen[rule]
    losses = [float(each) for each in snapshot.losses[rule] if math.isfinite(each)] or [math.nan]
    norm, *norms = (
        float(next(iter(snapshot.w1_norms[key]), math.nan))
        for key in sorted(snapshot.losses, key=rule.__ne__)
    )
    most, grown = max(norms, default=0), f"the loss grew from {losses[0]:.3g} to {_round(losses[-1])}"
    why = f"Its steps are too large: {grown}"
    if fallen:
        why = f"At step {at} {fallen}"
    elif not losses[-1] > _MIN_STEPS * losses[0]:
        why = f"At step {at} a value was infinite or NaN, after a loss of {_round(losses[-1])}"
    elif most and norm > _MIN_GAIN * most:
        name = "the other rule's" if len(norms) == 1 else "the next largest"
        times = format_short(float(f"{norm / most:.2g}"))
        why = f"At the start its gradient of w1 is {times} times {name}, and {grown}"
    return _Statement(f"Diverged at step {at}", "loss", why)


def _find_statement(snapshot: Snapshot, way: Record, causes: Record, inputs: Record) -> _Statement:
    if not all(map(math.isfinite, way["reached"])):
        step = "next" if snapshot.step else "first"
        text = f"A gradient of the {step} step is infinite or NaN"
        return _Statement(text, "norms", f"{text}: with that step its weights would be so too")
    norms = zip(way["reached"], way["moved"], strict=True)
    unreached = [layer for layer, (norm, moved) in enumerate(norms, 1) if norm == 0 and moved == 0]
    if unreached:
        effect = _describe_unreached(snapshot, unreached, way)
        return _Statement(f"No gradient reaches {effect}", "norms", _explain_unreached(effect, way, causes))
    for cause, lacks, panel in _CAUSES:
        layer = max(range(len(causes["shares"])), key=lambda at: float(causes["shares"][at][cause]))
        share = float(causes["shares"][layer][cause])
        if share < _MIN_SHARE:
            continue
        plural = len(causes["shares"]) == 1 or TASKS[snapshot.task].net.site.per_example
        ratio = float(inputs["ratio"][layer])
        wide = _describe_width(ratio, "they" if plural else "its values") if panel == "inputs" else ""
        part = _name_inputs(snapshot, layer, len(causes["shares"]))
        finding = f"{format_percent(share)} of {part} {'get' if plural else 'gets'} {lacks}"
        finding = finding[0].upper() + finding[1:]
        zero = "the op's slope is 0" if way["slope_of"] else "the rule returns 0"
        reason = {1: "the rule is nearly flat", 2: zero, 3: "the layers after it return 0"}[cause]
        why = finding + (wide or f": {reason} there")
        return _Statement(finding + wide, panel if wide else "causes", why, layer=layer)
    text = _describe_propagation(snapshot, way)
    moved = [f"w{at} by {_round(each)}" for at, each in enumerate(way["moved"], 1)]
    effect = f"so each layer learns: {join_texts(moved).replace('w1', 'w1 moved', 1)}"
    return _Statement(text, "norms", f"{text.partition(': w1')[0]}, {effect}", hinders=False)


def _explain_unreached(effect: str, way: Record, causes: Record) -> str:
    """Return a statement on why weights get no gradient.

    The reason lies in the last layer with the op that passes nothing. ``effect`` says which weights get no
    gradient, and what still learns.
    """
    layer = max((at for at, passed in enumerate(way["passed"]) if passed == 0), default=None)
    if layer is None:
        reason = "The loss returns no gradient"
    elif any(causes["shares"][layer][:2]):
        reason = "The op returns 0 on the next batch"
    elif way["slope_of"]:
        reason = f"{way['slope_of']}'s slope is 0, and anything times 0 is 0"
        if len(f"{reason}: nothing reaches {effect}") >= _MAX_WHY:
            reason = "The op's slope is 0"
    else:
        reason = "The rule returns 0 for every input"
    return f"{reason}: nothing reaches {effect}"


def _describe_unreached(snapshot: Snapshot, unreached: Sequence[int], way: Record) -> str:
    """Return words for the weights without a gradient and what still learns: "w1, so only w2 learns"."""
    count, site = len(way["reached"]), TASKS[snapshot.task].net.site
    time_clause = "" if snapshot.step else " in the first step"
    verb = "learns" if snapshot.step else "can learn"
    if len(unreached) == count:
        rest = f"only biases {verb.removesuffix('s')}" if way["biased"] else f"nothing {verb}"
        return f"any weight{time_clause}, so {rest}"
    layer_names = join_texts([f"w{layer}" for layer in unreached])
    if not site.per_example:  # with the op on weights, the biases of these layers may learn
        return f"{layer_names}{time_clause}"
    reached = [layer for layer in range(1, count + 1) if layer not in unreached]
    if reached == [count]:
        return f"{layer_names}{time_clause}, so only the last layer {verb}"
    verb = verb.removesuffix("s") if len(reached) > 1 else verb
    weights = join_texts([f"w{layer}" for layer in reached])
    return f"{layer_names}{time_clause}, so only {weights} {verb}"


def _name_inputs(snapshot: Snapshot, layer: int, layers: int) -> str:
    """Return a name for the inputs of the op in a layer, counted from 0, such as "w2"."""
    site = TASKS[snapshot.task].net.site
    if layers == 1:
        return site.elements
    return f"{site.elements} after w{layer + 1}" if site.per_example else f"w{layer + 1}"


def _describe_width(ratio: float, things: str) -> str:
    """Return a clause on data that spread wider than the rule's window, or "" if they do not."""
    if not math.isfinite(ratio) or ratio < _MIN_RATIO:
        return ""
    times = f"{ratio:.1f}".removesuffix(".0")
    return f": {things} spread {times} times as wide as the rule's window"


def _describe_propagation(snapshot: Snapshot, way: Record) -> str:
    """Return words for the fraction of the gradient that reaches w1, and for how far w1 moved.

    On hidden units the gradient passes every layer with the op; on weights it passes only the op of w1.
    """
    is_per_example = TASKS[snapshot.task].net.site.per_example
    remaining = math.prod(map(float, way["passed"][: None if is_per_example else 1]))
    subject = "gradient" if is_per_example else "gradient of w1"
    moved = f": w1 moved by {_round(way['moved'][0])}" if snapshot.step else ""
    if way["of_losses"]:
        return f"Its gradient comes from losses, not from g{moved}"
    if not math.isfinite(remaining):
        return f"The {subject} passes{moved}"
    if remaining == 1:
        return f"The whole {subject} passes{moved}"
    if remaining > _MIN_GAIN:
        times = format_short(float(f"{remaining:.2g}"))
        return f"The rule makes the {subject} {times} times as large{moved}"
    percent = 100 * remaining
    rounded = f"{percent:.0f}" if remaining >= 0.1 else number_text(float(f"{percent:.2g}"))
    return f"The {subject} passes at {rounded} % of its size{moved}"


def _round(number: float) -> str:
    return format_short(float(f"{number:.3g}"))


def _describe_end(
    snapshot: Snapshot, rule: str, finding: _Statement, ranking: Ranking | None
) -> _Statement | None:
    if ranking is None or rule not in ranking.means:
        return None
    anyway = " anyway" if finding.hinders else ""
    if len(ranking.means) < 2:
        kept = ranking.started - ranking.diverged.get(rule, 0)
        why = f"It kept its values finite on {kept} of {ranking.started} seeds, the others on half or fewer"
        return _Statement(f"Best{anyway}", "score", why)
    first = next(iter(ranking.means))
    other = first if rule != first else [*ranking.best, *ranking.means][1 + (len(ranking.best) == 1)]
    pair = _Pair(snapshot, ranking, rule, other)
    if rule in ranking.lower:
        return _describe_lower(pair, finding)
    if ranking.best == (rule,):
        nothing = _Statement("", "seeds", f"Nothing measured favours it over {pair.name}")
        return replace(next(_list_reasons(pair, 1), nothing), text=f"Best{anyway}", other=other)
    tie = _explain_tie(pair)
    if ranking.alike:
        return replace(tie, text="The same score as all others")
    if rule == first:
        return replace(tie, text=f"Highest mean{anyway}")
    largest = ranking.differences[rule][1]
    if largest > _MAX_GAP:
        return replace(tie, text="Not shown to be lower than the highest")
    bound = math.ceil(100 * largest) if ranking.unit == "%" else math.ceil(100 * largest) / 100
    points = f"{bound} point{'s' * (bound != 1)}" if ranking.unit == "%" else f"{bound} R²"
    return replace(tie, text=f"Within {points} of the highest")


class _Pair:
    """A rule, and the rule to compare it with: the next best one, or the best one for all others."""

    def __init__(self, snapshot: Snapshot, ranking: Ranking, rule: str, other: str) -> None:
        self.snapshot, self.ranking, self.rule, self.other = snapshot, ranking, rule, other
        measured, both = snapshot.measured, (rule, other)
        self.records = {key: [measured[key][each] or {} for each in both] for key in BASIS[:2]}
        self.moved = [[float(each) for each in way["moved"]] for way in self.records["way"]]
        self.lacks_w1 = [way["reached"][0] == way["moved"][0] == 0 for way in self.records["way"]]
        name = "next best" if rule == ranking.best[0] else "leading" if ranking.best[1:] else "best"
        self.name = "the other rule" if len(snapshot.losses) == 2 else f"the {name} rule"
        own = self.records["way"][0]["others"][list(snapshot.losses).index(other)]
        self.same, self.cosine, self.size = map(float, own)

    def format(self, difference: float) -> str:
        """Return a difference of scores with its unit, such as "1.3 points"."""
        if self.ranking.unit == "R²":
            return f"{number_text(float(f'{difference:.2g}'))} R²"
        points = 100 * difference
        return f"{points:.1f} points" if points >= 1 or not points else f"{points:.1g} points"


def _list_reasons(pair: _Pair, sign: int) -> Iterator[_Statement]:
    """Yield measured differences that may explain a higher (``sign`` 1) or lower score (−1), clearest first.

    A difference in size counts for either, as steps may be too small or too large.
    """
    (moved, its_moved), name, snapshot = pair.moved, pair.name, pair.snapshot
    for at, (own, its) in enumerate(zip(moved, its_moved, strict=True), 1):
        if sign > 0 and its == 0 < own:
            why = f"A gradient reaches w{at}, which moved by {_round(own)}; with {name} w{at} never moved"
            yield _Statement("", "norms", why)
    if pair.same <= 1 - _MIN_SAME and pair.cosine < -_MIN_COSINE:
        why = f"Its gradient has the opposite sign to that of {name} on {format_percent(1 - pair.same)}"
        yield _Statement("its gradient is reversed", "inputs", f"{why} of the op's inputs", layer=0)
    causes = slice(2, 3) if sign > 0 else slice(1, 3)
    zeros = [[float(sum(each[causes])) for each in record["shares"]] for record in pair.records["causes"]]
    gap, layer = max((sign * (its - own), at) for at, (own, its) in enumerate(zip(*zeros, strict=True)))
    if gap >= _MIN_SHARE:
        part = _name_inputs(snapshot, layer, len(zeros[0]))
        share, its_share = (format_percent(1 - each[layer]) for each in zeros)
        why = f"It passes a gradient to {share} of {part}, {name} to {its_share}"
        yield _Statement("", "causes", why, layer=layer)
    least, most = sorted((moved[0], its_moved[0]))
    if most > _MIN_STEPS * least:
        kind = "larger" if moved[0] == most else "smaller"
        why = f"Its steps are {kind}: w1 moved by {_round(moved[0])}, with {name} by {_round(its_moved[0])}"
        yield _Statement(f"its steps are {kind}", "norms", why)
    cosine, highest = (_mean_cosine(snapshot, each) for each in (pair.rule, pair.other))
    if sign * (cosine - highest) > _MIN_TURN and max(cosine, highest) > _MIN_TURN:
        numbers = with_minus(f"cosine {cosine:.2f}, against {highest:.2f}")
        near = "closer to" if sign > 0 else "further from"
        why = f"Its gradient is {near} that of the smoothed net: {numbers} with {name}"
        yield _Statement(f"its gradient is misaligned ({numbers})", "alignment", why, layer=0)
    slow, fast = (snapshot.scores[each] for each in (pair.rule, pair.other)[::-sign])
    rise, other = (float(each[-1] - each[-1 - max(1, len(each) // 4)]) for each in (slow, fast))
    if rise > max(other, _MIN_RISE):
        step = int(snapshot.score_steps[(fast >= slow[-1]).argmax()])
        late = f"rose by {pair.format(rise)} in the last quarter"
        why = f"It is slower: {name} was there at step {step}, and it still {late}"
        if sign > 0:
            why = f"It is faster: at step {step} it had {name}'s final score, which {late}"
        yield _Statement("still rising", "score", why)


def _explain_tie(pair: _Pair) -> _Statement:
    """Return why a rule is not shown to differ from another one; without ``why`` if nothing reaches w1."""
    name, snapshot, ranking = pair.name, pair.snapshot, pair.ranking
    size = 1 / pair.size if pair.size else math.inf
    if all(pair.lacks_w1):
        return _Statement("", "norms")
    if pair.same >= _MIN_SAME and pair.cosine >= _MIN_COSINE:
        apart, share, sizes = abs(size - 1), format_percent(pair.same), f"{size:.2g} times its size"
        sizes = f"sizes within {math.ceil(100 * apart)} %" if apart <= _MAX_APART else sizes
        why = f"Its gradient agrees with that of {name}: same sign on {share} of the inputs, {sizes}"
        if pair.cosine > 0.9999 and apart < 0.001:
            why = f"Its gradient equals that of {name} at the op's inputs"
        elif pair.cosine > 0.9999 and pair.records["way"][0]["adam"]:
            distances = " and ".join(_round(moved[0]) for moved in pair.moved)
            why = f"Its gradient is {size:.2g} times that of {name}; Adam divides by the size"
            why += f", so w1 moved by {distances}"
        return _Statement("", "inputs", why, layer=0, other=pair.other)
    if ranking.alike:
        why = f"On each of {ranking.started} seeds all rules end with the same score"
        return _Statement("", "seeds", f"{why}; nothing measured explains it")
    seeds = [snapshot.score[each] for each in (pair.rule, pair.other)]
    spread = max(float(np.nanmax(each) - np.nanmin(each)) for each in seeds if each is not None)
    gap = abs(ranking.means[pair.rule] - ranking.means[pair.other])
    numbers = pair.format(gap).partition(" ")[0], pair.format(spread)
    why = "the means differ by {}, the seeds of one rule by {}".format(*numbers)
    if any(pair.lacks_w1):
        why = f"w1 never moved{f' with {name}' if pair.lacks_w1[1] else ''}; {why}"
    elif pair.same < _MIN_SAME:
        why = f"{100 * pair.same:.0f} % of its gradients have {name}'s sign; {why}"
    else:
        why = f"Nothing measured explains a difference: {why}"
    return _Statement("", "seeds", why)


def _describe_lower(pair: _Pair, finding: _Statement) -> _Statement:
    lower = f"At least {pair.format(pair.ranking.lower[pair.rule][0])} lower"
    reason = next(_list_reasons(pair, -1), None)
    if pair.lacks_w1[0] or (reason and reason.panel == "causes" and finding.hinders):
        return _Statement(lower, "")  # the finding has more to say about it
    if reason:
        return replace(reason, text="; ".join(filter(None, [lower, reason.text])), other=pair.other)
    why = "Nothing measured explains it"
    if pair.same < _MIN_SAME:
        why += f"; its gradient has {pair.name}'s sign on {format_percent(pair.same)} of the op's inputs"
    return _Statement(f"{lower}; no measure explains it", "seeds", why)


def _mean_cosine(snapshot: Snapshot, rule: str) -> float:
    """Return the latest cosine of a rule's gradient to the smoothed net's in the first op layer, or NaN.

    It is a mean of the last measures with the present noise, as in the chart.
    """
    records: Mapping[str, Record | None] = snapshot.measured.get("alignment", {})
    if not (record := records.get(rule)) or not math.isfinite(now := float(record["cosine"][0])):
        return math.nan
    last = slice(-INSTRUMENTS["alignment"].window, None)
    values = record["cosines"][0][last][snapshot.measured_sigmas[last] == np.float32(snapshot.sigma)]
    return float(np.nanmean(values)) if np.isfinite(values).any() else now
