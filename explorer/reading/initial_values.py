"""Choose initial values for a formula's parameters, so that its curve is not flat."""

from collections.abc import Iterator

from explorer.formula import CONSTANTS, RULE_NAMES
from explorer.formula.tree import UNIFORM, Binary, Call, Compare, Name, Node, Number, walk

_BELOW = -1.0  # initial value of a lower bound; other parameters, including an upper bound, begin at 1
_EVEN = 0.5
_U = Name(UNIFORM)


def list_initial_values(tree: Node) -> dict[str, float]:
    """Return initial values, by name, for parameters whose default of 1 would give a flat curve.

    The lower bound of a clamp between two parameters begins at -1. A parameter that is the probability of a
    random event, or 1 minus that probability, begins at 0.5.
    """
    chances = {name.name: _EVEN for part in walk(tree) for name in _find_chances(part)}
    return chances | {
        low.name: _BELOW
        for part in walk(tree)
        for low, high in _find_bounds(part)
        if low != high and not {low.name, high.name}.intersection((*CONSTANTS, *RULE_NAMES))
    }


def _find_chances(node: Node) -> Iterator[Name]:
    """Yield each parameter with which the random number u is compared, and so is a probability."""
    match node:
        case Compare(_, (left, right)) if _U in (left, right):
            match right if left == _U else left:
                case (Name() as chance) | Binary("-", Number(1.0), Name() as chance):
                    if chance.name not in (*CONSTANTS, *RULE_NAMES):
                        yield chance


def _find_bounds(node: Node) -> Iterator[tuple[Name, Name]]:
    match node:
        case Call("clamp", (_, Name() as low, Name() as high)):
            yield low, high
        case Call("max" | "clamp_min", (Call("min" | "clamp_max", (_, Name() as high)), Name() as low)):
            yield low, high
        case Call("min" | "clamp_max", (Call("max" | "clamp_min", (_, Name() as low)), Name() as high)):
            yield low, high
