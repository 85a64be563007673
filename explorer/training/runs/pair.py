"""Two backward rules of a run, and the measured differences that may explain their scores.

A rule is compared with one other, so that its cause does not depend on further rules: one that has as much of
it and yet a higher score is a remark. Examples whose loss returns no gradient are no cause, because a net
already returns exactly their targets.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from explorer.catalogue import find_rule
from explorer.formula import format_percent, format_short, with_minus
from explorer.training.instruments import INSTRUMENTS, Record
from explorer.training.ranking import Ranking, format_score
from explorer.training.runs.snapshot import Snapshot
from explorer.training.runs.summary import is_solved
from explorer.training.tasks import TASKS

MAX_WHY = 120  # characters
MIN_SHARE = 0.2  # a smaller fraction of the op's inputs, or difference of two, is not mentioned
_MIN_SAME, _MIN_COSINE = 0.9, 0.95  # gradients with fewer equal signs or a lower cosine do not agree
_MIN_TURN = 0.05  # a cosine that is lower by less explains nothing
_MIN_RISE = 0.01  # a score that rose by less in the last quarter of a run is not called rising
_MIN_STUCK = 0.95  # w1 is stuck if the last gradient reached it before this fraction of the steps
_MIN_FALL = 0.9  # a loss that ended above this fraction of the first one has hardly fallen


class Reason(NamedTuple):
    """A reason for the result of a rule.

    Attributes:
        panel: the key of the instrument that supports it; "score" or "loss" if that curve does, "seeds" if
            the final score of each seed does.
        why: the reason in one sentence, without a full stop.
        layer: the layer that it is about, counted from 0 among the layers with the op; None for all.
        brief: the reason in a few words, or "".
    """

    panel: str
    why: str
    layer: int | None = None
    brief: str = ""


class Pair:
    """A rule, and the rule to compare it with: the next best one, or the best one for all others."""

    def __init__(self, snapshot: Snapshot, ranking: Ranking, rule: str) -> None:
        first, second, *_ = dict.fromkeys([*ranking.best, *ranking.means])
        self.snapshot, self.ranking, self.rule = snapshot, ranking, rule
        self.other = second if rule == first else first
        digits = ranking.decimals + 2 * (ranking.unit == "%")  # as both means are shown
        own, its = ranking.means[rule], ranking.means[self.other]
        self.gap = abs(round(own, digits) - round(its, digits)) or abs(own - its)
        self.rate = f"rate {format_short(snapshot.lr)}"
        self._ways = [_get_record(snapshot, "way", each) for each in (rule, self.other)]
        self._moved = [way["moved"].tolist() for way in self._ways]
        self._far = [round_moved(moved[0]) for moved in self._moved]

    @property
    def name(self) -> str:
        """A name for the other rule."""
        best = self.ranking.best
        if len(self.snapshot.losses) == 2:
            return "the other rule"
        if self.rule == best[0]:
            return "the next best rule"
        return "the leading rule" if best[1:] else "the best rule"

    def format(self, difference: float) -> str:
        """Return a difference of scores with its unit, such as "1.3 points"."""
        if self.ranking.unit == "R²":
            return f"{round_short(difference, 2)} R²"
        points = 100 * difference
        return f"{points:.1f} points" if points >= 0.95 else f"{round_short(points, 1)} points"

    def explain(self, sign: int) -> Reason | None:
        """Return the clearest reason for the rule's higher (``sign`` 1) or lower score (−1).

        The result is None if the line about the rule already begins with the reason.
        """
        sizes = []
        for measure, margin, _ in _CAUSES:
            size = sign * (measure(self.snapshot, self.other) - measure(self.snapshot, self.rule))
            sizes.append(max(0.1, min(1.0, round(size, 1))) if size >= margin else 0.0)
        measure, _, describe = _CAUSES[sizes.index(max(sizes))]
        if not any(sizes):
            return self._describe_pace(sign) or self._list_facts()
        reason = describe(self, sign)
        return self._add_counterexample(reason, measure) if reason and sign < 0 else reason

    def _add_counterexample(self, reason: Reason, measure: Callable[[Snapshot, str], float]) -> Reason:
        """Add the best rule with as much of a cause as this one and yet a higher score, if there is room."""
        means, own = self.ranking.means, measure(self.snapshot, self.rule)
        for rule, mean in means.items():  # from the highest
            if mean > means[self.rule] + self.gap / 4 and measure(self.snapshot, rule) >= own - 0.005:
                score = format_score([mean], self.ranking.decimals, self.ranking.unit)
                remark = f"The same holds for {find_rule(rule).label}, at {score}"
                whys = [f"{each}. {remark}" for each in (reason.why, re.sub(": the.*", "", reason.why))]
                return reason._replace(why=next((why for why in whys if len(why) < MAX_WHY), reason.why))
        return reason

    def _list_facts(self) -> Reason:
        """Return that no cause was found, with the gap, or with a measurement that speaks against it."""
        stops = [max(measure_stops(self.snapshot, rule)) for rule in (self.rule, self.other)]
        why = f"No measure here explains the {self.format(self.gap)} between it and {self.name}"
        if abs(stops[0] - stops[1]) >= MIN_SHARE:
            own, its = map(format_percent, stops)
            amount = "fewer" if stops[0] < stops[1] else "more"
            fact = f"even zeroes {amount} gradients ({own}) than {self.name} ({its})"
            why = f"No measure here explains it: it {fact}"
        if self.ranking.started == 1:
            why = f"No measure here explains the {self.format(self.gap)} of one seed: run five seeds to tell"
        return Reason("seeds", why, brief="no measure explains the difference")

    def explain_tie(self) -> Reason | None:
        """Return why the rules are not shown to differ; None if no gradient of the rule reaches w1."""
        snapshot, ranking = self.snapshot, self.ranking
        if not (self._ways[0]["reached"][0] or self._ways[0]["moved"][0]):
            return None
        same, cosine, size = map(float, self._ways[0]["others"][list(snapshot.losses).index(self.other)])
        if same >= _MIN_SAME and cosine >= _MIN_COSINE:
            return Reason("inputs", self._describe_agreement(same, cosine, size), layer=0)
        if ranking.alike:
            why = "All rules solve the task" if is_solved(ranking) else "All rules end with the same scores"
            return Reason("seeds", f"{why}: {snapshot.held_out:,} held-out examples do not tell them apart")
        ends = [snapshot.losses[rule][[0, -1]] for rule in (self.rule, self.other)]
        if all(_MIN_FALL * first < last < first for first, last in ends):
            first, last = map(round_short, ends[0])
            fall = f"from {first} to {last}" if first != last else f"it stayed at {first}"
            return Reason("loss", f"At {self.rate} its loss hardly fell, {fall}: too little to compare rules")
        return Reason("seeds", self._describe_seeds())

    def _describe_seeds(self) -> str:
        """Return a sentence on the differences of the scores seed by seed, which do not show a winner."""
        own, its = (np.array(self.snapshot.score[rule], float) for rule in (self.rule, self.other))
        differences = own - its
        least, most = np.nanmin(differences), np.nanmax(differences)
        if least == most == 0:
            return f"It ends level with {self.name}: more seeds may tell them apart"
        if least < 0 < most:
            span = f"from {self.format(-least)} below to {self.format(most)} above {self.name}"
            return f"Seed by seed it ended {span}: too mixed to tell which is better"
        low, high = (self.format(abs(each)) for each in ((least, most) if most > 0 else (most, least)))
        ends = high if low == high else f"{low.partition(' ')[0]} to {high}"
        span = f"{ends} {'above' if most > 0 else 'below'} {self.name}"
        count = np.isfinite(differences).sum()
        return f"On each seed it ended {span}, but {count} seeds are too few to be sure"

    def _describe_agreement(self, same: float, cosine: float, size: float) -> str:
        size = 1 / size if size else math.inf
        is_parallel, layers = cosine > 0.9999, len(_get_record(self.snapshot, "causes", self.rule)["shares"])
        if is_parallel and abs(size - 1) < 0.001:
            return f"Its gradient equals that of {self.name} at the op's inputs"
        times = f"{round_short(size, 2)} times"
        if is_parallel and self._ways[0]["adam"]:
            why = f"Its gradient is {times} that of {self.name}{' per layer' * (layers > 1)}"
            return f"{why}; Adam evens that out: w1 moved by {' and '.join(self._far)}"
        signs = f"{format_percent(same)} of signs equal where neither is 0"
        return f"Its gradient agrees with that of {self.name}: {signs}, {times} its size"

    def _describe_arrival(self, sign: int) -> Reason | None:
        moves = enumerate(zip(*self._moved, strict=True), 1)
        layer, moved = next(((at, own) for at, (own, its) in moves if own and not its), (1, 0.0))
        why = f"A gradient reaches w{layer}, which moved by {round_moved(moved)}; with {self.name} it did not"
        return Reason("norms", why) if sign > 0 else None

    def _describe_fault(self, sign: int) -> Reason | None:
        why = f"With {self.name} the gradient {describe_fault(self.snapshot, self.other)}"
        is_seen = not _get_record(self.snapshot, "way", self.other)["fault"]  # in a picture at one g
        return Reason(*("inputs", why, 0) if is_seen else ("", why)) if sign > 0 else None

    def _describe_stop(self, sign: int) -> Reason:
        snapshot, (low, high) = self.snapshot, (self.rule, self.other)[::-sign]
        names = (f"{self.name[0].upper()}{self.name[1:]}", "this rule") if sign > 0 else ("It", self.name)
        lower, higher = (measure_stops(snapshot, rule) for rule in (low, high))
        layer = max(range(len(lower)), key=lambda at: (lower[at] - higher[at], at))
        return describe_stop(snapshot, low, layer, names[0], f", {names[1]} {format_percent(higher[layer])}")

    def _describe_steps(self, _sign: int) -> Reason:
        (own, *_), (its, *_) = self._moved
        change = f"its steps are {'larger' if own > its else 'smaller'}"
        brief = change if own and its else "learning w1 did not help"
        far, other = self._far
        why = f"{brief.capitalize()}: at {self.rate} w1 moved by {far}, with {self.name} by {other}"
        return Reason("norms", why, brief=brief)

    def _describe_direction(self, sign: int) -> Reason:
        turns = (-_measure_turn(self.snapshot, each) for each in (self.rule, self.other))
        own, its = (with_minus(f"{turn:z.2f}") for turn in turns)
        turn = f"{'more' if sign > 0 else 'less'} closely: cosine {own}, {self.name} {its} (1: same)"
        why = f"Its gradient of w1 follows the smoothed op's true one {turn}"
        return Reason("alignment", why, 0, "its direction is worse")

    def _describe_pace(self, sign: int) -> Reason | None:
        """Return a reason if the lower score still rose, and in each quarter of the run."""
        fast, slow = (self.snapshot.scores[each] for each in (self.rule, self.other)[::sign])
        means = [float(each.mean()) for each in np.array_split(slow, min(4, len(slow)))]
        rise, other = (float(each[-1] - each[-1 - max(1, len(each) // 4)]) for each in (slow, fast))
        if rise <= max(other, _MIN_RISE) or means != sorted(means):
            return None
        step = int(self.snapshot.score_steps[(fast >= slow[-1]).argmax()])
        late = f"rose by {self.format(rise)} in the last quarter"
        why = f"It is slower: {self.name} was there at step {step}, and it still {late}"
        if sign > 0:
            why = f"It is faster: at step {step} it had {self.name}'s final score, which {late}"
        return Reason("score", why, brief="still rising")


def measure_stops(snapshot: Snapshot, rule: str) -> list[float]:
    """Return the fraction of gradients that a rule sets to 0 in each layer, of those not 0 before it."""
    shares = [each.tolist() for each in _get_record(snapshot, "causes", rule)["shares"]]
    return [zero / (1 - above) if above < 1 else 0.0 for *_, zero, above in shares]


def describe_stop(snapshot: Snapshot, rule: str, layer: int, subject: str = "It", versus: str = "") -> Reason:
    """Return a reason on the gradients that a rule sets to 0 in a layer, with a clause on another rule."""
    stops, way = measure_stops(snapshot, rule), _get_record(snapshot, "way", rule)
    if subject == "It" and not way["reached"][0] and way["moved"][0]:
        last = snapshot.loss_steps[rule][snapshot.w1_norms[rule] != 0].max(initial=0)
        if last < _MIN_STUCK * snapshot.step:
            why = (
                f"After step {last} no gradient reached its w1, which moved by {round_moved(way['moved'][0])}"
            )
            return Reason("norms", f"{why}: it is stuck with what it learned by then")
    name = TASKS[snapshot.task].net.site.name_inputs(layer, len(stops))
    place = name.removeprefix("the op's inputs") if "inputs" in name else f" at {name}"
    why = f"{subject} zeroes {format_percent(stops[layer])} of the gradients that arrive{place}{versus}"
    has_window = math.isfinite(_get_record(snapshot, "inputs", rule)["ratio"][layer])
    cause = "their inputs lie outside its window, where it is 0" if has_window else "the rule is 0 there"
    if way["slope_of"]:
        has_window, cause = False, "the op's slope is 0 there"
    whole = f"{why}: {cause}" if stops[layer] >= MIN_SHARE else why
    if len(whole) >= MAX_WHY:
        whole = whole.removesuffix(", where it is 0")
    return Reason("inputs" if has_window else "causes", whole if len(whole) < MAX_WHY else why, layer)


def describe_fault(snapshot: Snapshot, rule: str) -> str:
    """Return a clause on a gradient that is wrong, as in "does not depend on g", or ""."""
    way = _get_record(snapshot, "way", rule)
    if fault := way["fault"]:
        return "does not depend on g" if fault.endswith("whatever g is") else "fails the check “linear in g”"
    share = format_percent(way["reversed"])
    return f"is reversed for {share} of the op's inputs" if way["reversed"] >= MIN_SHARE else ""


def round_moved(number: float) -> str:
    """Return the distance by which a layer moved as text, as its lane shows it."""
    return round_short(number, 2 if number < 1 else 3)


def round_short(number: float, digits: int = 3) -> str:
    """Return a number as text with at most ``digits`` significant digits."""
    return format_short(float(f"{number:.{digits}g}"))


def _get_record(snapshot: Snapshot, key: str, rule: str) -> Record:
    return snapshot.measured[key][rule] or {}


def _count_unreached(snapshot: Snapshot, rule: str) -> float:
    way = _get_record(snapshot, "way", rule)
    return float(((way["reached"] == 0) & (way["moved"] == 0)).sum())


def _measure_turn(snapshot: Snapshot, rule: str) -> float:
    """Return the negative cosine of a rule's gradient to the smoothed net's in the first layer, or NaN.

    It is a mean of the last measurements with the present noise, as in the chart.
    """
    record = snapshot.measured.get("alignment", {}).get(rule)
    if not record or not math.isfinite(latest := float(record["cosine"][0])):
        return math.nan
    last = slice(-INSTRUMENTS["alignment"].window, None)
    values = record["cosines"][0][last][snapshot.measured_sigmas[last] == np.float32(snapshot.sigma)]
    return -float(np.nanmean(values)) if np.isfinite(values).any() else -latest


def _measure_far(snapshot: Snapshot, rule: str) -> float:
    """Return the decimal logarithm of the distance that w1 moved, at least −9."""
    return math.log10(max(1e-9, float(_get_record(snapshot, "way", rule)["moved"][0])))


_CAUSES = (
    (lambda *rule: float(describe_fault(*rule) != ""), 1, Pair._describe_fault),
    (_count_unreached, 1, Pair._describe_arrival),
    (lambda *rule: max(measure_stops(*rule)), MIN_SHARE, Pair._describe_stop),
    (_measure_far, 1, Pair._describe_steps),
    (lambda *rule: -_measure_far(*rule), 1, Pair._describe_steps),
    (_measure_turn, _MIN_TURN, Pair._describe_direction),
)
"""What may explain a lower score: how much of it a rule has, the least difference that counts, and the method
that returns the reason, None if the line about the rule already begins with it. The cause with the largest
difference is named; of equals, the first.
"""
