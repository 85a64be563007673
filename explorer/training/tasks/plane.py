"""Tasks on two classes of points in a plane, which are separated by a curved border."""

import inspect
import math
import re
from collections.abc import Callable
from typing import Any

import torch
from torch import Generator, Tensor

from explorer.training.numerics import cross_entropy
from explorer.training.tasks.split import cache_data, split_data
from explorer.training.tasks.task import Task

_POINTS = 2000
_PICTURE_POINTS = 90  # number of points in a task's picture

Points = Callable[[Generator, int], tuple[Tensor, Tensor]]
"""A function that draws n points with a generator: x of shape (n, 2) and about unit scale, and y, 0 or 1."""


def _add_noise(points: Tensor, generator: Generator, deviation: float) -> Tensor:
    return points + torch.randn(points.shape, generator=generator) * deviation


def _place_along(n: int) -> tuple[Tensor, Tensor]:
    """Return evenly spaced positions from 0 to 1 for the points of each class, and the classes."""
    return torch.linspace(0, 1, n // 2).repeat(2), torch.arange(2).repeat_interleave(n // 2)


def _make_circles(generator: Generator, n: int) -> tuple[Tensor, Tensor]:
    position, y = _place_along(n)
    ring = torch.stack([(math.tau * position).cos(), (math.tau * position).sin()], 1)
    return 1.5 * _add_noise(ring * (1 - 0.5 * y)[:, None], generator, 0.08), y


def _make_moons(generator: Generator, n: int) -> tuple[Tensor, Tensor]:
    position, y = _place_along(n)
    side = 1 - 2 * y
    arcs = torch.stack(
        [y + side * (math.pi * position).cos(), 0.5 * y + side * (math.pi * position).sin()], 1
    )
    return 1.2 * (_add_noise(arcs, generator, 0.15) - torch.tensor([0.5, 0.25])), y


def _make_xor(generator: Generator, n: int) -> tuple[Tensor, Tensor]:
    x = 2 * torch.rand(n, 2, generator=generator) - 1
    return 1.7 * x, (x.prod(1) < 0).long()


def _make_spiral(generator: Generator, n: int) -> tuple[Tensor, Tensor]:
    y = torch.randint(2, (n,), generator=generator)
    radius = (0.02 + 0.98 * torch.rand(n, generator=generator)).sqrt()
    angle = math.pi * (3 * radius + y)
    arms = torch.stack([radius * angle.cos(), radius * angle.sin()], 1)
    return 2 * _add_noise(arms, generator, 0.02), y


def _make_picture(points: Points) -> dict[str, Any]:
    x, y = points(torch.Generator().manual_seed(1), _PICTURE_POINTS)
    positions = (x / x.abs().max()).tolist()
    return {"points": [[round(a, 2), round(b, 2), int(c)] for (a, b), c in zip(positions, y, strict=True)]}


def _write_source(points: Points) -> str:
    used = [helper for helper in (_add_noise, _place_along) if helper.__name__ in points.__code__.co_names]
    code = "\n".join(inspect.getsource(function) for function in (*used, points))
    called = (
        f"x, y = {points.__name__}(torch.Generator().manual_seed(0), {_POINTS})\njudged = {_POINTS // 4}\n"
    )
    return re.sub(r"\b_(?=[a-z])", "", f"\n{code}\n\n{called}")


def _make_task(key: str, label: str, points: Points, purpose: str, **rest: Any) -> Task:
    """Return a task whose examples are points in a plane.

    Its biases start at random: without them a net of signs could learn odd functions only.
    """
    rules = ("default", "straight_through", "clipped", "approx_sign", "reste")
    defaults: dict[str, Any] = {"rules": rules, "steps": 200, "hidden": (16, 16)}
    return Task(
        key=key, label=label, purpose=purpose,
        data=cache_data(
            lambda: split_data(*points(Generator().manual_seed(0), _POINTS), outputs=2, judged=_POINTS // 4)
        ),
        loss=cross_entropy, widths=(2, 2), kind="plane", chance=0.5, start_bias=1.0,
        picture=lambda: _make_picture(points), source=lambda _table: _write_source(points), **defaults | rest,
    )  # fmt: skip


CIRCLES = _make_task(
    "circles", "Circles", _make_circles, "Separates a ring of points from the ring around it."
)
MOONS = _make_task("moons", "Moons", _make_moons, "Separates two interlocking half moons.")
SPIRAL = _make_task(
    "spiral", "Spiral", _make_spiral, "Separates the two arms of a spiral.", steps=800, hidden=(32, 32)
)
XOR = _make_task(
    "xor",
    "XOR",
    _make_xor,
    "Separates the quarters where both coordinates have the same sign from the others.",
)
