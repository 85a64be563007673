"""Measurement of the slope of a model's loss along a rule's gradient, under noise at the rule's site."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from statistics import fmean, stdev
from typing import Any

import torch
from torch import Generator, Tensor, nn

from explorer.model.observing.recorder import Recorder
from explorer.model.observing.rows import Row
from explorer.model.tape import Call, Value, attach_span
from explorer.model.tape.calls import CALLS, op_key_of
from explorer.model.tape.names import may_write, name_of, replace_tensor
from explorer.model.tape.passes import Passes
from explorer.model.tape.sites import find_site

_STEP = 0.5  # largest shift of an element, as a fraction of the noise


@dataclass(frozen=True)
class Slope:
    """The rate at which a loss falls along a rule's gradient for x at a site.

    Attributes:
        site: the name of the site.
        slope: the decrease of the mean loss per unit of distance along the gradient, with noise on x;
            negative if the loss rises.
        error: the standard error of the slope.
        promised: the slope promised by the rule, which is the norm of its gradient.
        sigma: the standard deviation of the noise in units of that of x.
        draws: the number of draws of the noise.
    """

    site: str
    slope: float
    error: float
    promised: float
    sigma: float
    draws: int

    def __str__(self) -> str:
        words = "falls along" if self.slope > 0 else "rises along"
        words = words if abs(self.slope) > 2 * self.error else "is not shown to change along"
        return (
            f"At {self.site} the loss {words} the rule's gradient: by {self.slope:.3g} ± {self.error:.2g} "
            f"per unit (standard error of {self.draws} draws, noise of {self.sigma:g} SD of x), "
            f"where the rule promises {self.promised:.3g}."
        )


class _Mover(Passes):
    """A torch function mode that adds ``shifts`` to x at the calls of one site, one tensor for each call."""

    def __init__(self, model: nn.Module, row: Row, shifts: Sequence[Tensor]) -> None:
        super().__init__(model)
        self._row, self._shifts = row, iter(shifts)

    def attach(self) -> None:
        """Start following the modules, and calls of the site's Function."""
        super().attach()
        if (owner := self._row.owner) is not None:
            own_apply: Any = owner.apply
            restore = partial(delattr, owner, "apply")
            if "apply" in vars(owner):
                restore = partial(setattr, owner, "apply", own_apply)
            self._stack.callback(restore)
            owner.apply = staticmethod(lambda *args: own_apply(*self._shift(args)))  # type: ignore[method-assign]

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        call, op = CALLS.get(func), self._row.site.op
        is_op = op == name_of(func) or (call is not None and op == op_key_of(call, args, kwargs or {}))
        if is_op and self._row.owner is None and args and isinstance(args[0], Tensor):
            shifted = self._shift(args)
            if may_write(func, args, kwargs or {}) and shifted is not args:
                args[0].copy_(shifted[0])
            else:
                args = shifted
        return func(*args, **(kwargs or {}))

    def _shift(self, args: Any) -> Any:
        """Return a call's arguments with the shift added to the first tensor if it is a call of the site."""
        place, x = self.place(), next((item for item in args if isinstance(item, Tensor)), None)
        if x is None or place.path is None:
            return args
        is_here = find_site(place, place.lines, self._row.site.op) == self._row.site
        return replace_tensor(args, x, x + next(self._shifts)) if is_here else args


class _XRecorder(Recorder):
    """A recorder that keeps x and its gradient for each call of one site.

    Attributes:
        found: pairs of x and its gradient, in order of the calls.
    """

    def __init__(self, model: nn.Module, row: Row) -> None:
        super().__init__(model)
        self._key = row.site, row.kind
        self.found: list[list[Tensor]] = []

    def _measure(
        self, call: Call, row: Row | None, y: Value, inputs: list[Value], x: Tensor | None = None, *_: Any
    ) -> None:
        if row is None or (row.site, row.kind) != self._key or x is None:
            return
        pair, edge = [x, torch.zeros_like(x)], inputs[0].edge
        self.found.append(pair)

        def keep_gradient(_: Tensor, gradients: list[Tensor | None]) -> None:
            if gradients[0] is not None:
                pair[1] = gradients[0].detach()

        if y.edge is not None and edge is not None:
            self.pending.append(partial(attach_span, y.edge, [edge], keep_gradient))


def slope_of(
    model: nn.Module, loss: Callable[[], Tensor], name: str, row: Row, sigma: float, draws: int, seed: int
) -> Slope:
    """Return the slope of the loss along a rule's gradient at a site; see ``Observation.slope``."""
    if not sigma > 0 or not math.isfinite(sigma):
        raise ValueError(
            f"sigma must be a number above 0, not {sigma}: it is the noise, in standard deviations of x"
        )
    if draws < 2:
        raise ValueError(f"draws must be 2 or more, not {draws}: one draw gives no standard error")
    with _preserve_state(model):
        records = _get_gradients(model, row, loss)
        norm = math.sqrt(sum(float(gradient.double().square().sum()) for _, gradient in records))
        if not norm or not math.isfinite(norm):
            raise ValueError(f"{name} gets no gradient, so no slope along it can be measured")
        noises = [sigma * max(float(x.std()) if x.numel() > 1 else 0.0, 1e-12) for x, _ in records]
        pairs = zip(records, noises, strict=True)
        step = _STEP / max(float(gradient.abs().max()) / norm / noise for (_, gradient), noise in pairs)

        def compute_loss(draw: int, sign: int) -> float:
            generator = Generator().manual_seed(seed + draw)
            shifts = [
                noise * torch.randn(x.shape, generator=generator).to(x.device, x.dtype)
                - sign * step / norm * gradient
                for (x, gradient), noise in zip(records, noises, strict=True)
            ]
            torch.manual_seed(seed + draw)  # the model's own random draws are equal in both directions
            with torch.no_grad(), _Mover(model, row, shifts):
                return float(loss())

        falls = [(compute_loss(draw, -1) - compute_loss(draw, 1)) / (2 * step) for draw in range(draws)]
    return Slope(name, fmean(falls), stdev(falls) / math.sqrt(draws), norm, sigma, draws)


def _get_gradients(model: nn.Module, row: Row, loss: Callable[[], Tensor]) -> list[tuple[Tensor, Tensor]]:
    """Return pairs of x and the gradient for x, one for each call of the site.

    Empty if the site has no single call with an x, or if the loss has no gradient.
    """
    if row.kind == "mask" or row.op != row.site.op or " → " in row.op:  # no single call has the site's x
        return []
    recorder = _XRecorder(model, row)
    try:
        with torch.enable_grad(), recorder:
            value = loss()
        xs = [x for x, _ in recorder.found]
        inputs = [item for item in (*model.parameters(), *xs) if item.requires_grad]
        if not inputs or not value.requires_grad:
            return []
        torch.autograd.grad(value, inputs, allow_unused=True)
    finally:
        recorder.clear()
    return [(x.detach(), gradient) for x, gradient in recorder.found]


@contextmanager
def _preserve_state(model: nn.Module) -> Iterator[None]:
    """Return a context after which the model's buffers and torch's random state are restored."""
    buffers = [(buffer, buffer.detach().clone()) for buffer in model.buffers()]
    with torch.random.fork_rng():
        try:
            yield
        finally:
            with torch.no_grad():
                for buffer, before in buffers:
                    buffer.copy_(before)
