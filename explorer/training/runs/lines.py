"""One line of text for each backward rule of a run: the main finding about its gradient, and its result.

The word "so" appears only if the gradient of weights is exactly 0. Fractions of a gradient are those of its
size, as between the boxes of a lane.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from explorer.formula import format_percent, format_short, join_texts
from explorer.training.instruments import Record
from explorer.training.ranking import Ranking, bound_reach, format_interval
from explorer.training.runs.headline import compare_rules
from explorer.training.runs.pair import (
    MAX_WHY,
    MIN_SHARE,
    Pair,
    Reason,
    describe_fault,
    describe_stop,
    measure_stops,
    round_moved,
    round_short,
)
from explorer.training.runs.snapshot import Snapshot
from explorer.training.tasks import TASKS

BASIS = ("way", "causes", "inputs")
"""The instruments that a line needs, in addition to the alignment."""
_MIN_GAIN = 1.5  # growth of the gradient by a smaller factor is not mentioned
_MAX_SAME = 0.1  # a gradient with more equal signs is not called opposite
_MIN_GROWTH = 10.0  # growth of the loss by, or a loss above the lowest by, a smaller factor is not mentioned
_MIN_LEAD = 0.1  # with one seed, a smaller difference of two scores is not explained

# Series that may grow before a rule diverges, the most telling last.
_SERIES = {"the loss": "losses", "the last layer's gradient": "w2_norms", "w1's gradient": "w1_norms"}


@dataclass(frozen=True)
class Line:
    """A line of text about one backward rule in a training run.

    Attributes:
        text: a sentence or two.
        panel, layer: see ``Reason``.
        why: the reason in one sentence of at most 120 characters; "" before the first step.
        other: the rule that the reason compares it with, or None.
    """

    text: str
    panel: str
    why: str
    layer: int | None = None
    other: str | None = None


@dataclass(frozen=True)
class _Statement:
    text: str  # without a full stop
    reason: Reason | None = None
    hinders: bool = True  # whether it is about a gradient that is missing
    other: str | None = None  # the rule that the reason compares it with


def make_lines(snapshot: Snapshot) -> dict[str, Line]:
    """Return one line of text about each backward rule of a run. Rules without measurements are left out."""
    records_by_key = {key: snapshot.measured.get(key, {}) for key in BASIS}
    result: dict[str, Line] = {}
    ranking = compare_rules(snapshot)
    for rule in snapshot.losses:
        if all(each.get(rule) for each in records_by_key.values()):
            finding = _find_statement(snapshot, rule)
            end = _describe_end(snapshot, rule, finding.hinders, ranking)
            result[rule] = _make_line(snapshot, [finding, end] if end else [finding])
        elif all(records_by_key.values()) and snapshot.diverged[rule] is not None:
            result[rule] = _make_line(snapshot, [_describe_divergence(snapshot, rule)])
    return result


def _make_line(snapshot: Snapshot, statements: Sequence[_Statement]) -> Line:
    """Return a line of statements, with the reason of the last one that has a reason."""
    source, reason = next((each, each.reason) for each in reversed(statements) if each.reason)
    text = " ".join(f"{each.text}." for each in statements if each.text)
    return Line(text, reason.panel, f"{reason.why}." if snapshot.step else "", reason.layer, source.other)


def _describe_divergence(snapshot: Snapshot, rule: str) -> _Statement:
    """Return a statement on a rule that diverged: its first gradient was larger than others', or it grew."""
    text = f"Diverged at step {snapshot.diverged[rule]}"
    norms = {key: float(next(iter(each), math.nan)) for key, each in snapshot.w1_norms.items()}
    norm, most = norms.pop(rule), max(norms.values(), default=0)
    ways = filter(None, snapshot.measured["way"].values())
    signs = [float(way["others"][list(snapshot.losses).index(rule)][0]) for way in ways]
    cause = snapshot.fallen[rule] or snapshot.faults[rule]
    if not snapshot.fallen[rule]:
        for name, series in _SERIES.items():
            values = getattr(snapshot, series)[rule]
            first, last = values[np.isfinite(values)][[0, -1]] if np.isfinite(values).any() else (0, 0)
            if last > _MIN_GROWTH * first:
                cause = f"{name} grew from {round_short(first)} to {round_short(last)}"
        if signs and max(signs) <= _MAX_SAME:
            cause = "its gradient has the opposite sign to that of each other rule"
        elif most and _MIN_GAIN * most < norm < math.inf:
            other = "that of the other rule" if len(norms) == 1 else "the next largest"
            cause = f"its first gradient of w1 was {round_short(norm / most, 2)} times {other}"
    why = f"{text}, at rate {format_short(snapshot.lr)}: {cause}"
    return _Statement(text, Reason("loss" if len(snapshot.losses[rule]) > 2 else "", why))


