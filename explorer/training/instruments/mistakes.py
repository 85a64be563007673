"""Mistakes: held-out images that a net reads wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from explorer.training.instruments.base.example import of_firsts, small
from explorer.training.instruments.base.instrument import Nets, Visible
from explorer.training.settings import Settings
from explorer.training.tasks import TASKS

MOST_VISIBLE = 24  # of each rule, and as many of those that it alone reads wrong


@of_firsts
def measured(nets: Nets, members: list[int]) -> Callable[[int], dict[str, Any]]:
    """Return the mistakes of one net, at its place among some members.

    ``of``: the number of held-out images. ``count``: the number of them that it reads wrong. ``alone``: the
    number of these that the nets of all other rules read right; None without other rules. ``classes``:
    (visible,) uint8, the classes of the images: at most ``MOST_VISIBLE`` of which it is surest, then as many
    that it alone reads wrong, each image once. ``read``: (visible,) uint8, the class each is read as.
    ``only``: (visible,) uint8, 1 for those that it alone reads wrong. ``examples``: (visible,) int32, the
    indices of the images among the held-out ones. ``images``: (visible · pixels,) uint8, row by row, from 0
    to 255. ``words``: the picture in a sentence.
    """
    assert nets.data.held_out is not None
    x, y = nets.data.held_out
    chances = nets.ensemble.forward_traced(x.unsqueeze(0), members)[0].softmax(-1).cpu()
    sure, read = chances.max(-1)
    wrong = read != y
    only = wrong & (wrong.sum(0) == 1) & (len(members) > 1)
    low, high = x.aminmax()

    def of(at: int) -> dict[str, Any]:
        order = sure[at].where(wrong[at], -1).argsort(descending=True, stable=True)[: int(wrong[at].sum())]
        visible = _visible(order, only[at])
        alone = int(only[at].sum()) if len(members) > 1 else None
        return {
            "of": len(y),
            "count": len(order),
            "alone": alone,
            "classes": y[visible].byte().numpy(),
            "read": read[at, visible].byte().numpy(),
            "only": only[at, visible].byte().numpy(),
            "examples": visible.int().numpy(),
            "images": small((x[visible] - low) / (high - low)),
            "words": _words(len(order), len(y), alone, y[order[:1]].tolist(), read[at, order[:1]].tolist()),
        }

    return of


def _visible(order: Tensor, only: Tensor) -> Tensor:
    first, alone = order[:MOST_VISIBLE], order[only[order]][:MOST_VISIBLE]
    return torch.cat([first, alone[~torch.isin(alone, first)]])


def _words(count: int, of: int, alone: int | None, first: list[int], read: list[int]) -> str:
    if not count:
        return f"all {of} held-out images are read right"
    words = f"{count} of {of} held-out images are read wrong"
    if alone is not None:
        words += f", {alone} of them by this rule alone"
    return f"{words}; the surest mistake is a {first[0]} read as {read[0]}"


def _missing(settings: Settings) -> str:
    return "" if TASKS[settings.task].kind == "image" else "Not shown here: the examples are no images."


INSTRUMENT = Visible(
    key="mistakes",
    label="Mistakes",
    sentence="Held-out images that the net misreads, with its answer, the surest first.",
    limits=(
        f"It is one net of each rule, and at most {MOST_VISIBLE} of its mistakes beside those it makes "
        "alone: another seed makes others."
    ),
    cost="2.4 ms and 16 kB for six rules",
    measure=measured,
    missing=_missing,
)
