"""What a run is asked to do."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from explorer.catalogue import MOST_RULES, find_op, find_rule
from explorer.gradient import checked, finite
from explorer.training.limits import MAX_BATCH, MAX_HIDDEN, MAX_SEED, MAX_STEPS
from explorer.training.tasks import TASKS


@dataclass(frozen=True)
class Settings:
    """What a run is asked to do; every default is the documents' value.

    Frozen, hashable, and made of text and numbers only: ``Settings(**dataclasses.asdict(settings))``
    gives it back, through JSON too.

    Attributes:
        task: key of ``TASKS``.
        op: the net's activation, a key of ``OPS`` or ``"formula: …"`` in x.
        rules: 1 to 6 backward rules, keys of ``RULES`` or ``"formula: …"``; the same rule twice counts once.
        parameters: values of op and rules by name, or by ``rule.name`` for one rule only.
        steps: 1 to 5,000 steps of gradient descent.
        lr: learning rate, finite and above 0.
        hidden: 1 to 256 hidden units.
        batch: 1 to 1,024 examples a step.
        seed: 0 to 2**31 - 1; the same settings give the same losses.
        device: "cpu" or the type of the accelerator here; None takes the accelerator where there is one.

    Raises:
        ValueError: a plain sentence for what cannot be.
    """

    task: str = "documents"
    op: str = "relu"
    rules: tuple[str, ...] = ("default",)
    parameters: Mapping[str, float] = field(default_factory=dict, hash=False)
    steps: int = 500
    lr: float = 1e-6
    hidden: int = 100
    batch: int = 64
    seed: int = 0
    device: str | None = None

    def __post_init__(self) -> None:
        if self.task not in TASKS:
            raise ValueError(f"unknown task {self.task!r}: use one of {', '.join(TASKS)}")
        self._put("op", _key("op", self.op))
        self._put("rules", _distinct(self.rules))
        self._put("parameters", _parameters(self.op, self.rules, self.parameters))
        self._put("steps", _whole("steps", self.steps, 1, MAX_STEPS))
        self._put("lr", _positive("lr", self.lr))
        self._put("hidden", _whole("hidden", self.hidden, 1, MAX_HIDDEN))
        self._put("batch", _whole("batch", self.batch, 1, MAX_BATCH))
        self._put("seed", _whole("seed", self.seed, 0, MAX_SEED))
        self._put("device", _device(self.device))

    def _put(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)


def _key(what: str, key: object) -> str:
    if not isinstance(key, str):
        raise ValueError(f"{what} must be a key or a formula, not {key!r}")
    return key


def _distinct(rules: object) -> tuple[str, ...]:
    """The rules in their order, each once: two spellings of one own formula are one rule."""
    if isinstance(rules, str) or not isinstance(rules, list | tuple):
        raise ValueError(f"rules must be a list of keys, such as ['default'], not {rules!r}")
    found: dict[str, str] = {}
    for rule in rules:
        found.setdefault(find_rule(_key("a rule", rule)).key, rule)
    if not 1 <= len(found) <= MOST_RULES:
        raise ValueError(f"choose 1 to {MOST_RULES} rules, not {len(found)}")
    return tuple(found.values())


def _parameters(op: str, rules: tuple[str, ...], parameters: object) -> dict[str, float]:
    if not isinstance(parameters, Mapping):
        raise ValueError(f"parameters must be values by name, such as {{'c': 1.0}}, not {parameters!r}")
    return checked(find_op(op), tuple(find_rule(rule) for rule in rules), parameters)


def _positive(name: str, value: object) -> float:
    number = finite(name, value)
    if number <= 0:
        raise ValueError(f"{name} must be above 0, not {value!r}")
    return number


def _whole(name: str, value: Any, low: int, high: int) -> int:
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        number = low - 1
    if not low <= number <= high:
        raise ValueError(f"{name} must be a whole number from {low} to {high}, not {value!r}")
    return number


def _device(name: object) -> str | None:
    if name is None:
        return None
    accelerator = torch.accelerator.current_accelerator(check_available=True)
    known = ["cpu", *([accelerator.type] if accelerator else [])]
    if name not in known:
        raise ValueError(f"unknown device {name!r}: use one of {', '.join(known)}, or None")
    return str(name)
