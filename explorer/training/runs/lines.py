"""One line of text for each backward rule of a run: the main finding about its gradient, and its result.

The word "so" appears only if the gradient of weights is exactly 0. A fraction of units without a gradient
explains nothing: of 34 rules on 8 tasks, 16 had a fifth or more of such units, and 4 of these were best.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from explorer.formula import format_percent, join_texts, number_text, with_minus
from explorer.training.instruments import INSTRUMENTS, Record
from explorer.training.ranking import Ranking, format_score
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
_MIN_TURN = 0.05  # a cosine that is lower by less explains nothing
_MIN_RISE = 0.01  # a score that rose by less in the last quarter of a run is not called rising
_MAX_GAP = 0.03  # a rule this close to the best, by the ranking's bound, is called close


@dataclass(frozen=True)
class Line:
    """A line of text about one backward rule in a training run.

    Attributes:
        text: a sentence or two.
        panel: the key of the instrument that supports the text, or "chart" if the curve of score or loss
            does.
        why: the reason in one sentence of at most 120 characters; "" before the first step.
        layer: the layer that the text is about, counted from 0 among the layers with the op; None for all.
    """

    text: str
    panel: str
    why: str
    layer: int | None = None


@dataclass(frozen=True)
class _Statement:
    text: str  # a sentence without its full stop
    panel: str
    why: str = ""  # the reason, which the text does not contain
    hinders: bool = True  # whether it is about a gradient that is missing
    layer: int | None = None  # index of the layer, as in ``Line``


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
    return Line(text, source.panel, why, source.layer)


def _describe_divergence(snapshot: Snapshot, rule: str) -> _Statement:
    at, fallen = snapshot.diverged[rule], snapshot.fallen[rule]
    loss, norm = (
        next((float(each) for each in series[rule][::-1] if math.isfinite(each)), math.nan)
        for series in (snapshot.losses, snapshot.w1_norms)
    )
    before = f"after a loss of {loss:.3g} and a gradient of w1 of length {norm:.3g}"
    why = f"At step {at} {fallen or f'a value was infinite or NaN, {before}'}"
    return _Statement(f"Diverged at step {at}", "chart", why)


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
        single = len(causes["shares"]) == 1
        ratio = float(inputs["ratio"][layer])
        wide = _describe_width(snapshot, ratio, single) if panel == "inputs" else ""
        part = _name_inputs(snapshot, layer, len(causes["shares"]))
        verb = "get" if single else "gets"
        finding = f"{format_percent(share)} of {part} {verb} {lacks}"
        finding = finding[0].upper() + finding[1:]
        why = finding + (wide or _explain_cause(cause, way))
        return _Statement(finding + wide, panel if wide else "causes", why, layer=layer)
    text, moved = _describe_propagation(snapshot, way), [f"{float(each):.3g}" for each in way["moved"]]
    effect = f"so w1 learns too: it moved by {moved[0]}, w{len(moved)} by {moved[-1]}"
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


def _explain_cause(cause: int, way: Record) -> str:
    if cause == 1:
        return ": the rule is nearly flat there"
    if cause == 3:
        return ": the layers after it return 0 there"
    return ": the op's slope is 0 there" if way["slope_of"] else ": the rule returns 0 there"


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
    """Return a name for the inputs of the op in a layer, counted from 0, such as "layer 2"."""
    site = TASKS[snapshot.task].net.site
    if layers == 1:
        return site.elements
    return f"layer {layer + 1}" if site.per_example else f"w{layer + 1}"


def _describe_width(snapshot: Snapshot, ratio: float, single: bool) -> str:
    """Return a clause on data that spread wider than the rule's window, or "" if they do not."""
    if not math.isfinite(ratio) or ratio < _MIN_RATIO:
        return ""
    is_per_example = TASKS[snapshot.task].net.site.per_example
    things = "they" if single else "its inputs" if is_per_example else "its values"
    times = f"{ratio:.1f}".removesuffix(".0")
    return f": {things} spread {times} times as wide as the rule's window"


