"""The stages in which slow motion shows one training step, in order of time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from torch import Tensor

from explorer.training.instruments.slow_motion.step import Step
from explorer.training.nets import OpSite

Axis = Literal["row", "example", "input", "unit", "output"]
"""What a side of a tensor counts. A row is an example, an example at one time or place, or an input."""
View = Literal["input", "map", "op", "loss", "rule", "weights"]
"""The kind of drawing; ``input`` and ``weights`` are maps, or images if the inputs are pixels."""
Tensors = tuple[Callable[[Step], Tensor], tuple[Axis, Axis]]
"""A function that returns a tensor of shape (nets, down, across), and what both of its sides count."""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One of the stages in which a training step is shown in slow motion, with its texts.

    Titles and words are for ``str.format`` with the facts of a step. In ``numbers`` and ``otherwise`` the
    page replaces $name by the number of that tensor at the chosen row and unit, and $op, $rule and $factor by
    formulas with their numbers.

    Attributes:
        key: the name of the stage in links.
        title: the title of the picture.
        tensor: a function that returns the displayed tensor, with its axes, down and across; or the key of
            the stage with that tensor.
        view: the kind of drawing.
        words: a description of the stage.
        numbers: the description with the numbers of one row and unit.
        otherwise: a dict from the names of tensors to texts. The text of the first tensor that is 0 replaces
            ``words``.
        under: the key of the stage below which this one is displayed; empty in the forward pass.
        scale: the key of the stage that defines the colour scale; "" for this stage.
        zeros: whether the fraction of exact zeros is stated.
        also: a dict from names to further tensors.
    """

    key: str
    title: str
    tensor: Tensors | str
    view: View = "map"
    words: str
    numbers: str
    otherwise: Mapping[str, str] = field(default_factory=dict)
    under: str = ""
    scale: str = ""
    zeros: bool = False
    also: Mapping[str, Tensors] = field(default_factory=dict)


def _units(read: Callable[[Step], Tensor]) -> Tensors:
    """Pair a function that returns a tensor with the tensor's axes: a row per example, a column per unit."""
    return read, ("row", "unit")


def _weights(read: Callable[[Step], Tensor]) -> Tensors:
    """Pair a function that returns a tensor with the tensor's axes: a row per input, a column per unit."""
    return read, ("input", "unit")


def _outputs(read: Callable[[Step], Tensor]) -> Tensors:
    """Pair a function that returns a tensor with its axes: a row per example, a column per output."""
    return read, ("example", "output")


_NO_GRADIENT = "No gradient arrives from above: g is already 0 before the rule."

_INPUT = Stage(
    key="input", title="{incoming}", tensor=(lambda step: step.input, ("row", "input")), view="input",
    words="{examples} examples go through the net at once. {shown} is one of them.",
    numbers="{inputs} inputs, $target",
)  # fmt: skip
_X = Stage(
    key="x", title="x = w · input{bias}", tensor=_units(lambda step: step.op.x),
    words="Each of {units} units weighs all inputs. A row is an example, a column a unit.",
    numbers="x = w · input{bias} = $x",
)  # fmt: skip
_OP = Stage(
    key="op", title="op: {op}", tensor="y", view="op",
    words="The op turns each x into a y, independently of the other units.{drawn}",
    numbers="y = $op",
)  # fmt: skip
_Y = Stage(
    key="y", title="y = {formula}", tensor=_units(lambda step: step.op.y),
    words="The next layer sees nothing but these values.",
    numbers="y = $y",
)  # fmt: skip
_LOSS = Stage(
    key="loss", title="{rest} → loss", tensor=_outputs(lambda step: step.output), view="loss",
    words="{judged}",
    numbers="$loss",
    also={
        "target": _outputs(lambda step: step.target),
        "own": _outputs(lambda step: step.losses),
    },
)  # fmt: skip
_G = Stage(
    key="g", title="g = ∂loss/∂y", tensor=_units(lambda step: step.op.upstream), under="y", scale="g",
    words="g says how fast the loss grows with this y.",
    otherwise={"g": _NO_GRADIENT},
    numbers="g = $g",
    zeros=True,
)  # fmt: skip
_RULE = Stage(
    key="rule", title="rule: {rule}", tensor="gradient", view="rule", under="op",
    words="{factor}",
    otherwise={"g": f"{_NO_GRADIENT} Whatever the rule does, its result is 0."},
    numbers="$factor",
)  # fmt: skip
_GRADIENT = Stage(
    key="gradient", title="gradient of x", tensor=_units(lambda step: step.op.gradient), under="x", scale="g",
    words="The part of g that reaches the weights. Blocked entries have no colour.",
    otherwise={"g": _NO_GRADIENT,
               "gradient": "The rule blocks g: no gradient reaches the weights from here."},
    numbers="gradient = $rule",
    zeros=True,
)  # fmt: skip
_NEW = Stage(
    key="weights", title="new w", tensor=_weights(lambda step: step.next_weights[0]), view="weights",
    under="input", scale="weights",
    words="A weight's gradient is input times gradient, summed over examples. {taken}",
    otherwise={"slope": "The gradient of this weight is 0, {still}"},
    numbers="w: $before → $weights, ∂loss/∂w = $slope{memory}",
    also={
        "before": _weights(lambda step: step.weights),
        "slope": _weights(lambda step: step.slopes),
    },
)  # fmt: skip


