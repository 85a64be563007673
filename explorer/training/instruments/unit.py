"""The numbers of one unit and one example, put into the rule's formula."""

from __future__ import annotations

import torch

from explorer.training.instruments.base.instrument import Argument, Nets, Record, Requested, op_layers
from explorer.training.instruments.causes import NAMES, by_cause


@torch.no_grad()
def measured(nets: Nets, *, layer: int, cause: int) -> dict[int, Record | None]:
    """The first unit and example of a layer with a cause, by rule, of its first seed; None without any.

    Args:
        nets: of the run.
        layer: of those with the op, from 0.
        cause: its number in ``causes.NAMES``.

    Returns:
        ``unit`` and ``example``, from 0; ``x``, ``y``, the upstream gradient ``g`` and the ``gradient`` that
        the rule made of it; ``parameters`` by name; ``formula`` and ``words``.
    """
    known, op = by_cause(nets)[layer][cause], nets.now.traces[nets.op_layers[layer]].op
    records: dict[int, Record | None] = {}
    for rule, member in nets.ensemble.find_firsts().items():
        where = known[member].nonzero()
        if not len(where):
            records[rule] = None
            continue
        example, unit = where[0].tolist()
        x, y, g, gradient = (each[member, example, unit].item() for each in op)
        numbers = {"x": x, "y": y, "g": g, "gradient": gradient}
        records[rule] = {
            "unit": unit,
            "example": example,
            **numbers,
            **_formula(nets, member, layer, unit, numbers),
        }
    return records


def _formula(nets: Nets, member: int, layer: int, unit: int, numbers: dict[str, float]) -> Record:
    """The formula of a member's rule, its parameters at a layer's unit, and what these numbers give."""
    entry, known = nets.rules[nets.ensemble.active[member].rule], nets.parameters(member, layer, unit)
    names = entry.parsed.variables if entry.parsed else {"x", "g"}
    own = {each.name: known[each.name] for each in (entry if entry.parsed else nets.op).parameters}
    formula = entry.formula or f"torch's own gradient of {nets.op.formula}"
    arguments = {name: numbers[name] for name in ("g", "x", "y") if name in names} | own
    said = ", ".join(f"{name} = {_text(value)}" for name, value in arguments.items())
    words = f"{said}: {formula} = {_text(numbers['gradient'])}"
    return {"parameters": own, "formula": formula, "words": words}


def _text(value: float) -> str:
    return f"{value + 0.0:.3g}".replace("-", "−")


INSTRUMENT = Requested(
    key="unit",
    label="One unit",
    sentence="The numbers of one unit and one example, put into the rule's formula.",
    limits="It is one unit of many: others with the same cause have other numbers.",
    cost="0.7 ms for six rules with one hidden layer of 16 units",
    arguments=(
        Argument("layer", "Layer", lambda settings, _data: op_layers(settings) - 1),
        Argument("cause", "Cause", lambda _settings, _data: len(NAMES) - 1),
    ),
    measure=measured,
)
