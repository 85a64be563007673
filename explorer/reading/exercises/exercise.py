"""Data classes for an exercise: a faulty Function, and the values that it should return."""

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from explorer.formula import Formula, differentiate, parse
from explorer.formula.tree import Name, Number, substitute


@dataclass(frozen=True)
class Argument:
    """An input of a Function after x, in the call that an exercise describes.

    Attributes:
        name: its name in the formulas. A solution may use another name.
        value: its value in the call, with few binary digits, so that kinks coincide with test points.
        gradient: the contribution of one element to its gradient, in x, y, g and names of arguments; "" for a
            number, whose gradient is None.
        scale: a factor on the sum, in names of arguments and N, the number of elements; "" for 1.
    """

    name: str
    value: float
    gradient: str = ""
    scale: str = ""


@dataclass(frozen=True)
class Exercise:
    """An exercise to repair a faulty ``autograd.Function``.

    Attributes:
        key: permanent name.
        task: a description of the fault or of the task, in at most two sentences.
        code: the faulty Function, in about ten lines.
        op: the formula of the correct output, in x and names of arguments.
        gradient: the formula of the correct gradient, in x, g and names of arguments.
        arguments: the inputs after x.
        guarded: whether the code has to skip gradients of arguments that are not needed.
        twice: whether the Function must support a second derivative.
    """

    key: str
    task: str
    code: str
    op: str
    gradient: str
    arguments: tuple[Argument, ...] = ()
    guarded: bool = False
    twice: bool = False

    @property
    def name(self) -> str:
        """The name of the Function that is to be repaired."""
        return self.code.split("(")[0].removeprefix("class ")

    @property
    def values(self) -> dict[str, float]:
        """A dict from the names of the arguments to their values."""
        return {argument.name: argument.value for argument in self.arguments}

    @cached_property
    def variant(self) -> "Exercise":
        """The same exercise with all arguments halved, which reveals numbers hard-coded in a solution."""
        halved = (replace(argument, value=argument.value / 2) for argument in self.arguments)
        return replace(self, arguments=tuple(halved))

    def parse_formula(self, text: str) -> Formula:
        """Parse a formula in x, y, g and names of arguments."""
        return parse(text, parameters=[*self.values, "N"])

    @cached_property
    def second(self) -> Formula:
        """The derivative of the correct gradient with respect to x, for g = 1."""
        tree = differentiate(
            substitute(self.parse_formula(self.gradient).tree, {Name("g"): Number(1.0)}), upstream=Number(1.0)
        )
        assert tree is not None, "the gradient of an exercise is short"
        return Formula(tree)

    def to_data(self) -> dict[str, Any]:
        """Return the exercise as plain data."""
        return asdict(self)
