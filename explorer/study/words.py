"""Sentences that describe the result of a study, with their uncertainty."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from explorer.catalogue import find_rule
from explorer.formula import format_percent, join_texts, number_text
from explorer.study.differences import compare_with_controls
from explorer.study.outcomes import RuleOutcome, choose_score_decimals, make_ranking
from explorer.study.plan import Plan
from explorer.study.trial import REFERENCE
from explorer.training.ranking import format_score


def make_sentences(
    plan: Plan, rules: Sequence[RuleOutcome], n_done: int, shares: Mapping[str, float]
) -> list[str]:
    """Return sentences on a study's result, from its basis to its ranking and its controls.

    ``n_done`` is the number of finished runs. ``shares`` is a dict from rules to their shares of
    straight-through's gradient, empty if they are unknown.
    """
    words = _Words(plan, rules)
    ended = [each for each in rules if each.seeds]
    complete = ended and all(
        each.lr is None or len(each.scores) + each.n_diverged == len(plan.judge_seeds) for each in rules
    )
    progress = f"{n_done:,} of {plan.runs:,} runs are done so far."
    return [
        words.describe_basis(),
        *([progress] if n_done < plan.runs and not complete else []),
        *words.describe_ranking([each for each in ended if each.rule not in plan.controls]),
        *words.describe_rates([each for each in ended if each.rule not in plan.controls]),
        *words.describe_controls(ended),
        *words.describe_diverged(rules),
        *words.describe_edges([each for each in ended if each.rule not in plan.controls]),
        *words.describe_shares([each for each in rules if each.rule not in plan.controls], shares),
        *words.describe_footing(rules, shares),
        *words.describe_agreement([each for each in rules if each.rule not in plan.controls]),
    ]


def make_headline(plan: Plan, rules: Sequence[RuleOutcome]) -> str:
    """Return the ranking of a study's rules and what qualifies it, or "" if there is no ranking yet.

    It begins with the controls that have a higher mean than every rule. If there is none, it ends with the
    rules that are not shown to do better than a control.
    """
    words, ended = _Words(plan, rules), [each for each in rules if each.seeds]
    ranking = words.describe_ranking([each for each in ended if each.rule not in plan.controls])
    high, level = words.describe_high_controls(ended), words.describe_controls(ended)
    sentences = [*high, *ranking, *(each for each in level if not high and " not shown " in each)]
    return " ".join(sentences) if ranking else ""


class _Words:
    def __init__(self, plan: Plan, rules: Sequence[RuleOutcome]) -> None:
        self._plan, self._rules = plan, rules
        self._labels = plan.labels
        self._percent = plan.metric == "accuracy"
        self._decimals = choose_score_decimals(plan, rules)

    def describe_basis(self) -> str:
        plan = self._plan
        n_rules = len(plan.rules) - len(plan.controls)
        rules = f"{n_rules} rule{'s' * (n_rules > 1)}"
        if plan.controls:
            rules += f" and {len(plan.controls)} control{'s' * (len(plan.controls) > 1)}"
        how = (
            (
                f"each at its best of {len(plan.lrs)} rates, chosen by validation with "
                f"{_describe_seeds(plan.seeds)}"
            )
            if len(plan.lrs) > 1
            else f"all at lr {number_text(plan.lrs[0])}, the only rate"
        )
        spread = " (mean ± SD)" if len(plan.judge_seeds) > 1 else ""
        subject = f"{rules} on {plan.subject}, {plan.steps:,} steps"
        data = "held-out data" if self._percent else f"held-out data, by {plan.metric},"
        seeds = _describe_seeds(plan.judge_seeds)
        return f"{subject}: {how}, judged on {data} with {seeds}, not used to choose rates{spread}."

    def describe_ranking(self, ended: Sequence[RuleOutcome]) -> list[str]:
        ranked = make_ranking(self._plan, ended, [self._label_of(each) for each in ended], self._decimals)
        return [] if ranked is None else [ranked.sentence]

    def describe_rates(self, ended: Sequence[RuleOutcome]) -> list[str]:
        by_rate: dict[float, list[str]] = {}
        for each in sorted(ended, key=lambda each: each.lr or 0.0):
            if each.lr is not None:
                by_rate.setdefault(each.lr, []).append(self._label_of(each))
        if len(self._plan.lrs) == 1 or not by_rate:
            return []
        choices = [f"{number_text(lr)} for {join_texts(names)}" for lr, names in by_rate.items()]
        return [f"Rates that validation chose: {'; '.join(choices)}."]

    def describe_controls(self, ended: Sequence[RuleOutcome]) -> list[str]:
        """Return sentences on the rules that are not shown to do better than a control.

        Controls with the same rules share a sentence. Each rule is compared with the controls alone, by the
        intervals of ``compare_with_controls``: those of the best rule are in the figure.
        """
        rules = [each for each in ended if each.rule not in self._plan.controls]
        controls = (
            [each for each in ended if each.rule in self._plan.controls and each.scores] if rules else []
        )
        reaches = {self._label_of(each): compare_with_controls(self._plan, each, controls) for each in rules}
        groups: dict[tuple[str, ...] | None, list[str]] = {}
        for each in controls:
            score = format_score([*each.scores.values()], self._decimals, self._plan.unit)
            named = f"{self._label_of(each)} ({score})"
            reach_by_rule = {
                name: reach.get(each.rule, (-math.inf, math.inf)) for name, reach in reaches.items()
            }
            level = tuple(name for name, (lower, _) in reach_by_rule.items() if lower <= 0)
            is_known = any(math.isfinite(upper) for _, upper in reach_by_rule.values())
            groups.setdefault(level if is_known else None, []).append(named)
        return [self._describe_control(level, names, rules) for level, names in groups.items()]

    def describe_high_controls(self, ended: Sequence[RuleOutcome]) -> list[str]:
        """Return a sentence on the controls with a higher mean than every rule, if there are any."""
        best = max((each.mean for each in ended if each.rule not in self._plan.controls), default=math.inf)
        high = [each for each in ended if each.rule in self._plan.controls and each.mean > best]
        named = [
            f"{self._label_of(each)} ({format_score([each.mean], self._decimals, self._plan.unit)})"
            for each in high
        ]
        if not high:
            return []
        verb, pronoun = ("have higher means", "them") if len(high) > 1 else ("has a higher mean", "it")
        subject = f"The control{'s' * (len(high) > 1)} {join_texts(named)}"
        return [f"{subject} {verb} than every rule: none is shown to beat {pronoun}."]

    def describe_diverged(self, rules: Sequence[RuleOutcome]) -> list[str]:
        everywhere = [self._labels[each.rule] for each in rules if each.lr is None and each.n_diverged]
        controls = [each for each in rules if each.rule in self._plan.controls and each.lr is not None]
        sentences = [f"{join_texts(everywhere)} diverged at every rate."] if everywhere else []
        return sentences + [
            f"{each.n_diverged} of {len(each.seeds)} seeds of {self._label_of(each)} diverged and are left "
            "out of its mean."
            for each in controls
            if each.n_diverged
        ]

    def describe_edges(self, ended: Sequence[RuleOutcome]) -> list[str]:
        rates = self._plan.lrs
        if len(rates) == 1:
            return []
        sentences = []
        for rate, end in ((rates[0], "lowest"), (rates[-1], "highest")):
            if names := [self._labels[each.rule] for each in ended if each.lr == rate]:
                sentences.append(
                    f"The rate chosen for {join_texts(names)} is the {end} tried: widen the range, a rate "
                    "beyond it may do better."
                )
        return sentences

    def describe_shares(self, rules: Sequence[RuleOutcome], shares: Mapping[str, float]) -> list[str]:
        entries = dict(zip(self._plan.keys, map(find_rule, self._plan.rules), strict=True))
        by_rule = {}
        for each in rules:
            if math.isfinite(share := shares.get(each.rule, math.nan)):
                percent = format_percent(share) if share <= 1 else f"{100 * share:.0f} %"
                by_rule[each.rule] = f"{self._label_of(each)} {percent}"
        of_losses = [text for rule, text in by_rule.items() if entries[rule].needs_loss]
        passed = [text for text in by_rule.values() if text not in of_losses]
        prefix = "At the start weights of seed 0 the rules pass this share of straight-through's gradient:"
        loss_prefix = (
            "Computed from losses at the start weights of seed 0, relative to the size of "
            "straight-through's gradient:"
        )
        parts = ((prefix, passed), (loss_prefix, of_losses))
        return [f"{begin} {join_texts(texts)}." for begin, texts in parts if texts]

    def describe_footing(self, rules: Sequence[RuleOutcome], shares: Mapping[str, float]) -> list[str]:
        if not self._plan.equal:
            return []
        undivided = [self._label_of(each) for each in rules if not shares[each.rule] > 0]
        start = "Each rule's rates are divided by its share"
        exception = (
            f", but not those of {join_texts(undivided)}, without a share above 0" if undivided else ""
        )
        return [f"{start}{exception}; the rates named here are undivided."]

    def describe_agreement(self, rules: Sequence[RuleOutcome]) -> list[str]:
        compared = [each for each in rules if each.rule != REFERENCE and math.isfinite(each.agreement[0])]
        if not compared:
            return []
        texts = []
        for each in compared:
            of_all, of_changed = each.agreement  # the second is NaN if straight-through changed no weight
            bracket = "" if math.isnan(of_changed) else f" ({format_percent(of_changed)})"
            texts.append(f"{self._label_of(each)} {format_percent(of_all)}{bracket}")
        shares = join_texts(texts)
        return [
            "At these rates, after the same steps, quantised weights equal to straight-through's, as a "
            f"share of all (and of those that it changed): {shares}."
        ]

    def _describe_control(
        self, level: tuple[str, ...] | None, controls: list[str], rules: Sequence[RuleOutcome]
    ) -> str:
        plural = len(controls) > 1
        named = f"the control{'s' * plural} {join_texts(controls)}"
        if level is None:
            return f"For comparison: {named}."
        named = f"{'each of ' if not level else 'any of '}{named}" if plural else named
        if not level:
            return f"{'All rules' if len(rules) > 1 else self._label_of(rules[0])} did better than {named}."
        verb = "was" if len(level) == 1 else "were"
        return f"{join_texts([*level])} {verb} not shown to do better than {named}."

    def _label_of(self, rule: RuleOutcome) -> str:
        return self._labels[rule.rule]


def _describe_seeds(seeds: Sequence[int]) -> str:
    if len(seeds) == 1:
        return f"seed {seeds[0]}"
    if seeds[-1] - seeds[0] == len(seeds) - 1:
        return f"seeds {seeds[0]} to {seeds[-1]}"
    return f"{len(seeds)} seeds from {seeds[0]} to {seeds[-1]}"
