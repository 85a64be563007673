"""The question "entry": a custom formula as an op, rule or loss for the browser."""

from explorer.instrument.entries import make_custom_entry
from explorer.questions import Answer


def read_entry(kind: str, text: str) -> Answer:
    """Return {"entry"} for a formula, or {"message", "column"} if it cannot be parsed."""
    return make_custom_entry(kind, text)
