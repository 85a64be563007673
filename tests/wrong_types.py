"""Wrong on purpose: ``sh tests/types`` fails unless each of these mistakes is seen. Nothing runs this."""

from explorer.curves import sample, sample_curves
from explorer.formula import parse

parse(1)  # type: ignore[arg-type]
sample_curves("round", ["default"], start="left")  # type: ignore[arg-type]
sample("round", "default", points="many")  # type: ignore[arg-type]
sample("round", "default", g=None)  # type: ignore[arg-type]


def untyped(value):  # type: ignore[no-untyped-def]
    return value
