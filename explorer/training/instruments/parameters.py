"""The instrument "parameters": the learned parameters of the op, and the gradients that move them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import torch

from explorer.formula import format_short
from explorer.training.instruments.base.instrument import Nets, Record, Recorded, count_op_layers
from explorer.training.instruments.base.pictures import Block, Panel, Picture, draw_lines, draw_note
from explorer.training.settings import Settings

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray


@torch.no_grad()
def measure(nets: Nets) -> NDArray[float32]:
    """Return the values of the op's learned parameters, and the gradients that change them.

    If each channel has its own value, value and gradient are means over channels. The gradient is the rule's
    scale × the sum of every element's contribution, on the examples in ``nets``. It is NaN if the rule does
    not train the parameter.

    Returns:
        The value, the gradient, and the minimum and maximum of the value over channels. Shape (4, active
            nets, parameters · layers with the op), with all layers of the first parameter first.
    """
    ensemble, op_rules = nets.ensemble, nets.op_rules
    learns = torch.tensor(
        [op_rules.mask_learned(member.rule) for member in ensemble.active], device=nets.x.device
    )
    value, gradient = (
        ensemble.rows.reduce_learned(torch.mean, flat)
        for flat in (ensemble.parameters, nets.current_pass.flat)
    )
    ends = [ensemble.rows.reduce_learned(end, ensemble.parameters) for end in (torch.amin, torch.amax)]
    return torch.stack([value, gradient.where(learns[:, None], torch.nan), *ends]).mT.flatten(2).cpu().numpy()


def draw(record: Record, columns: Mapping[str, slice]) -> list[Picture]:
    """Return a picture of a rule's ``record``: each parameter's values and gradients over the steps.

    Each layer has a line, with a band over its channels if they differ. A note replaces the gradients if the
    rule does not train the parameter. ``columns`` maps the name of each parameter to the slice of its series.
    """
    groups = [_draw_parameter(name, record, own) for name, own in columns.items()]
    words = [
        f"{each['name']} {'is' if each['blocks'][1]['kind'] == 'lines' else 'stays at'} {each['text']}"
        for each in groups
    ]
    return [{"words": "; ".join(words), "blocks": groups}]


def _draw_parameter(name: str, record: Record, columns: slice) -> Block:
    values, gradients, leasts, mosts = (
        record[series][columns] for series in ("values", "gradients", "leasts", "mosts")
    )
    layers = [*zip(values, leasts, mosts, strict=True)]
    bands = [*zip(leasts, mosts, strict=True)] if np.any(np.stack(leasts) < np.stack(mosts)) else []
    moves = any(np.isfinite(each).any() for each in gradients)
    below = (
        draw_lines(gradients, name="gradient", height=2.4)
        if moves
        else draw_note("It does not learn by this rule.")
    )
    texts = [[format_short(float(each[-1])) for each in layer] for layer in layers]
    return {
        "kind": "group",
        "name": name,
        "text": ", ".join(
            value if least == most else f"{value} ({least} to {most})" for value, least, most in texts
        ),
        "blocks": [draw_lines(values, bands, name="", height=3.6), below],
    }


def explain_missing(settings: Settings) -> str:
    """Return a sentence on why a run has no learned parameters to show, or "" if it has some."""
    return "" if settings.learn else "Not measured here: no parameter learns."


INSTRUMENT = Recorded(
    key="parameters",
    label="Parameters that learn",
    sentence="Each parameter's value over the steps, layer by layer, and its gradient: where the gradient "
    "is below 0, the value grows. With one value per channel, the line is their mean and the band spans "
    "lowest to highest.",
    limits="The gradient is measured on the first training examples, the same at every step; an N in its "
    "scale counts the elements of those examples. A value that has stopped moving need not be the best one.",
    cost="0.04 ms for six rules with one hidden layer of 16 units",
    fields=("value", "gradient", "least", "most"),
    columns=lambda settings: count_op_layers(settings) * len(settings.learned),
    measure=measure,
    draw=draw,
    panel=Panel(order=3, rows=8.5, scrolls=True, when="learns"),
    missing=explain_missing,
)
