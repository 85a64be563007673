"""The instrument "unit": the formula of a backward rule with the numbers of one unit and one example."""

from __future__ import annotations

import torch

from explorer.formula import format_number
from explorer.training.instruments.base.instrument import Argument, Nets, Record, Requested, count_op_layers
from explorer.training.instruments.causes import NAMES, mask_causes


@torch.no_grad()
def measure(nets: Nets, *, layer: int, cause: int) -> dict[int, Record | None]:
    """Find the first of the op's inputs with a given cause, in one net of each rule, and return its numbers.

    Args:
        nets: the nets of the run.
        layer: the index of the layer among those with the op.
        cause: the index of the cause in ``causes.NAMES``: 0 for an input that gets a gradient, others for
            reasons why it gets none.

    Returns:
        A dict from the index of each rule to None if no input has this cause, or to a dict with these keys.

        - ``unit`` and ``example``: the indices of unit and example. For an op on weights, ``example`` is the
          index of the layer's input. In a spiking net it counts all examples of the first time step first.
        - ``x``, ``y``, ``g`` and ``gradient``: the op's input and output, the upstream gradient and the
          rule's gradient.
        - ``parameters``: a dict from the names of the formula's parameters to their values.
        - ``formula``: the rule's formula.
        - ``words``: the formula with these numbers, as text.
    """
    mask, op = mask_causes(nets)[layer][cause], nets.current_pass.traces[nets.op_layers[layer]].op
    records: dict[int, Record | None] = {}
    for rule, member in nets.ensemble.find_firsts().items():
        positions = mask[member].nonzero()
        if not len(positions):
            records[rule] = None
            continue
        example, unit = positions[0].tolist()
        x, y, g, gradient = (tensor[member, example, unit].item() for tensor in op)
        numbers = {"x": x, "y": y, "g": g, "gradient": gradient}
        entry, values = nets.rules[rule], nets.get_parameters(member, layer, unit)
        names = entry.parsed.variables if entry.parsed else {"x", "g"}
        used = {each.name: values[each.name] for each in (entry if entry.parsed else nets.op).parameters}
        formula = entry.formula or f"torch's own gradient of {nets.op.formula}"
        arguments = {name: numbers[name] for name in ("g", "x", "y") if name in names} | used
        text = ", ".join(f"{name} = {format_number(value, 3)}" for name, value in arguments.items())
        records[rule] = {
            "unit": unit,
            "example": example,
            **numbers,
            "parameters": used,
            "formula": formula,
            "words": f"{text}: {formula} = {format_number(gradient, 3)}",
        }
    return records


INSTRUMENT = Requested(
    key="unit",
    label="One unit",
    sentence="The rule's formula with the numbers of one unit and one example.",
    limits="One unit of many: others with the same cause have other numbers.",
    cost="0.7 ms for six rules with one hidden layer of 16 units",
    arguments=(
        Argument("layer", "Layer", lambda settings, _data: count_op_layers(settings) - 1),
        Argument("cause", "Cause", lambda _settings, _data: len(NAMES) - 1),
    ),
    measure=measure,
)
