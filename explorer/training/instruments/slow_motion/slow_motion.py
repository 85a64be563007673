"""Slow motion: the next step of a run as tensors, stage by stage, for one layer with the op."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from explorer.catalogue import Op, Rule
from explorer.formula import format_percent
from explorer.formula.tree import Data
from explorer.training.instruments.base.instrument import Argument, Nets, Record, Requested, op_layers
from explorer.training.instruments.base.rule_shape import span
from explorer.training.instruments.slow_motion.stages import Axis, Stage, Tensors, stages_of
from explorer.training.instruments.slow_motion.step import Step, hangs_on_draw, has_formula, is_linear
from explorer.training.nets import TWIN_LOSS, U, list_learned
from explorer.training.numerics import OPTIMISERS

MOST = 64  # visible rows, inputs, units and outputs: the first ones
MOST_MAPS = 16  # that a kernel lies over, of which its part is visible
_LONGEST = 12  # characters of an op's formula in a title


@torch.no_grad()
def measured(nets: Nets, *, layer: int) -> dict[int, Record | None]:
    """The next step of each rule, of its first seed that is going; the step is not taken.

    Args:
        nets: of the run.
        layer: of those with the op, from 0.

    Returns:
        ``stages``: their texts, in the order of time (see ``Stage``). ``tensors`` by name: ``values`` (down
        · across,) float32 row by row, their ``shape`` and ``axes``, and where a row or column over inputs is
        square images, one after the other, the ``side`` of each and their number ``tiles``, else 0; of what
        op and rule draw, and of losses that they ask for, by the names in formulas, such as ``u()``.
        ``layer`` of ``layers``, ``seed``, steps of time an example lasts, ``times``; ``map_side``, units on
        a side of the map that a column over rows is, or 0; ``by_example`` whether rows are examples;
        ``span`` of the x over which curves are drawn; ``classes`` whether there are; ``op`` and ``rule``,
        their keys, with all ``parameters`` as they are now, and ``formula``, the rule's; ``by_unit``, the
        values of those that learn channel by channel, as far as units are visible; ``gradient``, the tree of
        torch's own, where what learns makes it another than the op's, or None; ``linear`` whether it
        multiplies g by a factor, ``plain`` whether its formula needs no mean over the batch, ``plain_op``
        whether that of the op needs none; ``step``: how many are taken; ``note``: what is to be known
        besides, or "".

    Raises:
        ValueError: there is no such layer.
    """
    step = Step(nets, layer)
    return {rule: _record(step, rule, member) for rule, member in nets.ensemble.find_firsts().items()}


def _record(step: Step, rule: int, member: int) -> Record:
    nets = step.nets
    entry = nets.rules[rule]
    parameters = nets.parameters(member, step.layer)
    linear = is_linear(nets.op, entry, tuple(sorted(parameters.items())))
    facts, tensors = _facts(step, rule, linear), _tensors(step, member) | _drawn(step, rule, member)
    return {
        "layer": step.layer,
        "layers": len(step.op_layers),
        "seed": nets.settings.seed + nets.ensemble.active[member].seed,
        "times": step.times,
        "map_side": math.isqrt(step.places) if 1 < step.places <= MOST else 0,
        "by_example": not step.on_weights,
        "span": list(span(nets)),
        "classes": step.has_classes,
        "formula": entry.formula or f"torch's own gradient of {nets.op.formula}",
        "linear": linear,
        "plain": has_formula(nets.op, entry),
        "plain_op": has_formula(nets.op),
        "parameters": parameters,
        "by_unit": _by_unit(step, member),
        "gradient": _beside_tensors(nets.op, entry, nets.settings.learn),
        "op": nets.op.key,
        "rule": entry.key,
        "step": nets.ensemble.optimiser.steps,
        "note": ""
        if step.now.finite[member]
        else "With this step the net is no longer finite: it drops out.",
        "stages": [_described(step, stage, facts, tensors) for stage in stages_of(nets.site)],
        "tensors": tensors,
    }


def _by_unit(step: Step, member: int) -> dict[str, list[float]]:
    """The values of parameters that learn channel by channel, in the order of the columns."""
    own = step.nets.learned(member, step.layer)
    return {name: values[:MOST].tolist() for name, values in own.items() if len(values) > 1}


def _beside_tensors(op: Op, rule: Rule, learn: Sequence[str]) -> Data | None:
    """Torch's gradient for x as a tree, where learned parameters make it another than numbers do."""
    own = None if rule.parsed else op.parsed.derive_gradient(list_learned(op, rule, learn))
    return None if own is None or own == op.parsed.gradient else own.data


