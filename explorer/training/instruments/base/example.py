"""Helpers for instruments that measure one net of each backward rule, and the held-out example to measure."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec

import torch
from torch import Tensor

from explorer.training.instruments.base.instrument import Argument, Nets, Record

P = ParamSpec("P")


EXAMPLE = Argument(
    "example", "Held-out example", lambda _settings, data: len(data.held_out.y) - 1 if data.held_out else 0
)
RULE = Argument("rule", "", lambda settings, _data: len(settings.rules))
"""The only rule to measure, counted from 1, or 0 for all rules; the page sets it itself."""


def measure_first_nets(
    measure_nets: Callable[Concatenate[Nets, list[int], P], list[dict[str, Any]]],
) -> Callable[Concatenate[Nets, P], dict[int, Record]]:
    """Turn a function that measures several nets into one that measures the first finite net of each rule.

    Args:
        measure_nets: a function that is called as ``measure_nets(nets, members, …)``, where ``members`` are
            indices of nets, and returns a list with a dict of results for each of these nets.

    Returns:
        A function that is called as ``measure(nets, …)`` and returns a dict from the index of each rule to
            the results of its net, without rules whose nets have all diverged. It adds ``seed``, the net's
            index among its rule's seeds, to the results, and takes the argument ``RULE`` as well.
    """

    @functools.wraps(measure_nets)
    def measure_records(nets: Nets, /, *args: P.args, **kwargs: P.kwargs) -> dict[int, Record]:
        only = kwargs.pop("rule", 0)
        firsts = {rule: net for rule, net in nets.ensemble.find_firsts().items() if only in (0, rule + 1)}
        if not firsts:
            return {}
        results = measure_nets(nets, list(firsts.values()), *args, **kwargs)
        return {
            rule: {"seed": nets.ensemble.active[net].seed, **result}
            for (rule, net), result in zip(firsts.items(), results, strict=True)
        }

    return measure_records


def to_uint8(values: Tensor) -> Any:
    """Return values as a flat uint8 array: 0 to 1 become 0 to 255, others are clamped, and NaN becomes 0."""
    return (values.clamp(0, 1) * 255).round().nan_to_num(0).to(torch.uint8).flatten().numpy()
