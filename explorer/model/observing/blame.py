"""The parameters of a model that get no gradient, and the calls that are to blame."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from torch import Tensor

from explorer.model.tape import Call, Site, Tape, Value

ZERO = "its backward is zero everywhere"
UNUSED = "no call uses it on the way to the loss"
BY_VALUE = "each gradient is zero by the values it was multiplied with"


class Blame(NamedTuple):
    """Why a parameter has no gradient.

    Attributes:
        gradient: "none" or "zero".
        culprits: sites, with the name of what is called and the reason.
        why: the reason where no call is to blame.
    """

    gradient: str
    culprits: tuple[tuple[Site, str, str], ...]
    why: str


def blames(
    tape: Tape, left: Mapping[str, Tensor], arrived: Mapping[str, bool], cut: Callable[[Call], None]
) -> dict[str, Blame]:
    """Return why the parameters ``left`` have no gradient; ``cut`` is told of cuts to blame."""
    graph, data = tape.reach(True), tape.reach(False)
    consumers: dict[Value, list[Call]] = {}
    for call in tape.calls:
        for value in call.inputs:
            consumers.setdefault(value, []).append(call)
    found = {}
    for name, parameter in left.items():
        leaf = tape.leaves.get(id(parameter))
        calls = [] if leaf is None else _culprits(leaf, consumers, graph, data)
        why = "" if calls else UNUSED if leaf is None or leaf not in data else BY_VALUE
        for call in calls:
            if call.is_cut:
                cut(call)
        told = tuple(dict.fromkeys((call.site, call.op, call.reason or ZERO) for call in calls))
        found[name] = Blame("zero" if name in arrived else "none", told, why)
    return found


def _culprits(
    leaf: Value,
    consumers: Mapping[Value, list[Call]],
    graph: Mapping[Value, None],
    data: Mapping[Value, None],
) -> list[Call]:
    """Return the calls that stop the gradient for a leaf: those whose backward is all zero, or that cut."""
    blame: dict[Call, None] = {}
    seen, todo, on_graph = {leaf}, [leaf], leaf in graph
    while todo:
        value = todo.pop()
        for call in consumers.get(value, ()):
            cuts = not on_graph and call.is_cut and any(out in data for out in call.outputs)
            if cuts or _blocks(call, value):
                blame[call] = None
                continue
            new = [o for o in call.outputs if o.live and o not in seen and (o in graph or not on_graph)]
            seen.update(new)
            todo += new
    return [*blame]


def _blocks(call: Call, value: Value) -> bool:
    """Return whether gradient came to a call and none passed on to a value."""
    if call.measured is None or not value.live:
        return False
    inputs = call.live_inputs()
    got = call.measured.got
    number = inputs.index(value) if value in inputs else len(got)
    return number < len(got) and got[number] == 0 and call.measured.came > 0
