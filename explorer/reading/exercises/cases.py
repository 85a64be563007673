"""Cases at which a solution of an exercise is tried, and their numbers in words."""

from collections.abc import Sequence
from typing import NamedTuple

from explorer.formula import with_minus

ELEMENTS = (16.0, 100.0)  # that share a parameter
RELATIVE, ABSOLUTE = 1e-9, 1e-12
FORWARD = "forward"  # of what a case is, where it is of no gradient


class Case(NamedTuple):
    """A case at which something is another: what it should be, and what it is.

    Attributes:
        x, g: where.
        wanted, found: the values.
        of: what they are of: ``forward``, the gradient for ``x``, or by its name what an element adds to the
            gradient for an argument.
        elements: the number of those that share the argument.
        missing: whether there is no gradient at all, of which ``found`` is 0.
    """

    x: float
    g: float
    wanted: float
    found: float
    of: str = "x"
    elements: float = ELEMENTS[0]
    missing: bool = False

    @property
    def words(self) -> str:
        """What it is, and what it is not."""
        return f"{'None' if self.missing else in_short(self.found)}, not {in_short(self.wanted)}"

    @property
    def fails(self) -> bool:
        """Whether it is what it should not be."""
        return self.missing or not alike(self.wanted, self.found)


def alike(a: float, b: float) -> bool:
    """Whether two numbers differ by no more than rounding, or are both no number."""
    return a == b or (a != a and b != b) or abs(a - b) <= ABSOLUTE + RELATIVE * abs(a)


def ratio(cases: Sequence[Case]) -> float | None:
    """How many times what is wanted was found, where that is the same everywhere."""
    times, *others = [case.found / case.wanted for case in cases if case.wanted] or [0.0]
    even = all(alike(times, each) for each in others)
    return times if even and times and not any(case.found for case in cases if not case.wanted) else None


def in_short(value: float) -> str:
    """A number with four digits."""
    return with_minus(f"{value + 0.0:.4g}")


def in_full(x: float) -> str:
    """An x with ten digits: some lie close beside a kink."""
    return with_minus(f"{x + 0.0:.10g}")
