"""The first held-out examples, and what each rule's net reads in them."""

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

SHOWN = 48  # examples
MOST_COLUMNS = 64  # of an example that is no image


@torch.no_grad()
def measured(nets: Nets) -> dict[int, Record]:
    """The record of the first finite net of each rule.

    ``of``: the number of examples, which are ``judged`` where they are held out, and learnt from elsewhere.
    ``classes``: (shown,) uint8, the classes of the first ``SHOWN``; empty where numbers are learnt. ``read``:
    (shown,) uint8, the class that the net reads in each. ``values``: (shown · width,) uint8, the pixels or
    the first ``MOST_COLUMNS`` of ``columns``, example by example, from 0 for the least of all to 255; they
    are the same for all, and stand with the first rule alone. ``zero``: what stands for 0 among them.
    """
    judged = nets.data.held_out
    x, y = nets.data.train if judged is None else judged
    shown = x[:SHOWN]
    found = nets.ensemble.find_firsts()
    has_classes = not y.is_floating_point()
    read = _read(nets, shown, list(found.values())) if has_classes else {}
    drawn = x if TASKS[nets.settings.task].kind == "image" else x[:, :MOST_COLUMNS]
    low, high = (float(each) for each in drawn.aminmax())
    scale = 255 / (high - low or 1.0)
    values = _bytes(((drawn[:SHOWN] - low) * scale).round().flatten())
    return {
        rule: {
            "of": len(y),
            "judged": judged is not None,
            "columns": x.shape[1],
            "width": drawn.shape[1],
            "classes": _bytes(y[:SHOWN]) if has_classes else values[:0],
            "read": read[member] if has_classes else values[:0],
            "values": values if not at else values[:0],
            "zero": min(max(-low * scale, 0.0), 255.0),
        }
        for at, (rule, member) in enumerate(found.items())
    }


def _read(nets: Nets, x: Tensor, members: list[int]) -> dict[int, NDArray[uint8]]:
    """The classes that some nets read in examples, by net."""
    outputs, _ = nets.ensemble.forward_traced(x.unsqueeze(0), members)
    return {member: _bytes(outputs[at].argmax(-1)) for at, member in enumerate(members)}


def _bytes(values: Tensor) -> NDArray[uint8]:
    found: NDArray[uint8] = values.to(torch.uint8).cpu().numpy()
    return found


def _missing(settings: Settings) -> str:
    return "Not shown here: the examples are points." if TASKS[settings.task].kind == "plane" else ""


INSTRUMENT = Visible(
    key="reads",
    label="Examples",
    sentence="The first held-out examples, and which of them each rule's net reads right.",
    limits="They are few, and from one net per rule: the score counts all held-out examples and every seed.",
    cost="0.4 ms and 5 kB for six rules",
    measure=measured,
    missing=_missing,
)
