"""Two backward rules of a run, and the measured differences that may explain their scores."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np

from explorer.formula import format_percent, format_short, number_text, with_minus
from explorer.training.instruments import INSTRUMENTS
from explorer.training.ranking import Ranking
from explorer.training.runs.snapshot import Snapshot
from explorer.training.runs.summary import is_solved
from explorer.training.tasks import TASKS

MAX_WHY = 120  # characters
MIN_SHARE = 0.2  # a smaller fraction of the op's inputs, or difference of two, is not mentioned
_MIN_SAME, _MIN_COSINE = 0.9, 0.95  # gradients with fewer equal signs or a lower cosine do not agree
_MIN_STEPS = 10.0  # a smaller ratio of distances from the start explains nothing
_MAX_APART = 0.1  # sizes that differ by a larger fraction are not called close
_MIN_TURN = 0.05  # a cosine that is lower by less explains nothing
_MIN_RISE = 0.01  # a score that rose by less in the last quarter of a run is not called rising


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
        self.gap = abs(ranking.means[rule] - ranking.means[self.other])
        both = rule, self.other
        self._ways = [snapshot.measured["way"][each] or {} for each in both]
        self._shares = [(snapshot.measured["causes"][each] or {})["shares"] for each in both]
        self._moved = [[float(each) for each in way["moved"]] for way in self._ways]
        self.lacks_w1 = [way["reached"][0] == way["moved"][0] == 0 for way in self._ways]
        own = self._ways[0]["others"][list(snapshot.losses).index(self.other)]
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
            return f"{number_text(float(f'{difference:.2g}'))} R²"
        points = 100 * difference
        return f"{points:.1f} points" if points >= 1 or not points else f"{points:.1g} points"

    def explain(self, sign: int) -> Reason:
        """Return the clearest reason for the rule's higher (``sign`` 1) or lower score (−1)."""
        unknown = Reason("seeds", "No measure explains it", brief="no measure explains it")
        if contrast := next(self._compare_shares(-sign), None):
            unknown = contrast._replace(why=f"{unknown.why}; it {contrast.why[3:]}", brief=unknown.brief)
        elif self._same < _MIN_SAME:
            unknown = unknown._replace(why=f"{unknown.why}; {self._describe_signs()}")
        return next(self._list_reasons(sign), unknown)

    def explain_tie(self) -> Reason | None:
        """Return why the rules are not shown to differ; None if nothing reaches w1."""
        if all(self.lacks_w1):
            return None
        if self._same >= _MIN_SAME and self._cosine >= _MIN_COSINE:
            return Reason("inputs", self._describe_agreement(), layer=0)
        snapshot, ranking = self.snapshot, self.ranking
        if ranking.alike:
            why = "All rules solve the task" if is_solved(ranking) else "All rules end with the same scores"
            return Reason("seeds", f"{why}: {snapshot.held_out:,} held-out examples do not tell them apart")
        seeds = [snapshot.score[each] for each in (self.rule, self.other)]
        spread = max(float(np.nanmax(each) - np.nanmin(each)) for each in seeds if each is not None)
        numbers = self.format(self.gap).partition(" ")[0], self.format(spread)
        why = "means differ by {}, seeds by {}".format(*numbers)
        if any(self.lacks_w1):
            why = f"w1 never moved{f' with {self.name}' if self.lacks_w1[1] else ''}; {why}"
        elif self._same < _MIN_SAME:
            why = f"{self._describe_signs()}; {why}"
            why = why[0].upper() + why[1:]
        elif found := next(chain(self._compare_shares(1), self._compare_shares(-1)), None):
            whole = f"{found.why}; {why}"
            return found._replace(why=whole if len(whole) < MAX_WHY else found.why)
        else:
            why = f"Nothing measured explains a difference: {why}"
        return Reason("seeds", why)

    def _describe_signs(self) -> str:
        return f"where neither is 0, {format_percent(1 - self._same)} of its gradients oppose {self.name}'s"

    def _compare_shares(self, sign: int) -> Iterator[Reason]:
        """Yield a reason if a layer passes a gradient to many more (``sign`` 1) or fewer (−1) inputs."""
        kept = [[float(each[0]) for each in shares] for shares in self._shares]
        gap, layer = max((sign * (own - its), at) for at, (own, its) in enumerate(zip(*kept, strict=True)))
        if gap >= MIN_SHARE:
            part = name_inputs(self.snapshot, layer, len(kept[0])).removeprefix("the op's ")
            share, its_share = (format_percent(each[layer]) for each in kept)
            why = f"It passes a gradient to {share} of {part}, {self.name} to {its_share}"
            yield Reason("causes", why, layer)

    def _describe_agreement(self) -> str:
        size = 1 / self._size if self._size else math.inf
        apart, is_parallel = abs(size - 1), self._cosine > 0.9999
        if is_parallel and apart < 0.001:
            return f"Its gradient equals that of {self.name} at the op's inputs"
        if is_parallel and self._ways[0]["adam"]:
            distances = " and ".join(round_short(moved[0]) for moved in self._moved)
            why = f"Its gradient is {size:.2g} times that of {self.name}; Adam divides by the size"
            return f"{why}, so w1 moved by {distances}"
        share, sizes = format_percent(self._same), f"{size:.2g} times its size"
        sizes = f"sizes within {math.ceil(100 * apart)} %" if apart <= _MAX_APART else sizes
        signs = f"{share} of signs equal where neither is 0"
        return f"Its gradient agrees with that of {self.name}: {signs}, {sizes}"

    def _list_reasons(self, sign: int) -> Iterator[Reason]:
        """Yield differences that may explain a higher (``sign`` 1) or lower score (−1), clearest first.

        A difference in size counts for either, as steps may be too small or too large.
        """
        (moved, its_moved), name, snapshot = self._moved, self.name, self.snapshot
        for at, (own, its) in enumerate(zip(moved, its_moved, strict=True), 1):
            if sign > 0 and its == 0 < own:
                why = f"A gradient reaches w{at}, which moved by {round_short(own)}"
                yield Reason("norms", f"{why}; with {name} w{at} never moved")
        for at, (own, its) in enumerate(zip(*(way["reached"] for way in self._ways), strict=True), 1):
            if (own if sign > 0 else its) > 0 == (its if sign > 0 else own):
                why = f"A gradient still reaches w{at}; with {name} none does now"
                if not own:
                    why = f"No gradient reaches w{at} now; with {name} one does"
                yield Reason("norms", why, brief=why.partition(";")[0])
        if self._same <= 1 - _MIN_SAME and self._cosine < -_MIN_COSINE:
            why = f"Its gradient has the opposite sign to that of {name} on {format_percent(1 - self._same)}"
            yield Reason("inputs", f"{why} of inputs where neither is 0", 0, "its gradient is reversed")
        yield from self._compare_shares(sign)
        least, most = sorted((moved[0], its_moved[0]))
        if most > _MIN_STEPS * least > 0:
            brief = f"its steps are {'larger' if moved[0] == most else 'smaller'}"
            distances = f"w1 moved by {round_short(moved[0])}, with {name} by {round_short(its_moved[0])}"
            yield Reason("norms", f"{brief.capitalize()}: {distances}", brief=brief)
        cosine, highest = (_average_cosine(snapshot, each) for each in (self.rule, self.other))
        if sign * (cosine - highest) > _MIN_TURN and max(cosine, highest) > _MIN_TURN:
            numbers = with_minus(f"cosine {cosine:.2f}, against {highest:.2f}")
            near = "closer to" if sign > 0 else "further from"
            why = f"Its gradient is {near} that of the smoothed net: {numbers} with {name}"
            yield Reason("alignment", why, 0, f"its gradient is misaligned ({numbers})")
        slow, fast = (snapshot.scores[each] for each in (self.rule, self.other)[::-sign])
        rise, other = (float(each[-1] - each[-1 - max(1, len(each) // 4)]) for each in (slow, fast))
        if rise > max(other, _MIN_RISE):
            step = int(snapshot.score_steps[(fast >= slow[-1]).argmax()])
            late = f"rose by {self.format(rise)} in the last quarter"
            why = f"It is slower: {name} was there at step {step}, and it still {late}"
            if sign > 0:
                why = f"It is faster: at step {step} it had {name}'s final score, which {late}"
            yield Reason("score", why, brief="still rising")


def name_inputs(snapshot: Snapshot, layer: int, layers: int) -> str:
    """Return a name for the inputs of the op in a layer, counted from 0, such as "w2"."""
    site = TASKS[snapshot.task].net.site
    if layers == 1:
        return site.elements
    return f"{site.elements} after w{layer + 1}" if site.per_example else f"w{layer + 1}"


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