def _find_statement(snapshot: Snapshot, rule: str) -> _Statement:
    way, causes = (snapshot.measured[key][rule] or {} for key in ("way", "causes"))
    if not all(map(math.isfinite, way["reached"])):
        step = "next" if snapshot.step else "first"
        text = f"A gradient of the {step} step is infinite or NaN"
        return _Statement(text, Reason("norms", f"{text}: with that step its weights would be so too"))
    if fault := describe_fault(snapshot, rule):
        share = format_percent(way["reversed"])
        why = f"It has the opposite sign of g for {share} of inputs, if neither is 0: steps go the wrong way"
        if detail := way["fault"]:
            why = f"{detail[0].upper()}{detail[1:]}, so the loss does not steer its steps"
            why = why if detail.endswith("whatever g is") else f"Its gradient {fault}: {detail}"
        reason = Reason("", why) if detail else Reason("inputs", why, 0)  # no picture shows other g
        return _Statement(f"Its gradient {fault}", reason)
    norms = zip(way["reached"], way["moved"], strict=True)
    unreached = [layer for layer, (norm, moved) in enumerate(norms, 1) if norm == 0 and moved == 0]
    if unreached:
        effect = _describe_unreached(snapshot, unreached, way)
        reason = Reason("norms", _explain_unreached(effect, way, causes))
        return _Statement(f"No gradient reaches {effect}", reason)
    remaining, text = _describe_propagation(snapshot, way)
    stops = measure_stops(snapshot, rule)
    layer = max(range(len(stops)), key=lambda at: (stops[at], at))
    if stops[layer] >= MIN_SHARE and remaining < 1 / _MIN_GAIN:
        return _Statement(text, describe_stop(snapshot, rule, layer))
    moved = [f"w{at} by {round_moved(each)}" for at, each in enumerate(way["moved"], 1)]
    effect = "so each layer learns"
    if not 1 / _MIN_GAIN < remaining < _MIN_GAIN and not way["of_losses"]:
        effect = "but Adam divides by its size" if way["adam"] else "and so are the steps of w1"
    why = f"{text}, {effect}: {join_texts(moved).replace('w1', 'w1 moved', 1)}"
    if not way["reached"][0]:
        why = "The loss returns no gradient: for each example the net gives exactly its target"
    high = remaining == 1 and _describe_high_loss(snapshot, rule)
    return high or _Statement(text, Reason("norms", why), hinders=False)


def _explain_unreached(effect: str, way: Record, causes: Record) -> str:
    """Return a statement on why weights get no gradient.

    The reason lies in the last layer with the op that passes nothing. ``effect`` says which weights get no
    gradient, and what still learns.
    """
    names, is_part, learner = effect.partition(", so only ")
    rest = f"nothing reaches {effect}"
    if is_part and names != "any weight":
        keep = "keep their" if " and " in names else "keeps its"
        rest = f"{names} {keep} random start; only {learner} from that"
    layer = max((at for at, passed in enumerate(way["passed"]) if passed == 0), default=None)
    if layer is None:
        reason = "The loss returns no gradient"
    elif any(causes["shares"][layer][:2]):
        reason = "The op returns 0 on the next batch"
    elif way["slope_of"]:
        reason = f"{way['slope_of']}'s slope is 0, and anything times 0 is 0"
        if len(f"{reason}: {rest}") >= MAX_WHY:
            reason = "The op's slope is 0"
    else:
        reason = "The rule returns 0 for every input"
    return f"{reason}: {rest}"


