"""The instrument "regions": the class that a net predicts at each point of a plane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Generator, Tensor

from explorer.formula import format_percent
from explorer.training.instruments.base.example import RULE, measure_first_nets
from explorer.training.instruments.base.instrument import Nets, Record, Visible
from explorer.training.instruments.base.pictures import Legend, Panel, Picture, draw_image, draw_note
from explorer.training.settings import Settings
from explorer.training.tasks import TASKS, Data, Draw, Part

if TYPE_CHECKING:
    from numpy import uint8
    from numpy.typing import NDArray

SIDE = 48  # cells on each side of the picture
MAX_POINTS = 80  # number of plotted examples in each part of the data
NO_CLASS = 255  # the code of a cell in which an output is NaN
_MAX_NAMED = 5  # maximum number of classes listed in the legend
_MARGIN = 0.06  # fraction of the plane that is left free around the points


class Square(NamedTuple):
    """A square region of the plane, in units of the inputs."""

    left: float
    bottom: float
    width: float


def is_plane(data: Data) -> bool:
    """Return whether ``data`` has two inputs, held-out examples, and a class for each example."""
    return data.widths[0] == 2 and data.held_out is not None and not data.train.y.is_floating_point()


@measure_first_nets
def measure(nets: Nets, members: list[int]) -> list[dict[str, Any]]:
    """Measure the classes that the nets at the indices ``members`` predict across a square of the plane.

    An op with a reduction sees all cells at once here, but a batch in training.

    Returns:
        A list with a dict for each net.

        - ``square``: the position of the square.
        - ``classes``: the number of classes.
        - ``names``: the names of the classes in a table, otherwise empty.
        - ``inputs``: the names of the table's columns, across and up, otherwise empty.
        - ``levels``: the number of levels of confidence.
        - ``cells``: class · levels + confidence for each cell, row by row from the bottom. The confidence is
          from 0 at even odds to levels − 1. ``NO_CLASS`` if an output is NaN. Shape (SIDE · SIDE,), uint8.
        - ``shares``: the fraction of the square predicted as each class. Shape (classes,), float32.
        - ``score``: the fraction of held-out examples that this net classifies correctly.
        - ``of_seed``: the net's random seed, or None if the run has a single seed.
        - ``trained`` and ``held_out``: x and y in 255ths of the square, and the class, of the first
          ``MAX_POINTS`` examples for training and for evaluation. Shape (points · 3,), uint8.
        - ``words``: the score and the fractions, as text.
    """
    ensemble, data = nets.ensemble, nets.data
    assert data.held_out is not None
    low, high = data.train.x.aminmax(dim=0)
    width = (high - low).max().item() * (1 + 2 * _MARGIN)
    left, bottom = ((low + high - width) / 2).tolist()
    square = Square(left, bottom, width)
    middles = (torch.arange(SIDE) + 0.5) * (width / SIDE)
    rows, columns = torch.meshgrid(middles + square.bottom, middles + square.left, indexing="ij")
    centres = torch.stack([columns, rows], -1).flatten(0, 1)
    outputs, _ = ensemble.forward_traced(centres.unsqueeze(0), members)
    cells, shares = _classify_cells(outputs)
    read = ensemble.forward_traced(data.held_out.x.unsqueeze(0), members)[0].argmax(-1).cpu()
    scores = (read == data.held_out.y).float().mean(1).tolist()
    common = {
        "square": square,
        "classes": data.outputs,
        "names": list(data.names),
        "inputs": list(data.inputs),
        "levels": NO_CLASS // data.outputs,
        "trained": _encode_points(data.train, square),
        "held_out": _encode_points(data.held_out, square),
    }
    results = []
    labels = data.names or [f"class {number}" for number in range(data.outputs)]
    for at, (net, score) in enumerate(zip(members, scores, strict=True)):
        right = f"{format_percent(score)} of {len(data.held_out.y)} held-out points are classified correctly"
        pairs = zip(labels, shares[at].tolist(), strict=True)
        parts = ", ".join(f"{name} {format_percent(share)}" for name, share in pairs)
        record: dict[str, Any] = {"cells": cells[at].numpy(), "shares": shares[at].numpy(), "score": score}
        record["of_seed"] = (
            nets.settings.seed + ensemble.active[net].seed if nets.settings.seeds > 1 else None
        )
        results.append(common | record | {"words": f"{right}; share of the plane: {parts}"})
    return results


def _classify_cells(outputs: Tensor) -> tuple[Tensor, Tensor]:
    """Return the class that each net predicts in each cell, and the fraction of cells of each class.

    The outputs of the nets have shape (nets, cells, classes). The classes are encoded with their confidence,
    as ``cells`` in ``measure``. The results have shape (nets, cells), uint8, and (nets, classes).
    """
    classes = outputs.shape[-1]
    levels = NO_CLASS // classes
    best, best_class = outputs.max(-1)
    sure = (outputs - best.unsqueeze(-1)).exp_().sum(-1).reciprocal_()  # softmax's largest value
    level = ((sure * classes - 1) * (levels / (classes - 1))).clamp_(0, levels - 1).nan_to_num_(0)
    cells = (best_class * levels).add_(level.long()).byte()
    cells[sure.isnan()] = NO_CLASS
    shares = [(cells // levels == number).float().mean(1) for number in range(classes)]
    return cells.cpu(), torch.stack(shares, 1).cpu()


def _encode_points(part: Part, square: Square) -> NDArray[uint8]:
    corner = torch.tensor([square.left, square.bottom])
    positions = ((part.x[:MAX_POINTS] - corner) / square.width * 255).round().clamp(0, 255)
    points: NDArray[uint8] = torch.cat([positions, part.y[:MAX_POINTS, None]], 1).flatten().byte().numpy()
    return points


def draw(record: Record) -> list[Picture]:
    """Return a picture of a net's ``record``: the plane in the colours of its classes, and examples.

    A note states the score. If a table names the classes, ``legend`` lists them from light to dark.
    """
    palette = f"classes {record['classes']} {record['levels']}"
    cells = record["cells"].reshape(SIDE, SIDE)[::-1].flatten()
    dots = [record["trained"], record["held_out"]]
    plane = draw_image(cells, SIDE, palette=palette) | {"kind": "plane", "dots": dots}
    score, seed = format_percent(record["score"]), record["of_seed"]
    note = draw_note(f"{score} of held-out points right" if seed is None else f"Seed {seed}: {score} right")
    names = record["names"]
    listed = names if len(names) <= _MAX_NAMED else [names[0], "…", names[-1]]
    across, up = record["inputs"] or ("", "")
    legend = {"legend": f"light to dark: {', '.join(listed)}; across: {across}, up: {up}"} if names else {}
    return [{"words": record["words"], "blocks": [plane, note], **legend}]


def _explain_missing(settings: Settings) -> str:
    kind = TASKS[settings.task].kind
    has_plane = kind == "plane" or (
        kind == "own" and is_plane(TASKS[settings.task].data(Draw(Generator(), 1, settings.table)))
    )
    return "" if has_plane else "Not shown here: regions need two inputs, and a class for each example."


INSTRUMENT = Visible(
    key="regions",
    label="Regions",
    sentence="The class that the net assigns to each point of the plane. Mixed colours: the net is unsure.",
    limits="One net per rule. The picture looks equally sure far from any data: judge a rule by its "
    "accuracy over all seeds.",
    cost="2 ms and 23 kB for six rules",
    arguments=(RULE,),
    measure=measure,
    draw=draw,
    panel=Panel(
        order=1,
        rows=11,
        legend=(
            Legend("class 0 is light, the last class dark", "classes"),
            Legend("held out", "dot ringed"),
            Legend("trained on", "dot"),
        ),
    ),
    missing=_explain_missing,
)
