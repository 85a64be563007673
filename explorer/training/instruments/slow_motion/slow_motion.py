"""The instrument "slow_motion": the next training step of a net in one layer, as tensors and texts."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from explorer.catalogue import Rule
from explorer.formula import format_percent
from explorer.training.instruments.base.instrument import Argument, Nets, Record, Requested, count_op_layers
from explorer.training.instruments.base.rule_shape import compute_span
from explorer.training.instruments.slow_motion.stages import Axis, Stage, Tensors, get_stages
from explorer.training.instruments.slow_motion.step import Step, has_formula, is_draw_dependent, is_linear
from explorer.training.nets import TWIN_LOSS, U, list_learned
from explorer.training.numerics import OPTIMISERS

MAX_VISIBLE = 64  # number of rows, inputs, units and outputs that are visible
MAX_MAPS = 16  # number of input maps whose part of a kernel is visible
_MAX_FORMULA_LENGTH = 12  # characters of a formula in a title


@torch.no_grad()
def measure(nets: Nets, *, layer: int) -> dict[int, Record | None]:
    """Measure the next training step of one net of each rule in one layer, without taking the step.

    Args:
        nets: the nets of the run.
        layer: the index among the layers with the op.

    Returns:
        A dict from the index of each rule to a dict with these keys.

        - ``stages``: the texts of the stages, in order of time (see ``Stage``), each with the name of its
          tensor.
        - ``tensors``: a dict from names to dicts for the visible parts of tensors: ``values``, flat float32
          row by row, with their ``shape`` and ``axes``. If a row or column over inputs consists of square
          images, ``side`` is that of an image and ``tiles`` their number, otherwise both are 0. Random
          numbers of op and rule, and losses that they need, have their names in formulas, such as ``u()``.
        - ``layer``, ``layers``: the index of the layer, and the number of layers with the op.
        - ``seed``: the random seed of the net.
        - ``labels``: the names of a table, see ``Data.labels``.
        - ``times``: the number of time steps per example.
        - ``map_side``: the side of a feature map in units; 0 without maps, or for maps of more than 64 units.
        - ``by_example``: whether the op is applied to examples, not to weights.
        - ``span``: the ends of the x axis for curves.
        - ``classes``: whether the targets are classes.
        - ``op``, ``rule``: the keys of the op and of the rule.
        - ``parameters``: a dict from the names of all parameters to their present values, means over
          channels.
        - ``formula``: the rule's formula.
        - ``by_unit``: a dict from the names of parameters that learn by channel to a list of their values for
          the first 64 channels.
        - ``gradient``: the tree of torch's own gradient, if learned parameters make it differ from the op's,
          or None.
        - ``linear``: whether the rule multiplies g by a factor.
        - ``plain``, ``plain_op``: whether the rule, and the op, has a formula without a mean over the batch.
        - ``step``: the number of steps taken.
        - ``note``: a sentence if the step makes the net infinite or NaN, otherwise "".

    Raises:
        ValueError: there is no such layer.
    """
    step = Step(nets, layer)
    return {rule: _describe_step(step, rule, member) for rule, member in nets.ensemble.find_firsts().items()}


def _describe_step(step: Step, rule: int, member: int) -> Record:
    nets = step.nets
    entry = nets.rules[rule]
    parameters = nets.get_parameters(member, step.layer)
    linear = is_linear(nets.op, entry, tuple(sorted(parameters.items())))
    tensors = _make_tensors(step, rule, member)
    shown = {"shown": "This" if tensors["input"]["side"] else "The marked row"}  # one image, or all rows
    facts = _make_facts(step, rule, linear) | shown
    learned = nets.get_learned(member, step.layer)
    # Torch may differentiate the op in another way if some of its parameters learn.
    gradient = (
        None
        if entry.parsed
        else nets.op.parsed.derive_gradient(list_learned(nets.op, entry, nets.settings.learn))
    )
    if gradient == nets.op.parsed.gradient:
        gradient = None
    stages = []
    for stage in get_stages(nets.site):
        name = stage.tensor if isinstance(stage.tensor, str) else stage.key
        stages.append(
            {name: getattr(stage, name) for name in ("key", "view", "under", "scale")}
            | {name: getattr(stage, name).format_map(facts) for name in ("title", "words", "numbers")}
            | {
                "otherwise": {key: text.format_map(facts) for key, text in stage.otherwise.items()},
                "tensor": name,
                "note": _describe_visible(step, stage, tensors[name]),
            }
        )
    return {
        "layer": step.layer,
        "layers": len(step.op_layers),
        "seed": nets.settings.seed + nets.ensemble.active[member].seed,
        "labels": nets.data.labels,
        "times": step.times,
        "map_side": math.isqrt(step.places) if 1 < step.places <= MAX_VISIBLE else 0,
        "by_example": not step.on_weights,
        "span": list(compute_span(nets)),
        "classes": step.has_classes,
        "formula": entry.formula or f"torch's own gradient of {nets.op.formula}",
        "linear": linear,
        "plain": has_formula(nets.op, entry),
        "plain_op": has_formula(nets.op),
        "parameters": parameters,
        "by_unit": {
            name: values[:MAX_VISIBLE].tolist() for name, values in learned.items() if len(values) > 1
        },
        "gradient": gradient and gradient.data,
        "op": nets.op.key,
        "rule": entry.key,
        "step": nets.ensemble.optimiser.steps,
        "note": ""
        if step.batch_pass.finite[member]
        else "This step makes the net infinite or NaN: it drops out.",
        "stages": stages,
        "tensors": tensors,
    }


def _make_tensors(step: Step, rule: int, member: int) -> dict[str, Record]:
    sources: dict[str, Tensors] = {}
    for stage in get_stages(step.nets.site):
        own_tensor = {} if isinstance(stage.tensor, str) else {stage.key: stage.tensor}
        sources |= {**own_tensor, **stage.also}
    records = {name: _make_visible(step, read(step)[member], axes) for name, (read, axes) in sources.items()}
    for name, memory in zip("mv", step.next_weights[1:], strict=False):
        records[name] = _make_visible(step, memory[member], ("input", "unit"))
    random_names = {*step.nets.op.random_names, *step.nets.rules[rule].random_names}
    for name, tensor in step.random.items() if random_names else ():
        if name in {U, *random_names}:
            records[name] = _make_visible(step, tensor[member], ("row", "unit"))
    return records


def _make_visible(step: Step, tensor: Tensor, axes: tuple[Axis, Axis]) -> Record:
    rows, columns = (
        _select_visible(step, axis, count).to(tensor.device)
        for axis, count in zip(axes, tensor.shape, strict=True)
    )
    part = tensor[rows][:, columns].to(torch.float32)
    side, tiles, pixels = 0, 0, step.weights.shape[1]
    over = [count for axis, count in zip(axes, part.shape, strict=True) if _is_input_axis(step, axis)]
    if step.kernel and over:
        side, tiles = step.kernel, over[0] // step.kernel**2
    elif (
        "input" in axes
        and step.nets.task.kind == "image"
        and not step.layer
        and math.isqrt(pixels) ** 2 == pixels <= MAX_VISIBLE
    ):
        side, tiles = math.isqrt(over[0]), 1
    return {
        "values": part.cpu().contiguous().numpy().reshape(-1),
        "shape": list(part.shape),
        "axes": list(axes),
        "side": side,
        "tiles": tiles,
    }


def _is_input_axis(step: Step, axis: Axis) -> bool:
    return axis == "input" or (axis == "row" and step.on_weights)


def _select_visible(step: Step, axis: Axis, count: int) -> Tensor:
    """Return the visible indices of an axis with ``count`` entries: at most 64, or whole kernels.

    For examples over time these are all times of the first examples, example by example. Of kernels, those
    over the first 16 maps are visible.
    """
    if step.kernel and _is_input_axis(step, axis):
        return torch.arange(min(count, MAX_MAPS * step.kernel**2))
    if axis == "example":
        return torch.arange(min(count, max(1, MAX_VISIBLE // (step.times * step.places))))
    if axis == "row" and step.times > 1:
        by_example = torch.arange(count).view(step.times, -1).T
        return by_example[: MAX_VISIBLE // step.times].flatten()
    if axis == "row" and step.places <= MAX_VISIBLE:
        return torch.arange(min(count, MAX_VISIBLE - MAX_VISIBLE % step.places))
    return torch.arange(min(count, MAX_VISIBLE))


def _describe_visible(step: Step, stage: Stage, tensor: Record) -> str:
    """Return a note on a stage's tensor: how much of it is visible, or which fraction of it is 0.

    Examples of the first kind are "64 of 100 units" and, for feature maps, "1 of 8 maps".
    """
    if stage.zeros:
        zeros = float((tensor["values"] == 0).mean())
        return f"{format_percent(zeros)} exactly 0" if zeros else "none exactly 0"
    if step.kernel and tuple(tensor["axes"]) in _MAP_AXES:
        inputs, units = step.weights.shape[1:]
        visible, below = tensor["tiles"], inputs // step.kernel**2
        maps = (
            f"{below} map{'s' * (below > 1)}" if visible == below else f"the first {visible} of {below} maps"
        )
        if tensor["axes"][1] == "input":
            return f"{step.kernel} × {step.kernel} of {maps}"
        text = f"1 of {units} {'kernels' if _is_input_axis(step, tensor['axes'][0]) else 'maps'}"
        return f"{text}, {step.kernel} × {step.kernel} for {maps}" if visible else text
    texts, sizes = [], _list_sizes(step)
    if tensor["side"] and (stage.view == "input" or (stage.view == "weights" and not step.on_weights)):
        count, name = next(sizes[axis] for axis in tensor["axes"] if axis != "input")  # the picture has one
        return f"1 of {count:,} {name}, {tensor['side']} × {tensor['side']} inputs"
    for visible, axis in zip(tensor["shape"], tensor["axes"], strict=True):
        count, name = sizes[axis]
        texts.append(f"{count:,} {name}" if visible == count else f"{visible} of {count:,} {name}")
    return " × ".join(texts)


_MAP_AXES = {("row", "unit"), ("row", "input"), ("input", "unit")}


def _list_sizes(step: Step) -> dict[str, tuple[int, str]]:
    """Return a dict from each kind of axis to its length and a noun, such as (64, "units")."""
    inputs, units = step.weights.shape[1:]
    repetitions = " × times" * (step.times > 1) + " × places" * (step.places > 1)
    rows = step.examples * step.times * step.places, f"examples{repetitions}"
    return {
        "row": (inputs, "inputs") if step.on_weights else rows,
        "example": (step.examples, "examples"),
        "input": (inputs, "inputs"),
        "unit": (units, "maps" if step.places > 1 else "units"),
        "output": (step.output.shape[-1], "outputs"),
    }


def _make_facts(step: Step, rule: int, linear: bool) -> dict[str, Any]:
    nets, settings = step.nets, step.nets.settings
    inputs, units = step.weights.shape[1:]
    optimiser = OPTIMISERS[settings.optimiser]
    has_memory = bool(optimiser.memories and nets.ensemble.optimiser.steps)  # none before the first step
    above = step.above
    short = len(nets.op.formula) <= _MAX_FORMULA_LENGTH
    return {
        "op": nets.op.label,
        "formula": nets.op.formula if short else "op(x)",
        "rule": nets.rules[rule].label,
        "incoming": f"y after w{step.layer}" if step.layer else "batch",
        "bias": " + b" if settings.bias else "",
        "examples": step.examples,
        "inputs": f"{inputs:,}",
        "units": units,
        "times": step.times,
        "places": step.places,
        "rest": f"{above} more layer{'s' * (above > 1)}" if above else "batch",
        "judged": _LOSS_WORDS[step.has_classes].format(outputs=step.output.shape[-1]),
        "factor": _describe_factor(step, nets.rules[rule], linear),
        "drawn": _DRAW_WORDS if nets.op.is_random else "",
        "taken": _STEP_WORDS[bool(optimiser.memories), has_memory].format(optimiser.label, optimiser.formula),
        "memory": "".join(f", {name} = ${name}" for name in "mv"[: optimiser.memories]),
        "still": _REST_WORDS[has_memory].format(optimiser.label),
    }


def _describe_factor(step: Step, rule: Rule, linear: bool) -> str:
    if not rule.needs_loss:
        return _FACTOR_WORDS[linear].format(u=" and u" if is_draw_dependent(step.nets.op, rule) else "")
    loss = "the loss of the batch" if step.on_weights else "the example's part of the batch's loss"
    return _LOSS_RULE_WORDS.format(loss=loss, twin=_TWIN_WORDS if TWIN_LOSS in rule.random_names else "")


_LOSS_WORDS = {
    True: "The rest of the net computes a probability for each of {outputs} classes. A small one for the "
    "true label means a large loss.",
    False: "The rest of the net returns {outputs} numbers. The farther they are from the targets, the "
    "larger the loss.",
}
_FACTOR_WORDS = {
    True: "The rule decides how much of g passes at this x{u}: its curve is the factor.",
    False: "This rule is not proportional to g: its curve is drawn for this g{u}.",
}
_LOSS_RULE_WORDS = "The rule computes its gradient from losses: f() is {loss}{twin}."
_TWIN_WORDS = ", fa() the same if this layer had drawn 1 − u"
_DRAW_WORDS = " Each has its own random u; the curve is for this u."
_STEP_WORDS = {
    (False, False): "{} takes the step.",
    (True, False): "{} takes the step, {}.",
    (True, True): "{}'s step, {}, comes from its memory of earlier gradients too.",
}
_REST_WORDS = {
    True: "but {} may still move it: it remembers earlier gradients.",
    False: ("so this step leaves it where it is."),
}

INSTRUMENT = Requested(
    key="slow_motion",
    label="Slow motion",
    sentence="The next step of a net, stage by stage, as tensors, before it is taken.",
    limits="One step of one net per rule: a single step says little about where a hundred lead.",
    cost="5.1 ms and 411 kB for six rules with one hidden layer of 16 units",
    arguments=(Argument("layer", "Layer", lambda settings, _data: count_op_layers(settings) - 1),),
    ahead=True,
    measure=measure,
)