def _describe_high_loss(snapshot: Snapshot, rule: str) -> _Statement | None:
    """Return a statement on a final loss far above the lowest one of a run without scores, else None."""
    losses, lowest = snapshot.losses[rule], min(filter(None, snapshot.loss.values()), default=math.nan)
    if snapshot.metric or not snapshot.finished or not losses[-1] > _MIN_GROWTH * lowest:
        return None
    last = losses[-max(2, len(losses) // 4) :]
    text = f"Its loss of {format_short(losses[-1])} is {round_short(losses[-1] / lowest, 2)} times the lowest"
    why = f"{text}; in the last quarter it was {round_short(last.min())} to {round_short(last.max())}"
    return _Statement(text, Reason("loss", why), hinders=False)


def _describe_unreached(snapshot: Snapshot, unreached: Sequence[int], way: Record) -> str:
    """Return words for the weights without a gradient and what still learns: "w1, so only w2 learns"."""
    when, verb = ("", "learn") if snapshot.step else (" in the first step", "can learn")
    weights = [f"w{layer}" for layer, _ in enumerate(way["reached"], 1)]
    reached = [name for layer, name in enumerate(weights, 1) if layer not in unreached]
    names = join_texts([f"w{layer}" for layer in unreached]) if reached else "any weight"
    if reached and not TASKS[snapshot.task].net.site.per_example:
        return f"{names}{when}"  # with the op on weights, the biases of these layers may learn
    rest = "only biases" if way["biased"] else "nothing"
    if reached:
        rest = f"only {'the last layer' if reached == weights[-1:] else join_texts(reached)}"
    is_singular = len(reached) == 1 or rest == "nothing"
    return f"{names}{when}, so {rest} {verb}{'s' if is_singular and snapshot.step else ''}"


def _describe_propagation(snapshot: Snapshot, way: Record) -> tuple[float, str]:
    """Return the fraction of the gradient that reaches w1 or NaN, and words for it.

    On hidden units the gradient passes every layer with the op; on weights it passes only the op of w1.
    """
    is_per_example = TASKS[snapshot.task].net.site.per_example
    passed = [float(each) for each in way["passed"][: None if is_per_example else 1]]
    remaining = math.prod(passed) if all(passed) else 0.0
    subject = "gradient" if is_per_example else "gradient of w1"
    percent = round_short(100 * remaining, 2 if remaining < 1 else 3) if remaining > 1e-4 else "Under 0.01"
    text = f"{percent} % of the {subject} {'reaches w1' if is_per_example else 'is left'} now"
    if way["of_losses"]:
        text = "Its gradient comes from losses, not from g"
    elif not way["reached"][0]:
        text = "No gradient reaches w1 now"
    elif not math.isfinite(remaining):
        text = f"The {subject} passes"
    elif remaining == 1:
        text = f"The whole {subject} passes"
    elif remaining > 1.005:
        text = f"The rule makes the {subject} {round_short(remaining)} times as large"
    return remaining, text


def _describe_end(snapshot: Snapshot, rule: str, hinders: bool, ranking: Ranking | None) -> _Statement | None:
    """Return a statement on a rule's place in the ranking; None if it has none.

    ``hinders`` tells whether its gradient is known to be missing somewhere.
    """
    if ranking is None or rule not in ranking.means:
        return None
    anyway = " anyway" if hinders else ""
    if len(ranking.means) < 2:
        share = " on half of the seeds or more" if ranking.started > 1 else ""
        why = f"Only this rule can be compared: the others diverged{share}"
        return _Statement("The only one left to compare", Reason("score", why))
    pair, is_first = Pair(snapshot, ranking, rule), rule == ranking.best[0]
    if ranking.started == 1 and pair.gap < _MIN_LEAD:
        why = f"The {pair.format(pair.gap)} between it and {pair.name} come from one seed: run five to tell"
        reason = Reason("score", why) if pair.gap else pair.explain_tie()
        return None if hinders else _Statement("", reason, other=pair.other)
    if rule in ranking.lower or (ranking.started == 1 and not is_first):
        reason = pair.explain(-1)
        lower = ". ".join(filter(None, [_describe_distance(pair), reason and reason.brief.capitalize()]))
        return _Statement(lower, reason, other=reason and pair.other)
    if ranking.best == (rule,) or ranking.started == 1:
        text = "Best" if ranking.started > 1 else "Highest with this seed"
        return _Statement(f"{text}{anyway}", pair.explain(1), other=pair.other)
    text = "The same score as all others"
    if not ranking.alike:
        distance = _describe_distance(pair) if not is_first else f"Highest mean{anyway}"
        text = f"Perhaps {distance}" if distance[0].isdigit() else distance
    return _Statement(text, pair.explain_tie(), other=pair.other)


def _describe_distance(pair: Pair) -> str:
    """Return how much lower a rule's mean is: "1.3 points below the best (95 % interval 0.4 to 2.2)"."""
    reach = pair.ranking.differences[pair.rule]
    cut = ", cut at 100 %" * (bound_reach(pair.ranking, reach) != reach)
    interval = f" (95 % interval {format_interval(pair.ranking, reach)}{cut})" * math.isfinite(reach[1])
    return f"{pair.format(pair.gap)} below the best{interval}" if pair.gap else f"The same mean{interval}"
