"""A run: one training of the two-layer net, one or more rules in lock-step."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from explorer.gradient import pair
from explorer.training.layer import FixedLayer, Layer
from explorer.training.limits import MAX_POINTS
from explorer.training.net import Gradients, Nets
from explorer.training.settings import LIVE, Settings, devices
from explorer.training.tasks import TASKS

if TYPE_CHECKING:
    from numpy import float32, int64
    from numpy.typing import NDArray


class Tensors(NamedTuple):
    """What a run starts from.

    x (rows, inputs), y (rows, …), w1 (inputs, hidden), w2 (hidden, outputs).
    """

    x: Tensor
    y: Tensor
    w1: Tensor
    w2: Tensor


@dataclass(frozen=True)
class Snapshot:
    """What a run is at one step, immutable; the mappings have one entry per rule, in their order.

    Attributes:
        step: steps taken.
        steps: steps asked for.
        finished: nothing is left to do: all steps taken, or every rule diverged.
        losses: (points,) float32 each, at most 500: the loss at the start of a step. A series longer
            than that is thinned evenly; its latest value is always in it. A rule that diverged keeps
            its curve up to there.
        w1_norms, w2_norms: (points,) float32 each, norms of the gradients in the same steps.
        loss_steps: (points,) int64 each, the step of each value in these series, from 0.
        loss: the latest loss; None before the first step.
        diverged: the step at which a value was no longer finite, or None.
        gradients: what the gradient does at the present weights; None where the rule diverged.
        device: where the run computes, such as "cpu".
    """

    step: int
    steps: int
    finished: bool
    losses: Mapping[str, NDArray[float32]]
    w1_norms: Mapping[str, NDArray[float32]]
    w2_norms: Mapping[str, NDArray[float32]]
    loss_steps: Mapping[str, NDArray[int64]]
    loss: Mapping[str, float | None]
    diverged: Mapping[str, int | None]
    gradients: Mapping[str, Gradients | None]
    device: str


class Run:
    """A seeded stepper: settings in, ``advance``, ``snapshot`` out.

    It knows no clock, thread or screen. All rules start from the same tensors and see the same
    batches. The same settings give the same losses bit for bit on one machine, and so does a run
    continued from ``state_dict``, whatever else runs beside it. Not to be advanced by two threads
    at once.

    Args:
        settings: what to do.
        tensors: start tensors of the task's shapes; None draws them from the seed.

    Raises:
        ValueError: a start tensor has another shape.
    """

    def __init__(self, settings: Settings, tensors: Tensors | None = None) -> None:
        self.settings = settings
        self.step = 0
        self._task = TASKS[settings.task]
        self._device = device(settings.device)
        self._generator = torch.Generator().manual_seed(settings.seed)
        drawn = self._drawn()
        self._start = drawn if tensors is None else _like(drawn, tensors)
        self._nets = self._begun()
        self._batch = self._next_batch()

    def _begun(self) -> Nets:
        """The nets at their start."""
        asked, x, w1 = self.settings, self._start.x, self._start.w1
        keys = [rule if isinstance(rule, str) else rule.key for rule in asked.rules]
        pairs = {
            key: pair(asked.op, rule, asked.parameters) for key, rule in zip(keys, asked.rules, strict=True)
        }
        # With more examples than twice the inputs the small product would be the larger one.
        fixed = len(x) <= asked.batch and len(x) < 2 * len(w1)
        with one_thread():
            layer = FixedLayer(w1, len(pairs), x) if fixed else Layer(w1, len(pairs))
            return Nets(pairs, layer, self._start.w2)

    def _drawn(self) -> Tensors:
        x, y = self._task.data(self._generator, self.settings.batch)
        w1, w2 = self._task.weights(
            self._generator, self._task.inputs, self.settings.hidden, self._task.outputs
        )
        return Tensors(*(tensor.to(self._device) for tensor in (x, y, w1, w2)))

    def _next_batch(self) -> tuple[Tensor, Tensor]:
        x, y, batch = self._start.x, self._start.y, self.settings.batch
        if len(x) <= batch:
            return x, y
        chosen = torch.randperm(len(x), generator=self._generator)[:batch].to(self._device)
        return x[chosen], y[chosen]

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do: all steps taken, or every rule diverged."""
        return self.diverged or self.step >= self.settings.steps

    @property
    def diverged(self) -> bool:
        """Whether every rule did."""
        return not self._nets.going

    def advance(self, steps: int = 1) -> None:
        """Take so many steps, or those that are left. Raises ValueError below 0."""
        if steps < 0:
            raise ValueError(f"a run advances by 0 or more steps, not {steps}")
        with one_thread():
            for _ in range(steps):
                if self.finished:
                    return
                self._advance_once()

    def _advance_once(self) -> None:
        self._nets.step(*self._batch, self._task.loss, self.settings.lr)
        if not self.diverged:
            self.step += 1
            self._batch = self._next_batch()

    def tensors(self) -> Tensors:
        """Copies of what the run started from, on its device."""
        return Tensors(*(tensor.clone() for tensor in self._start))

    def snapshot(self) -> Snapshot:
        """What the run is at this step."""
        nets = self._nets.histories
        with one_thread():
            gradients = self._nets.gradients(*self._batch, self._task.loss, self._start.w1)
        return Snapshot(
            step=self.step,
            steps=self.settings.steps,
            finished=self.finished,
            losses={rule: _thinned(net.losses) for rule, net in nets.items()},
            w1_norms={rule: _thinned(net.w1_norms) for rule, net in nets.items()},
            w2_norms={rule: _thinned(net.w2_norms) for rule, net in nets.items()},
            loss_steps={rule: _places(len(net.losses)) for rule, net in nets.items()},
            loss={rule: net.losses[-1] if net.losses else None for rule, net in nets.items()},
            diverged={rule: net.diverged for rule, net in nets.items()},
            gradients=gradients,
            device=str(self._device),
        )

    def state_dict(self) -> dict[str, Any]:
        """Everything needed to continue exactly here: text, numbers and tensors, copied.

        ``torch.load(..., weights_only=True)`` reads it back.
        """
        return {
            "settings": dataclasses.asdict(self.settings),
            "step": self.step,
            "generator": self._generator.get_state(),
            "start": [tensor.cpu().clone() for tensor in self._start],
            "batch": [tensor.cpu().clone() for tensor in self._batch],
            "nets": self._nets.state(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue where another run of the same settings was; what is live it takes over.

        Raises ValueError for other settings.
        """
        ours, theirs = dataclasses.asdict(self.settings), state["settings"]
        if other := [name for name in ours if name not in LIVE and theirs.get(name) != ours[name]]:
            raise ValueError(f"this state belongs to a run with other settings: {', '.join(other)}")
        self.settings = dataclasses.replace(self.settings, **{name: theirs[name] for name in LIVE})
        self.step = state["step"]
        self._generator.set_state(state["generator"])
        self._start = Tensors(*(tensor.to(self._device, copy=True) for tensor in state["start"]))
        x, y = (tensor.to(self._device, copy=True) for tensor in state["batch"])
        self._batch = x, y
        self._nets = self._begun()
        self._nets.load(state["nets"])


def device(name: str | None) -> torch.device:
    """The torch device of a name; None is the accelerator where there is one, else the CPU."""
    return torch.device(name or devices()[-1])


def _like(drawn: Tensors, tensors: Tensors) -> Tensors:
    """The given start tensors, copied to where the drawn ones are. Raises ValueError for a wrong shape."""
    pairs = list(zip(drawn, tensors, strict=True))
    for name, (wanted, given) in zip(Tensors._fields, pairs, strict=True):
        if given.shape != wanted.shape:
            raise ValueError(f"{name} must have the shape {tuple(wanted.shape)}, not {tuple(given.shape)}")
    return Tensors(*(given.detach().to(wanted, copy=True) for wanted, given in pairs))


def _thinned(series: Sequence[float]) -> NDArray[float32]:
    """At most ``MAX_POINTS`` values of a series, evenly spaced from the first and with the latest."""
    return np.array([*series[: -1 : _stride(len(series))], *series[-1:]], np.float32)


def _places(count: int) -> NDArray[int64]:
    """Where the values that are kept of so many stand."""
    return np.append(np.arange(0, count - 1, _stride(count)), [count - 1] * (count > 0)).astype(np.int64)


def _stride(count: int) -> int:
    return max(1, -(-(count - 1) // (MAX_POINTS - 1)))


@contextmanager
def one_thread() -> Iterator[None]:
    """One torch thread while inside, for this thread: another number would change the last bits."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
