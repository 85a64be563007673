"""The declaration of one setting: its label, its values, and its text in a link."""

import math
import operator
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from explorer.catalogue import to_finite
from explorer.formula import number_text, quote
from explorer.training.limits import MAX_LAYERS
from explorer.training.tasks import TASKS

SWITCH = {"yes": True, "no": False}

NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


@dataclass(frozen=True)
class Setting:
    """The declaration of one setting of a training run.

    Attributes:
        name: the name in ``Settings`` and in links.
        kind: a "choice" of words; a "whole" number; "widths", one or more whole numbers; "log", a number
            above 0 on a logarithmic scale; a "switch", yes or no; or any number of "names" of parameters.
        label: the label on screen.
        meaning: the meaning in one sentence.
        low, high: the bounds in links and controls.
        words: the values other than numbers; for a "choice", all values.
        live: whether the setting can change during a run; any other setting needs a new run.
    """

    name: str
    kind: Literal["choice", "whole", "widths", "log", "switch", "names"]
    label: str
    meaning: str
    low: float = 0
    high: float = 0
    words: Collection[str] = ()
    live: bool = False

    @property
    def visible(self) -> bool:
        """Whether the setting offers a choice of several values."""
        return self.kind != "choice" or len(self.words) > 1

    def default_of(self, task: str) -> Any:
        """Return the setting's default value for a task."""
        return task if self.name == "task" else getattr(TASKS[task], self.name)

    def text_of(self, value: Any) -> str:
        """Return a value of this setting as text for a link. None is the last of ``words``."""
        if value is None:
            return list(self.words)[-1]
        if isinstance(value, tuple):
            return ",".join(map(str, value))
        if self.kind == "switch":
            return "yes" if value else "no"
        return value if isinstance(value, str) else number_text(float(value))

    def check(self, value: Any) -> Any:
        """Return a checked value, converted to the type that runs use.

        Raises ValueError with a plain message.
        """
        if self.kind != "switch" and isinstance(value, str) and value in self.words:
            return value
        match self.kind:
            case "choice":
                raise ValueError(f"unknown {self.name} {quote(value)}: use one of {', '.join(self.words)}")
            case "switch":
                if not isinstance(value, bool):
                    raise ValueError(f"{self.name} must be True or False, not {quote(value)}")
                return value
            case "whole":
                return self._check_whole(value)
            case "widths":
                return self._check_widths(value)
            case "names":
                return self._check_names(value)
            case _:
                number = to_finite(self.name, value)
                if number <= 0:
                    raise ValueError(f"{self.name} must be above 0, not {quote(value)}")
                return number

    def read(self, text: str) -> Any:
        """Parse the text of this setting in a link. Raises ValueError with a clause or sentence."""
        if self.kind == "choice" or text in self.words:
            return self.check(SWITCH.get(text, text) if self.kind == "switch" else text)
        if self.kind == "switch":
            raise ValueError("it must be yes or no")
        if self.kind == "widths":
            return self.check(tuple(map(_read_whole, text.split(","))))
        if self.kind == "names":
            return self.check(split_names(text))
        value = self.check(_read_whole(text) if self.kind == "whole" else _read_number(text))
        if not self.low <= value <= self.high:
            raise ValueError(f"{self.name} must be from {self.low:g} to {self.high:g}")
        return value

    def _check_widths(self, value: Any) -> int | tuple[int, ...]:
        if not isinstance(value, Sequence) or isinstance(value, str):
            return self._check_whole(value)
        if not 1 <= len(value) <= MAX_LAYERS:
            raise ValueError(f"{self.name} must be 1 to {MAX_LAYERS} widths, not {len(value)}")
        widths = tuple(map(self._check_whole, value))
        return widths if len(widths) > 1 else widths[0]

    def _check_names(self, value: Any) -> tuple[str, ...]:
        """Return names without duplicates. ``Settings`` checks that the parameters exist."""
        names = (value,) if isinstance(value, str) else value
        if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
            raise ValueError(
                f"{self.name} must be a tuple of parameter names, such as ('s',), not {quote(value)}"
            )
        return tuple(dict.fromkeys(names))

    def _check_whole(self, value: Any) -> int:
        try:
            if isinstance(value, bool):
                raise TypeError
            number = operator.index(value)
        except TypeError:
            number = None
        if number is None or not self.low <= number <= self.high:
            bounds = f"from {self.low} to {self.high}"
            raise ValueError(f"{self.name} must be a whole number {bounds}, not {quote(value)}")
        return number


def split_names(text: str) -> tuple[str, ...]:
    """Return the names in a text, split at its commas except those inside the parentheses of a formula."""
    names, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth <= 0:
            names.append("")
        else:
            names[-1] += character
    return tuple(filter(None, map(str.strip, names)))


def _read_number(text: str) -> float:
    value = float(text) if NUMBER.fullmatch(text) else math.nan
    if math.isnan(value):
        raise ValueError("it must be a number")
    return value


def _read_whole(text: str) -> int:
    value = _read_number(text)
    if not value.is_integer():
        raise ValueError("it must be a whole number")
    return int(value)