def _describe_propagation(snapshot: Snapshot, way: Record) -> str:
    """Return words for the fraction of the gradient that reaches w1, and for how far w1 moved.

    On hidden units the gradient passes every layer with the op; on weights it passes only the op of w1.
    """
    is_per_example = TASKS[snapshot.task].net.site.per_example
    remaining = _compute_remaining(snapshot, way)
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


def _compute_remaining(snapshot: Snapshot, way: Record) -> float:
    passed = way["passed"] if TASKS[snapshot.task].net.site.per_example else way["passed"][:1]
    return math.prod(float(each) for each in passed)


def _describe_end(
    snapshot: Snapshot, rule: str, finding: _Statement, ranking: Ranking | None
) -> _Statement | None:
    if ranking is None or rule not in ranking.means:
        return None
    if ranking.alike:
        why = f"On each of {ranking.started} seeds all rules end with the same score"
        why = "" if _lack_w1(snapshot, ranking.means) else why
        return _Statement("The same score as all others", "chart", why)
    if rule in ranking.lower:
        return _describe_lower(snapshot, rule, finding, ranking)
    if ranking.best == (rule,):
        text = "Best anyway" if finding.hinders else "Best"
        return next(_list_advantages(snapshot, rule, ranking, text))
    first, second = list(ranking.means)[:2]
    least, largest = ranking.differences[second if rule == first else rule]
    is_cut_off = _lack_w1(snapshot, (first, second) if rule == first else (first, rule))
    unit, times = _get_scale(ranking)
    others = ("the next best", "that") if rule == first else ("the highest mean", "it")
    bounds = f"{others[1]} may be {-times * least:.1f} {unit} higher or {times * largest:.1f} lower"
    if not math.isfinite(largest):
        bounds = "too few stayed finite with both"
    why = "" if is_cut_off else f"{ranking.started} seeds cannot tell it from {others[0]}: {bounds}"
    if rule == first:
        return _Statement("Highest mean anyway" if finding.hinders else "Highest mean", "chart", why)
    if largest > _MAX_GAP:
        return _Statement("Not shown to be lower than the highest", "chart", why)
    bound = math.ceil(100 * largest) if ranking.unit == "%" else math.ceil(100 * largest) / 100
    points = f"{bound} point{'s' * (bound != 1)}" if ranking.unit == "%" else f"{bound} R²"
    return _Statement(f"Within {points} of the highest", "chart", why)


def _lack_w1(snapshot: Snapshot, rules: Iterable[str]) -> bool:
    """Return whether under each of these rules no gradient has reached w1: the reason for their tie."""
    ways = (snapshot.measured["way"][rule] for rule in rules)
    return all(way and way["reached"][0] == way["moved"][0] == 0 for way in ways)


