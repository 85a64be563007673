"""The instrument "net": one example on its way through a net: inputs, weights, the op's values, outputs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from explorer.training.instruments.base import weight_images
from explorer.training.instruments.base.instrument import Nets, Record, Visible
from explorer.training.instruments.base.weight_images import MAX_MAPS, draw_weights, encode_weights

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

MAX_INPUTS = 64  # number of inputs plotted for each layer
MAX_OUTPUTS = 25
MAX_DOTS = 64  # number of the op's values that are plotted


@torch.no_grad()
def measure(nets: Nets) -> dict[int, Record]:
    """Measure all values that one net of each rule computes for one example, the first of training.

    Larger nets are cut to the first ``MAX_INPUTS`` inputs and ``MAX_OUTPUTS`` outputs of each layer, kernels
    to the first ``MAX_MAPS`` maps.

    Returns:
        A dict from the index of each rule to a dict with these keys.

        - ``seed``: the random seed of the net.
        - ``labels``: the names of a table, see ``Data.labels``.
        - ``inputs``: the inputs of the example. Shape (inputs,), float32.
        - ``of``: the number of inputs before the net is cut.
        - ``side``: the side of the example's image in pixels, or 0 if it is no square image of at most
          ``MAX_INPUTS`` pixels.
        - ``target``: its class, or None for a task without classes.
        - ``aim``: the target numbers; empty if there are classes. Shape (outputs,), float32.
        - ``outputs``: the probabilities of the classes, or the numbers. Shape (outputs,), float32.
        - ``weights``: a list with a result of ``encode_weights`` for each layer of weights, as the net uses
          them.
        - ``dots``: a list with a dict for each layer with the op: the first ``MAX_DOTS`` of the op's inputs,
          ``x``, and outputs, ``y``. Shape (dots,), float32.
    """
    ensemble, now = nets.ensemble, nets.current_pass
    has_classes = not nets.targets.is_floating_point()
    outputs = now.output[:, 0].softmax(-1) if has_classes else now.output[:, 0]
    stride = nets.x.shape[1] if nets.site.per_example else 1  # a time step has all examples in a row
    records: dict[int, Record] = {}
    for rule, member in ensemble.find_firsts().items():
        seed = ensemble.active[member].seed
        x, y = (each[seed if len(each) > 1 else 0, 0] for each in (nets.x, nets.targets))
        records[rule] = {
            "seed": nets.settings.seed + seed,
            "labels": nets.data.labels,
            "inputs": _to_numpy(x[:MAX_INPUTS]),
            "of": len(x),
            "side": _get_image_side(nets),
            "target": int(y) if has_classes else None,
            "aim": _to_numpy(x[:0] if has_classes else y.flatten()[:MAX_OUTPUTS]),
            "outputs": _to_numpy(outputs[member, :MAX_OUTPUTS]),
            "weights": [_encode_weights(nets, number, member) for number in ensemble.weighted_layers],
            "dots": [
                {
                    name: _to_numpy(each[member, ::stride].flatten()[:MAX_DOTS])
                    for name, each in (("x", trace.op.x), ("y", trace.op.y))
                }
                for trace in (now.traces[number] for number in nets.op_layers)
            ],
        }
    return records


def _encode_weights(nets: Nets, number: int, member: int) -> dict[str, Any]:
    kernel = weight_images.get_kernel_side(nets, number)
    inputs, outputs = (MAX_MAPS * kernel**2, MAX_MAPS) if kernel else (MAX_INPUTS, MAX_OUTPUTS)
    is_first = number == nets.ensemble.weighted_layers[0]
    side = kernel or (_get_image_side(nets) if is_first else 0)
    return encode_weights(weight_images.get_used_weights(nets, number)[member, :inputs, :outputs], side)


def _get_image_side(nets: Nets) -> int:
    pixels = nets.x.shape[2]
    is_small = nets.task.kind == "image" and pixels <= MAX_INPUTS
    return math.isqrt(pixels) if is_small and math.isqrt(pixels) ** 2 == pixels else 0


def _to_numpy(values: Tensor) -> NDArray[float32]:
    numbers: NDArray[float32] = values.nan_to_num(0).float().cpu().numpy()
    return numbers


def draw(record: Record) -> Record:
    """Return ``record``, a net's measurement, with images in place of its encoded weights."""
    return {**record, "weights": [draw_weights(each) for each in record["weights"]]}


INSTRUMENT = Visible(
    key="net",
    label="The net",
    sentence="One example passes through the net: inputs, weights, the op at this example's values, outputs.",
    limits="One net per rule and one example: others look different.",
    cost="0.6 ms and 10 kB for six rules",
    measure=measure,
    draw=draw,
)
