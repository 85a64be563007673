"""The first held-out images, and what each rule's net reads in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from explorer.training.instruments.base.instrument import Nets, Record, Visible
from explorer.training.settings import Settings
from explorer.training.tasks import TASKS

if TYPE_CHECKING:
    from numpy import uint8
    from numpy.typing import NDArray

SHOWN = 48  # images


@torch.no_grad()
def measured(nets: Nets) -> dict[int, Record]:
    """The record of the first finite net of each rule.

    ``of``: the number of held-out images. ``classes``: (shown,) uint8, the classes of the first ``SHOWN``.
    ``read``: (shown,) uint8, the class that the net reads in each. ``images``: (shown · pixels,) uint8, row
    by row, from 0 to 255; they are the same for all, and stand with the first rule alone.
    """
    held_out = nets.data.held_out
    assert held_out is not None
    x, y = (each[:SHOWN] for each in held_out)
    found = nets.ensemble.firsts()
    outputs, _ = nets.ensemble.traced(x.unsqueeze(0), list(found.values()))
    low, high = held_out.x.aminmax()
    images = _bytes(((x - low) / (high - low) * 255).round().flatten())
    return {
        rule: {
            "of": len(held_out.y),
            "classes": _bytes(y),
            "read": _bytes(outputs[at].argmax(-1)),
            "images": images if not at else images[:0],
        }
        for at, rule in enumerate(found)
    }


def _bytes(values: Tensor) -> NDArray[uint8]:
    found: NDArray[uint8] = values.to(torch.uint8).cpu().numpy()
    return found


def _missing(settings: Settings) -> str:
    return "" if TASKS[settings.task].kind == "image" else "Not shown here: the examples are no images."


INSTRUMENT = Visible(
    key="reads",
    label="Held-out images",
    sentence="The first held-out images, and which of them each rule's net reads right.",
    limits="They are few, and from one net per rule: the score counts all held-out images and every seed.",
    cost="0.4 ms and 5 kB for six rules",
    measure=measured,
    missing=_missing,
)
