"""The instrument "reads": the first held-out examples, and what nets predict for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from explorer.training.instruments.base.instrument import Nets, Record, Visible
from explorer.training.tasks import TASKS

if TYPE_CHECKING:
    from numpy import uint8
    from numpy.typing import NDArray

MAX_EXAMPLES = 49  # seven rows of seven images
MAX_POINTS = 200
MAX_COLUMNS = 64  # number of columns shown of an example that is not an image


@torch.no_grad()
def measure(nets: Nets) -> dict[int, Record]:
    """Measure what one net of each rule predicts for the first held-out examples.

    Returns:
        A dict from the index of each rule to a dict with these keys.

        - ``of``: the number of all examples.
        - ``judged``: whether they are held out; otherwise they are training data.
        - ``classes``: the classes of the first ``MAX_EXAMPLES``; empty for regression. Shape (examples,),
          uint8.
        - ``read``: the predicted classes, in the same shape.
        - ``aims`` and ``guesses``: the number of each of the first ``MAX_POINTS`` examples, and its
          prediction; empty unless held-out examples have one number each. Shape (points,), float32.
        - ``labels``: the names of a table, see ``Data.labels``.
        - ``columns`` and ``width``: the number of inputs of an example, and of those in ``values``.
        - ``values``: the pixels or the first ``MAX_COLUMNS`` columns, example by example, from 0 for the
          minimum to 255; empty except for the first rule, because all rules share them. Shape (examples ·
          width,), uint8.
        - ``zero``: the number from 0 to 255 that stands for an input of 0.
    """
    held_out = nets.data.held_out
    x, y = nets.data.train if held_out is None else held_out
    members = nets.ensemble.find_firsts()
    has_classes = not y.is_floating_point()
    read = _read(nets, x[:MAX_EXAMPLES], list(members.values())) if has_classes else {}
    has_numbers = held_out is not None and not has_classes and y.shape[1] == 1
    aims, guesses = np.empty(0, np.float32), [np.empty(0, np.float32)] * len(members)
    if has_numbers:
        outputs, _ = nets.ensemble.forward_traced(x[:MAX_POINTS].unsqueeze(0), list(members.values()))
        aims = y[:MAX_POINTS, 0].float().cpu().numpy()
        guesses = [*outputs[:, :, 0].float().nan_to_num().cpu().numpy()]
    visible = x if TASKS[nets.settings.task].kind == "image" else x[:, :MAX_COLUMNS]
    low, high = (float(bound) for bound in visible.aminmax())
    scale = 255 / (high - low or 1.0)
    values = _to_bytes(((visible[:MAX_EXAMPLES] - low) * scale).round().flatten())
    return {
        rule: {
            "of": len(y),
            "judged": held_out is not None,
            "columns": x.shape[1],
            "width": visible.shape[1],
            "classes": _to_bytes(y[:MAX_EXAMPLES]) if has_classes else values[:0],
            "read": read[member] if has_classes else values[:0],
            "aims": aims,
            "guesses": guesses[at],
            "labels": nets.data.labels,
            "values": values if not at else values[:0],
            "zero": min(max(-low * scale, 0.0), 255.0),
        }
        for at, (rule, member) in enumerate(members.items())
    }


def _read(nets: Nets, x: Tensor, members: list[int]) -> dict[int, NDArray[uint8]]:
    outputs, _ = nets.ensemble.forward_traced(x.unsqueeze(0), members)
    return {member: _to_bytes(outputs[at].argmax(-1)) for at, member in enumerate(members)}


def _to_bytes(values: Tensor) -> NDArray[uint8]:
    result: NDArray[uint8] = values.to(torch.uint8).cpu().numpy()
    return result


INSTRUMENT = Visible(
    key="reads",
    label="Examples",
    sentence="The first held-out examples, and which of them each rule's net reads correctly.",
    limits="A few examples from one net per rule; the score counts all held-out examples and every seed.",
    cost="0.4 ms and 5 kB for six rules",
    measure=measure,
    missing=lambda settings: (
        "Not shown here: the examples are points." if TASKS[settings.task].kind == "plane" else ""
    ),
)
