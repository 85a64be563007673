"""One held-out example, for instruments that show what nets make of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from explorer.training.instruments.base.instrument import Argument, Nets, Record
from explorer.training.nets import Ensemble
from explorer.training.settings import Settings
from explorer.training.tasks import Data


def _last(_settings: Settings, data: Data) -> int:
    return len(data.held_out.y) - 1 if data.held_out else 0


EXAMPLE = Argument("example", "Held-out example", _last)


def of_example(look: Callable[[Ensemble, Data, int], Mapping[int, Any]]) -> Callable[..., dict[int, Record]]:
    """The ``measure`` of an instrument that takes ``EXAMPLE``.

    ``look``: ``(ensemble, data, example) ->`` a dataclass by the number of each rule, whose fields
    are its record.
    """

    def measured(nets: Nets, *, example: int) -> dict[int, Record]:
        return {rule: vars(each) for rule, each in look(nets.ensemble, nets.data, example).items()}

    return measured
