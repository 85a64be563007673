"""The two-layer net, and what its gradient is doing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from copy import copy
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from explorer.gradient import Pair
from explorer.training.layer import Layer, descend, norms, products
from explorer.training.limits import BINS
from explorer.training.tasks import Loss

if TYPE_CHECKING:
    from numpy import float32, int64
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Gradients:
    """What the gradient does at one step, for one rule.

    Attributes:
        w1: Euclidean norm of the gradient of w1.
        w2: Euclidean norm of the gradient of w2.
        w1_moved: Euclidean distance of w1 from its start.
        passed: what the rule makes of the upstream gradient, sum of sizes after ÷ before: 0 where it
            blocks everything, 1 for straight-through, above 1 where it amplifies; None where there is
            no upstream gradient.
        blocked: fraction (0 to 1) of pre-activations at which the rule returns 0 to an upstream
            gradient that is not 0.
        idle_units: fraction (0 to 1) of hidden units that get gradient 0 from every example.
        edges: (bins + 1,) float32, edges of the histogram of pre-activations.
        passed_counts: (bins,) int64, pre-activations per bin that get a gradient.
        zero_counts: (bins,) int64, pre-activations per bin whose gradient is 0.
    """

    w1: float
    w2: float
    w1_moved: float
    passed: float | None
    blocked: float
    idle_units: float
    edges: NDArray[float32]
    passed_counts: NDArray[int64]
    zero_counts: NDArray[int64]


@dataclass
class History:
    """What one net did so far.

    Attributes:
        losses: the loss at the start of every step taken, all finite.
        w1_norms, w2_norms: Euclidean norms of the gradients of every step taken.
        diverged: the step at which a value was no longer finite; training stopped there.
    """

    losses: list[float] = field(default_factory=list)
    w1_norms: list[float] = field(default_factory=list)
    w2_norms: list[float] = field(default_factory=list)
    diverged: int | None = None


class Pass(NamedTuple):
    """All nets forward and backward on one batch: numbers by net, and tensors.

    ``upstream`` and ``gradient`` lie before and behind the rule, (nets, n, hidden) as ``preactivation``;
    ``at_w1`` is what the layer makes of the gradient, ``at_w2`` (nets, hidden, outputs) that of w2.
    """

    losses: list[float]
    finite: list[bool]
    w1_norms: list[float]
    w2_norms: list[float]
    preactivation: Tensor
    upstream: Tensor
    gradient: Tensor
    at_w1: Tensor
    at_w2: Tensor


class Nets:
    """Nets ``x (n, inputs) -> op(x @ w1) @ w2`` in lock-step, the same but for their backward rules.

    A net whose values are no longer finite leaves; what the others do is bit for bit what each would
    do alone.

    Attributes:
        layer: w1 of the nets still going.
        w2: (nets, hidden, outputs) float32.
        histories: of all nets by rule.
    """

    def __init__(self, pairs: Mapping[str, Pair], layer: Layer, w2: Tensor) -> None:
        self._pairs = dict(pairs)  # of those still going
        self.layer = layer
        self.w2 = w2.repeat(len(pairs), 1, 1)
        self.histories = {rule: History() for rule in pairs}
        self._ahead: tuple[Tensor, Pass] | None = None  # what was looked at, which the next step begins with

    @property
    def going(self) -> list[str]:
        """The rules whose nets have not diverged."""
        return list(self._pairs)

    @torch.no_grad()
    def step(self, x: Tensor, y: Tensor, loss: Loss, lr: float) -> None:
        """One step down the gradient, for those still going."""
        if not self._pairs:
            return None
        now = self._ahead[1] if self._ahead and self._ahead[0] is x else self._pass(x, y, loss)
        self._ahead = None
        if not all(now.finite):
            self._leave(now.finite)
            return self.step(x, y, loss, lr)
        self.layer.descend(now.gradient, now.at_w1, lr)
        descend(self.w2, now.at_w2, lr)
        for rule, value, w1, w2 in zip(self._pairs, now.losses, now.w1_norms, now.w2_norms, strict=True):
            history = self.histories[rule]
            history.losses.append(value)
            history.w1_norms.append(w1)
            history.w2_norms.append(w2)
        return None

    def _pass(self, x: Tensor, y: Tensor, loss: Loss) -> Pass:
        before = self.layer.preactivation(x)
        pairs = self._pairs.values()
        hidden = torch.stack([forward(each) for (forward, _), each in zip(pairs, before, strict=True)])
        output = products(hidden, self.w2)
        with torch.enable_grad():
            losses = torch.stack([loss(each, y) for each in output.requires_grad_()])
        (at_output,) = torch.autograd.grad(losses, output, torch.ones_like(losses))
        upstream = products(at_output, self.w2.mT)
        inputs = zip(pairs, before, hidden, upstream, strict=True)
        gradient = torch.stack([backward(*each) for (_, backward), *each in inputs])
        at_w1, at_w2 = self.layer.change(x, gradient), products(hidden.mT, at_output)
        sizes = [self.layer.size(gradient, at_w1), norms(at_w2)]
        # An op that maps NaN to a number hides broken weights from the loss, hence the second look.
        values, sums, w1, w2 = torch.stack([losses, before.sum((1, 2)), *sizes]).tolist()
        finite = [math.isfinite(a) and math.isfinite(b) for a, b in zip(values, sums, strict=True)]
        return Pass(values, finite, w1, w2, before, upstream, gradient, at_w1, at_w2)

    def _leave(self, stays: list[bool]) -> None:
        """Let go of the nets that are not to stay."""
        for rule, stay in zip(self.going, stays, strict=True):
            if not stay:
                self.histories[rule].diverged = len(self.histories[rule].losses)
                del self._pairs[rule]
        self.layer.put([tensor[stays] for tensor in self.layer.tensors()])
        self.w2 = self.w2[stays]

    @torch.no_grad()
    def gradients(self, x: Tensor, y: Tensor, loss: Loss, start: Tensor) -> dict[str, Gradients | None]:
        """What the gradients do at the present weights; None for a net that has diverged or is about to.

        ``start``: w1 (inputs, hidden) before the first step.
        """
        found: dict[str, Gradients | None] = dict.fromkeys(self.histories)
        if self._pairs:
            now = self._pass(x, y, loss)
            self._ahead = x, now
            numbers = now.w1_norms, now.w2_norms, self.layer.moved(start).tolist()
            tensors = now.preactivation, now.upstream, now.gradient
            for rule, *facts in zip(self.going, *numbers, *tensors, strict=True):
                found[rule] = _measured(*facts)
        return found

    def state(self) -> dict[str, dict[str, Any]]:
        """By rule: text, numbers and copied tensors, from which ``load`` continues exactly here."""
        found = {rule: asdict(history) for rule, history in self.histories.items()}
        if self._pairs:
            for rule, w1, w2, *rest in zip(
                self.going, self.layer.w1, self.w2, *self.layer.tensors(), strict=True
            ):
                found[rule] |= {"w1": _copy(w1), "w2": _copy(w2), "layer": [_copy(part) for part in rest]}
        return found

    def load(self, state: Mapping[str, Mapping[str, Any]]) -> None:
        """Continue where other nets were."""
        self._ahead = None
        self.histories = {rule: _history(state[rule]) for rule in self.histories}
        self._pairs = {rule: pair for rule, pair in self._pairs.items() if "layer" in state[rule]}
        if going := [state[rule] for rule in self._pairs]:
            device = self.w2.device
            self.w2 = torch.stack([each["w2"] for each in going]).to(device)
            parts = zip(*(each["layer"] for each in going), strict=True)
            self.layer.put([torch.stack(part).to(device) for part in parts])


def _copy(tensor: Tensor) -> Tensor:
    return tensor.detach().cpu().clone()


def _history(state: Mapping[str, Any]) -> History:
    return History(**{entry.name: copy(state[entry.name]) for entry in fields(History)})


def _measured(
    w1: float, w2: float, moved: float, before: Tensor, upstream: Tensor, gradient: Tensor
) -> Gradients | None:
    """What a pass shows for one net, its tensors (n, hidden); None where something is not finite."""
    sizes = [*before.aminmax(), upstream.abs().sum(), gradient.abs().sum()]
    lowest, highest, above, below = torch.stack(sizes).tolist()
    if not all(map(math.isfinite, (w1, w2, moved, lowest, highest, above, below))):
        return None
    zero = gradient == 0
    passed_counts, zero_counts = _counts(before, zero, lowest, highest)
    return Gradients(
        w1=w1,
        w2=w2,
        w1_moved=moved,
        passed=below / above if above else None,
        blocked=(zero & (upstream != 0)).float().mean().item(),
        idle_units=zero.all(0).float().mean().item(),
        edges=np.linspace(lowest, highest, BINS + 1, dtype=np.float32),
        passed_counts=passed_counts,
        zero_counts=zero_counts,
    )


def _counts(values: Tensor, zero: Tensor, lowest: float, highest: float) -> NDArray[int64]:
    """How many values lie in each even bin: not ``zero``, and ``zero``; (2, bins)."""
    width = (highest - lowest) / BINS or 1.0
    places = values.sub(lowest).div_(width).int().clamp_(0, BINS - 1)
    places.add_(zero, alpha=BINS)
    return places.flatten().bincount(minlength=2 * BINS).view(2, BINS).cpu().numpy()
