"""Helpers for instruments that measure one net of each backward rule, and the held-out example to measure."""

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


def _find_last(_settings: Settings, data: Data) -> int:
    """Return the index of the last held-out example, or 0 if there are none."""
    return len(data.held_out.y) - 1 if data.held_out else 0


EXAMPLE = Argument("example", "Held-out example", _find_last)
RULE = Argument("rule", "", lambda settings, _data: len(settings.rules))
"""The only rule to measure, counted from 1, or 0 for all rules; the page sets it itself."""


def measure_first_nets(
    measure_nets: Callable[Concatenate[Nets, list[int], P], Callable[[int], dict[str, Any]]],
) -> Callable[Concatenate[Nets, P], dict[int, Record]]:
    """Turn a function that measures several nets into one that measures the first finite net of each rule.

    ``measure_nets(nets, members, …)`` returns a function from an index to the measurement of
    ``members[index]`` as a dict. The new function adds ``seed``, the net's index among its rule's seeds, to
    each dict, and takes the argument ``RULE`` as well.
    """

    @functools.wraps(measure_nets)
    def measure_records(nets: Nets, /, *args: P.args, **kwargs: P.kwargs) -> dict[int, Record]:
        only = kwargs.pop("rule", 0)
        firsts = {rule: net for rule, net in nets.ensemble.find_firsts().items() if only in (0, rule + 1)}
        if not firsts:
            return {}
        get_record = measure_nets(nets, list(firsts.values()), *args, **kwargs)
        return {
            rule: {"seed": nets.ensemble.active[net].seed, **get_record(at)}
            for at, (rule, net) in enumerate(firsts.items())
        }

    return measure_records


def to_uint8(values: Tensor) -> Any:
    """Return values from 0 to 1 as a flat uint8 array of values from 0 to 255, with 0 for NaN."""
    return (values.clamp(0, 1) * 255).round().nan_to_num(0).to(torch.uint8).flatten().numpy()
