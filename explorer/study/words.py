"""The result of a study in sentences, with their uncertainty: plain text, never markup."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from explorer.catalogue import find_rule
from explorer.formula import format_percent, join_texts, number_text
from explorer.study.judged import Judged, decimals_of, paired, ranking
from explorer.study.plan import Plan
from explorer.study.trial import REFERENCE
from explorer.training.ranking import MOST_RULES, shown_above, text


def sentences(plan: Plan, rules: Sequence[Judged], done: int, shares: Mapping[str, float]) -> list[str]:
    """Return sentences on the judgement, ranking, controls, divergence and shares.

    ``shares``: of each rule; empty where they are not known.
    """
    words = _Words(plan, rules)
    ended = [each for each in rules if each.seeds]
    return [
        words.basis(),
        *words.progress(done, ended),
        *words.ranking([each for each in ended if each.rule not in plan.controls]),
        *words.rates([each for each in ended if each.rule not in plan.controls]),
        *words.controls(ended),
        *words.diverged(rules),
        *words.edges([each for each in ended if each.rule not in plan.controls]),
        *words.shares([each for each in rules if each.rule not in plan.controls], shares),
        *words.footing(rules, shares),
        *words.agreement([each for each in rules if each.rule not in plan.controls]),
    ]


def headline(plan: Plan, rules: Sequence[Judged]) -> str:
    """The ranking of the rules in words; "" before there is one."""
    ended = [each for each in rules if each.seeds and each.rule not in plan.controls]
    return " ".join(_Words(plan, rules).ranking(ended))


class _Words:
    def __init__(self, plan: Plan, rules: Sequence[Judged]) -> None:
        self._plan, self._rules = plan, rules
        self._labels = plan.labels
        self._percent = plan.metric == "accuracy"
        self._decimals = decimals_of(plan, rules)

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
        where = f"{rules} on {plan.subject}, {plan.steps:,} steps"
        what = "held-out data" if self._percent else f"held-out data, by {plan.metric},"
        return f"{where}: {how}, judged on {what} with {_seeds(plan.judge_seeds)} that chose nothing{spread}."

    def progress(self, done: int, ended: Sequence[Judged]) -> list[str]:
        plan = self._plan
        said = []
        if done < plan.runs and not (ended and all(self._complete(each) for each in self._rules)):
            said.append(f"So far {done:,} of {plan.runs:,} runs are done.")
        return said

    def ranking(self, ended: Sequence[Judged]) -> list[str]:
        """The ranking of the rules by the seeds that have judged all of them."""
        ranked = ranking(self._plan, ended, [self._label(each) for each in ended], self._decimals)
        return [] if ranked is None else [ranked.sentence]

    def rates(self, ended: Sequence[Judged]) -> list[str]:
        """The rate that was chosen for each rule, where there was a choice."""
        by_rate: dict[float, list[str]] = {}
        for each in sorted(ended, key=lambda each: each.lr or 0.0):
            if each.lr is not None:
                by_rate.setdefault(each.lr, []).append(self._label(each))
        if len(self._plan.lrs) == 1 or not by_rate:
            return []
        chosen = [f"{number_text(lr)} for {join_texts(names)}" for lr, names in by_rate.items()]
        return [f"Rates that validation chose: {'; '.join(chosen)}."]

    def controls(self, ended: Sequence[Judged]) -> list[str]:
        """Which rules are not shown to do better than a control; controls with the same rules together.

        Each control is compared with all rules at once, its intervals holding together at 95 %.
        """
        rules = [each for each in ended if each.rule not in self._plan.controls]
        controls = (
            [each for each in ended if each.rule in self._plan.controls and each.scores] if rules else []
        )
        groups: dict[tuple[str, ...] | None, list[str]] = {}
        for each in controls:
            named = f"{self._label(each)} ({self._score(each)})"
            groups.setdefault(self._level(each, rules), []).append(named)
        return [self._control(level, names, rules) for level, names in groups.items()]

    def diverged(self, rules: Sequence[Judged]) -> list[str]:
        """The rules that diverged at every rate, and with how many seeds a control did at its chosen one."""
        everywhere = [self._labels[each.rule] for each in rules if each.lr is None and each.lost]
        controls = [each for each in rules if each.rule in self._plan.controls and each.lr is not None]
        said = [f"{join_texts(everywhere)} diverged at every rate."] if everywhere else []
        return said + [
            f"{each.lost} of {len(each.seeds)} seeds of {self._label(each)} diverged: its mean omits them."
            for each in controls
            if each.lost
        ]

    def edges(self, ended: Sequence[Judged]) -> list[str]:
        """A sentence on rules whose rate stands at an end of those that were tried."""
        rates = self._plan.lrs
        if len(rates) == 1:
            return []
        said = []
        for rate, which in ((rates[0], "lowest"), (rates[-1], "highest")):
            if names := [self._labels[each.rule] for each in ended if each.lr == rate]:
                said.append(
                    f"The rate chosen for {join_texts(names)} is the {which} tried: one beyond may do better."
                )
        return said

    def shares(self, rules: Sequence[Judged], known: Mapping[str, float]) -> list[str]:
        """How much of straight-through's gradient each rule passes before the first step."""
        entries = dict(zip(self._plan.keys, map(find_rule, self._plan.rules), strict=True))
        finite = {each.rule: known.get(each.rule, math.nan) for each in rules}
        said = {
            each.rule: f"{self._label(each)} {percent_of(finite[each.rule])}"
            for each in rules
            if math.isfinite(finite[each.rule])
        }
        of_losses = [text for rule, text in said.items() if entries[rule].needs_loss]
        passed = [text for text in said.values() if text not in of_losses]
        where = "At the start weights of seed 0 the rules pass, of straight-through's gradient:"
        made = "Made of losses at the start weights of seed 0, in the size of straight-through's gradient:"
        parts = ((where, passed), (made, of_losses))
        return [f"{begin} {join_texts(texts)}." for begin, texts in parts if texts]

    def footing(self, rules: Sequence[Judged], known: Mapping[str, float]) -> list[str]:
        """On an equal footing: what was divided, and what could not be."""
        if not self._plan.equal:
            return []
        kept = [self._label(each) for each in rules if not known[each.rule] > 0]
        said = "Each rule's rates are divided by its share"
        whom = f", but not those of {join_texts(kept)}, without a share above 0" if kept else ""
        return [f"{said}{whom}; those named here are undivided."]

    def agreement(self, rules: Sequence[Judged]) -> list[str]:
        """How far quantised weights end as straight-through's do, at the rates that were chosen."""
        others = [each for each in rules if each.rule != REFERENCE and math.isfinite(each.agreed[0])]
        if not others:
            return []
        shares = join_texts([f"{self._label(each)} {_both(each.agreed)}" for each in others])
        return [
            "At these rates, after the same steps, so many quantised weights equal straight-through's, of "
            f"all (of those that it changed): {shares}."
        ]

    def _level(self, control: Judged, rules: Sequence[Judged]) -> tuple[str, ...] | None:
        """The rules that are not shown to do better; None where fewer than two seeds have judged all."""
        names = [self._label(each) for each in (control, *rules)]
        scores = paired([control, *rules], names)
        if min(map(len, scores.values())) < 2 or len(scores) > MOST_RULES:
            return None
        above = shown_above(scores, names[0], self._plan.example)
        return tuple(name for name in names[1:] if name not in above)

    def _control(self, level: tuple[str, ...] | None, controls: list[str], rules: Sequence[Judged]) -> str:
        named = f"the control{'s' * (len(controls) > 1)} {join_texts(controls)}"
        if level is None:
            return f"Beside them stand{'s' * (len(controls) == 1)} {named}."
        if not level:
            return f"{'All rules' if len(rules) > 1 else self._label(rules[0])} did better than {named}."
        verb = "was" if len(level) == 1 else "were"
        return f"{join_texts([*level])} {verb} not shown to do better than {named}."

    def _score(self, each: Judged) -> str:
        return text([*each.scores.values()], self._decimals, self._plan.unit)

    def _label(self, each: Judged) -> str:
        return self._labels[each.rule]

    def _complete(self, each: Judged) -> bool:
        return each.lr is None or len(each.scores) + each.lost == len(self._plan.judge_seeds)


def _both(agreed: tuple[float, float]) -> str:
    """ "92 % (89 %)", without brackets where straight-through changed nothing."""
    of_all, of_changed = agreed
    return format_percent(of_all) + ("" if math.isnan(of_changed) else f" ({format_percent(of_changed)})")


def percent_of(share: float) -> str:
    """A share that may be above 1: "3 %", "250 %"."""
    return format_percent(share) if share <= 1 else f"{100 * share:.0f} %"


def _seeds(seeds: Sequence[int]) -> str:
    if len(seeds) == 1:
        return f"seed {seeds[0]}"
    if seeds[-1] - seeds[0] == len(seeds) - 1:
        return f"seeds {seeds[0]} to {seeds[-1]}"
    return f"{len(seeds)} seeds from {seeds[0]} to {seeds[-1]}"
