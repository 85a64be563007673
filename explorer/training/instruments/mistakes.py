"""Which held-out images a net reads wrong, and as what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from explorer.training.instruments.base.instrument import Nets, Record, Shown
from explorer.training.nets import Ensemble
from explorer.training.settings import Settings
from explorer.training.tasks import TASKS, Data

if TYPE_CHECKING:
    from numpy import int32, uint8
    from numpy.typing import NDArray

MOST_SHOWN = 24  # of each rule, and as many of those that it alone reads wrong


@dataclass(frozen=True)
class Mistakes:
    """What one net reads wrong.

    Attributes:
        seed: the number of the net among the seeds of its rule, from 0.
        of: how many held-out images there are.
        count: how many of them it reads wrong.
        alone: how many of these the nets of all other rules read right; None for a rule without others.
        classes: (shown,) uint8, what the images are: at most ``MOST_SHOWN``, those first that it is surest
            of, and then as many that it alone reads wrong, each image once.
        read: (shown,) uint8, what each is read as.
        only: (shown,) uint8, 1 for those that it alone reads wrong.
        examples: (shown,) int32, the places of the images among the held-out ones.
        images: (shown · pixels,) uint8, row by row, from 0 to 255.
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
    """What the first finite net of each rule reads wrong, by the number of its rule."""
    assert data.held_out is not None
    x, y = data.held_out
    nets = ensemble.firsts()
    chances = ensemble.traced(x.unsqueeze(0), list(nets.values()))[0].softmax(-1).cpu()
    sure, read = chances.max(-1)
    wrong = read != y
    only = wrong & (wrong.sum(0) == 1) & (len(nets) > 1)
    images = _images(x)
    found = {}
    for at, (rule, net) in enumerate(nets.items()):
        order = sure[at].where(wrong[at], -1).argsort(descending=True, stable=True)[: int(wrong[at].sum())]
        shown = _shown(order, only[at])
        alone = int(only[at].sum()) if len(nets) > 1 else None
        found[rule] = Mistakes(
            seed=ensemble.going[net].seed,
            of=len(y),
            count=len(order),
            alone=alone,
            classes=_bytes(y[shown]),
            read=_bytes(read[at, shown]),
            only=_bytes(only[at, shown]),
            examples=shown.to(torch.int32).numpy(),
            images=_bytes(images[shown].flatten()),
            words=_words(len(order), len(y), alone, y[order[:1]].tolist(), read[at, order[:1]].tolist()),
        )
    return found


def _shown(order: Tensor, only: Tensor) -> Tensor:
    """Which of the examples in order are shown."""
    first, alone = order[:MOST_SHOWN], order[only[order]][:MOST_SHOWN]
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
    found: NDArray[uint8] = values.to(torch.uint8).numpy()
    return found


def _measured(nets: Nets) -> dict[int, Record]:
    return {rule: vars(each) for rule, each in mistakes(nets.ensemble, nets.data).items()}


def _missing(settings: Settings) -> str:
    return "" if TASKS[settings.task].kind == "image" else "Not shown here: the examples are no images."


INSTRUMENT = Shown(
    key="mistakes",
    label="Mistakes",
    sentence="Held-out images that the net reads wrong, and as what: those first that it is surest of.",
    limits=(
        f"It is one net of each rule, and at most {MOST_SHOWN} of its mistakes beside those it makes alone: "
        "another seed makes others."
    ),
    cost="2.4 ms and 16 kB for six rules",
    measure=_measured,
    missing=_missing,
)
