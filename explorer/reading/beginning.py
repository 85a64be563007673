"""Initial values for the parameters of a definition, so that its curve is no flat line."""

from collections.abc import Iterator

from explorer.formula import CONSTANTS, VARIABLES
from explorer.formula.tree import Call, Name, Node, walk

_BELOW = -1.0  # the other bound, as any parameter, begins at 1


def beginnings(tree: Node) -> dict[str, float]:
    """Values by name for parameters that bound a clamp from below, where another bounds it from above."""
    return {
        low.name: _BELOW
        for part in walk(tree)
        for low, high in _bounds(part)
        if low != high and not {low.name, high.name}.intersection((*CONSTANTS, *VARIABLES))
    }


def _bounds(node: Node) -> Iterator[tuple[Name, Name]]:
    """The names that bound what a node clamps, from below and from above."""
    match node:
        case Call("clamp", (_, Name() as low, Name() as high)):
            yield low, high
        case Call("max" | "clamp_min", (Call("min" | "clamp_max", (_, Name() as high)), Name() as low)):
            yield low, high
        case Call("min" | "clamp_max", (Call("max" | "clamp_min", (_, Name() as low)), Name() as high)):
            yield low, high
