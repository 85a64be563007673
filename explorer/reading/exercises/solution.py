"""A solution of an exercise, read from text, and the points at which it is tested."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from explorer.catalogue import Learned, find_op, find_rule
from explorer.formula import Formula
from explorer.formula.tree import Number, walk
from explorer.reading import Reading
from explorer.reading.exercises.cases import Case, format_full
from explorer.reading.exercises.exercise import Exercise
from explorer.reading.exercises.values import compile_text

STEP, REACH = 0.0625, 48  # spacing and count of points, exact in binary like the kinks of exercises
FAR = (5.0, 20.0, 100.0)
NEAR = (2.0**-5, 2.0**-10, 2.0**-16)  # distances of test points from a kink, which floats represent exactly
JUMP = 1e-3
_EVEN_POINTS = tuple(STEP * place for place in range(-REACH, REACH + 1))


@dataclass(frozen=True)
class Solution:
    """A solution of an exercise: the formulas read from its text, and the points for testing them."""

    exercise: Exercise
    reading: Reading

    @cached_property
    def op(self) -> Formula:
        """The formula of the solution's forward."""
        return find_op(self.reading.op).parsed

    @cached_property
    def rule(self) -> Formula:
        """The formula of the solution's gradient for x."""
        rule = find_rule(self.reading.rule).parsed
        assert rule is not None, "of a Function"
        return rule

    @cached_property
    def learned(self) -> dict[str, Learned]:
        """A dict from the names of arguments to the solution's gradients for them."""
        return {gradient.name: gradient for gradient in find_rule(self.reading.rule).learned}

    @cached_property
    def points(self) -> list[float]:
        """The x values at which the solution is tested, evenly spaced.

        There are more of them next to the kinks of the exercise and next to the numbers in the text.
        """
        nodes = (*walk(self.op.tree), *walk(self.rule.tree))
        numbers = {abs(node.value) for node in nodes if isinstance(node, Number)}
        centres = {*find_kinks(self.exercise), *numbers, *(-each for each in numbers)}
        near_points = {centre + side * near for centre in centres for near in NEAR for side in (-1, 1)}
        return sorted({*_EVEN_POINTS, *near_points, *FAR, *(-far for far in FAR)})

    @cached_property
    def pairs(self) -> list[tuple[float, float]]:
        """Tuples of each test point x and the expected output y at x."""
        op = compile_text(self.exercise, self.exercise.op)
        return [(x, op(x=x)) for x in self.points]

    def choose_case(self, cases: Sequence[Case]) -> Case | None:
        """Return the failing test case whose x has the shortest text, or None if all cases pass.

        A case at a kink is chosen only if no other fails.
        """
        at = find_kinks(self.exercise)
        failing = [case for case in cases if case.fails]
        return min(
            failing,
            key=lambda failure: (failure.x in at, len(format_full(failure.x)), abs(failure.x)),
            default=None,
        )


@lru_cache(maxsize=64)
def find_kinks(exercise: Exercise) -> frozenset[float]:
    """Return the test points at which an exercise's op or gradient has a kink, a jump or a corner."""
    op, gradient = compile_text(exercise, exercise.op), compile_text(exercise, exercise.gradient)
    near = NEAR[-1]

    def is_kink(x: float) -> bool:
        left, middle, right = (op(x=each) for each in (x - near, x, x + near))
        jumps = abs(gradient(x=x - near, y=left, g=1.0) - gradient(x=x + near, y=right, g=1.0)) > JUMP
        return jumps or abs(left - middle) > JUMP or abs(right - middle) > JUMP

    return frozenset(filter(is_kink, _EVEN_POINTS))
