"""A Function that was read, as a solution of an exercise, and the points at which it is tried."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from explorer.catalogue import Learned, find_op, find_rule
from explorer.formula import Formula
from explorer.formula.tree import Number, walk
from explorer.reading import Reading
from explorer.reading.exercises.cases import Case, in_full
from explorer.reading.exercises.exercise import Exercise
from explorer.reading.exercises.values import values

STEP, REACH = 0.0625, 48  # even points; exact in binary, as the kinks of exercises are
FAR = (5.0, 20.0, 100.0)
NEAR = (2.0**-5, 2.0**-10, 2.0**-16)  # beside a kink; no nearer, where rounding would tell
JUMP = 1e-3
_EVEN = tuple(STEP * place for place in range(-REACH, REACH + 1))


@dataclass(frozen=True)
class Solution:
    """What was read of a text, beside the exercise that it should solve."""

    exercise: Exercise
    reading: Reading

    @cached_property
    def op(self) -> Formula:
        """The formula of its forward."""
        return find_op(self.reading.op).parsed

    @cached_property
    def rule(self) -> Formula:
        """The formula of its gradient for x."""
        rule = find_rule(self.reading.rule).parsed
        assert rule is not None, "of a Function"
        return rule

    @cached_property
    def learned(self) -> dict[str, Learned]:
        """Its gradients for arguments, by their names."""
        return {each.name: each for each in find_rule(self.reading.rule).learned}

    @cached_property
    def points(self) -> list[float]:
        """Even points, what lies beside the kinks of the exercise, and beside the numbers of the text."""
        own = {abs(number) for formula in (self.op, self.rule) for number in _numbers(formula)}
        centres = {*kinks(self.exercise), *own, *(-each for each in own)}
        beside = {centre + side * near for centre in centres for near in NEAR for side in (-1, 1)}
        return sorted({*_EVEN, *beside, *FAR, *(-far for far in FAR)})

    @cached_property
    def pairs(self) -> list[tuple[float, float]]:
        """The points with the y of the exercise."""
        op = values(self.exercise, self.exercise.op)
        return [(x, op(x=x)) for x in self.points]

    def telling(self, cases: Sequence[Case]) -> Case | None:
        """The failing case that is told most shortly, at a kink only where none fails elsewhere."""
        at = kinks(self.exercise)
        failing = [case for case in cases if case.fails]
        return min(failing, key=lambda one: (one.x in at, len(in_full(one.x)), abs(one.x)), default=None)


@lru_cache(maxsize=64)
def kinks(exercise: Exercise) -> frozenset[float]:
    """The even points at which the op or the gradient of an exercise jumps or bends."""
    op, gradient = values(exercise, exercise.op), values(exercise, exercise.gradient)
    near = NEAR[-1]

    def bends(x: float) -> bool:
        left, here, right = (op(x=each) for each in (x - near, x, x + near))
        jumps = abs(gradient(x=x - near, y=left, g=1.0) - gradient(x=x + near, y=right, g=1.0)) > JUMP
        return jumps or abs(left - here) > JUMP or abs(right - here) > JUMP

    return frozenset(filter(bends, _EVEN))


def _numbers(formula: Formula) -> Iterator[float]:
    return (node.value for node in walk(formula.tree) if isinstance(node, Number))
