"""Initial values for the parameters of a definition, chosen so that its curve is not flat."""

from collections.abc import Iterator

from explorer.formula import CONSTANTS, RULE_NAMES
from explorer.formula.tree import UNIFORM, Binary, Call, Compare, Name, Node, Number, walk

_BELOW = -1.0  # the upper bound begins at 1, as any parameter
_EVEN = 0.5
_U = Name(UNIFORM)


def list_initial_values(tree: Node) -> dict[str, float]:
    """Return initial values by name, for lower bounds of clamps between two parameters.

    A parameter that is the probability of a random event, or 1 minus it, begins at 0.5.
    """
    chances = {name.name: _EVEN for part in walk(tree) for name in _find_chances(part)}
    return chances | {
        low.name: _BELOW
        for part in walk(tree)
        for low, high in _find_bounds(part)
        if low != high and not {low.name, high.name}.intersection((*CONSTANTS, *RULE_NAMES))
    }


def _find_chances(node: Node) -> Iterator[Name]:
    """Yield the parameters that u is compared with."""
    match node:
        case Compare(_, (left, right)) if _U in (left, right):
            match right if left == _U else left:
                case (Name() as chance) | Binary("-", Number(1.0), Name() as chance):
                    if chance.name not in (*CONSTANTS, *RULE_NAMES):
                        yield chance


def _find_bounds(node: Node) -> Iterator[tuple[Name, Name]]:
    """Yield the names of the lower and the upper bound of a clamp."""
    match node:
        case Call("clamp", (_, Name() as low, Name() as high)):
            yield low, high
        case Call("max" | "clamp_min", (Call("min" | "clamp_max", (_, Name() as high)), Name() as low)):
            yield low, high
        case Call("min" | "clamp_max", (Call("max" | "clamp_min", (_, Name() as low)), Name() as high)):
            yield low, high