def _list_advantages(snapshot: Snapshot, rule: str, ranking: Ranking, text: str) -> Iterator[_Statement]:
    """Yield statements, each with ``text``, on how the best rule differs from the next, clearest first."""
    if len(ranking.means) < 2:
        kept = ranking.started - ranking.diverged.get(rule, 0)
        why = f"It kept its values finite on {kept} of {ranking.started} seeds, the others on half or fewer"
        yield _Statement(text, "chart", why)
        return
    second = list(ranking.means)[1]
    other = "the other rule" if len(snapshot.losses) == 2 else "the next best rule"
    ways, causes = ([snapshot.measured[key][each] or {} for each in (rule, second)] for key in BASIS[:2])
    for at, (moved, its_moved) in enumerate(zip(*(way["moved"] for way in ways), strict=True), 1):
        if its_moved == 0 < moved:
            why = f"A gradient reaches w{at}, which moved by {moved:.3g}; with {other} w{at} never moved"
            yield _Statement(text, "norms", why)
    reached = [[float(1 - sum(each[2:])) for each in record["shares"]] for record in causes]
    gap, layer = max((own - its, at) for at, (own, its) in enumerate(zip(*reached, strict=True)))
    if gap >= _MIN_SHARE:
        part = _name_inputs(snapshot, layer, len(reached[0]))
        share, its_share = (format_percent(each[layer]) for each in reached)
        why = f"It passes a gradient to {share} of {part}, {other} to {its_share}"
        yield _Statement(text, "causes", why, layer=layer)
    known = [each for key in snapshot.losses if key != rule and (each := _mean_cosine(snapshot, key)) > -inf]
    if known and (cosine := _mean_cosine(snapshot, rule)) > max(known) + _MIN_TURN:
        numbers = with_minus(f"cosine {cosine:.2f}, others at most {max(known):.2f}")
        why = f"Its gradient is closer to that of the smoothed net: {numbers}"
        yield _Statement(text, "alignment", why, layer=0)
    left, its_left = (_compute_remaining(snapshot, way) for way in ways)
    if max(left, its_left) > _MIN_GAIN * min(left, its_left):
        why = f"Its gradient reaches w1 × {left:.2g}, that of {other} × {its_left:.2g}"
        yield _Statement(text, "norms", why)
    passed_at = int(snapshot.score_steps[(snapshot.scores[rule] >= snapshot.scores[second][-1]).argmax()])
    end = format_score([ranking.means[second]], ranking.decimals, ranking.unit)
    why = f"It had the final score of {other}, {end}, at step {passed_at} of {snapshot.step}"
    yield _Statement(text, "chart", why)


def _get_scale(ranking: Ranking) -> tuple[str, int]:
    return ("points", 100) if ranking.unit == "%" else ("R²", 1)


def _describe_lower(snapshot: Snapshot, rule: str, finding: _Statement, ranking: Ranking) -> _Statement:
    unit, times = _get_scale(ranking)
    least = times * ranking.lower[rule][0]
    amount = f"{least:.1f}" if least >= 1 else f"{least:.1g}"
    lower = f"At least {amount} {unit} lower"
    if finding.hinders:
        return _Statement(lower, "")
    first = next(iter(ranking.means))
    cosine, highest = (_mean_cosine(snapshot, each) for each in (rule, first))
    numbers = with_minus(f"cosine {cosine:.2f}, against {highest:.2f}")
    if cosine < highest - _MIN_TURN:
        why = f"Its gradient points elsewhere than that of the smoothed net: {numbers} with the highest mean"
        return _Statement(f"{lower}; its gradient is misaligned ({numbers})", "alignment", why, layer=0)
    far, reach = (snapshot.measured["way"][each] for each in (rule, first))
    if (
        far
        and reach
        and _compute_remaining(snapshot, far) > _MIN_GAIN
        and far["moved"][0] > reach["moved"][0]
    ):
        distances = f"{far['moved'][0]:.3g}, and with the highest mean by {reach['moved'][0]:.3g}"
        why = f"{finding.text.partition(':')[0]}: w1 moved by {distances}"
        return _Statement(f"{lower}; its steps are larger", "norms", why)
    if slow := _explain_slowness(snapshot, rule, first, ranking):
        return _Statement(f"{lower}; still rising", "chart", slow)
    text, why = f"{lower}; no measure explains it", "No measure explains it"
    if not math.isfinite(cosine + highest):
        return _Statement(text, "", why)
    why = f"{why}: {numbers} with the highest mean, to the smoothed net's gradient"
    return _Statement(text, "alignment", why, layer=0)


def _explain_slowness(snapshot: Snapshot, rule: str, first: str, ranking: Ranking) -> str:
    unit, times = _get_scale(ranking)
    quarter = max(1, len(snapshot.score_steps) // 4)
    rise, other = (
        float(snapshot.scores[each][-1] - snapshot.scores[each][-1 - quarter]) for each in (rule, first)
    )
    if not rise > max(other, _MIN_RISE):
        return ""
    passed_at = int(snapshot.score_steps[(snapshot.scores[first] >= snapshot.scores[rule][-1]).argmax()])
    late = f"it still rose by {times * rise:.1f} {unit} in the last quarter"
    return f"It is slower: the highest was there at step {passed_at}, and {late}"


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
