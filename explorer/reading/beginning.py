"""Initial values for the parameters of a definition, so that its curve is no flat line."""

from collections.abc import Iterator

from explorer.formula import CONSTANTS, RULE_NAMES
from explorer.formula.tree import UNIFORM, Binary, Call, Compare, Name, Node, Number, walk

_BELOW = -1.0  # the other bound, as any parameter, begins at 1
_EVEN = 0.5
_U = Name(UNIFORM)


def beginnings(tree: Node) -> dict[str, float]:
    """Values by name for parameters that bound a clamp from below, where another bounds it from above.

    A parameter that is the chance of a draw, or what is left of one, begins at even odds.
    """
    chances = {name.name: _EVEN for part in walk(tree) for name in _chances(part)}
    return chances | {
        low.name: _BELOW
        for part in walk(tree)
        for low, high in _bounds(part)
        if low != high and not {low.name, high.name}.intersection((*CONSTANTS, *RULE_NAMES))
    }


def _chances(node: Node) -> Iterator[Name]:
    """The parameters that u is compared with."""
    match node:
        case Compare(_, (left, right)) if _U in (left, right):
            match right if left == _U else left:
                case (Name() as chance) | Binary("-", Number(1.0), Name() as chance):
                    if chance.name not in (*CONSTANTS, *RULE_NAMES):
                        yield chance


def _bounds(node: Node) -> Iterator[tuple[Name, Name]]:
    """The names that bound what a node clamps, from below and from above."""
    match node:
        case Call("clamp", (_, Name() as low, Name() as high)):
            yield low, high
        case Call("max" | "clamp_min", (Call("min" | "clamp_max", (_, Name() as high)), Name() as low)):
            yield low, high
        case Call("min" | "clamp_max", (Call("max" | "clamp_min", (_, Name() as low)), Name() as high)):
            yield low, high
