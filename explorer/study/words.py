"""The result of a study in sentences, with their uncertainty: plain text, never markup."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean

from explorer.formula import listed, number_text, percent
from explorer.study.judged import Judged, by_rule, interval, state
from explorer.study.plan import Plan
from explorer.training import TASKS
from explorer.training.ranking import Unit, decimals, text


def sentences(plan: Plan, variants: Sequence[Judged], done: int) -> list[str]:
    """Sentences on the judgement, the ranking, the controls, divergence and each swept value."""
    rules = by_rule(plan, variants)
    words = _Words(plan, variants)
    ended = [each for each in rules if each.scores]
    return [
        words.basis(),
        *words.progress(done, ended),
        *words.ranking([each for each in ended if each.rule not in plan.controls]),
        *words.controls(ended),
        *words.diverged(rules),
        *words.edges([each for each in ended if each.rule not in plan.controls]),
        *(sentence for each in rules for sentence in words.swept(each.rule)),
    ]


class _Words:
    def __init__(self, plan: Plan, variants: Sequence[Judged]) -> None:
        self._plan, self._variants = plan, variants
        self._labels = plan.labels
        self._percent = plan.metric == "accuracy"
        self._unit: Unit = "%" if self._percent else "R²"
        self._decimals = decimals([[*each.scores.values()] for each in variants], self._unit)

    def basis(self) -> str:
        plan = self._plan
        own = len(plan.rules) - len(plan.controls)
        rules = f"{own} rule{'s' * (own > 1)}"
        if plan.controls:
            rules += f" and {len(plan.controls)} control{'s' * (len(plan.controls) > 1)}"
        how = (
            f"each at the one of {len(plan.lrs)} rates that validation chose with {_seeds(plan.seeds)}"
            if len(plan.lrs) > 1
            else f"all at lr {number_text(plan.lrs[0])}, the only rate"
        )
        spread = " (mean ± SD)" if len(plan.judge_seeds) > 1 else ""
        where = f"{rules} on {TASKS[plan.task].label} with {plan.op_entry.label}, {plan.steps:,} steps"
        what = "held-out data" if self._percent else "held-out data, by R²,"
        return f"{where}: {how}, judged on {what} with {_seeds(plan.judge_seeds)} that chose nothing{spread}."

    def progress(self, done: int, ended: Sequence[Judged]) -> list[str]:
        plan = self._plan
        said = []
        if done < plan.runs and not (ended and all(self._complete(each) for each in self._variants)):
            said.append(f"So far {done:,} of {plan.runs:,} runs are done.")
        if len(plan.judge_seeds) == 1 and ended:
            said.append("One seed judges each rule: there is no interval, and what differs may be chance.")
        return said

    def ranking(self, ended: Sequence[Judged]) -> list[str]:
        """The ranking from the highest to the lowest, in groups whose intervals meet that of their first."""
        rest = sorted(ended, key=lambda each: each.mean, reverse=True)
        if len(rest) < 2 or math.isnan(rest[0].half):
            return [f"{self._label(each)}: {self._text(each)}." for each in rest]
        groups: list[list[Judged]] = []
        while rest:
            groups.append([each for each in rest if each.meets(rest[0])])
            rest = [each for each in rest if not each.meets(rest[0])]
        return [self._group(number, groups) for number in range(len(groups))]

    def controls(self, ended: Sequence[Judged]) -> list[str]:
        """Sentences on rules not seen to do better than a control; controls with the same rules together."""
        rules = [each for each in ended if each.rule not in self._plan.controls]
        controls = [each for each in ended if each.rule in self._plan.controls] if rules else []
        groups: dict[tuple[str, ...] | None, list[str]] = {}
        for each in controls:
            named = f"{self._label(each)} ({self._score(each)})"
            groups.setdefault(self._level(each, rules), []).append(named)
        return [self._control(level, names, rules) for level, names in groups.items()]

    def diverged(self, rules: Sequence[Judged]) -> list[str]:
        """Sentences on rules that diverged at every rate, or with some seeds at the chosen one."""
        everywhere = [self._labels[each.rule] for each in rules if each.lr is None and each.lost]
        said = [f"{listed(everywhere)} diverged at every rate."] if everywhere else []
        for each in rules:
            if each.lr is not None and each.lost:
                count = each.lost + len(each.scores)
                said.append(
                    f"{each.lost} of {count} seeds of {self._label(each)} diverged; its mean leaves them out."
                )
        return said

    def edges(self, ended: Sequence[Judged]) -> list[str]:
        """A sentence on rules whose rate stands at an end of those that were tried."""
        rates = self._plan.lrs
        if len(rates) == 1:
            return []
        said = []
        for rate, which in ((rates[0], "lowest"), (rates[-1], "highest")):
            if names := [self._labels[each.rule] for each in ended if each.lr == rate]:
                said.append(
                    f"The rate chosen for {listed(names)} is the {which} tried: one beyond may do better."
                )
        return said

    def swept(self, rule: str) -> list[str]:
        """Sentences on the values of each rule's only swept parameter."""
        variants = [each for each in self._variants if each.rule == rule and each.scores]
        if len(variants) < 2 or len(variants[0].values) != 1:
            return []
        ((name, _),) = variants[0].values
        states = [state(each, variants) for each in variants]
        if None in states:
            listing = [f"{number_text(each.values[0][1])}: {self._score(each)}" for each in variants]
            return [f"{self._labels[rule]} by {name}: {', '.join(listing)}."]
        good = [each for each, where in zip(variants, states, strict=True) if where == "good"]
        main = f"{self._labels[rule]} by {name}: " + (
            f"no difference was seen between {listed([self._value(each) for each in good])}"
            if len(good) > 1
            else f"highest at {self._value(good[0])}"
        )
        parts = [main]
        for where, why in (
            ("dead", "too little gradient passes"),
            ("mismatch", "it passes where the op is flat"),
        ):
            if lower := [each for each, own in zip(variants, states, strict=True) if own == where]:
                passed = listed([percent_of(each.passed) for each in lower])
                texts = listed([self._value(each) for each in lower])
                parts.append(f"lower at {texts}, where {passed} of the gradient passes ({where}: {why})")
        return ["; ".join(parts) + "."]

    def _level(self, control: Judged, rules: Sequence[Judged]) -> tuple[str, ...] | None:
        """The rules that were not seen to do better; None with one seed, which tells nothing."""
        if math.isnan(control.half):
            return None
        level = [each for each in rules if each.mean <= control.mean or each.meets(control)]
        return tuple(self._label(each) for each in level)

    def _control(self, level: tuple[str, ...] | None, controls: list[str], rules: Sequence[Judged]) -> str:
        named = f"the control{'s' * (len(controls) > 1)} {listed(controls)}"
        if level is None:
            return f"Beside them stand{'s' * (len(controls) == 1)} {named}."
        if not level:
            return f"{'All rules' if len(rules) > 1 else self._label(rules[0])} did better than {named}."
        verb = "was" if len(level) == 1 else "were"
        return f"{listed([*level])} {verb} not seen to do better than {named}."

    def _group(self, number: int, groups: Sequence[Sequence[Judged]]) -> str:
        group = groups[number]
        where = "Highest on held-out data" if not number else "Below"
        texts = listed([f"{self._label(each)} ({self._text(each)})" for each in group])
        if len(group) > 1:
            return f"{where}: no difference was seen between {texts}, for their intervals meet."
        if number or len(groups) == 1:
            return f"{where}: {texts}."
        return f"{where}: {texts}, {self._margin(group[0], groups[1][0])}."

    def _margin(self, one: Judged, other: Judged) -> str:
        """The lead of one over another, seed by seed."""
        pairs = [one.scores[seed] - other.scores[seed] for seed in one.scores if seed in other.scores]
        half = interval(pairs)
        scale, unit = (100, " points") if self._percent else (1, "")
        lead = fmean(pairs) if pairs else one.mean - other.mean
        sure = "" if math.isnan(half) else f" ({_span(lead * scale, half * scale)})"
        return f"by {_digits(lead * scale, half * scale)}{unit}{sure} above {self._label(other)}"

    def _text(self, each: Judged) -> str:
        rate = f" at lr {number_text(each.lr)}" if each.lr is not None and len(self._plan.lrs) > 1 else ""
        if math.isnan(each.half):
            return f"{self._score(each)}{rate}"
        return f"{self._score(each)}{rate}, 95 % interval {self._interval(each)}"

    def _interval(self, each: Judged) -> str:
        """An interval as text; a share ends at 0 and at 100 %."""
        low, high = each.mean - each.half, each.mean + each.half
        if not self._percent:
            return f"{_digits(low, each.half)} to {_digits(high, each.half)}"
        ends = (_digits(100 * end, 100 * each.half) for end in (max(0.0, low), min(1.0, high)))
        return f"{' to '.join(ends)} %"

    def _score(self, each: Judged) -> str:
        return text([*each.scores.values()], self._decimals, self._unit)

    def _label(self, each: Judged) -> str:
        values = ", ".join(f"{name} = {number_text(value)}" for name, value in each.values)
        return f"{self._labels[each.rule]} at {values}" if values else self._labels[each.rule]

    def _value(self, each: Judged) -> str:
        ((name, value),) = each.values
        return f"{name} = {number_text(value)} ({self._score(each)})"

    def _complete(self, each: Judged) -> bool:
        return each.lr is None or len(each.scores) + each.lost == len(self._plan.judge_seeds)


def percent_of(share: float) -> str:
    """A share that may be above 1: "3 %", "250 %"."""
    return percent(share) if share <= 1 else f"{100 * share:.0f} %"


def _seeds(seeds: Sequence[int]) -> str:
    if len(seeds) == 1:
        return f"seed {seeds[0]}"
    if seeds[-1] - seeds[0] == len(seeds) - 1:
        return f"seeds {seeds[0]} to {seeds[-1]}"
    return f"{len(seeds)} seeds from {seeds[0]} to {seeds[-1]}"


def _span(middle: float, half: float) -> str:
    return f"{_digits(middle - half, half)} to {_digits(middle + half, half)}"


def _digits(value: float, half: float) -> str:
    """A number with as many digits as an interval of that size is worth."""
    decimals = 1 if math.isnan(half) or half == 0 else max(0, 1 - math.floor(math.log10(half)))
    return f"{value:.{min(decimals, 4)}f}"