def _tensors(step: Step, member: int) -> dict[str, Record]:
    looks: dict[str, Tensors] = {}
    for stage in stages_of(step.nets.site):
        own = {} if isinstance(stage.tensor, str) else {stage.key: stage.tensor}
        looks |= {**own, **stage.also}
    return {name: _visible(step, look(step)[member], axes) for name, (look, axes) in looks.items()}


def _drawn(step: Step, rule: int, member: int) -> dict[str, Record]:
    """What op and rule ask for of what is drawn, by its name in formulas; all of it hangs on u."""
    asked = {*step.nets.op.random_names, *step.nets.rules[rule].random_names}
    names = {U, *asked} if asked else asked
    known = {name: each for name, each in step.drawn.items() if name in names}
    return {name: _visible(step, each[member], ("row", "unit")) for name, each in known.items()}


def _visible(step: Step, tensor: Tensor, axes: tuple[Axis, Axis]) -> Record:
    down, across = (
        _places(step, axis, count).to(tensor.device) for axis, count in zip(axes, tensor.shape, strict=True)
    )
    part = tensor[down][:, across].to(torch.float32)
    side, tiles = _images(step, axes, part)
    return {
        "values": part.cpu().contiguous().numpy().reshape(-1),
        "shape": list(part.shape),
        "axes": list(axes),
        "side": side,
        "tiles": tiles,
    }


def _images(step: Step, axes: tuple[Axis, Axis], part: Tensor) -> tuple[int, int]:
    """The side and the number of images along the inputs of a visible part."""
    over = [count for axis, count in zip(axes, part.shape, strict=True) if _counts_inputs(step, axis)]
    if step.kernel and over:
        return step.kernel, over[0] // step.kernel**2
    return (math.isqrt(over[0]), 1) if "input" in axes and _is_image(step) else (0, 0)


def _is_image(step: Step) -> bool:
    pixels = step.weights.shape[1]
    return step.nets.task.kind == "image" and not step.layer and math.isqrt(pixels) ** 2 == pixels <= MOST


def _counts_inputs(step: Step, axis: Axis) -> bool:
    return axis == "input" or (axis == "row" and step.on_weights)


