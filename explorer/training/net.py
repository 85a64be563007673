"""The two-layer net, and what its gradient is doing."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

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
        blocked: fraction (0 to 1) of pre-activations at which the rule returns 0 to an upstream
            gradient that is not 0.
        idle_units: fraction (0 to 1) of hidden units whose weights in w1 all get gradient 0.
        edges: (bins + 1,) float32, edges of the histogram of pre-activations.
        passed_counts: (bins,) int64, pre-activations per bin that get a gradient.
        zero_counts: (bins,) int64, pre-activations per bin whose gradient is 0.
    """

    w1: float
    w2: float
    w1_moved: float
    blocked: float
    idle_units: float
    edges: NDArray[float32]
    passed_counts: NDArray[int64]
    zero_counts: NDArray[int64]


class Net:
    """``x (n, inputs) -> activation(x @ w1) @ w2``, trained by plain gradient descent.

    Attributes:
        w1: (inputs, hidden) float32, requires grad.
        w2: (hidden, outputs) float32, requires grad.
        losses: the loss at the start of every step taken, all finite.
        diverged: the step at which a value was no longer finite; training stopped there.
    """

    def __init__(self, activation: Callable[[Tensor], Tensor], w1: Tensor, w2: Tensor) -> None:
        self._activation = activation
        self.w1 = w1.clone().requires_grad_()
        self.w2 = w2.clone().requires_grad_()
        self.losses: list[float] = []
        self.diverged: int | None = None

    def step(self, x: Tensor, y: Tensor, loss: Loss, lr: float) -> None:
        """One step down the gradient; a value that is not finite marks the net as diverged instead."""
        with torch.no_grad():
            preactivation = x.mm(self.w1)
        hidden = self._activation(preactivation.requires_grad_())
        output = hidden.mm(self.w2)
        value = loss(output, y)
        number = value.item()
        # An op that maps NaN to a number hides broken weights from the loss, hence the second look.
        if not (math.isfinite(number) and math.isfinite(preactivation.sum().item())):
            self.diverged = len(self.losses)
            return
        self.losses.append(number)
        at_preactivation, at_output = torch.autograd.grad(value, (preactivation, output))
        with torch.no_grad():
            # x.t() @ at_preactivation is the gradient of w1: computed and subtracted in one go.
            self.w1.addmm_(x.t(), at_preactivation, alpha=-lr)
            self.w2.addmm_(hidden.t(), at_output, alpha=-lr)

    def gradients(self, x: Tensor, y: Tensor, loss: Loss, start: Tensor) -> Gradients | None:
        """What the gradient does at the present weights; None once a value is not finite.

        ``start``: w1 (inputs, hidden) before the first step.
        """
        preactivation = x.mm(self.w1)
        hidden = self._activation(preactivation)
        value = loss(hidden.mm(self.w2), y)
        upstream, gradient, gradient1, gradient2 = torch.autograd.grad(
            value, (hidden, preactivation, self.w1, self.w2)
        )
        with torch.no_grad():
            moved = (self.w1 - start).norm()
            norms = torch.stack([gradient1.norm(), gradient2.norm(), moved, preactivation.norm()])
            if not norms.isfinite().all():
                return None
            zero = gradient == 0
            edges = torch.linspace(preactivation.min().item(), preactivation.max().item(), BINS + 1)
            return Gradients(
                w1=norms[0].item(),
                w2=norms[1].item(),
                w1_moved=norms[2].item(),
                blocked=(zero & (upstream != 0)).float().mean().item(),
                idle_units=(gradient1 == 0).all(0).float().mean().item(),
                edges=edges.numpy(),
                passed_counts=_counts(preactivation[~zero], edges),
                zero_counts=_counts(preactivation[zero], edges),
            )


def _counts(values: Tensor, edges: Tensor) -> NDArray[int64]:
    """How many values (n,) lie between each two edges, the last edge included; (bins,)."""
    places = torch.bucketize(values.cpu(), edges, right=True) - 1
    return places.clamp(0, BINS - 1).bincount(minlength=BINS).numpy()
