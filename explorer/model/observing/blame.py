"""Search for the parameters of a model that get no gradient, and for the calls that stop it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from torch import Tensor

from explorer.model.tape import Call, Site, Tape, Value

ZERO = "its backward is zero everywhere"
UNUSED = "no call uses it on the way to the loss"
BY_VALUE = "each gradient is zero by the values it was multiplied with"


class Blame(NamedTuple):
    """The reason why a parameter has no gradient.

    Attributes:
        gradient: "none" or "zero".
        culprits: the calls that stop the gradient, each as site, name of the called function, and reason.
        reason: the reason if no call stops the gradient; otherwise "".
    """

    gradient: str
    culprits: tuple[tuple[Site, str, str], ...]
    reason: str


def find_blame(
    tape: Tape, left: Mapping[str, Tensor], arrived: Mapping[str, bool], cut: Callable[[Call], None]
) -> dict[str, Blame]:
    """Return by name why each parameter in ``left`` has no gradient; ``cut`` is called with cuts to blame."""
    graph, data = tape.reach(True), tape.reach(False)
    consumers: dict[Value, list[Call]] = {}
    for call in tape.calls:
        for value in call.inputs:
            consumers.setdefault(value, []).append(call)
    blamed = {}
    for name, parameter in left.items():
        leaf = tape.leaves.get(id(parameter))
        calls = [] if leaf is None else _find_culprits(leaf, consumers, graph, data)
        reason = "" if calls else UNUSED if leaf is None or leaf not in data else BY_VALUE
        for call in calls:
            if call.reason:
                cut(call)
        culprits = tuple(dict.fromkeys((call.site, call.op, call.reason or ZERO) for call in calls))
        blamed[name] = Blame("zero" if name in arrived else "none", culprits, reason)
    return blamed


def _find_culprits(
    leaf: Value, consumers: Mapping[Value, list[Call]], graph: Mapping[Value, None],
    data: Mapping[Value, None],
) -> list[Call]:  # fmt: skip
    """Return the calls at which the gradient for a leaf stops: it becomes zero there or leaves the graph."""
    blame: dict[Call, None] = {}
    visited, todo, on_graph = {leaf}, [leaf], leaf in graph
    while todo:
        value = todo.pop()
        for call in consumers.get(value, ()):
            cuts = not on_graph and value.live and any(o in data for o in call.outputs if not o.live)
            if cuts or _is_blocking(call, value):
                blame[call] = None
                continue
            outputs = [
                o for o in call.outputs if o.live and o not in visited and (o in graph or not on_graph)
            ]
            visited.update(outputs)
            todo += outputs
    return [*blame]


def _is_blocking(call: Call, value: Value) -> bool:
    """Return whether a call received a gradient but passed only zeros to an input."""
    if call.measured is None or not value.live:
        return False
    inputs = call.list_live_inputs()
    counts = call.measured.got
    number = inputs.index(value) if value in inputs else len(counts)
    return number < len(counts) and counts[number] == 0 and call.measured.came > 0
