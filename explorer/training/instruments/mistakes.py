"""Mistakes: held-out images that a net reads wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from explorer.training.instruments.base.instrument import Nets, Record, Visible
from explorer.training.nets import Ensemble
from explorer.training.settings import Settings
from explorer.training.tasks import TASKS, Data

if TYPE_CHECKING:
    from numpy import int32, uint8
    from numpy.typing import NDArray

MOST_VISIBLE = 24  # of each rule, and as many of those that it alone reads wrong


@dataclass(frozen=True)
class Mistakes:
    """The images that one net reads wrong.

    Attributes:
        seed: the number of the net among the seeds of its rule, from 0.
        of: the number of held-out images.
        count: the number of them that it reads wrong.
        alone: the number of these that the nets of all other rules read right; None without other rules.
        classes: (visible,) uint8, the classes of the images: at most ``MOST_VISIBLE`` of which it is surest,
            then as many that it alone reads wrong, each image once.
        read: (visible,) uint8, the class each is read as.
        only: (visible,) uint8, 1 for those that it alone reads wrong.
        examples: (visible,) int32, the indices of the images among the held-out ones.
        images: (visible · pixels,) uint8, row by row, from 0 to 255.
        words: the picture in a sentence.
    """

    seed: int
    of: int
    count: int
    alone: int | None
    classes: NDArray[uint8]
    read: NDArray[uint8]
    only: NDArray[uint8]
    examples: NDArray[int32]
    images: NDArray[uint8]
    words: str


def mistakes(ensemble: Ensemble, data: Data) -> dict[int, Mistakes]:
    """The mistakes of the first finite net of each rule, by the number of its rule."""
    assert data.held_out is not None
    x, y = data.held_out
    nets = ensemble.firsts()
    chances = ensemble.traced(x.unsqueeze(0), list(nets.values()))[0].softmax(-1).cpu()
    sure, read = chances.max(-1)
    wrong = read != y
    only = wrong & (wrong.sum(0) == 1) & (len(nets) > 1)
    images = _images(x)
    records = {}
    for at, (rule, net) in enumerate(nets.items()):
        order = sure[at].where(wrong[at], -1).argsort(descending=True, stable=True)[: int(wrong[at].sum())]
        visible = _visible(order, only[at])
        alone = int(only[at].sum()) if len(nets) > 1 else None
        records[rule] = Mistakes(
            seed=ensemble.going[net].seed,
            of=len(y),
            count=len(order),
            alone=alone,
            classes=_bytes(y[visible]),
            read=_bytes(read[at, visible]),
            only=_bytes(only[at, visible]),
            examples=visible.to(torch.int32).numpy(),
            images=_bytes(images[visible].flatten()),
            words=_words(len(order), len(y), alone, y[order[:1]].tolist(), read[at, order[:1]].tolist()),
        )
    return records


def _visible(order: Tensor, only: Tensor) -> Tensor:
    first, alone = order[:MOST_VISIBLE], order[only[order]][:MOST_VISIBLE]
    return torch.cat([first, alone[~torch.isin(alone, first)]])


def _images(x: Tensor) -> Tensor:
    """Brightness from 0 to 255 between the darkest and the brightest pixel of all examples."""
    low, high = x.aminmax()
    return ((x - low) / (high - low) * 255).round()


def _words(count: int, of: int, alone: int | None, first: list[int], read: list[int]) -> str:
    if not count:
        return f"all {of} held-out images are read right"
    words = f"{count} of {of} held-out images are read wrong"
    if alone is not None:
        words += f", {alone} of them by this rule alone"
    return f"{words}; the surest mistake is a {first[0]} read as {read[0]}"


def _bytes(values: Tensor) -> NDArray[uint8]:
    pixels: NDArray[uint8] = values.to(torch.uint8).numpy()
    return pixels


def _measured(nets: Nets) -> dict[int, Record]:
    return {rule: vars(each) for rule, each in mistakes(nets.ensemble, nets.data).items()}


def _missing(settings: Settings) -> str:
    return "" if TASKS[settings.task].kind == "image" else "Not shown here: the examples are no images."


INSTRUMENT = Visible(
    key="mistakes",
    label="Mistakes",
    sentence="Held-out images that the net misreads, with its answer, the surest first.",
    limits=(
        f"It is one net of each rule, and at most {MOST_VISIBLE} of its mistakes beside those it makes "
        "alone: another seed makes others."
    ),
    cost="2.4 ms and 16 kB for six rules",
    measure=_measured,
    missing=_missing,
)
