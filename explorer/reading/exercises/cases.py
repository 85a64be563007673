"""Test cases for the solution of an exercise, and texts for their numbers."""

from collections.abc import Sequence
from math import isclose
from typing import NamedTuple

from explorer.formula import format_number

ELEMENTS = (16.0, 100.0)  # the numbers of elements that share a parameter in the test cases
RELATIVE, ABSOLUTE = 1e-9, 1e-12
FORWARD = "forward"  # name of the test case about the op's output, not a gradient


class Case(NamedTuple):
    """A test case for a solution, with the expected and the actual value.

    Attributes:
        x: the x of the case.
        g: its upstream gradient.
        expected: the expected value.
        actual: the actual value.
        subject: ``forward``, ``x`` for the gradient for x, or the name of an argument for one element's
            contribution to its gradient.
        elements: the number of elements that share the argument.
        missing: whether there is no gradient. ``actual`` is then 0.
    """

    x: float
    g: float
    expected: float
    actual: float
    subject: str = "x"
    elements: float = ELEMENTS[0]
    missing: bool = False

    @property
    def words(self) -> str:
        """A phrase with the actual and the expected value, such as "0.5, not 1"."""
        return f"{'None' if self.missing else format_number(self.actual)}, not {format_number(self.expected)}"

    @property
    def fails(self) -> bool:
        """True if the actual value differs from the expected value."""
        return self.missing or not is_close(self.expected, self.actual)


def is_close(a: float, b: float) -> bool:
    """Return whether two numbers differ only by rounding, or are both NaN."""
    return isclose(a, b, rel_tol=RELATIVE, abs_tol=ABSOLUTE) or (a != a and b != b)


def find_ratio(cases: Sequence[Case]) -> float | None:
    """Return the ratio of actual to expected value if it is the same in all test cases.

    Returns None if it varies or is 0.
    """
    times, *remainder = [case.actual / case.expected for case in cases if case.expected] or [0.0]
    even = all(is_close(times, each) for each in remainder)
    return times if even and times and not any(case.actual for case in cases if not case.expected) else None


def format_full(x: float) -> str:
    """Return an x as text with ten digits, enough for an x close to a kink."""
    return format_number(x, 10)
