"""The instrument "mistakes": held-out images that a net misclassifies."""

from __future__ import annotations

import math
from typing import Any

import torch

from explorer.training.instruments.base.example import measure_first_nets, to_uint8
from explorer.training.instruments.base.instrument import Nets, Record, Visible
from explorer.training.instruments.base.pictures import Legend, Panel, Pick, Picture, draw_note
from explorer.training.tasks import TASKS

MAX_VISIBLE = 24  # maximum number of images per rule, and of those that only this rule's net misclassifies


@measure_first_nets
def measure(nets: Nets, members: list[int]) -> list[dict[str, Any]]:
    """Measure which held-out images the nets at the indices ``members`` misclassify.

    The record contains a net's most confident mistakes, at most ``MAX_VISIBLE``, and then as many that no
    other net makes, without those already included.

    Returns:
        A list with a dict for each net.

        - ``of``: the number of held-out images.
        - ``count``: the number of misclassified ones.
        - ``alone``: the number of these that all other nets classify correctly, or None without other nets.
        - ``classes``: the classes of the included images. Shape (included,), uint8.
        - ``read``: the predicted classes. Shape (included,), uint8.
        - ``only``: 1 for mistakes of this net only, otherwise 0. Shape (included,), uint8.
        - ``examples``: the indices among the held-out images. Shape (included,), int32.
        - ``images``: the pixels row by row, from 0 to 255. Shape (included · pixels,), uint8.
        - ``words``: the counts and the most confident mistake, as text.
    """
    assert nets.data.held_out is not None
    x, y = nets.data.held_out
    chances = nets.ensemble.forward_traced(x.unsqueeze(0), members)[0].softmax(-1).cpu()
    sure, read = chances.max(-1)
    wrong = read != y
    is_only = wrong & (wrong.sum(0) == 1) & (len(members) > 1)
    low, high = x.aminmax()

    results = []
    for at in range(len(members)):
        order = sure[at].where(wrong[at], -1).argsort(descending=True, stable=True)[: int(wrong[at].sum())]
        first, only_here = order[:MAX_VISIBLE], order[is_only[at][order]][:MAX_VISIBLE]
        visible = torch.cat([first, only_here[~torch.isin(only_here, first)]])
        alone_count = int(is_only[at].sum()) if len(members) > 1 else None
        words = f"all {len(y)} held-out images are read correctly"
        if len(order):
            alone = "" if alone_count is None else f", {alone_count} of them by this rule alone"
            worst = f"a {int(y[order[0]])} read as {int(read[at, order[0]])}"
            words = f"{len(order)} of {len(y)} held-out images are misread{alone}; the most confident "
            words += f"mistake is {worst}"
        results.append(
            {
                "of": len(y),
                "count": len(order),
                "alone": alone_count,
                "classes": y[visible].byte().numpy(),
                "read": read[at, visible].byte().numpy(),
                "only": is_only[at, visible].byte().numpy(),
                "examples": visible.int().numpy(),
                "images": to_uint8((x[visible] - low) / (high - low)),
                "words": words,
            }
        )
    return results


def draw(record: Record) -> list[Picture]:
    """Return a picture of a net's ``record``: misclassified images with their true and predicted classes."""
    alone, count = record["alone"], len(record["classes"])
    suffix = "" if alone is None else f", {alone or 'none of them'} by this rule alone"
    tiles = {
        "kind": "tiles",
        "images": record["images"],
        "width": math.isqrt(len(record["images"]) // max(count, 1)),
        "classes": record["classes"],
        "answers": record["read"],
        "marked": record["only"],
        "examples": record["examples"],
    }
    note = draw_note(f"{record['count']} of {record['of']} wrong{suffix}")
    return [{"words": record["words"], "blocks": [note, tiles]}]


INSTRUMENT = Visible(
    key="mistakes",
    label="Mistakes",
    sentence="Held-out images that the net misreads, with its answers, most confident first.",
    limits=f"One net per rule, and at most {MAX_VISIBLE} of its mistakes in addition to those it alone "
    "makes. Another seed makes other mistakes.",
    cost="2.4 ms and 16 kB for six rules",
    measure=measure,
    draw=draw,
    panel=Panel(
        order=5,
        rows=12.7,
        scrolls=True,
        legend=(Legend("only this rule reads it wrong", "only"),),
        picks=Pick("raster", "example", "Press one to see its spikes."),
    ),
    missing=lambda settings: (
        "" if TASKS[settings.task].kind == "image" else "Not shown here: the examples are not images."
    ),
)
