"""Regions: the class that a net gives to each point of a plane, for tasks of two inputs and classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Generator, Tensor

from explorer.formula import format_percent
from explorer.training.instruments.base.example import of_firsts
from explorer.training.instruments.base.instrument import Nets, Visible
from explorer.training.settings import Settings
from explorer.training.tasks import TASKS, Data, Draw, Part

if TYPE_CHECKING:
    from numpy import uint8
    from numpy.typing import NDArray

SIDE = 64  # cells
MOST_POINTS = 80  # of each part of the data that are drawn
NO_CLASS = 255  # of a cell at which an output is not a number
_MARGIN = 0.06  # of the plane beside the outermost point


class Square(NamedTuple):
    """A square of the plane, in units of the inputs."""

    left: float
    bottom: float
    width: float


def is_plane(data: Data) -> bool:
    """Whether the examples of a task are classes of points in a plane."""
    return data.widths[0] == 2 and data.held_out is not None and not data.train.y.is_floating_point()


@of_firsts
def measured(nets: Nets, members: list[int]) -> Callable[[int], dict[str, Any]]:
    """Return the classes that one net, at its place among some members, gives to the square of all examples.

    ``square``: where the square lies. ``classes``: how many there are; ``names`` what a table calls them,
    else empty. ``levels``: how finely a cell tells how sure its class is. ``cells``: (side · side,) uint8,
    row by row from the bottom: class · levels + how sure it is, from 0 at even odds to levels − 1;
    ``NO_CLASS`` where an output is not a number. ``shares``: (classes,) float32, the share of the square that
    each class is given. ``score``: the share of held-out examples that this net gives the right class.
    ``trained``, ``held_out``: (3 · points,) uint8, the first examples of each part: across and up in 255ths
    of the square, and the class. ``words``: the picture in a sentence.

    An op with a ``mean`` in it sees all cells at once there, and a batch in training.
    """
    ensemble, data = nets.ensemble, nets.data
    assert data.held_out is not None
    square = square_of(data)
    outputs, _ = ensemble.forward_traced(_middles(square).unsqueeze(0), members)
    cells, shares = _cells(outputs)
    right = ensemble.forward_traced(data.held_out.x.unsqueeze(0), members)[0].argmax(-1).cpu()
    scores = (right == data.held_out.y).float().mean(1).tolist()
    alike = {
        "square": square,
        "classes": data.outputs,
        "names": list(data.names),
        "levels": NO_CLASS // data.outputs,
        "trained": _points(data.train, square),
        "held_out": _points(data.held_out, square),
    }
    count = len(data.held_out.y)
    return lambda at: {
        **alike,
        "cells": cells[at].numpy(),
        "shares": shares[at].numpy(),
        "score": scores[at],
        "words": _words(scores[at], count, shares[at].tolist(), data.names),
    }


def square_of(data: Data) -> Square:
    """The square around the examples that a net is trained on, with a margin."""
    low, high = data.train.x.aminmax(dim=0)
    width = (high - low).max().item() * (1 + 2 * _MARGIN)
    left, bottom = ((low + high - width) / 2).tolist()
    return Square(left, bottom, width)


def _middles(square: Square) -> Tensor:
    """The middles of all cells, (cells, 2)."""
    middles = (torch.arange(SIDE) + 0.5) * (square.width / SIDE)
    up, across = torch.meshgrid(middles + square.bottom, middles + square.left, indexing="ij")
    return torch.stack([across, up], -1).flatten(0, 1)


def _cells(outputs: Tensor) -> tuple[Tensor, Tensor]:
    """``cells`` and ``shares`` of outputs (nets, cells, classes), net by net."""
    classes = outputs.shape[-1]
    levels = NO_CLASS // classes
    best, chosen = outputs.max(-1)
    sure = (outputs - best.unsqueeze(-1)).exp_().sum(-1).reciprocal_()  # softmax where it is largest
    level = ((sure * classes - 1) * (levels / (classes - 1))).clamp_(0, levels - 1).nan_to_num_(0)
    cells = (chosen * levels).add_(level.long()).byte()
    cells[sure.isnan()] = NO_CLASS
    shares = [(cells // levels == number).float().mean(1) for number in range(classes)]
    return cells.cpu(), torch.stack(shares, 1).cpu()


def _points(part: Part, square: Square) -> NDArray[uint8]:
    corner = torch.tensor([square.left, square.bottom])
    positions = ((part.x[:MOST_POINTS] - corner) / square.width * 255).round().clamp(0, 255)
    points: NDArray[uint8] = torch.cat([positions, part.y[:MOST_POINTS, None]], 1).flatten().byte().numpy()
    return points


def _words(score: float, count: int, shares: list[float], names: Sequence[str]) -> str:
    called = names or [f"class {number}" for number in range(len(shares))]
    classes = ", ".join(f"{name} {format_percent(share)}" for name, share in zip(called, shares, strict=True))
    return f"{format_percent(score)} of {count} held-out points are given their class; of the plane {classes}"


def _missing(settings: Settings) -> str:
    data = TASKS[settings.task].data(Draw(Generator(), 1, settings.table))
    return "" if is_plane(data) else "Not shown here: regions need two inputs, and a class for each example."


INSTRUMENT = Visible(
    key="regions",
    label="Regions",
    sentence="The class that the net gives each point: the more mixed the colour, the less sure it is.",
    limits=(
        "It is one net of each rule, and looks the same where there are data and where there are none: "
        "how well a rule does is said by the accuracy over all seeds."
    ),
    cost="3.5 ms and 39 kB for six rules",
    measure=measured,
    missing=_missing,
)
