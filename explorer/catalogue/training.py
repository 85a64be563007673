"""Ops and rules in a net that trains: why it takes none of some, and how a net with an op is judged."""

from explorer.catalogue.records import Op, Rule
from explorer.formula.tree import TWIN_LOSS

_OTHER_OUTPUT = (
    "{entry} asks for {loss}, the loss at an output that was not drawn, which in a net takes a pass for "
    "every unit; Explore shows it"
)
_TWIN = (
    "{entry} asks for fa(), the loss of a twin, which would differ at every later step of time: a net that "
    "spikes takes rules without it"
)


def refusal(entry: Op | Rule, name: str, *, spikes: bool = False) -> str:
    """Return why no net trains an op or rule, with its ``name`` on screen; "" for one that can be trained.

    ``spikes``: why no net of units that spike does.
    """
    if entry.other_outputs:
        return _OTHER_OUTPUT.format(entry=name, loss=entry.other_outputs[0])
    return _TWIN.format(entry=name) if spikes and TWIN_LOSS.name in entry.drawn else ""


def judging(op: Op) -> str:
    """Return the sentence on how a net is judged whose op draws; "" for one that draws nothing."""
    if not op.draws:
        return ""
    if op.judged is None:
        return "Judged by one draw, the same at every step."
    return "Judged with the hard unit." if op.when_judged.draws else "Judged without noise."