ACTIVATIONS = (_INPUT, _X, _OP, _Y, _LOSS, _G, _RULE, _GRADIENT, _NEW)
WEIGHTS = (
    Stage(
        key="input", title="weights w", tensor=_weights(lambda step: step.weights), scale="weights",
        words="The latent weights of this layer, in full precision. A row is an input, a column a unit.",
        numbers="w = $input",
    ),
    replace(
        _X, title="x = √{inputs} · w",
        words="Multiplied by √inputs, the weights have about unit size: these are the op's inputs.",
        numbers="x = √{inputs} · w = $x",
    ),
    replace(_OP, words="The op turns each weight into a value that fits in a few bits.{drawn}"),
    replace(_Y, words="Divided by √{inputs}, these are the weights that the layer multiplies its inputs by."),
    _LOSS,
    replace(_G, words="g says how fast the loss of the whole batch grows with this y."),
    _RULE,
    replace(
        _GRADIENT,
        words="The part of g that reaches the latent weight. Blocked entries have no colour.",
    ),
    replace(
        _NEW, words="Times √{inputs}, this is the gradient of the latent weight. {taken}"
    ),
)  # fmt: skip
SPIKES = (
    replace(_INPUT, words="An example lasts {times} time steps. {shown} is the input at one of them."),
    replace(
        _X, title="x = potential − 1",
        words="The input adds to the potential left after leaking. A row is an example at one time, a "
        "column a unit.",
        numbers="x = $left left + $arrives arriving − 1 = $x",
        also={
            "left": _units(lambda step: step.residual),
            "arrives": _units(lambda step: step.op.x + 1 - step.residual),
        },
    ),
    replace(_OP, words="The op decides which units fire; their potential restarts from 0.{drawn}"),
    replace(_Y, words="The spikes: the next layer sees nothing else."),
    _LOSS,
    replace(_G, words="g says how fast the loss grows with this spike."),
    _RULE,
    replace(
        _GRADIENT,
        words="The part of g that reaches the potential, and from there the weights, back through time.",
    ),
    replace(
        _NEW,
        words="A weight's gradient is input times the potential's gradient, summed over examples and times. "
        "{taken}",
    ),
)  # fmt: skip
MAPS = (
    replace(
        _INPUT,
        title="below the kernel",
        words="The kernel covers 3 × 3 units of each map before it, at {places} places of an example. This "
        "is one of them.",
        numbers="{inputs} inputs, $target",
    ),
    replace(
        _X,
        words="One map of x: the same kernel weighs the units below it at every place.",
    ),
    replace(_OP, words="The op turns each x of the maps into a y, independently of the other units.{drawn}"),
    replace(_Y, words="One map of y. After the first layer, the next one sees means of four values."),
    _LOSS, _G, _RULE, _GRADIENT,
    replace(
        _NEW, title="new kernel",
        words="A kernel weight's gradient is input times gradient, summed over examples and places. "
        "{taken}",
    ),
)  # fmt: skip
KERNELS = (
    Stage(
        key="input", title="kernel w", tensor=_weights(lambda step: step.weights), scale="weights",
        words="The latent weights of one kernel, in full precision: 3 × 3 for each map that it covers.",
        numbers="w = $input",
    ),
    WEIGHTS[1],
    WEIGHTS[2],
    replace(_Y, words="Divided by √{inputs}, these are the kernels that the layer applies."),
    *WEIGHTS[4:],
)  # fmt: skip

STAGES: Mapping[str, tuple[Stage, ...]] = {
    "activations": ACTIVATIONS,
    "weights": WEIGHTS,
    "spikes": SPIKES,
    "maps": MAPS,
    "kernels": KERNELS,
}
"""Stages by the key of the op's site; a new stage is a new row."""


def get_stages(site: OpSite) -> tuple[Stage, ...]:
    """Return the stages of a training step for nets that apply the op at a site, such as weights or spikes.

    Raises LookupError if no stages are defined for the site.
    """
    if site.key not in STAGES:
        raise LookupError(f"slow motion does not know an op at {site.key!r}: add an entry to STAGES")
    return STAGES[site.key]


STAGE_KEYS = tuple(dict.fromkeys(stage.key for stages in STAGES.values() for stage in stages))
