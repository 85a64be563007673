"""A study as its panels show it: names, colours and rows of its rules, and the unit of its scores."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from explorer.catalogue.colours import NEUTRAL, RULE_COLOURS_LIGHT
from explorer.study.differences import Difference, find_differences
from explorer.study.outcomes import RuleOutcome, decimals_of
from explorer.study.plan import Plan


@dataclass(frozen=True)
class StudyView:
    """A study with the outcomes of its rules, and everything its panels share."""

    plan: Plan
    rules: Sequence[RuleOutcome]

    @cached_property
    def compared(self) -> Sequence[Difference]:
        """The differences from the highest rule, in the order of the ranking."""
        return find_differences(self.plan, self.rules)

    @cached_property
    def labels(self) -> dict[str, str]:
        """The label of each rule, escaped: never markup."""
        return {key: html.escape(label, quote=False) for key, label in self.plan.labels.items()}

    @cached_property
    def colours(self) -> dict[str, str]:
        """The colour of each rule by its index; controls share one."""
        count = len(RULE_COLOURS_LIGHT)
        return {
            key: NEUTRAL if key in self.plan.controls else RULE_COLOURS_LIGHT[index % count]
            for index, key in enumerate(self.plan.keys)
        }

    @cached_property
    def rows(self) -> dict[str, int]:
        """The row of each rule, from the top: in the order of the ranking, then rules without a rank."""
        ranked = [each.rule for each in self.compared]
        order = [*ranked, *(key for key in self.plan.keys if key not in ranked)]
        return {key: row for row, key in enumerate(order)}

    @property
    def scale(self) -> int:
        """The factor on plotted scores: accuracies are plotted in percent."""
        return 100 if self.plan.metric == "accuracy" else 1

    @property
    def digits(self) -> int:
        """The number of decimals of all scores."""
        return decimals_of(self.plan, self.rules)
