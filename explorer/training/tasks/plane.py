"""Two classes of points in a plane, whose border a net must bend."""

import inspect
import math
import re
from collections.abc import Callable
from typing import Any

import torch
from torch import Generator, Tensor

from explorer.training.numerics import cross_entropy
from explorer.training.tasks.split import fixed, parts
from explorer.training.tasks.task import Data, Task

_POINTS = 2000
_DRAWN = 90  # points of a picture

Points = Callable[[Generator, int], tuple[Tensor, Tensor]]
"""``(generator, n) -> x (n, 2) float32, y (n,) 0 or 1``, about 1 wide."""


def _noisy(points: Tensor, generator: Generator, deviation: float) -> Tensor:
    return points + torch.randn(points.shape, generator=generator) * deviation


def _both(n: int) -> tuple[Tensor, Tensor]:
    """Even positions from 0 to 1 along the curve of each class, and the classes."""
    return torch.linspace(0, 1, n // 2).repeat(2), torch.arange(2).repeat_interleave(n // 2)


def _circles(generator: Generator, n: int) -> tuple[Tensor, Tensor]:
    along, y = _both(n)
    ring = torch.stack([(math.tau * along).cos(), (math.tau * along).sin()], 1)
    return 1.5 * _noisy(ring * (1 - 0.5 * y)[:, None], generator, 0.08), y


def _moons(generator: Generator, n: int) -> tuple[Tensor, Tensor]:
    along, y = _both(n)
    side = 1 - 2 * y
    arcs = torch.stack([y + side * (math.pi * along).cos(), 0.5 * y + side * (math.pi * along).sin()], 1)
    return 1.2 * (_noisy(arcs, generator, 0.15) - torch.tensor([0.5, 0.25])), y


def _xor(generator: Generator, n: int) -> tuple[Tensor, Tensor]:
    x = 2 * torch.rand(n, 2, generator=generator) - 1
    return 1.7 * x, (x.prod(1) < 0).long()


def _spiral(generator: Generator, n: int) -> tuple[Tensor, Tensor]:
    y = torch.randint(2, (n,), generator=generator)
    radius = (0.02 + 0.98 * torch.rand(n, generator=generator)).sqrt()
    angle = math.pi * (3 * radius + y)
    arms = torch.stack([radius * angle.cos(), radius * angle.sin()], 1)
    return 2 * _noisy(arms, generator, 0.02), y


def _data(points: Points) -> Data:
    x, y = points(torch.Generator().manual_seed(0), _POINTS)
    return parts(x, y, outputs=2, judged=_POINTS // 4)


def _picture(points: Points) -> dict[str, Any]:
    x, y = points(torch.Generator().manual_seed(1), _DRAWN)
    positions = (x / x.abs().max()).tolist()
    return {"points": [[round(a, 2), round(b, 2), int(c)] for (a, b), c in zip(positions, y, strict=True)]}


def _source(points: Points) -> str:
    """The source of the points, with the functions that they call, as a script has it."""
    used = [each for each in (_noisy, _both) if each.__name__ in points.__code__.co_names]
    code = "\n".join(inspect.getsource(function) for function in (*used, points))
    called = (
        f"x, y = {points.__name__}(torch.Generator().manual_seed(0), {_POINTS})\njudged = {_POINTS // 4}\n"
    )
    return re.sub(r"\b_(?=[a-z])", "", f"\n{code}\n\n{called}")


def _task(key: str, label: str, points: Points, purpose: str, **rest: Any) -> Task:
    """A task with random start biases: without them a net of signs could learn odd functions only."""
    rules = ("default", "straight_through", "clipped", "approx_sign", "reste")
    usual: dict[str, Any] = {"rules": rules, "steps": 200, "hidden": (16, 16)}
    return Task(
        key=key, label=label, purpose=purpose, data=fixed(lambda: _data(points)),
        loss=cross_entropy, widths=(2, 2), kind="plane", chance=0.5, start_bias=1.0,
        picture=lambda: _picture(points), source=lambda _table: _source(points), **usual | rest,
    )  # fmt: skip


CIRCLES = _task("circles", "Circles", _circles, "Tells a ring of points from the one around it.")
MOONS = _task("moons", "Moons", _moons, "Tells two half moons apart that reach into one another.")
SPIRAL = _task("spiral", "Spiral", _spiral, "Tells two arms of a spiral apart.", steps=800, hidden=(32, 32))
XOR = _task("xor", "XOR", _xor, "Tells the quarters in which both coordinates have one sign from the others.")
