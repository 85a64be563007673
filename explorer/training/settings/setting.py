"""A setting: its words, its values, and its text in a link."""

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
    """One setting of a run.

    Attributes:
        name: in ``Settings`` and in links.
        kind: "choice" of words; "whole" number; "widths", one or several of them; "log", a number above 0 on
            a scale of decades; "switch", yes or no; "names" of parameters, none or several.
        label: name on screen.
        meaning: one sentence.
        low, high: bounds in links and controls.
        words: values beside numbers; for a "choice" all values.
        live: whether it can change while the run goes on; any other begins a new run.
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
        """Whether there is a choice to make."""
        return self.kind != "choice" or len(self.words) > 1

    def default(self, task: str) -> Any:
        """The default value on a task."""
        return task if self.name == "task" else getattr(TASKS[task], self.name)

    def text(self, value: Any) -> str:
        """A value as a link writes it."""
        if value is None:
            return list(self.words)[-1]
        if isinstance(value, tuple):
            return ",".join(map(str, value))
        if self.kind == "switch":
            return "yes" if value else "no"
        return value if isinstance(value, str) else number_text(float(value))

    def checked(self, value: Any) -> Any:
        """The value as a run takes it. Raises ValueError with a plain sentence."""
        if self.kind != "switch" and isinstance(value, str) and value in self.words:
            return value
        match self.kind:
            case "choice":
                raise ValueError(f"unknown {self.name} {quote(value)}: use one of {', '.join(self.words)}")
            case "switch":
                return self._truth(value)
            case "whole":
                return self._whole(value)
            case "widths":
                return self._widths(value)
            case "names":
                return self._names(value)
            case _:
                return self._positive(value)

    def read(self, text: str) -> Any:
        """The value a link's text stands for. Raises ValueError with a clause or sentence."""
        if self.kind == "choice" or text in self.words:
            return self.checked(SWITCH.get(text, text) if self.kind == "switch" else text)
        if self.kind == "switch":
            raise ValueError("it must be yes or no")
        if self.kind == "widths":
            return self.checked(tuple(map(_read_whole, text.split(","))))
        if self.kind == "names":
            return self.checked(names_in(text))
        value = self.checked(_read_whole(text) if self.kind == "whole" else _read_number(text))
        if not self.low <= value <= self.high:
            raise ValueError(f"{self.name} must be from {self.low:g} to {self.high:g}")
        return value

    def _truth(self, value: Any) -> bool:
        if not isinstance(value, bool):
            raise ValueError(f"{self.name} must be True or False, not {quote(value)}")
        return value

    def _widths(self, value: Any) -> int | tuple[int, ...]:
        if not isinstance(value, Sequence) or isinstance(value, str):
            return self._whole(value)
        if not 1 <= len(value) <= MAX_LAYERS:
            raise ValueError(f"{self.name} must be 1 to {MAX_LAYERS} widths, not {len(value)}")
        widths = tuple(map(self._whole, value))
        return widths if len(widths) > 1 else widths[0]

    def _names(self, value: Any) -> tuple[str, ...]:
        """Names without repetition; ``Settings`` checks that there are such parameters."""
        names = (value,) if isinstance(value, str) else value
        if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
            raise ValueError(f"{self.name} must be names of parameters, such as ('s',), not {quote(value)}")
        return tuple(dict.fromkeys(names))

    def _whole(self, value: Any) -> int:
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

    def _positive(self, value: Any) -> float:
        number = to_finite(self.name, value)
        if number <= 0:
            raise ValueError(f"{self.name} must be above 0, not {quote(value)}")
        return number


def names_in(text: str) -> tuple[str, ...]:
    """Names between commas, except commas within an own formula's brackets."""
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
