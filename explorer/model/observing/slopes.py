"""The slope of a model's loss along a rule's gradient, under noise at its site."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from statistics import fmean, stdev
from typing import Any

import torch
from torch import Generator, Tensor, nn
from torch.autograd import Function

from explorer.model.watching import Asked, Run, Site, names_of, place_of, site_of, watched

_STEP = 0.5  # of the noise: the farthest that any element is moved


@dataclass(frozen=True)
class Slope:
    """How much a loss falls along a rule's gradient for x at a site.

    Attributes:
        site: its name.
        slope: the fall of the mean loss per unit of the way along the gradient, x being noisy; below 0 where
            the loss rises.
        error: its standard error.
        promised: what the rule promises: the norm of its gradient.
        sigma: the standard deviation of the noise, in those of x.
        draws: of the noise.
    """

    site: str
    slope: float
    error: float
    promised: float
    sigma: float
    draws: int

    def __str__(self) -> str:
        words = (
            "falls along"
            if self.slope > 2 * self.error
            else "rises along"
            if self.slope < -2 * self.error
            else "is not shown to change along"
        )
        return (
            f"At {self.site} the loss {words} the rule's gradient: by {self.slope:.3g} ± {self.error:.2g} "
            f"per unit (standard error of {self.draws} draws, noise of {self.sigma:g} SD of x), "
            f"where the rule promises {self.promised:.3g}."
        )


@dataclass
class _Moved:
    """A handler that moves x at a site, call by call.

    Attributes:
        move: the value to put in place of x, of its number among the calls and x.
    """

    names: dict[int, str]
    site: Site
    functions: Sequence[type[Function]]
    move: Callable[[int, Tensor], Tensor]
    calls: int = field(default=0)

    def handle(self, asked: Asked) -> Run:
        """The run of a call, at the site on what x is moved to."""
        place = place_of(self.names)
        if place is None or site_of(place, asked.op) != self.site:
            return asked.run
        return partial(self._moved, asked.run)

    def follow(self, _function: Any, _args: Sequence[Any], result: Any) -> Any:
        """The result as it is."""
        return result

    def meet(self, other: object) -> None:
        """Nothing is moved of what is no tensor."""

    def _moved(self, run: Run, x: Tensor) -> Any:
        number, self.calls = self.calls, self.calls + 1
        return run(self.move(number, x))


def slope_of(
    model: nn.Module,
    functions: Sequence[type[Function]],
    loss: Callable[[], Tensor],
    name: str,
    site: Site,
    sigma: float,
    draws: int,
    seed: int,
) -> Slope:
    """The slope at a site; the arguments are those of ``Observation.slope``."""
    if not sigma > 0 or not math.isfinite(sigma):
        raise ValueError(
            f"sigma must be a number above 0, not {sigma}: it is the noise, in standard deviations of x"
        )
    if draws < 2:
        raise ValueError(f"draws must be 2 or more, not {draws}: one draw has no error")
    make = partial(_Moved, names_of(model), site, functions)
    with _left_alone(model):
        kept = _gradients(make, loss)
        norm = math.sqrt(sum(float(gradient.double().square().sum()) for _, gradient in kept))
        if not norm or not math.isfinite(norm):
            raise ValueError(f"{name} gets no gradient, so that there is no way along it")
        noises = [sigma * max(float(x.std()) if x.numel() > 1 else 0.0, 1e-12) for x, _ in kept]
        farthest = max(
            float(gradient.abs().max()) / norm / noise
            for (_, gradient), noise in zip(kept, noises, strict=True)
        )
        step = _STEP / farthest
        differences = []
        for draw in range(draws):
            values = [_loss(make, loss, kept, noises, sign * step / norm, seed + draw) for sign in (1, -1)]
            differences.append((values[1] - values[0]) / (2 * step))
    return Slope(name, fmean(differences), stdev(differences) / math.sqrt(draws), norm, sigma, draws)


def _gradients(make: Callable[..., _Moved], loss: Callable[[], Tensor]) -> list[tuple[Tensor, Tensor]]:
    """x of each call of the site, and the gradient for it."""
    met: list[Tensor] = []

    def keep(_number: int, x: Tensor) -> Tensor:
        alias = x.view_as(x) if x.requires_grad else x.detach().clone().requires_grad_()
        met.append(alias)
        return alias

    with torch.enable_grad(), watched(make(keep)):
        value = loss()
    if not met or not value.requires_grad:
        return []
    gradients = torch.autograd.grad(value, met, allow_unused=True)
    return [
        (x.detach(), torch.zeros_like(x) if each is None else each.detach())
        for x, each in zip(met, gradients, strict=True)
    ]


def _loss(
    make: Callable[..., _Moved],
    loss: Callable[[], Tensor],
    kept: Sequence[tuple[Tensor, Tensor]],
    noises: Sequence[float],
    along: float,
    seed: int,
) -> float:
    """The loss with noise at the site, and x moved by so much down the gradient."""
    generator = Generator().manual_seed(seed)

    def move(number: int, x: Tensor) -> Tensor:
        noise = torch.randn(x.shape, generator=generator).to(x.device, x.dtype)
        return x + noises[number] * noise - along * kept[number][1]

    torch.manual_seed(seed)  # a model may draw, the same both ways
    with torch.no_grad(), watched(make(move)):
        return float(loss())


@contextmanager
def _left_alone(model: nn.Module) -> Iterator[None]:
    """The block after which buffers and torch's random state are what they were."""
    buffers = [(buffer, buffer.detach().clone()) for buffer in model.buffers()]
    with torch.random.fork_rng():
        try:
            yield
        finally:
            with torch.no_grad():
                for buffer, before in buffers:
                    buffer.copy_(before)
