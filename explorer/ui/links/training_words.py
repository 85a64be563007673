"""The words of a link about trainings and studies: settings, branch points and studies."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from explorer.catalogue import find_op, find_rule
from explorer.study import usual_rates
from explorer.training import SETTINGS, TASKS, USUAL, Setting
from explorer.training.limits import LARGEST_LR, MAX_BRANCHES, SMALLEST_LR
from explorer.training.nets import checked_learn
from explorer.training.settings import NUMBER, Branch, checked_branches, read_branch
from explorer.ui.links.choice import Choice
from explorer.ui.links.reader import Reader, quoted, reason

MOST_RATES = 20  # of a study
_SWEEP = ("sweep", "values")  # words of older links


class TrainingReader(Reader):
    """The reader of the words about trainings and studies, each as the run itself accepts it."""

    def added(self, choice: Choice) -> Choice:
        """The choice of curves with settings, a study and branch points."""
        return self._branches(self._study(self._training(choice)))

    def _training(self, choice: Choice) -> Choice:
        """Training settings one by one, each as the run itself accepts it; the others are the task's."""
        task = self._setting(SETTINGS["task"], USUAL)
        rest = {name: self._setting(setting, task) for name, setting in SETTINGS.items() if name != "task"}
        rest["learn"] = self._learned(choice, rest["learn"])
        return replace(choice, task=task, **rest)

    def _setting(self, setting: Setting, task: str) -> Any:
        """The value of a setting in the link, or else the task's default."""
        text = self.last(setting.name)
        usual = setting.default(task)
        if text is None:
            return usual
        try:
            return setting.read(text)
        except ValueError as error:
            left = f"It is left at {setting.text(usual)}."
            self.note(f"The link asks for {setting.name} = {quoted(text)}: {reason(error)}. {left}")
            return usual

    def _learned(self, choice: Choice, names: Sequence[str]) -> tuple[str, ...]:
        """Those of the names that can learn with one of the rules."""
        known: list[str] = []
        op, rules = choice.entries
        for name in names:
            try:
                known += checked_learn([op], rules, [name])
            except ValueError as error:
                self.note(f"The link lets {quoted(name)} learn: {reason(error)}.")
        return tuple(known)

    def _branches(self, choice: Choice) -> Choice:
        """Branch points, each where it can be; of too many the last ones."""
        texts = self.query.pop("branch", [])
        if len(texts) > MAX_BRANCHES:
            self.note(f"The link branches {len(texts)} times: the last {MAX_BRANCHES} are taken.")
        points = [point for text in texts[-MAX_BRANCHES:] if (point := self._branch(text, choice))]
        return replace(choice, branch=checked_branches(points, choice.rules, choice.steps))

    def _branch(self, text: str, choice: Choice) -> Branch | None:
        """A branch point as a run takes it; one past the end is at the last step."""
        last = choice.steps - 1
        try:
            step, name, value = read_branch(text, choice.rules)
            if isinstance(value, str):
                value = self.key(value, *(("op", find_op) if name == "op" else ("rule", find_rule)))
                if not value:
                    return None
            (point,) = checked_branches([(min(step, last), name, value)], choice.rules, choice.steps)
        except ValueError as error:
            self.note(f"The link's branch {quoted(text)} is left out: {reason(error)}.")
            return None
        if step > last:
            self.note(f"The link branches at step {step}, past the end: step {last} is taken.")
        return point

    def _study(self, choice: Choice) -> Choice:
        """The choice with the words of a study."""
        rates = self._numbers(
            "rates", SMALLEST_LR, LARGEST_LR, MOST_RATES, "The task's usual ones are taken."
        )
        if rates == usual_rates(TASKS[choice.task].lr):
            rates = ()
        removed = [self.last(word) for word in _SWEEP]
        if any(removed):
            self.note(
                "The link sweeps a parameter, which a study no longer does: add a rule of your own for each "
                "value, such as g * (abs(x) <= 0.5)."
            )
        controls, equal = self._flag("controls", usual=True), self._flag("equal", usual=False)
        return replace(choice, rates=rates, controls=controls, equal=equal)

    def _flag(self, name: str, *, usual: bool) -> bool:
        text = self.last(name)
        if text in (None, "yes", "no"):
            return text == "yes" if text else usual
        self.note(f"The link asks for {name} = {quoted(text)}: it must be yes or no.")
        return usual

    def _numbers(self, key: str, low: float, high: float, most: int, otherwise: str) -> tuple[float, ...]:
        """Several numbers, each once and in order; none with a notice where one of them cannot be."""
        text = self.last(key)
        if text is None:
            return ()
        parts = text.split(",")
        numbers = sorted({float(part) + 0.0 for part in parts if NUMBER.fullmatch(part)})
        fit = all(NUMBER.fullmatch(part) and low <= float(part) <= high for part in parts)
        if fit and len(numbers) <= most:
            return tuple(numbers)
        self.note(
            f"The link asks for {key} = {quoted(text)}: up to {most} numbers from {low:.15g} to "
            f"{high:.15g} can be had, between commas. {otherwise}"
        )
        return ()
