"""Two backward rules of a run, and the measured differences that may explain their scores."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from explorer.formula import format_percent, format_short, with_minus
from explorer.training.instruments import INSTRUMENTS
from explorer.training.ranking import Ranking
from explorer.training.runs.snapshot import Snapshot
from explorer.training.runs.summary import is_solved
from explorer.training.tasks import TASKS

MAX_WHY = 120  # characters
MIN_SHARE = 0.2  # a smaller fraction of the op's inputs, or difference of two, is not mentioned
_MIN_SAME, _MIN_COSINE = 0.9, 0.95  # gradients with fewer equal signs or a lower cosine do not agree
_MIN_STEPS = 10.0  # a smaller ratio of the distances that w1 moved explains nothing
_MIN_MOVED = 2.0  # a smaller ratio of these distances is not mentioned
_MIN_TURN = 0.05  # a cosine that is lower by less explains nothing
_MIN_RISE = 0.01  # a score that rose by less in the last quarter of a run is not called rising
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
    """A rule, and the rule to compare it with: the next best one, or the best one for all others.

    Attributes with two entries hold a measurement of the rule and of the other one.
    """

    def __init__(self, snapshot: Snapshot, ranking: Ranking, rule: str) -> None:
        first, second, *_ = dict.fromkeys([*ranking.best, *ranking.means])
        self.snapshot, self.ranking, self.rule = snapshot, ranking, rule
        self.other = second if rule == first else first
        digits = ranking.decimals + 2 * (ranking.unit == "%")  # as both means are shown
        own, its = ranking.means[rule], ranking.means[self.other]
        self.gap = abs(round(own, digits) - round(its, digits)) or abs(own - its)
        self.rate = f"rate {format_short(snapshot.lr)}"
        both = rule, self.other
        ways, causes = ([snapshot.measured[key][each] or {} for each in both] for key in ("way", "causes"))
        self._kept = [[float(each[0]) for each in record["shares"]] for record in causes]
        self._quiet = [float(record["quiet"]) for record in causes]
        self._moved, self._reached = ([way[key].tolist() for way in ways] for key in ("moved", "reached"))
        self.lacks_w1 = [way["reached"][0] == way["moved"][0] == 0 for way in ways]
        self._far = [w1 for w1, *_ in self._moved]
        far, other = map(round_moved, self._far)
        self._distances = f"w1 moved by {far}, with {self.name} by {other}"
        self._adam = ways[0]["adam"]
        own = ways[0]["others"][list(snapshot.losses).index(self.other)]
        self._same, self._cosine, self._size = map(float, own)

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

    def explain(self, sign: int) -> Reason:
        """Return the clearest reason for the rule's higher (``sign`` 1) or lower score (−1)."""
        brief = "no measure explains the difference"
        unknown = Reason("seeds", "Norms, inputs and direction do not explain the difference", brief=brief)
        if contrast := next(self._compare_shares(-sign), None):
            unknown = contrast._replace(why=f"{brief.capitalize()}; the rule {contrast.why[3:]}", brief=brief)
        elif max(self._far) > _MIN_MOVED * min(self._far):
            unknown = Reason("norms", f"{brief.capitalize()}; {self._distances}", brief=brief)
        return next((reason for find in _REASONS for reason in find(self, sign)), unknown)

    def explain_tie(self) -> Reason | None:
        """Return why the rules are not shown to differ; None if nothing reaches w1."""
        snapshot, ranking, layer = self.snapshot, self.ranking, len(self._kept[0]) - 1
        if all(self.lacks_w1):
            return None
        if self._same >= _MIN_SAME and self._cosine >= _MIN_COSINE:
            return Reason("inputs", self._describe_agreement(), layer=0)
        if ranking.alike:
            why = "All rules solve the task" if is_solved(ranking) else "All rules end with the same scores"
            return Reason("seeds", f"{why}: {snapshot.held_out:,} held-out examples do not tell them apart")
        ends = [snapshot.losses[rule][[0, -1]] for rule in (self.rule, self.other)]
        is_flat = all(_MIN_FALL * first < last < first for first, last in ends)
        fall = "from {} to {}".format(*map(round_short, ends[0]))
        own, its = map(format_percent, self._quiet)
        quiet = f"{describe_quiet(snapshot).capitalize()} for {own} of examples, with {self.name} for {its}"
        unmoved = f"{'Its' if self.lacks_w1[0] else f'With {self.name}'} w1 never moved"
        facts = (
            (is_flat, Reason("loss", f"At {self.rate} its loss hardly fell, {fall}")),
            (any(self.lacks_w1), Reason("seeds", unmoved)),
            (min(self._quiet) >= MIN_SHARE, Reason("causes", quiet, layer)),
            *((True, reason) for sign in (1, -1) for reason in self._compare_shares(sign)),
            (True, Reason("seeds", "No measure explains a difference")),
        )
        found = next(reason for holds, reason in facts if holds)
        whole = f"{found.why}; the {self.format(self.gap)} between them may be chance"
        return found._replace(why=whole) if len(whole) < MAX_WHY else found

    def _describe_agreement(self) -> str:
        size = 1 / self._size if self._size else math.inf
        is_parallel = self._cosine > 0.9999
        if is_parallel and abs(size - 1) < 0.001:
            return f"Its gradient equals that of {self.name} at the op's inputs"
        times = f"{round_short(size, 2)} times"
        if is_parallel and self._adam:
            why = f"Its gradient is {times} that of {self.name}{' per layer' * (len(self._kept[0]) > 1)}"
            return f"{why}; Adam evens that out: w1 moved by {' and '.join(map(round_moved, self._far))}"
        signs = f"{format_percent(self._same)} of signs equal where neither is 0"
        return f"Its gradient agrees with that of {self.name}: {signs}, {times} its size"

    def _compare_arrival(self, sign: int) -> Iterator[Reason]:
        """Yield a reason if a layer never moved with the other rule, or gets no gradient with the lower."""
        values, cause = zip(*self._reached[::sign], *self._moved[::sign], strict=True), ""
        if self._quiet[::-sign][0] >= MIN_SHARE:
            cause = f": at {self.rate} softmax is saturated"
        for at, (high, low, moved, other_moved) in enumerate(values, 1):
            if sign > 0 and other_moved == 0 < moved:
                why = f"A gradient reaches w{at}, which moved by {round_moved(moved)}"
                yield Reason("norms", f"{why}; with {self.name} w{at} never moved")
            elif low == 0 < high:
                brief = f"no gradient reaches w{at} now" if sign < 0 else ""
                why = f"A gradient still reaches w{at}; with {self.name} none does now{cause}"
                why = f"{brief.capitalize()}{cause}; with {self.name} one does" if brief else why
                yield Reason("norms", why, brief=brief)

    def _compare_signs(self, sign: int) -> Iterator[Reason]:
        if self._same <= 1 - _MIN_SAME and self._cosine < -_MIN_COSINE:
            why = f"Its gradient has the opposite sign to that of {self.name}"
            share = f"{format_percent(1 - self._same)} of inputs where neither is 0"
            yield Reason("inputs", f"{why} on {share}", 0, "its gradient is reversed")

    def _compare_shares(self, sign: int) -> Iterator[Reason]:
        """Yield a reason if a layer passes a gradient to many more (``sign`` 1) or fewer (−1) inputs."""
        kept = list(zip(*self._kept, strict=True))
        gap, layer = max((sign * (own - its), at) for at, (own, its) in enumerate(kept))
        if gap >= MIN_SHARE:
            part = TASKS[self.snapshot.task].net.site.name_inputs(layer, len(kept)).removeprefix("the op's ")
            share, its_share = map(format_percent, kept[layer])
            why = f"It passes a gradient to {share} of {part}, {self.name} to {its_share}"
            yield Reason("causes", why, layer)

    def _compare_steps(self, sign: int) -> Iterator[Reason]:
        """Yield a reason if w1 moved much further with one rule: steps may be too small or too large."""
        own, its = self._far
        if max(own, its) > _MIN_STEPS * min(own, its) > 0:
            brief = f"its steps are {'larger' if own > its else 'smaller'}"
            yield Reason("norms", f"{brief.capitalize()}: {self._distances}", brief=brief)

    def _compare_directions(self, sign: int) -> Iterator[Reason]:
        own, its = (_average_cosine(self.snapshot, each) for each in (self.rule, self.other))
        if sign * (own - its) > _MIN_TURN and max(own, its) > _MIN_TURN:
            numbers = with_minus(f"cosine {round(own, 2) + 0.0:.2f}, against {round(its, 2) + 0.0:.2f}")
            near = "closer to" if sign > 0 else "further from"
            why = f"Its gradient is {near} that of the smoothed net: {numbers} with {self.name}"
            yield Reason("alignment", why, 0, f"its gradient is misaligned ({numbers})")

    def _compare_pace(self, sign: int) -> Iterator[Reason]:
        """Yield a reason if the lower score still rose, and in each quarter of the run."""
        fast, slow = (self.snapshot.scores[each] for each in (self.rule, self.other)[::sign])
        means = [float(each.mean()) for each in np.array_split(slow, min(4, len(slow)))]
        rise, other = (float(each[-1] - each[-1 - max(1, len(each) // 4)]) for each in (slow, fast))
        if rise > max(other, _MIN_RISE) and means == sorted(means):
            step = int(self.snapshot.score_steps[(fast >= slow[-1]).argmax()])
            late = f"rose by {self.format(rise)} in the last quarter"
            why = f"It is slower: {self.name} was there at step {step}, and it still {late}"
            if sign > 0:
                why = f"It is faster: at step {step} it had {self.name}'s final score, which {late}"
            yield Reason("score", why, brief="still rising")

    def _compare_stillness(self, sign: int) -> Iterator[Reason]:
        """Yield a reason if the rule with the higher score never moved w1."""
        (is_still, _), (_, (w1, *_)) = self.lacks_w1[::sign], self._moved[::sign]
        if is_still:
            moved = f"moved by {round_moved(w1)} at {self.rate}"
            why = f"Learning w1 did not help: it {moved}; with {self.name} it never moved"
            if sign > 0:
                why = f"Its w1 never moved; with {self.name} w1 {moved}, which did not help"
            yield Reason("norms", why, brief="learning w1 did not help")


_REASONS = (
    Pair._compare_arrival,
    Pair._compare_signs,
    Pair._compare_shares,
    Pair._compare_steps,
    Pair._compare_directions,
    Pair._compare_pace,
    Pair._compare_stillness,
)
"""Methods that yield what may explain a higher (``sign`` 1) or lower score (−1), clearest first."""


def describe_quiet(snapshot: Snapshot) -> str:
    """Return a clause on a loss that returns no gradient: "at rate 50 softmax's gradient is 0"."""
    source = "softmax's" if snapshot.metric == "accuracy" else "the loss's"
    return f"at rate {format_short(snapshot.lr)} {source} gradient is 0"


def round_moved(number: float) -> str:
    """Return the distance by which a layer moved as text, as its lane shows it."""
    return round_short(number, 2 if number < 1 else 3)


def round_short(number: float, digits: int = 3) -> str:
    """Return a number as text with at most ``digits`` significant digits."""
    return format_short(float(f"{number:.{digits}g}"))


def _average_cosine(snapshot: Snapshot, rule: str) -> float:
    """Return the cosine of a rule's gradient to the smoothed net's in the first layer with the op, or NaN.

    It is a mean of the last measurements with the present noise, as in the chart.
    """
    record = snapshot.measured.get("alignment", {}).get(rule)
    if not record or not math.isfinite(latest := float(record["cosine"][0])):
        return math.nan
    last = slice(-INSTRUMENTS["alignment"].window, None)
    values = record["cosines"][0][last][snapshot.measured_sigmas[last] == np.float32(snapshot.sigma)]
    return float(np.nanmean(values)) if np.isfinite(values).any() else latest
