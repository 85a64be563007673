"""Records of the first finite net of each rule, and of one held-out example."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec

import torch
from torch import Tensor

from explorer.training.instruments.base.instrument import Argument, Nets, Record
from explorer.training.settings import Settings
from explorer.training.tasks import Data

P = ParamSpec("P")


def _last(_settings: Settings, data: Data) -> int:
    return len(data.held_out.y) - 1 if data.held_out else 0


EXAMPLE = Argument("example", "Held-out example", _last)


def of_firsts(
    look: Callable[Concatenate[Nets, list[int], P], Callable[[int], dict[str, Any]]],
) -> Callable[Concatenate[Nets, P], dict[int, Record]]:
    """Return the ``measure`` of an instrument that looks at the first finite net of each rule.

    ``look(nets, members, …)`` gives a function that returns the record of ``members[at]``. A record begins
    with ``seed``: the number of the net among the seeds of its rule, from 0.
    """

    @functools.wraps(look)
    def measured(nets: Nets, /, *args: P.args, **kwargs: P.kwargs) -> dict[int, Record]:
        firsts = nets.ensemble.find_firsts()
        of = look(nets, list(firsts.values()), *args, **kwargs)
        return {
            rule: {"seed": nets.ensemble.active[net].seed, **of(at)}
            for at, (rule, net) in enumerate(firsts.items())
        }

    return measured


def small(shares: Tensor) -> Any:
    """Values from 0 to 1 as uint8 from 0 to 255, in one row; 0 where one is not a number."""
    return (shares.clamp(0, 1) * 255).round().nan_to_num(0).to(torch.uint8).flatten().numpy()
