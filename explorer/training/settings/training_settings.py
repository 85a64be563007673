"""The settings of a training run apart from op and rules. Runs, links and controls are built from them."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal

import torch

from explorer.training import limits
from explorer.training.numerics import OPTIMISERS
from explorer.training.settings.setting import SWITCH, Setting
from explorer.training.tasks import DEFAULT_TASK, TASKS

FULL: Final = "full"  # the pace of a run that advances as fast as possible


def _declare_setting(kind: str, label: str, meaning: str, **rest: Any) -> Any:
    return field(default=None, metadata={"kind": kind, "label": label, "meaning": meaning, **rest})


def devices() -> tuple[str, ...]:
    """Return the devices of this machine that can train: "cpu", and the type of the accelerator if any."""
    accelerator = torch.accelerator.current_accelerator(check_available=True)
    return ("cpu", *([accelerator.type] if accelerator else []))


@dataclass(frozen=True)
class TrainingSettings:
    """The settings of a run apart from op and rules, declared in ``SETTINGS``. None is the task's default."""

    task: str = _declare_setting("choice", "Task", "The task that the nets learn.", words=TASKS)
    steps: int = _declare_setting(
        "whole", "Steps", "Steps of gradient descent.", low=1, high=limits.MAX_STEPS
    )
    lr: float = _declare_setting(
        "log", "Learning rate lr", "How far each step goes down the gradient.",
        low=limits.MIN_LR, high=limits.MAX_LR, live=True,
    )  # fmt: skip
    hidden: int | tuple[int, ...] = _declare_setting(
        "widths", "Hidden units",
        f"Width of the hidden layer, or of up to {limits.MAX_LAYERS} layers: 16,16,16. For convolutions, "
        "the number of maps.",
        low=1, high=limits.MAX_HIDDEN,
    )  # fmt: skip
    batch: int = _declare_setting("whole", "Batch", "Examples per step.", low=1, high=limits.MAX_BATCH)
    seed: int = _declare_setting(
        "whole", "Seed", "The same seed gives the same losses.", low=0, high=limits.MAX_SEED
    )
    seeds: int = _declare_setting(
        "whole", "Seeds", "Nets per rule, each with its own start weights and batches.",
        low=1, high=limits.MAX_SEEDS,
    )  # fmt: skip
    optimiser: str = _declare_setting(
        "choice", "Optimiser", "How it turns gradients into steps.", words=OPTIMISERS
    )
    bias: bool = _declare_setting("switch", "Biases", "Whether units have biases.", words=SWITCH)
    init_scale: float = _declare_setting(
        "log", "Start weights", "Size of the start weights; 1 is usual.",
        low=limits.MIN_SCALE, high=limits.MAX_SCALE,
    )  # fmt: skip
    pace: float | Literal["full"] = _declare_setting(
        "log", "Pace", f"Steps per second; \"{FULL}\" runs as fast as possible.",
        low=1, high=limits.MAX_PACE, words=(FULL,), live=True,
    )  # fmt: skip
    sigma: float = _declare_setting(
        "log", "Noise σ", "Width of the normal noise that smooths the op when gradients are compared.",
        low=limits.MIN_SIGMA, high=limits.MAX_SIGMA, live=True,
    )  # fmt: skip
    learn: tuple[str, ...] = _declare_setting(
        "names", "Parameters that learn",
        "Each gets its own values in every layer, and the gradient that the rule defines for them.",
    )  # fmt: skip
    learn_rate: float = _declare_setting(
        "log", "Their rate, times lr", "Learning rate of learned parameters, as a multiple of lr.",
        low=limits.MIN_LEARN_RATE, high=limits.MAX_LEARN_RATE,
    )  # fmt: skip
    learn_each: str = _declare_setting(
        "choice", "One value for each",
        "Where a learned parameter has one value: per layer, or per channel (a unit, a map or a kernel).",
        words=("layer", "channel"),
    )  # fmt: skip
    device: str | None = _declare_setting("choice", "Device", "Where training runs.", words=devices())

    def __post_init__(self) -> None:
        self._put("task", SETTINGS["task"].check(DEFAULT_TASK if self.task is None else self.task))
        for name, setting in SETTINGS.items():
            value = getattr(self, name)
            default = setting.default_of(self.task)
            self._put(name, default if value is None or value is default else setting.check(value))

    def _put(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    @property
    def widths(self) -> tuple[int, ...]:
        """The widths of the hidden layers."""
        return self.hidden if isinstance(self.hidden, tuple) else (self.hidden,)


SETTINGS: Mapping[str, Setting] = MappingProxyType(
    {entry.name: Setting(entry.name, **entry.metadata) for entry in dataclasses.fields(TrainingSettings)}
)
LIVE = tuple(name for name, setting in SETTINGS.items() if setting.live)