def _places(step: Step, axis: Axis, count: int) -> Tensor:
    """The indices that are visible: of examples over time all times of the first ones, one after the other;
    of kernels whole parts of them."""
    if step.kernel and _counts_inputs(step, axis):
        return torch.arange(min(count, MOST_MAPS * step.kernel**2))
    if axis == "example":
        return torch.arange(min(count, max(1, MOST // (step.times * step.places))))
    if axis == "row" and step.times > 1:
        by_example = torch.arange(count).view(step.times, -1).T
        return by_example[: MOST // step.times].flatten()
    if axis == "row" and step.places <= MOST:
        return torch.arange(min(count, MOST - MOST % step.places))
    return torch.arange(min(count, MOST))


def _described(step: Step, stage: Stage, facts: Mapping[str, Any], tensors: Mapping[str, Record]) -> Record:
    fields = {name: getattr(stage, name) for name in ("key", "view", "under", "scale")}
    texts = {name: getattr(stage, name).format_map(facts) for name in ("title", "words", "numbers")}
    otherwise = {name: text.format_map(facts) for name, text in stage.otherwise.items()}
    name = stage.tensor if isinstance(stage.tensor, str) else stage.key
    return {
        **fields,
        **texts,
        "otherwise": otherwise,
        "tensor": name,
        "note": _note(step, stage, tensors[name]),
    }


def _note(step: Step, stage: Stage, tensor: Record) -> str:
    """The share of a tensor that is 0, or the part of it that is visible."""
    if stage.zeros:
        zeros = float((tensor["values"] == 0).mean())
        return f"{format_percent(zeros)} exactly 0" if zeros else "none exactly 0"
    if step.kernel and tuple(tensor["axes"]) in _CHOSEN:
        return _chosen(step, tensor)
    sizes = _sizes(step)
    pairs = zip(tensor["shape"], tensor["axes"], strict=True)
    return " × ".join(_part(visible, *sizes[axis]) for visible, axis in pairs)


def _chosen(step: Step, tensor: Record) -> str:
    """The part of a tensor of maps that is visible: one map of one example, or one kernel."""
    inputs, units = step.weights.shape[1:]
    seen, below = tensor["tiles"], inputs // step.kernel**2
    maps = f"{below} map{'s' * (below > 1)}" if seen == below else f"the first {seen} of {below} maps"
    one = f"1 of {units} {'kernels' if _counts_inputs(step, tensor['axes'][0]) else 'maps'}"
    if tensor["axes"][1] == "input":
        return f"{step.kernel} × {step.kernel} of {maps}"
    return f"{one}, {step.kernel} × {step.kernel} for {maps}" if seen else one


_CHOSEN = {("row", "unit"), ("row", "input"), ("input", "unit")}


def _part(visible: int, count: int, name: str) -> str:
    return f"{count:,} {name}" if visible == count else f"{visible} of {count:,} {name}"


def _sizes(step: Step) -> dict[str, tuple[int, str]]:
    """The count and the noun of each axis."""
    inputs, units = step.weights.shape[1:]
    each = " × times" * (step.times > 1) + " × places" * (step.places > 1)
    rows = step.examples * step.times * step.places, f"examples{each}"
    return {
        "row": (inputs, "inputs") if step.on_weights else rows,
        "example": (step.examples, "examples"),
        "input": (inputs, "inputs"),
        "unit": (units, "maps" if step.places > 1 else "units"),
        "output": (step.output.shape[-1], "outputs"),
    }


def _facts(step: Step, rule: int, linear: bool) -> dict[str, Any]:
    nets, settings = step.nets, step.nets.settings
    inputs, units = step.weights.shape[1:]
    optimiser = OPTIMISERS[settings.optimiser]
    above = step.above
    short = len(nets.op.formula) <= _LONGEST
    return {
        "op": nets.op.label,
        "formula": nets.op.formula if short else "op(x)",
        "rule": nets.rules[rule].label,
        "incoming": f"y of layer {step.layer}" if step.layer else "batch",
        "bias": " + b" if settings.bias else "",
        "examples": step.examples,
        "inputs": f"{inputs:,}",
        "units": units,
        "times": step.times,
        "places": step.places,
        "rest": f"{above} more layer{'s' * (above > 1)}" if above else "batch",
        "judged": _JUDGED[step.has_classes].format(outputs=step.output.shape[-1]),
        "factor": _factor(step, nets.rules[rule], linear),
        "drawn": _OWN_U if nets.op.is_random else "",
        "optimiser": optimiser.label,
        "still": _STILL[bool(optimiser.memories)].format(optimiser.label),
    }


def _factor(step: Step, rule: Rule, linear: bool) -> str:
    """The words on what a rule makes of g."""
    if not rule.needs_loss:
        return _FACTOR[linear].format(u=" and u" if hangs_on_draw(step.nets.op, rule) else "")
    loss = "the loss of the batch" if step.on_weights else "what the example adds to the loss of the batch"
    return _OF_LOSSES.format(loss=loss, twin=_TWIN if TWIN_LOSS in rule.random_names else "")


_JUDGED = {
    True: "The rest of the net makes chances of {outputs} classes; where that of the label is small, the "
    "loss is large.",
    False: "The rest of the net returns {outputs} numbers; the further they are from the targets, the larger "
    "is the loss.",
}
_FACTOR = {
    True: "The rule says how much of g passes at this x{u}: a factor, the height of its curve.",
    False: "What the rule returns depends on g in more than a factor: the curve is drawn for this g{u}.",
}
_OF_LOSSES = "The rule makes its gradient of losses: f() is {loss}{twin}."
_TWIN = ", fa() the same had this layer drawn 1 − u"
_OWN_U = " Each draws a u of its own; the curve is that of this u."
_STILL = {True: "{} may still move it by what it remembers.", False: "It stays."}

INSTRUMENT = Requested(
    key="slow_motion",
    label="Slow motion",
    sentence="The next step of a net as tensors, one stage after the other, before it is taken.",
    limits="It shows one step of one net per rule: a single step says little about where a hundred lead.",
    cost="5.1 ms and 411 kB for six rules with one hidden layer of 16 units",
    arguments=(Argument("layer", "Layer", lambda settings, _data: op_layers(settings) - 1),),
    ahead=True,
    measure=measured,
)
