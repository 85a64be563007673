"""What a run is asked to do: each setting declared once, for runs, links, controls and words alike."""

import dataclasses
import math
import operator
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, TypeVar

import torch

from explorer.catalogue import MOST_RULES, Op, Rule, checked, find_op, find_rule, finite
from explorer.training.limits import (
    LARGEST_LR,
    MAX_BATCH,
    MAX_HIDDEN,
    MAX_PACE,
    MAX_SEED,
    MAX_STEPS,
    SMALLEST_LR,
)
from explorer.training.tasks import TASKS

Entry = TypeVar("Entry", Op, Rule)

FULL = "full"  # the pace of a run that goes as fast as it can

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


@dataclass(frozen=True)
class Setting:
    """One setting of a run.

    Attributes:
        name: in ``Settings`` and in links.
        kind: "choice" of words; "whole" number; "log", a number above 0 on a scale of decades.
        default: what the two-layer net on random data needs; None is the last of the words.
        label: name on screen.
        meaning: one sentence.
        low, high: what a link and a control may ask for.
        words: what it may be beside a number; for a "choice" all there is.
        live: whether it can change while the run goes on; any other begins a new run.
    """

    name: str
    kind: Literal["choice", "whole", "log"]
    default: str | float | None
    label: str
    meaning: str
    low: float = 0
    high: float = 0
    words: Collection[str] = ()
    live: bool = False

    @property
    def usual(self) -> str | float:
        """The default as a link has it."""
        return list(self.words)[-1] if self.default is None else self.default

    @property
    def shown(self) -> bool:
        """Whether there is a choice to make, or something to be told by it."""
        return self.default is not None or len(self.words) > 1

    def checked(self, value: Any) -> Any:
        """The value as a run takes it. Raises ValueError with a plain sentence."""
        if value is self.default is None or (isinstance(value, str) and value in self.words):
            return value
        if self.kind == "choice":
            raise ValueError(f"unknown {self.name} {value!r}: use one of {', '.join(self.words)}")
        return self._whole(value) if self.kind == "whole" else self._positive(value)

    def read(self, text: str) -> Any:
        """The value a link's text stands for. Raises ValueError with a clause or sentence."""
        if self.kind == "choice" or text in self.words:
            return self.checked(text)
        value = float(text) if _NUMBER.fullmatch(text) else math.nan
        if math.isnan(value):
            raise ValueError("it must be a number")
        if self.kind == "whole":
            if not value.is_integer():
                raise ValueError("it must be a whole number")
            value = int(value)
        value = self.checked(value)
        if not self.low <= value <= self.high:
            raise ValueError(f"{self.name} must be from {self.low:g} to {self.high:g}")
        return value

    def _whole(self, value: Any) -> int:
        try:
            if isinstance(value, bool):
                raise TypeError
            number = operator.index(value)
        except TypeError:
            number = None
        if number is None or not self.low <= number <= self.high:
            bounds = f"from {self.low} to {self.high}"
            raise ValueError(f"{self.name} must be a whole number {bounds}, not {value!r}")
        return number

    def _positive(self, value: Any) -> float:
        number = finite(self.name, value)
        if number <= 0:
            raise ValueError(f"{self.name} must be above 0, not {value!r}")
        return number


def _setting(kind: str, default: str | float | None, label: str, meaning: str, **rest: Any) -> Any:
    facts = {"kind": kind, "default": default, "label": label, "meaning": meaning, **rest}
    return field(default=default, metadata=facts)


def devices() -> tuple[str, ...]:
    """Where runs can compute: "cpu", and then the type of the accelerator where there is one."""
    accelerator = torch.accelerator.current_accelerator(check_available=True)
    return ("cpu", *([accelerator.type] if accelerator else []))


