"""The question "entry": a custom formula as an op, rule or loss for the browser."""

from explorer.instrument.entries import make_custom_entry
from explorer.questions import Answer


def read_entry(kind: str, text: str) -> Answer:
    """Return {"entry"} for a formula of kind "op", "rule" or "loss"; if faulty, {"message", "column"}."""
    return make_custom_entry(kind, text)
