"""Names, colours and rows of a study's rules, which all panels of its figure share."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from explorer.catalogue.colours import NEUTRAL, RULE_COLOURS_LIGHT
from explorer.study.differences import Difference, find_differences
from explorer.study.outcomes import RuleOutcome, choose_score_decimals
from explorer.study.plan import Plan


@dataclass(frozen=True)
class StudyView:
    """A study with the outcomes of its rules, and everything that the panels of its figure share."""

    plan: Plan
    rules: Sequence[RuleOutcome]

    @cached_property
    def compared(self) -> Sequence[Difference]:
        """The differences of the rules from the best one, in the order of the ranking."""
        return find_differences(self.plan, self.rules)

    @cached_property
    def labels(self) -> dict[str, str]:
        """A dict from rules to labels, with HTML escaped."""
        return {key: html.escape(label, quote=False) for key, label in self.plan.labels.items()}

    @cached_property
    def colours(self) -> dict[str, str]:
        """A dict from rules to colours. All controls share one colour."""
        count = len(RULE_COLOURS_LIGHT)
        return {
            key: NEUTRAL if key in self.plan.controls else RULE_COLOURS_LIGHT[index % count]
            for index, key in enumerate(self.plan.keys)
        }

    @cached_property
    def rows(self) -> dict[str, int]:
        """A dict from rules to rows of the figure, counted from the top.

        Ranked rules come first, in the order of the ranking, followed by the others.
        """
        ranked = [each.rule for each in self.compared]
        order = [*ranked, *(key for key in self.plan.keys if key not in ranked)]
        return {key: row for row, key in enumerate(order)}

    @property
    def scale(self) -> int:
        """The factor on plotted scores, which is 100 for accuracies, plotted in percent."""
        return 100 if self.plan.metric == "accuracy" else 1

    @property
    def digits(self) -> int:
        """The number of decimals of all scores."""
        return choose_score_decimals(self.plan, self.rules)