@dataclass(frozen=True)
class TrainingSettings:
    """The settings of a run beside op and rules; ``SETTINGS`` has them as a table."""

    task: str = _setting("choice", "documents", "Task", "What the net learns.", words=TASKS)
    steps: int = _setting("whole", 500, "Steps", "Steps of gradient descent.", low=1, high=MAX_STEPS)
    lr: float = _setting(
        "log", 1e-6, "Learning rate lr", "How far a step goes down the gradient.",
        low=SMALLEST_LR, high=LARGEST_LR, live=True,
    )  # fmt: skip
    hidden: int = _setting("whole", 100, "Hidden units", "Width of the hidden layer.", low=1, high=MAX_HIDDEN)
    batch: int = _setting("whole", 64, "Batch", "Examples in a step.", low=1, high=MAX_BATCH)
    seed: int = _setting("whole", 0, "Seed", "The same seed gives the same losses.", low=0, high=MAX_SEED)
    pace: float | Literal["full"] = _setting(
        "log", 50.0, "Pace", f'Steps a second; "{FULL}" goes as fast as it can.',
        low=1, high=MAX_PACE, words=(FULL,), live=True,
    )  # fmt: skip

    device: str | None = _setting("choice", None, "Device", "Where it computes.", words=devices())

    def __post_init__(self) -> None:
        for name, setting in SETTINGS.items():
            self._put(name, setting.checked(getattr(self, name)))

    def _put(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)


SETTINGS: Mapping[str, Setting] = MappingProxyType(
    {entry.name: Setting(entry.name, **entry.metadata) for entry in dataclasses.fields(TrainingSettings)}
)
LIVE = tuple(name for name, setting in SETTINGS.items() if setting.live)


@dataclass(frozen=True)
class Settings(TrainingSettings):
    """What a run is asked to do; by default a ReLU in the two-layer net on random data.

    Frozen, hashable, and made of text and numbers only, unless op or rules are given as records:
    ``Settings(**dataclasses.asdict(settings))`` gives it back, through JSON too. Beside the settings of
    ``SETTINGS``, of which the device None is the accelerator where there is one:

    Attributes:
        op: the net's activation, a key of ``OPS``, ``"formula: …"`` in x, or an ``Op``.
        rules: 1 to 6 backward rules, keys of ``RULES``, ``"formula: …"``, or ``Rule``; the same rule twice
            counts once.
        parameters: values of op and rules by name, or by ``rule.name`` for one rule only.

    Raises:
        ValueError: a plain sentence for what cannot be.
    """

    op: str | Op = "relu"
    rules: tuple[str | Rule, ...] = ("default",)
    parameters: Mapping[str, float] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._put("op", _entry("op", self.op, Op))
        self._put("rules", _distinct(self.rules))
        self._put("parameters", _parameters(self.op, self.rules, self.parameters))


def _entry(what: str, entry: Any, kind: type[Entry]) -> str | Entry:
    if not isinstance(entry, str | kind):
        raise ValueError(f"{what} must be a key or a formula, not {entry!r}")
    return entry


def _distinct(rules: object) -> tuple[str | Rule, ...]:
    """The rules in their order, each once: two spellings of one own formula are one rule."""
    if isinstance(rules, str) or not isinstance(rules, list | tuple):
        raise ValueError(f"rules must be a list of keys, such as ['default'], not {rules!r}")
    found: dict[str, str | Rule] = {}
    for rule in rules:
        found.setdefault(find_rule(_entry("a rule", rule, Rule)).key, rule)
    if not 1 <= len(found) <= MOST_RULES:
        raise ValueError(f"choose 1 to {MOST_RULES} rules, not {len(found)}")
    return tuple(found.values())


def _parameters(op: str | Op, rules: tuple[str | Rule, ...], parameters: object) -> dict[str, float]:
    if not isinstance(parameters, Mapping):
        raise ValueError(f"parameters must be values by name, such as {{'c': 1.0}}, not {parameters!r}")
    return checked(find_op(op), tuple(find_rule(rule) for rule in rules), parameters)
