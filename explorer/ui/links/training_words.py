"""Parsing of the query parameters about training runs and studies."""

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from explorer.catalogue import find_op, find_rule
from explorer.study import make_default_rates
from explorer.training import DEFAULT_TASK, SETTINGS, TASKS, Setting
from explorer.training.limits import MAX_BRANCHES, MAX_LR, MIN_LR
from explorer.training.nets import check_learn
from explorer.training.settings import NUMBER, Branch, check_branches, read_branch
from explorer.ui.links.choice import Choice
from explorer.ui.links.reader import Reader, format_reason, quote

MAX_RATES = 20  # maximum number of learning rates in a study
_SWEEP = ("sweep", "values")  # query parameters of older links


class TrainingReader(Reader):
    """A parser of the query parameters that describe a training run or a study.

    It accepts the same values as a run does.
    """

    def read_into(self, choice: Choice) -> Choice:
        """Return a copy of the page settings with the training, study and branch settings from the link."""
        return self._read_branches(self._read_study(self._read_settings(choice)))

    def _read_settings(self, choice: Choice) -> Choice:
        task = self._read_setting(SETTINGS["task"], DEFAULT_TASK)
        others = {
            name: self._read_setting(setting, task) for name, setting in SETTINGS.items() if name != "task"
        }
        others["learn"] = self._read_learned(choice, others["learn"])
        return replace(choice, task=task, **others)

    def _read_setting(self, setting: Setting, task: str) -> Any:
        """Return one training setting of the link, or the task's default if it is missing or invalid."""
        text = self.pop_last(setting.name)
        if text is None and setting.name == "optimiser":
            text = self.pop_last("optimizer")
        default = setting.default_of(task)
        if text is None:
            return default
        try:
            return setting.read(text)
        except ValueError as error:
            problem = f"{format_reason(error)}. It is left at {setting.text_of(default)}."
            if setting.name == "task":
                default = (*get_close_matches(text.casefold(), TASKS, 1, 0.7), *TASKS)[0]
                problem = f"there is no such task, {TASKS[default].label} is shown instead."
            self.add_notice(f"The link asks for {setting.name} = {quote(text)}: {problem}")
            return default

    def _read_learned(self, choice: Choice, names: Sequence[str]) -> tuple[str, ...]:
        learned: list[str] = []
        op, rules = choice.entries
        for name in names:
            try:
                learned += check_learn([op], rules, [name])
            except ValueError as error:
                self.add_notice(f"The link lets {quote(name)} learn: {format_reason(error)}.")
        return tuple(learned)

    def _read_branches(self, choice: Choice) -> Choice:
        """Return a copy of the page settings with the valid branch points from the link.

        If there are too many, the first ones are dropped.
        """
        texts = self.query.pop("branch", [])
        if len(texts) > MAX_BRANCHES:
            self.add_notice(f"The link branches {len(texts)} times: the last {MAX_BRANCHES} are taken.")
        points = [point for text in texts[-MAX_BRANCHES:] if (point := self._read_branch(text, choice))]
        return replace(choice, branch=check_branches(points, choice.rules, choice.steps))

    def _read_branch(self, text: str, choice: Choice) -> Branch | None:
        """Parse one branch point from the link. Returns None if it is invalid.

        A step after the end of the run becomes the last step.
        """
        last = choice.steps - 1
        try:
            step, name, value = read_branch(text, choice.rules)
            if isinstance(value, str):
                value = self.find_key(value, *(("op", find_op) if name == "op" else ("rule", find_rule)))
                if not value:
                    return None
            (point,) = check_branches([(min(step, last), name, value)], choice.rules, choice.steps)
        except ValueError as error:
            self.add_notice(f"The link's branch {quote(text)} is left out: {format_reason(error)}.")
            return None
        if step > last:
            self.add_notice(f"The link branches at step {step}, past the end: step {last} is taken.")
        return point

    def _read_study(self, choice: Choice) -> Choice:
        rates = self._read_numbers("rates", MIN_LR, MAX_LR, MAX_RATES, "The task's usual ones are taken.")
        if rates == make_default_rates(TASKS[choice.task].lr):
            rates = ()
        removed = [self.pop_last(word) for word in _SWEEP]
        if any(removed):
            self.add_notice(
                "The link sweeps a parameter, which a study no longer does: add one rule for each value, "
                "such as g * (abs(x) <= 0.5)."
            )
        controls, equal = self._read_flag("controls", default=True), self._read_flag("equal", default=False)
        return replace(choice, rates=rates, controls=controls, equal=equal)

    def _read_flag(self, name: str, *, default: bool) -> bool:
        text = self.pop_last(name)
        if text in (None, "yes", "no"):
            return text == "yes" if text else default
        self.add_notice(f"The link asks for {name} = {quote(text)}: it must be yes or no.")
        return default

    def _read_numbers(
        self, key: str, low: float, high: float, max_count: int, advice: str
    ) -> tuple[float, ...]:
        """Parse a comma-separated list into distinct numbers in ascending order.

        Returns () if the link has none. If a number is invalid or there are too many, also adds a message.
        """
        text = self.pop_last(key)
        if text is None:
            return ()
        parts = text.split(",")
        numbers = sorted({float(part) + 0.0 for part in parts if NUMBER.fullmatch(part)})
        is_valid = all(NUMBER.fullmatch(part) and low <= float(part) <= high for part in parts)
        if is_valid and len(numbers) <= max_count:
            return tuple(numbers)
        self.add_notice(
            f"The link asks for {key} = {quote(text)}: give up to {max_count} numbers from {low:.15g} to "
            f"{high:.15g}, separated by commas. {advice}"
        )
        return ()
