"""One example on its way through a net: inputs, weights, the op's values, outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from explorer.training.instruments.base.instrument import Nets, Record, Visible
from explorer.training.instruments.base.pictured import MOST_MAPS, kernel_of, pictured, used

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

MOST_INPUTS = 64  # of a layer, that are drawn
MOST_OUTPUTS = 25
MOST_DOTS = 64  # values of the op


@torch.no_grad()
def measured(nets: Nets) -> dict[int, Record]:
    """The record of the first finite net of each rule, for the first of the examples.

    ``seed``: of the net. ``inputs``: (inputs,) float32 of the example, ``of`` so many. ``target``: its class,
    or None. ``aim``: (outputs,) float32, the values to be met where there are no classes. ``outputs``:
    (outputs,) float32, chances of the classes, or values. ``weights``: by layer of weights, as the net uses
    them, see ``pictured``. ``dots``: by layer with the op, its ``x`` and ``y`` there, (dots,) float32 each.
    Of larger nets the first ``MOST_INPUTS`` inputs and ``MOST_OUTPUTS`` outputs of each layer are in it, of
    kernels those of the first ``MOST_MAPS`` maps.
    """
    ensemble, now = nets.ensemble, nets.now
    has_classes = not nets.answers.is_floating_point()
    outputs = now.output[:, 0].softmax(-1) if has_classes else now.output[:, 0]
    return {
        rule: {
            "seed": nets.settings.seed + ensemble.active[member].seed,
            **_asked(nets, ensemble.active[member].seed),
            "outputs": _numbers(outputs[member, :MOST_OUTPUTS]),
            "weights": [_weights(nets, number, member) for number in ensemble.weighted_layers],
            "dots": [_dots(nets, number, member) for number in nets.op_layers],
        }
        for rule, member in ensemble.find_firsts().items()
    }


def _asked(nets: Nets, seed: int) -> dict[str, Any]:
    """The example of a seed, and its class or its values."""
    x, y = (each[seed if len(each) > 1 else 0, 0] for each in (nets.x, nets.answers))
    aim = y.flatten()[:MOST_OUTPUTS] if y.is_floating_point() else x[:0]
    target = None if y.is_floating_point() else int(y)
    return {"inputs": _numbers(x[:MOST_INPUTS]), "of": len(x), "target": target, "aim": _numbers(aim)}


def _weights(nets: Nets, number: int, member: int) -> dict[str, Any]:
    """Those of a layer that are drawn, of kernels whole ones."""
    kernel = kernel_of(nets, number)
    inputs, outputs = (MOST_MAPS * kernel**2, MOST_MAPS) if kernel else (MOST_INPUTS, MOST_OUTPUTS)
    return pictured(used(nets, number)[member, :inputs, :outputs], kernel)


def _dots(nets: Nets, number: int, member: int) -> dict[str, NDArray[float32]]:
    """The inputs and outputs of the op: of one example, or the weights from the first on."""
    op = nets.now.traces[number].op
    every = nets.x.shape[1] if nets.site.per_example else 1  # examples stand within each step of time
    x, y = (each[member, ::every].flatten()[:MOST_DOTS] for each in (op.x, op.y))
    return {"x": _numbers(x), "y": _numbers(y)}


def _numbers(values: Tensor) -> NDArray[float32]:
    numbers: NDArray[float32] = values.nan_to_num(0).float().cpu().numpy()
    return numbers


INSTRUMENT = Visible(
    key="net",
    label="The net",
    sentence="One example on its way: inputs, weights, the op with this example's values on it, outputs.",
    limits="It shows one net per rule and one example: others look different.",
    cost="0.6 ms and 10 kB for six rules",
    measure=measured,
)
