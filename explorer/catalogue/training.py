"""Sentences on why some ops and rules cannot train nets, and on how nets with random ops are evaluated."""

from explorer.catalogue.records import Op, Rule
from explorer.formula.tree import ANTITHETIC_LOSS

_OTHER_OUTPUT = (
    "{entry} asks for {loss}, the loss at an output that was not drawn, which in a net takes a pass for "
    "every unit; Explore shows it"
)
_TWIN = (
    "{entry} asks for fa(), the loss of a twin, which would differ at every later step of time: a net that "
    "spikes takes rules without it"
)


def explain_refusal(entry: Op | Rule, name: str, *, spikes: bool = False) -> str:
    """Return a sentence that explains why an op or rule cannot be used to train nets, or "" if it can.

    ``name`` is the name of the op or rule on screen. ``spikes`` selects the reason for nets of spiking units.
    """
    if entry.other_outputs:
        return _OTHER_OUTPUT.format(entry=name, loss=entry.other_outputs[0])
    return _TWIN.format(entry=name) if spikes and ANTITHETIC_LOSS.name in entry.random_names else ""


def describe_evaluation(op: Op) -> str:
    """Return a sentence on how nets with a random op are evaluated, or "" for a deterministic op."""
    if not op.is_random:
        return ""
    if op.judged is None:
        return "Judged by one draw, the same at every step."
    return "Judged with the hard unit." if op.evaluation_op.is_random else "Judged without noise."
